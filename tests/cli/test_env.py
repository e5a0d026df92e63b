"""`labkit env`, and the commands that make environments by themselves, in labs that need them."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.labs import ANA, BEN, GREET, RUNS, SHOUT, TARA, Lab
from environs import wheel

pytestmark = pytest.mark.bubblewrap

At = Callable[[str], Lab]
TOLD = ("  image:", "  setup:", "  files:", "  build:")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return the variables of a machine whose index is one folder."""
    wheel(tmp_path / "wheels", "tiny", "3.0", {"tiny.py": "SIZE = 3\n"})
    monkeypatch.delenv("PIP_CONFIG_FILE", raising=False)
    return {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(tmp_path / "wheels"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }


def tell(lab: Lab, *lines: str) -> None:
    """Write lines into the team's environment."""
    text = "".join(f"\n  {line}" for line in lines)
    settings = lab.workspace.settings.read_text(encoding="utf-8")
    head, _, rest = settings.partition("environment:\n")
    kept = [line for line in rest.splitlines(keepends=True) if not line.startswith(TOLD)]
    lab.workspace.settings.write_text(f"{head}environment:{text}\n{''.join(kept)}", "utf-8")


def tell_task(lab: Lab, task: object, *lines: str) -> None:
    """Give a task an environment of its own."""
    path = lab.workspace.evals / "tasks" / f"{task}.yaml"
    text = "".join(f"  {line}\n" for line in lines)
    path.write_text(f"{path.read_text('utf-8')}environment:\n{text}", "utf-8")


def keys(listed: str) -> dict[str, str]:
    """Return what `labkit env list` says of each key."""
    return {line.split()[0]: line for line in listed.splitlines()}


def test_environments_are_made_listed_and_pruned(lab_at: At, index: dict[str, str]) -> None:
    lab = lab_at("drafted")
    tell(lab, 'setup: ["pip install tiny"]')
    first = lab.labkit("env", "list", **index)
    assert first.out.count("not made") == 2
    key, other = keys(first.out)
    assert f"labkit env build {GREET} makes it" in first.err
    built = lab.labkit("env", "build", **index)
    assert built.code == 0
    assert f"making the environment {key} of " in built.err
    assert "  setup 1 of 1: pip install tiny\n" in built.err
    again = lab.labkit("env", "build", **index)
    assert "setup 1" not in again.err
    assert f"{GREET}: {key}" in again.err
    assert "setup 1" in lab.labkit("env", "build", "--again", str(GREET), **index).err
    for each, line in keys(lab.done("env", "list", **index)).items():
        assert " MiB " in line
        assert str(GREET if each == key else SHOUT) in line
    assert "nothing to remove" in lab.labkit("env", "prune", **index).err
    tell(lab, 'setup: ["pip install tiny", "true"]')
    assert "no task of this lab" in keys(lab.done("env", "list", **index))[other]
    lab.done("env", "build", str(GREET), **index)
    pruned = lab.labkit("env", "prune", **index).err
    assert pruned.splitlines() == sorted([f"removed {key}", f"removed {other}"])
    assert not {key, other} & set(keys(lab.done("env", "list", **index)))
    lab.done("env", "build", str(SHOUT), **index)
    assert "removed " in lab.labkit("env", "prune", "--all", **index).err


def test_a_file_that_the_base_does_not_have_is_told(lab_at: At, index: dict[str, str]) -> None:
    lab = lab_at("drafted")
    tell(lab, 'setup: ["true"]', 'files: ["requirements.txt"]')
    refused = lab.labkit("env", "build", **index)
    assert refused.code == 1
    assert f"task {SHOUT}: " in refused.err
    assert f"task {GREET}: environment: names the file requirements.txt" in refused.err


def test_one_tasks_failing_setup_does_not_stop_the_others(
    lab_at: At, index: dict[str, str]
) -> None:
    lab = lab_at("drafted")
    tell(lab, 'setup: ["pip install tiny"]')
    tell_task(lab, SHOUT, 'setup: ["true", "echo so wrong >&2; exit 9"]')
    answer = lab.labkit("task", "validate", "--repeats", "3", **index)
    assert answer.code == 3
    assert f"task {SHOUT}: the setup command 'echo so wrong >&2; exit 9' ended in 9" in answer.err
    assert "the last it said:\n    so wrong" in answer.err
    assert f"{GREET} (bugfix): sound" in answer.err
    assert f"{SHOUT} (bugfix): NOT EXAMINED" in answer.err
    assert not lab.workspace.validation(SHOUT).exists()
    tell_task_again = lab.workspace.task(SHOUT)
    text = tell_task_again.read_text(encoding="utf-8").replace("exit 9", "exit 0")
    tell_task_again.write_text(text, encoding="utf-8")
    assert lab.labkit("task", "validate", "--repeats", "3", **index).code == 0


def test_a_whole_lab_in_environments_of_its_own(lab_at: At, index: dict[str, str]) -> None:
    lab = lab_at("drafted")
    needs = "python -c 'import tiny; assert tiny.SIZE == 3'"
    tell(lab, 'setup: ["pip install tiny"]', f'build: ["{needs}", "echo x > made.txt"]')
    tell_task(lab, SHOUT, 'variables: {FLAVOUR: "sour"}')
    lab.steps(RUNS[1], f'run: "{needs} && cat made.txt"', 'finish: "Nothing."')
    lab.done("task", "validate", "--repeats", "3", **index)
    for name in (ANA, BEN):
        lab.done("task", "seal", me=name)
    lab.done("task", "freeze", "--pilot", me=ANA)
    for name in (ANA, BEN):
        lab.done("task", "run", me=name, **index)
        lab.done("handin", me=name)
    lab.done("leaks")
    lab.done("grade", me=TARA, **index)
    known = keys(lab.done("env", "list", **index))
    for run in RUNS:
        folder = lab.workspace.raw / run
        record = json.loads((folder / "run.json").read_text())
        grade = json.loads((folder / "grade.json").read_text())
        assert record["environment"] == grade["environment"]
        assert str(record["run"]).split("__")[0] in known[record["environment"]]
        assert record["environment"] in record["image_digest"]
        assert grade["verdict"] == ("pass" if "__A__" in run else "fail"), grade["reason"]
        assert b"made.txt" not in (folder / "diff.patch").read_bytes()
    transcript = (lab.workspace.raw / RUNS[1] / "transcript.jsonl").read_text()
    assert '"exit_code": 0' in transcript


def test_two_processes_make_an_environment_once(lab_at: At, index: dict[str, str]) -> None:
    lab = lab_at("drafted")
    tell(lab, 'setup: ["sleep 2"]', 'files: ["words.py"]')
    both = [lab.start("env", "build", str(GREET), **index) for _ in range(2)]
    said = [each.communicate(timeout=60)[1] for each in both]
    assert [each.returncode for each in both] == [0, 0]
    assert sum("setup 1 of 1: sleep 2" in each for each in said) == 1
    assert sum("another labkit makes an environment" in each for each in said) == 1


def test_a_killed_setup_leaves_nothing_half_made(lab_at: At, index: dict[str, str]) -> None:
    lab = lab_at("drafted")
    tell(lab, 'setup: ["echo part > $VIRTUAL_ENV/part; sleep 600"]', 'files: ["words.py"]')
    building = lab.start("env", "build", str(GREET), **index)
    made = Path(index["XDG_CACHE_HOME"], "labkit", "environments")
    assert building.stderr
    for line in building.stderr:
        if "setup 1" in line:
            break
    building.kill()
    building.communicate(timeout=60)
    for key in keys(lab.done("env", "list", **index)):
        assert not (made / key).exists()
    assert "scratch folder" in lab.done("clean", **index)
    assert list(made.iterdir()) == []


def test_prune_refuses_where_it_cannot_know(lab_at: At, index: dict[str, str]) -> None:
    lab = lab_at("drafted")
    tell(lab, 'setup: ["apt-get install gcc"]')
    answer = lab.labkit("env", "prune", **index)
    assert answer.code == 2
    assert "needs the superuser (apt-get)" in answer.err
    assert "--all" in answer.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("env", "build", "nothing-1"), "no task nothing-1"),
        (("env", "build", "Bad Id"), "task id 'Bad Id'"),
        (("env", "list", "--sandbox", "cloud"), "no sandbox is called 'cloud'"),
    ],
)
def test_bad_words_are_refused(lab_at: At, words: tuple[str, ...], says: str) -> None:
    lab_at("drafted").refused(*words, code=2, says=(says,))


