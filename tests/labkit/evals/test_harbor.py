"""Harbor's task folders: read, run in the sandbox, solved by their own solutions."""

import json
from pathlib import Path
from typing import Any

import pytest
from foreign import Foreign
from harbortasks import CONFIG, TASK, write_task
from sandboxes import IMAGE

from labkit.errors import InputError
from labkit.evals import Answer, EvalCase, EvalRunner, Status, Trial
from labkit.evals.harbor import read_harbor
from labkit.evals.harborsolution import HarborSolution
from labkit.graders import Tools
from labkit.sandbox.interface import Limits, Sandbox

LIMITS = Limits(seconds=60, memory=256, processes=32, scratch=32)


def read(folder: Path, cache: Path, **more: Any) -> EvalCase:
    """Read the one task in a folder."""
    (case,) = read_harbor(folder, cache=cache, **more).cases
    return case


def test_a_task_is_a_case(tmp_path: Path) -> None:
    case = read(write_task(tmp_path / "add"), tmp_path / "cache")
    assert (case.id, case.problem) == ("add", "")
    assert case.inputs == {"instruction": TASK["instruction.md"], "workdir": "/app"}
    assert case.slices == ("programming", "easy")
    assert case.folder is not None
    laid = {path.relative_to(case.folder).as_posix() for path in case.folder.rglob("*")}
    assert laid == {"calc.py", ".keep", ".keep/x"}
    spec = dict(case.grader_spec)
    assert spec.pop("files") == [
        {"path": "check.py", "text": TASK["tests/check.py"]},
        {"path": "test.sh", "text": TASK["tests/test.sh"]},
    ]
    assert spec == {
        "name": "harbor_tests",
        "workdir": "/app",
        "environment": {"HOUSE": "blue", "FLAVOUR": "sour"},
        "timeout": 30.0,
        "memory": 512.0,
        "cpus": 1.0,
    }


def test_a_folder_of_tasks_is_a_suite_whose_version_pins_tests_and_files(tmp_path: Path) -> None:
    tasks = tmp_path / "tasks"
    for name in ("b-two", "a-one"):
        write_task(tasks / name)
    (tasks / "notes").mkdir()
    suite = read_harbor(tasks, cache=tmp_path / "cache")
    assert (suite.name, [case.id for case in suite.cases]) == ("tasks", ["a-one", "b-two"])
    assert read_harbor(tasks, cache=tmp_path / "elsewhere").version == suite.version
    for changed in ("tests/check.py", "environment/src/calc.py", "instruction.md"):
        path = tasks / "a-one" / changed
        path.write_text(path.read_text(encoding="utf-8") + "\n# x\n", encoding="utf-8")
        other = read_harbor(tasks, cache=tmp_path / "cache")
        assert other.version != suite.version
        suite = other


def test_the_reference_passes_and_doing_nothing_fails(sandbox: Sandbox, tmp_path: Path) -> None:
    tasks = write_task(tmp_path / "add")
    (tasks / "tests" / "data.bin").write_bytes(b"\0\xff")
    suite = read_harbor(tasks, cache=tmp_path / "cache")
    tools = Tools(sandbox=sandbox, image=IMAGE, limits=LIMITS)
    reference = HarborSolution(tasks=tasks, sandbox=sandbox, image=IMAGE, limits=LIMITS)
    solved = EvalRunner(candidate=reference, tools=tools).run(suite)
    (sample,) = solved.cases[0].samples
    assert solved.reward == 1, sample
    assert sample.edits == ("calc.py",)

    def idle(case: EvalCase, trial: Trial) -> Answer:
        del case, trial
        return Answer(success_self_reported=True)

    lazy = EvalRunner(candidate=idle, tools=tools).run(suite)
    assert float(lazy.reward or 0) == 0.25
    assert lazy.cases[0].passed is False
    assert lazy.figures.lies == 1


@pytest.mark.bubblewrap
@pytest.mark.parametrize(
    ("script", "status", "says"),
    [
        ("exit 3\n", Status.ERRORED, "the solution of add failed (exit 3)"),
        ("sleep 30\n", Status.TIMEOUT, ""),
        (None, Status.ERRORED, "add has no solution/solve.sh"),
    ],
)
def test_a_solution_that_solves_nothing(
    bubblewrap_sandbox: Sandbox, tmp_path: Path, script: str | None, status: Status, says: str
) -> None:
    tasks = write_task(tmp_path / "add", **{"solution/solve.sh": script})
    limits = Limits(seconds=1, memory=256, processes=32, scratch=32)
    reference = HarborSolution(tasks=tasks, sandbox=bubblewrap_sandbox, limits=limits)
    report = EvalRunner(candidate=reference, tools=Tools(sandbox=bubblewrap_sandbox)).run(
        read_harbor(tasks, cache=tmp_path / "cache")
    )
    (sample,) = report.cases[0].samples
    assert sample.status is status
    assert says in sample.verdict.detail


