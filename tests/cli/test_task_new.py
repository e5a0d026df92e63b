"""`labkit task new`: what is derived, what is asked, what is written, and what is left after ^C."""

import os
import pty
import subprocess
from collections.abc import Callable

import pytest
from cli.labs import ANA, GREET, Answer, Lab, Stages, heed_interrupts, labkit

from labkit.model import TaskId
from labkit.nodes import dump_yaml
from labkit.tasks import read_task

At = Callable[[str], Lab]


Dialogue = tuple[tuple[str, str], ...]
"""What is waited for on the terminal, and what is typed then."""


def typed(lab: Lab, *words: str, answers: Dialogue) -> Answer:
    """Run a command at a terminal of its own, where a person reads and types."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        labkit(*words, "--me", ANA),
        cwd=lab.project.folder,
        env=lab.environment(),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        preexec_fn=lambda: (heed_interrupts(), os.login_tty(theirs)),  # type: ignore[func-returns-value] # noqa: PLW1509
    ) as program:
        os.close(theirs)
        shown = ""
        for question, keys in answers:
            at = len(shown)
            while question not in shown[at:]:
                piece = _read(ours)
                assert piece, f"no {question!r} in {shown}"
                shown += piece
            os.write(ours, keys.encode())
        while piece := _read(ours):
            shown += piece
    os.close(ours)
    return Answer(code=program.returncode, out="", err=shown.replace("\r\n", "\n"))


def _read(terminal: int) -> str:
    try:
        return os.read(terminal, 4096).decode()
    except OSError:  # the other end was closed
        return ""


def commit(lab: Lab, files: dict[str, str], subject: str) -> None:
    """Commit as a member does who has joined: evals/ stays out."""
    for name, text in files.items():
        (lab.project.folder / name).write_text(text, encoding="utf-8")
    lab.project.git("add", "--all")
    lab.project.git("commit", "--quiet", "--message", subject)


def test_everything_is_derived_and_said(lab_at: At) -> None:
    lab = lab_at("joined")
    lab.project.git("commit", "--amend", "-q", "-m", "Fix shouting at Übergrößen (#12)\n\nBody")
    answer = lab.labkit("task", "new", "--from", "HEAD", me=ANA)
    assert answer.code == 0, answer.err
    assert 'guessed: bugfix, because its message says "fix"; --category changes it' in answer.err
    task = TaskId("bug-shouting-at-ubergroen")
    made = read_task(lab.workspace, task, lab.project.repository)
    assert made.title == "Fix shouting at Übergrößen (#12)"
    assert (made.base, made.solution) == (
        lab.project.git("rev-parse", "HEAD~1"),
        lab.project.git("rev-parse", "HEAD"),
    )
    assert (made.forbidden, made.allowed) == (("tests/", "evals/"), ())
    hidden = lab.workspace.draft(task) / "hidden"
    assert [path.name for path in hidden.rglob("*.py")] == ["test_shout.py"]
    assert not (lab.workspace.draft(task) / "hidden.yaml").exists()
    assert "shout" not in lab.workspace.prompt(task).read_text(encoding="utf-8").lower()
    text = lab.workspace.task(task).read_text(encoding="utf-8")
    assert f'base: "{made.base}"' in text  # some ids look like numbers


def test_the_second_task_of_a_commit_gets_another_id(lab_at: At) -> None:
    lab = lab_at("joined")
    for name in ("bug-greet-strangers", "bug-greet-strangers-2", "bug-greet-strangers-3"):
        words = ("--commit", lab.commit("Greet strangers"), "--category", "bugfix")
        lab.done("task", "new", *words, me=ANA)
        assert lab.workspace.task(TaskId(name)).is_file()


def test_a_commit_that_says_nothing_gives_its_id(lab_at: At) -> None:
    lab = lab_at("joined")
    lab.project.git("commit", "--amend", "-q", "-m", "修复")
    short = lab.project.git("rev-parse", "HEAD")[:7]
    lab.done("task", "new", "--from", "HEAD", me=ANA)
    assert lab.workspace.task(TaskId(f"bug-{short}")).is_file()


def test_several_commits_make_one_task(lab_at: At) -> None:
    lab = lab_at("joined")
    lab.done("task", "new", "both", "--from", "HEAD", "--base", "HEAD~2", me=ANA)
    made = read_task(lab.workspace, TaskId("both"), lab.project.repository)
    assert made.base == lab.project.git("rev-parse", "HEAD~2")
    hidden = lab.workspace.draft(TaskId("both")) / "hidden" / "tests"
    assert sorted(path.name for path in hidden.iterdir()) == ["test_greet.py", "test_shout.py"]


def test_tests_that_moved_leave_their_old_places(lab_at: At) -> None:
    lab = lab_at("joined")
    lab.project.git("mv", "tests/test_greet.py", "tests/test_greeting.py")
    script = lab.project.folder / "tests" / "run"
    script.write_text("#!/bin/sh\n", encoding="utf-8")
    script.chmod(0o755)
    commit(lab, {"words.py": "x = 1\n"}, "Rework")
    lab.done("task", "new", "moved", "--from", "HEAD", me=ANA)
    draft = lab.workspace.draft(TaskId("moved"))
    text = (draft / "hidden.yaml").read_text(encoding="utf-8")
    layout = {"executable": ["tests/run"], "removed": ["tests/test_greet.py"]}
    assert text.endswith(dump_yaml(layout))
    assert os.access(draft / "hidden" / "tests" / "run", os.X_OK)
    shown = lab.labkit("task", "validate", "moved", "--repeats", "3", me=ANA).err
    assert "has no place in a draft" not in shown


def test_a_commit_without_tests_gets_an_empty_draft(lab_at: At) -> None:
    lab = lab_at("joined")
    commit(lab, {"words.py": "x = 1\n"}, "Break everything")
    answer = lab.labkit("task", "new", "none", "--from", "HEAD", me=ANA)
    assert answer.code == 0, answer.err
    assert "the commit adds or changes no test, so there is no hidden test yet" in answer.err
    assert list((lab.workspace.draft(TaskId("none")) / "hidden").iterdir()) == []


def test_a_tests_task_may_touch_nothing_else(lab_at: At) -> None:
    lab = lab_at("joined")
    commit(lab, {"tests/test_more.py": "def test_more(): pass\n"}, "More")
    answer = lab.labkit("task", "new", "more", "--from", "HEAD", me=ANA)
    assert "guessed: tests, because it touches nothing but tests" in answer.err
    made = read_task(lab.workspace, TaskId("more"), lab.project.repository)
    assert (made.forbidden, made.allowed) == ((), ("tests/",))


@pytest.mark.parametrize("category", ["bugfix", "trap"])
def test_a_task_that_no_commit_solved(lab_at: At, category: str) -> None:
    lab = lab_at("joined")
    answer = lab.labkit("task", "new", "own", "--blank", category, "--base", "HEAD~1", me=ANA)
    assert answer.code == 0, answer.err
    text = lab.workspace.task(TaskId("own")).read_text(encoding="utf-8")
    assert f'base: "{lab.project.git("rev-parse", "HEAD~1")}"' in text
    assert "solution:" not in text
    assert ("solution:" in answer.err) == (category == "bugfix")
    assert (lab.workspace.draft(TaskId("own")) / "examples").is_dir() == (category == "trap")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--blank", "bugfix", "--from", "HEAD"), ("a blank task has no commit", "--base SHA")),
        (("--blank", "bugfix", "--category", "trap"), ("do not go together",)),
        (("--blank", "bag"), ("there is no category 'bag'",)),
        (("--from", "HEAD", "--base", "HEAD~1", "--parent", "1"), ("--parent and --base both",)),
        (("--from", "HEAD~1", "--base", "HEAD"), ("does not lead to", "own history")),
        (("--from", "HEAD", "--base", "nope"), ("no commit 'nope'",)),
        (("--from", "7175184"), ("no commit '7175184'",)),
        (("--from", "1e10"), ("no commit '1e10'",)),
    ],
    ids=["both", "two", "category", "parent", "order", "base", "number", "exponent"],
)
def test_what_does_not_go_together(
    stages: Stages, words: tuple[str, ...], says: tuple[str, ...]
) -> None:
    stages.original("joined").refused("task", "new", "x", *words, me=ANA, code=2, says=says)


def test_a_clone_that_is_not_whole(lab_at: At) -> None:
    lab = lab_at("joined")
    base = lab.project.git("rev-parse", "HEAD~1")
    oid = lab.project.git("rev-parse", "HEAD~1:words.py")
    (lab.project.folder / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
    says = (f"commit {base[:10]} is not whole in this clone", "words.py", "git fetch --refetch")
    lab.refused("task", "new", "--from", "HEAD", me=ANA, code=3, says=says)


def test_at_a_terminal_what_is_missing_is_asked(lab_at: At) -> None:
    lab = lab_at("joined")
    answers = (
        ("The commit that solved it", "nope\n"),
        ("no commit 'nope'", "HEAD~1\n"),
        ("Category: bugfix, feature", "bug\n"),
        ("there is no category 'bug'", "bugfix\n"),
        ("Id [bug-greet-strangers]", "\n"),
        ("Title [Greet strangers]", "A title\n"),
    )
    shown = typed(lab, "task", "new", answers=answers)
    assert shown.code == 0, shown.err
    made = read_task(lab.workspace, TaskId("bug-greet-strangers"), lab.project.repository)
    assert (made.title, str(made.category)) == ("A title", "bugfix")
    assert "guessed" not in shown.err  # the author said it


def test_nothing_is_asked_with_yes(lab_at: At) -> None:
    lab = lab_at("joined")
    answer = typed(lab, "task", "new", "--from", "HEAD", "--yes", answers=())
    assert answer.code == 0, answer.err
    assert "[" not in answer.err


@pytest.mark.parametrize("answered", [0, 1, 2, 3])
def test_an_interrupted_answer_leaves_nothing(lab_at: At, answered: int) -> None:
    lab = lab_at("joined")
    before = lab.snapshot()
    questions = ("The commit", "Category", "Id", "Title")
    answers = [(question, "HEAD\n" if question == "The commit" else "\n") for question in questions]
    answers[answered] = (questions[answered], "\x03")
    answer = typed(lab, "task", "new", answers=tuple(answers[: answered + 1]))
    assert answer.code == 130, answer.err
    assert lab.snapshot() == before
    assert not (lab.workspace.handover / "drafts").exists()


def test_a_taken_id_is_asked_for_again(lab_at: At) -> None:
    lab = lab_at("drafted")
    answers = (("Category", "\n"), ("Id", f"{GREET}\n"), ("already", "other\n"), ("Title", "\n"))
    shown = typed(lab, "task", "new", "--from", "HEAD", answers=answers)
    assert shown.code == 0, shown.err
    assert lab.workspace.task(TaskId("other")).is_file()
