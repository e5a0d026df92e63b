"""The callable agent: a function, called in a sandbox, and what comes of its answer."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from gitrepo import make_project
from hypothesis import given
from hypothesis import strategies as st
from runs import A, Lab, a_configuration

from labkit.configurations import Configuration
from labkit.errors import InputError
from labkit.model import Api, Ending, RunId, TaskId
from labkit.sandbox.interface import Sandbox
from labkit.transcripts.detect import read_transcript
from labkit_runner.agents import callable_player
from labkit_runner.agents.callable import CallableAgent
from labkit_runner.agents.interface import DUMMY_KEY, GATEWAY, Launch, Left, Request, Said
from labkit_runner.attempt import perform

SOLVE = "def solve(task, workdir):\n"


def played(folder: Path, body: str, name: str = "solve") -> tuple[Left, Path]:
    """Play a function as in a sandbox, but here, and return what it left and its workspace."""
    workspace = folder / "workspace"
    workspace.mkdir(exist_ok=True)
    subprocess.run(["git", "init", "-q"], cwd=workspace, check=True)
    (workspace / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    (folder / "mine.py").write_text(body)
    task = {
        "id": "bug-a",
        "prompt": "Mend it.",
        "seed": 7,
        "model": "m",
        "effort": "",
        "turn_cap": 5,
    }
    (folder / "task.json").write_text(json.dumps(task))
    argv = [sys.executable, callable_player.__file__]
    argv += [str(folder / "task.json"), str(folder / "mine.py"), name]
    done = subprocess.run(argv, cwd=workspace, capture_output=True, check=False)
    left = Left(transcript=done.stdout, stderr=done.stderr, sessions={}, exit_code=done.returncode)
    return left, workspace


AGENT = CallableAgent(Path())
EDIT = "{'path': 'calc.py', 'search': 'a - b', 'replace': 'a + b'}"
DIFF = (
    "--- a/calc.py\n+++ b/calc.py\n@@ -1,2 +1,2 @@\n def add(a, b):\n"
    "-    return a - b\n+    return a + b\n"
)


@pytest.mark.parametrize(
    "answer",
    [
        f"{{'replacements': [{EDIT}], 'message': 'Mended.', 'cost': 0.5}}",
        f"{{'diff': {DIFF!r}, 'message': 'Mended.', 'cost': 0.5}}",
        f"types.SimpleNamespace(replacements=[types.SimpleNamespace(**{EDIT})], "
        "message='Mended.', cost=0.5)",
    ],
    ids=["replacements", "diff", "object"],
)
def test_an_answer_is_applied_and_told(tmp_path: Path, answer: str) -> None:
    left, workspace = played(tmp_path, f"import types\n{SOLVE}    return {answer}\n")
    assert "a + b" in (workspace / "calc.py").read_text()
    told = AGENT.account(left)
    assert (told.said, told.final_message, told.cost) == (Said.COMPLETED, "Mended.", 0.5)
    transcript = read_transcript(left.transcript, agent="callable")
    assert (transcript.format, transcript.gaps) == ("callable", ())


def test_it_is_told_of_its_task_and_may_print_and_write_itself(tmp_path: Path) -> None:
    body = (
        "import os\n"
        "async def solve(task, workdir):\n"
        '    print(\'{"type": "finish"}\')\n'
        "    os.system('echo printed')\n"
        "    (workdir / 'new.txt').write_text(f'{task.id} {task.seed} {task.prompt}')\n"
    )
    left, workspace = played(tmp_path, body)
    assert (workspace / "new.txt").read_text() == "bug-a 7 Mend it."
    assert AGENT.account(left).said is Said.COMPLETED
    assert AGENT.account(left).final_message == ""
    assert b"printed" in left.stderr
    assert read_transcript(left.transcript, agent="callable").gaps == ()


def test_what_it_says_it_did_is_in_the_transcript(tmp_path: Path) -> None:
    left, _ = played(tmp_path, f"{SOLVE}    return {{'trace': [{{'step': 'thought'}}]}}\n")
    transcript = read_transcript(left.transcript, agent="callable")
    assert any("thought" in step.text for step in transcript.steps)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (f"{SOLVE}    raise ValueError('no idea')\n", "ValueError: no idea"),
        (f"{SOLVE}    raise SystemExit(0)\n", "SystemExit: 0"),
        ("import nothing_of_the_kind\n", "No module named 'nothing_of_the_kind'"),
        ("def solve(:\n", "SyntaxError"),
        ("solved = 1\n", "mine.py has no function solve"),
        (f"{SOLVE}    return 5\n", "returned a int: that is no answer"),
        (f"{SOLVE}    return {{'edits': []}}\n", "'edits' is no field of an answer"),
        (f"{SOLVE}    return {{'diff': 5}}\n", "diff is a int, not a text"),
        (f"{SOLVE}    return {{'diff': 'nonsense'}}\n", "the diff does not apply"),
        (f"{SOLVE}    return {{'replacements': 'x'}}\n", "replacements is not a list of edits"),
        (f"{SOLVE}    return {{'replacements': [5]}}\n", "edit 1: path is no text"),
    ],
    ids=lambda text: text[:30].strip(),
)
def test_its_own_failures_are_told_by_their_last_line(
    tmp_path: Path, body: str, reason: str
) -> None:
    told = AGENT.account(played(tmp_path, body)[0])
    assert told.said is Said.AGENT_ERROR
    assert reason in told.reason


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (("calc.py", "nothing", "x"), "stands 0 times in calc.py"),
        (("calc.py", "a", "x"), "times in calc.py"),
        (("calc.py", "", "x"), "an empty search makes a new file"),
        (("none.py", "a", "x"), "there is no file none.py"),
        (("../calc.py", "", "x"), "is not a path in the workspace"),
        (("/calc.py", "", "x"), "is not a path in the workspace"),
        ((".git/hooks/x", "", "x"), "is not a path in the workspace"),
        (("sub/.GIT/x", "", "x"), "is not a path in the workspace"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_an_edit_that_does_not_fit_changes_nothing(
    tmp_path: Path, edit: tuple[str, str, str], why: str
) -> None:
    bad = dict(zip(("path", "search", "replace"), edit, strict=True))
    body = f"{SOLVE}    return {{'replacements': [{EDIT}, {bad!r}]}}\n"
    left, workspace = played(tmp_path, body)
    told = AGENT.account(left)
    assert told.said is Said.AGENT_ERROR
    assert told.reason.startswith("edit 2: ")
    assert why in told.reason
    assert "a - b" in (workspace / "calc.py").read_text()


def test_links_out_of_the_workspace_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "outside.txt").write_text("a")
    (tmp_path / "workspace" / "link.txt").symlink_to(tmp_path / "outside.txt")
    edit = {"path": "link.txt", "search": "a", "replace": "b"}
    left, _ = played(tmp_path, f"{SOLVE}    return {{'replacements': [{edit!r}]}}\n")
    assert "is not a plain file of the workspace" in AGENT.account(left).reason
    assert (tmp_path / "outside.txt").read_text() == "a"


@given(st.binary(max_size=300), st.sampled_from([0, 1, None]))
def test_any_bytes_have_an_account(data: bytes, code: int | None) -> None:
    start = b'{"type": "start", "agent": "callable"}\n'
    for transcript in (data, start + data):
        left = Left(transcript=transcript, stderr=data, sessions={}, exit_code=code)
        assert AGENT.account(left).said in Said


def launched(folder: Path, api: Api | None = None, **changes: object) -> Launch:
    (folder / "agents").mkdir(exist_ok=True)
    (folder / "agents" / "mine.py").write_text(SOLVE + "    pass\n")
    fields = {"agent": "callable", "callable": "agents/mine.py:solve", "steps": "", **changes}
    run = RunId(TaskId("bug-a"), A, 1)
    configuration = a_configuration(**fields)  # type: ignore[arg-type] # fields by name
    request = Request(run=run, configuration=configuration, prompt="Mend it.", seed=7, api=api)
    return CallableAgent(folder).launch(request)


def test_it_is_given_a_way_to_a_model_where_a_provider_is_named(tmp_path: Path) -> None:
    assert launched(tmp_path).environment == {}
    told = launched(tmp_path, Api.RESPONSES, settings={"X": "1"}).environment
    wanted = {"OPENAI_BASE_URL": f"{GATEWAY}/v1", "OPENAI_API_KEY": DUMMY_KEY, "X": "1"}
    assert told == wanted
    with pytest.raises(InputError, match="would move the model's endpoint"):
        launched(tmp_path, Api.RESPONSES, settings={"OPENAI_BASE_URL": "http://x"})


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no file configs/other\.py"):
        launched(tmp_path, callable="other.py:solve")


def a_callable() -> Configuration:
    return a_configuration(A, agent="callable", callable="mine.py:solve", steps="")


def test_it_solves_a_task_in_a_sandbox(tmp_path: Path, sandbox: Sandbox) -> None:
    project = make_project(tmp_path / "project")
    project.commit({"calc.py": "def add(a, b):\n    return a - b\n"})
    project.git("tag", "base")
    lab = Lab(project, sandbox)
    path = lab.workspace.evals / "configs" / "mine.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{SOLVE}    return {{'replacements': [{EDIT}], 'message': 'Mended.'}}\n")
    run = RunId(TaskId("bug-a"), A, 1)
    record = perform(lab.bench, lab.job(a_callable(), run), lab.workspace.run(run))
    assert record.ending is Ending.COMPLETED