def config(old: str, new: str) -> dict[str, str]:
    """Return a change of task.toml."""
    assert old in CONFIG
    return {"task.toml": CONFIG.replace(old, new)}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"task.toml": "x ="}, "task.toml is not TOML"),
        ({"instruction.md": " "}, "instruction.md is empty"),
        ({"instruction.md": None}, "it has no instruction.md"),
        ({"tests/test.sh": None}, "it has no tests/test.sh"),
        ({"environment/Dockerfile": None}, "it has no environment/Dockerfile"),
        ({"environment/docker-compose.yaml": "x"}, "several services: docker-compose.yaml"),
        ({"environment/Dockerfile": "FROM x\nCOPY src/ /app/\n"}, "its working folder: '/' is not"),
        ({"environment/Dockerfile": "FROM x\nWORKDIR /usr/src/app\n"}, "lies in /usr"),
        ({"environment/Dockerfile": "FROM x\nWORKDIR /app\nCOPY y .\n"}, "y is not there"),
        ({"environment/Dockerfile": "FROM x\nWORKDIR /app\nRUN make\n"}, "line 3: RUN make"),
        ({"environment/Dockerfile": "FROM x\nWORKDIR /app\nCOPY src/ /data/\n"},
         "files outside of /app: /data/.keep/x, /data/calc.py"),
        (config("cpus = 1", 'docker_image = "x/y:1"'), "the image x/y:1"),
        (config("cpus = 1", "gpus = 1"), "it needs an accelerator"),
        (config("cpus = 1", 'os = "windows"'), "it is for windows"),
        (config("cpus = 1", "cpus = 0"), "cpus must be a number above 0"),
        (config('"512M"', '"lots"'), "memory 'lots' must be like 2G"),
        (config("30.0", "true"), "timeout_sec must be a number above 0"),
        (config('"sour"', '"${KEY}"'), "[verifier] env takes FLAVOUR from the machine"),
        (config('"sour"', "1"), "[verifier] env is no table of texts"),
        (config("env =", 'environment_mode = "separate"\nenv ='), "an environment of their own"),
        (config("[metadata]", '[[steps]]\nname = "a"\n\n[metadata]'), "it has several steps"),
        ({"task.toml": 'verifier = 3\nschema_version = "1.1"'}, "[verifier] is no section"),
    ],
)  # fmt: skip
def test_a_task_that_cannot_be_used_says_why_and_stops_no_other(
    tmp_path: Path, changes: dict[str, str | None], says: str
) -> None:
    tasks = tmp_path / "tasks"
    write_task(tasks / "good")
    write_task(tasks / "wrong", **changes)
    good, wrong = read_harbor(tasks, cache=tmp_path / "cache").cases
    assert good.problem == ""
    assert says in wrong.problem


def test_every_problem_of_a_task_is_told(tmp_path: Path) -> None:
    changed = CONFIG.replace("cpus = 1", "cpus = 0\ngpus = 2")
    dockerfile = "FROM x\nRUN a\nCOPY --from=b /c /d\n"
    folder = write_task(
        tmp_path / "bad", **{"task.toml": changed, "environment/Dockerfile": dockerfile}
    )
    problem = read(folder, tmp_path / "cache").problem
    for words in ("accelerator", "RUN a, line 3: COPY --from", "'/' is not", "cpus must be"):
        assert words in problem


def test_whoever_has_the_image_can_run_what_needs_one(tmp_path: Path) -> None:
    dockerfile = "FROM x\nWORKDIR /app\nRUN make\nCOPY src/calc.py .\nCOPY src/ /data/\n"
    folder = write_task(tmp_path / "add", **{"environment/Dockerfile": dockerfile})
    case = read(folder, tmp_path / "cache", image="mine:1")
    assert case.problem == ""
    assert case.folder is not None
    assert [path.name for path in case.folder.iterdir()] == ["calc.py"]
    ready = write_task(
        tmp_path / "ready",
        **{
            "environment/Dockerfile": None,
            "task.toml": CONFIG.replace("cpus = 1", 'docker_image = "x"\nworkdir = "/app"'),
        },
    )
    empty = read(ready, tmp_path / "cache", image="mine:1")
    assert (empty.problem, empty.folder) == ("", None)


def test_where_there_is_no_task(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no task"):
        read_harbor(tmp_path, cache=tmp_path)
    with pytest.raises(InputError, match="no folder"):
        read_harbor(tmp_path / "gone", cache=tmp_path)


def test_laid_files_that_somebody_changed_are_not_used(tmp_path: Path) -> None:
    folder = write_task(tmp_path / "add")
    case = read(folder, tmp_path / "cache")
    assert case.folder is not None
    assert read(folder, tmp_path / "cache").folder == case.folder
    (case.folder / "calc.py").write_text("x", encoding="utf-8")
    assert "was changed" in read(folder, tmp_path / "cache").problem


CHECK = """
import json, pathlib, sys
from harbor.models.task.config import TaskConfig
found = TaskConfig.model_validate_toml(pathlib.Path(sys.argv[1]).read_text())
print(json.dumps([found.verifier.timeout_sec, found.environment.memory_mb, found.verifier.env]))
"""


@pytest.mark.registry
@pytest.mark.slow
def test_harbor_reads_the_same_of_a_task(foreign: Foreign, tmp_path: Path) -> None:
    folder = write_task(tmp_path / "add")
    spec: Any = read(folder, tmp_path / "cache").grader_spec
    timeout, memory, variables = foreign.ask(CHECK, str(folder / "task.toml"))
    assert (spec["timeout"], spec["memory"]) == (timeout, memory)
    assert json.dumps(variables) == '{"FLAVOUR": "sour"}'