def test_a_bad_environment_of_a_task_is_told_with_its_file(lab_at: At) -> None:
    lab = lab_at("drafted")
    tell_task(lab, GREET, "setup: pip", "dockerfile: none")
    answer = lab.labkit("env", "build")
    assert answer.code == 2
    for words in ("greet-empty.yaml, environment", '"setup" must be a list', "no file evals/none"):
        assert words in answer.err


def test_the_suite_version_pins_a_tasks_environment(lab_at: At) -> None:
    lab = lab_at("frozen")
    tell_task(lab, GREET, 'build: ["true"]')
    lab.refused("task", "run", me=ANA, code=3, says=(str(GREET),))


AGENT = """\
id: {letter}
agent: command
agent_version: "{version}"
model: "none"
command: ["python3", "/opt/labkit/env/agent/tool.py"]
install: ["pip install --target /opt/labkit/env/agent {package}"]
"""


def tell_agent(lab: Lab, letter: str, package: str, version: str = "1.0") -> None:
    """Write a configuration whose agent has to be installed."""
    text = AGENT.format(letter=letter, package=package, version=version)
    (lab.workspace.evals / "configs" / f"{letter}.yaml").write_text(text, encoding="utf-8")


def test_agents_are_put_on_top_listed_and_kept(
    lab_at: At, index: dict[str, str], tmp_path: Path
) -> None:
    wheel(tmp_path / "wheels", "tool", "1.0", {"tool.py": "print('tool')\n"})
    lab = lab_at("drafted")
    tell(lab, 'setup: ["pip install tiny"]', 'files: ["words.py"]')
    tell_agent(lab, "C", "tool")
    built = lab.labkit("env", "build", "--agent", "C", **index)
    assert built.code == 0, built.err
    assert "of command 1.0 for " in built.err
    again = lab.labkit("env", "build", "--agent", "command", **index)
    assert "making" not in again.err
    assert f"command 1.0 for {GREET}: " in again.err
    listed = lab.done("env", "list", **index)
    agents = [line for line in listed.splitlines() if "command 1.0 for " in line]
    assert len(agents) == 2
    assert all(" MiB " in line for line in agents)
    assert "nothing to remove" in lab.labkit("env", "prune", **index).err
    (lab.workspace.evals / "configs" / "C.yaml").unlink()
    pruned = lab.labkit("env", "prune", **index).err
    assert sorted(line.split()[-1] for line in pruned.splitlines()) == sorted(
        line.split()[0] for line in agents
    )
    assert str(GREET) in lab.done("env", "list", **index)


