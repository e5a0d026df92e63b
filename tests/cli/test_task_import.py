"""`labkit task import`: instances as drafts, what validation says of them, and what is refused."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from cli.labs import ANA, Lab

from labkit.bundle import INSTANCE
from labkit.git import Repository
from labkit.model import TaskId
from labkit.tasks import read_task

At = Callable[[str], Lab]
BEGIN = "FAIL_TO_PASS"


def instance(lab: Lab, subject: str, **more: Any) -> dict[str, Any]:
    """Return a commit of the lab as an instance, tests apart from the rest."""
    commit = lab.commit(subject)

    def patch(*places: str) -> str:
        diff = lab.project.git("diff", f"{commit}~1", commit, "--", *places)
        return f"{diff}\n" if diff else ""

    return {
        "instance_id": f"blue__words-{subject.split(maxsplit=1)[0]}",
        "repo": "blue/words",
        "base_commit": lab.project.git("rev-parse", f"{commit}~1"),
        "patch": patch(":!tests"),
        "test_patch": patch("tests"),
        "problem_statement": f"# {subject}\r\n\r\nPlease do: words.py does not yet.",
        "FAIL_TO_PASS": "[]",
        "PASS_TO_PASS": [],
        "version": "1.0",
    } | more


def write(lab: Lab, *lines: Mapping[str, Any] | str) -> Path:
    """Write a file of instances."""
    path = lab.folder / "all.jsonl"
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path


def test_an_instance_that_a_commit_solved(lab_at: At) -> None:
    lab = lab_at("joined")
    path = write(lab, instance(lab, "Greet strangers", **{BEGIN: '["a.py::b"]'}))
    answer = lab.labkit("task", "import", str(path), me=ANA)
    assert answer.code == 0, answer.err
    task = TaskId("blue-words-greet")
    made = read_task(lab.workspace, task, lab.project.repository)
    assert made.solution == lab.commit("Greet strangers")
    assert made.base == lab.commit("Begin")
    assert made.title == "Greet strangers"
    assert made.prompt == "# Greet strangers\n\nPlease do: words.py does not yet.\n"
    assert made.forbidden == ("tests/", "evals/")
    assert made.notes == "instance blue__words-Greet of blue/words"
    draft = lab.workspace.draft(task)
    hidden = (draft / "hidden" / "tests" / "test_greet.py").read_text(encoding="utf-8")
    assert "test_empty" in hidden
    assert json.loads((draft / INSTANCE).read_bytes())["fail_to_pass"] == ["a.py::b"]
    assert not lab.workspace.fixture(task).exists()
    assert "made 1 of 1 task" in answer.err


def test_an_instance_that_no_commit_here_solved(lab_at: At) -> None:
    lab = lab_at("joined")
    changed = instance(lab, "Greet strangers")
    changed["patch"] = changed["patch"].replace("stranger", "nobody")
    changed["test_patch"] = changed["test_patch"].replace("stranger", "nobody")
    path = write(lab, changed)
    lab.done("task", "import", str(path), me=ANA)
    task = TaskId("blue-words-greet")
    made = read_task(lab.workspace, task, lab.project.repository)
    assert lab.workspace.fixture(task).is_file()
    repository: Repository = lab.project.repository
    told = repository.git("diff", "--name-only", made.base, made.solution).stdout
    assert told == b"words.py\n"  # everybody can read a fixture: its solution has no hidden test
    lab.done("task", "validate", str(task), "--repeats", "3")


def test_validation_compares_what_the_instance_names(lab_at: At) -> None:
    lab = lab_at("joined")
    named = ["tests/test_greet.py::test_name", "tests/test_greet.py::test_gone"]
    path = write(
        lab,
        instance(lab, "Greet strangers", **{BEGIN: named, "PASS_TO_PASS": ["test_empty"]}),
        instance(lab, "Shout aloud", **{BEGIN: '["test_loud (tests.Case)"]'}),
    )
    lab.done("task", "import", str(path), me=ANA)
    answer = lab.labkit("task", "validate", "--repeats", "3")
    assert answer.code == 0, answer.err
    told = [line for line in answer.err.splitlines() if "imported from" in line]
    start = "  the instance it was imported from: "
    assert told == [
        f"{start}1 test (tests/test_greet.py::test_name) should fail at the base, and did not",
        f"{start}1 test (tests/test_greet.py::test_gone) should begin to pass, and did not or was "
        "not run",
        f"{start}1 test (tests/test_greet.py::test_empty) began to pass, and the instance does not "
        "say so",
        f"{start}1 test (test_empty) should pass at the base, and did not",
    ]
    lab.done("task", "seal", "blue-words-greet", me=ANA)
    assert not lab.workspace.draft(TaskId("blue-words-greet")).exists()


def test_what_cannot_be_made_is_told_and_the_rest_goes_on(lab_at: At) -> None:
    lab = lab_at("joined")
    good = instance(lab, "Greet strangers")
    path = write(
        lab,
        good | {"instance_id": "gone-1", "base_commit": "ab" * 20},
        "{not json",
        good | {"instance_id": "stale-1", "patch": good["patch"].replace("Hello", "Hullo")},
        good | {"instance_id": "out-1", "test_patch": good["patch"]},
        good | {"instance_id": "blank-1", "problem_statement": " "},
        good,
        good | {"instance_id": "Blue__Words--greet"},
        good | {"instance_id": "nothing-1", "patch": "\n"},
    )
    answer = lab.labkit("task", "import", str(path), me=ANA)
    assert answer.code == 2
    for said in (
        "all.jsonl, line 1: gone-1: no commit ababababab of blue/words in this repository",
        "all.jsonl, line 2: not JSON",
        "line 3: stale-1: its patch does not apply to its base",
        "line 4: out-1: patch and test_patch both change words.py",
        'line 5: blank-1: "problem_statement" is empty',
        "line 7: Blue__Words--greet: there is a task blue-words-greet already",
        'line 8: nothing-1: "patch" is empty',
        "made 1 of 8 tasks",
    ):
        assert said in answer.err, said
    assert [str(task) for task in lab.workspace.task_ids()] == ["blue-words-greet"]


def test_only_what_was_asked_for_is_made_and_told(lab_at: At) -> None:
    lab = lab_at("joined")
    good = instance(lab, "Greet strangers")
    others = [good | {"instance_id": f"o-{n}", "base_commit": "cd" * 20} for n in range(4)]
    path = write(lab, good, *others, "{")
    answer = lab.labkit("task", "import", str(path), "--ids", "o-1,blue__words-Greet", me=ANA)
    assert answer.code == 0, answer.err
    assert "made 1 of 2 tasks" in answer.err
    assert "not JSON" not in answer.err
    again = lab.labkit("task", "import", str(path), me=ANA)
    assert again.code == 2
    assert "not made: 4 instances of blue/words: their bases are not here" in again.err


@pytest.mark.parametrize(
    ("content", "words", "says"),
    [
        (b"\xff", (), "not UTF-8"),
        (b"\n \n", (), "holds no instance"),
        (b"{}", ("--ids", "x-1"), "no readable instance x-1"),
        (b"{}", ("--category", "trap"), "cannot be a task of category 'trap'"),
        (b"{}", ("--category", "bug"), "cannot be a task of category 'bug'"),
        (None, (), "no file"),
    ],
)
def test_what_is_refused(
    lab_at: At, content: bytes | None, words: tuple[str, ...], says: str
) -> None:
    lab = lab_at("joined")
    path = lab.folder / "all.jsonl"
    if content is not None:
        path.write_bytes(content)
    lab.refused("task", "import", str(path), *words, code=2, says=(says,), me=ANA)


def test_nothing_is_imported_once_there_are_runs(lab_at: At) -> None:
    lab = lab_at("run")
    path = write(lab, instance(lab, "Greet strangers"))
    lab.refused("task", "import", str(path), code=2, says=("has runs already",), me=ANA)