def test_one_agent_that_cannot_be_installed_does_not_stop_the_others(
    lab_at: At, index: dict[str, str], tmp_path: Path
) -> None:
    wheel(tmp_path / "wheels", "tool", "1.0", {"tool.py": "print('tool')\n"})
    lab = lab_at("drafted")
    tell_agent(lab, "C", "tool")
    tell_agent(lab, "D", "no-such-tool", version="2.0")
    built = lab.labkit("env", "build", "--agent", "D", "--agent", "C", **index)
    assert built.code == 1
    assert "agent command 2.0 for " in built.err
    assert "no-such-tool" in built.err
    assert "labkit env build --agent NAME tries again" in built.err
    assert f"command 1.0 for {GREET}: " in built.err


def test_an_agent_is_built_where_there_is_no_task_yet(
    lab_at: At, index: dict[str, str], tmp_path: Path
) -> None:
    wheel(tmp_path / "wheels", "tool", "1.0", {"tool.py": "print('tool')\n"})
    lab = lab_at("joined")
    tell_agent(lab, "C", "tool")
    built = lab.labkit("env", "build", "--agent", "C", **index)
    assert built.code == 0, built.err
    key = built.err.splitlines()[-1].removeprefix("command 1.0: ")
    assert "command 1.0" in keys(lab.done("env", "list", **index))[key]


def test_an_agent_that_nobody_knows_is_told(lab_at: At, index: dict[str, str]) -> None:
    lab = lab_at("drafted")
    refused = lab.labkit("env", "build", "--agent", "cloud-code", **index)
    assert refused.code == 2
    assert "no agent or configuration is called 'cloud-code'" in refused.err
    assert "A, B, claude-code, codex" in refused.err


def test_nothing_is_removed_while_a_configuration_cannot_be_read(
    lab_at: At, index: dict[str, str]
) -> None:
    lab = lab_at("drafted")
    (lab.workspace.evals / "configs" / "C.yaml").write_text("agent: [\n", encoding="utf-8")
    refused = lab.labkit("env", "prune", **index)
    assert refused.code == 2
    assert "nothing is removed" in refused.err
