"""`labkit task mine`: what it lists and marks, what a check says, and that it writes nothing."""

import json
from collections.abc import Callable

import pytest
from cli.labs import ANA, Lab, Stages

At = Callable[[str], Lab]


def mined(lab: Lab, *words: str, code: int = 0) -> tuple[list[dict[str, object]], str]:
    answer = lab.labkit("task", "mine", "--json", *words)
    assert answer.code == code, answer.err
    found = json.loads(answer.out)
    assert found["schema"] == 1
    return found["commits"], answer.err


def commit(lab: Lab, files: dict[str, str], subject: str) -> None:
    for name, text in files.items():
        path = lab.project.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    lab.project.git("add", "--all")
    lab.project.git("commit", "--quiet", "--message", subject)


def test_the_best_commits_are_listed_with_reasons(stages: Stages) -> None:
    lab = stages.original("joined")
    before = lab.snapshot()
    answer = lab.labkit("task", "mine")
    assert answer.code == 0
    header, greet, why, *_ = answer.out.splitlines()
    assert header.split()[:4] == ["score", "commit", "date", "category"]
    assert greet.endswith(("Shout aloud", "Greet strangers"))
    assert "one source file; tests grow by" in why
    assert "3 commits read; left out: 1 the first commit" in answer.err
    assert "next: labkit task new --from " in answer.err
    assert lab.snapshot() == before


def test_limits_and_commits_that_are_used(stages: Stages) -> None:
    lab = stages.original("drafted")
    commits, _ = mined(lab, "--limit", "1")
    assert len(commits) == 1
    commits, _ = mined(lab)
    assert {one["used_by"] for one in commits} == {"greet-empty", "shout-loud"}
    answer = lab.labkit("task", "mine")
    assert "used already: greet-empty" in answer.out
    assert "next:" not in answer.err


def test_a_task_file_that_is_broken_stops_nothing(lab_at: At) -> None:
    lab = lab_at("drafted")
    for path in (lab.workspace.evals / "tasks").glob("greet*.yaml"):
        path.write_text("\t- what\n", encoding="utf-8")
    commits, told = mined(lab)
    assert {one["used_by"] for one in commits} == {None, "shout-loud"}
    assert "its commit is not marked" in told


def test_a_project_without_a_lab_can_be_listed(lab_at: At) -> None:
    lab = lab_at("joined")
    lab.workspace.evals.rename(lab.folder / "elsewhere")
    commits, _ = mined(lab)
    assert len(commits) == 2
    lab.refused("task", "mine", "--check", code=2, says=("no evals/labkit.yaml", "labkit init"))


@pytest.mark.usefixtures("bubblewrap_sandbox")
def test_a_check_tells_what_fits_and_leaves_nothing(lab_at: At) -> None:
    lab = lab_at("joined")
    same = "def test_nothing():\n    assert True\n\n\ndef test_more():\n    assert True\n"
    commit(lab, {"words.py": "x = 1\n", "tests/test_no.py": same}, "Fix what was never broken")
    before = lab.snapshot()
    commits, told = mined(lab, "--check")
    assert lab.snapshot() == before
    checks = {str(one["headline"]): one["check"] for one in commits}
    assert checks["Greet strangers"] == {
        "fits": True, "fail_to_pass": 1, "pass_to_pass": 1, "problems": [],
    }  # fmt: skip
    assert checks["Fix what was never broken"] == {
        "fits": False, "fail_to_pass": 0, "pass_to_pass": 2,
        "problems": ["nothing to solve: every hidden test passes at the base too"],
    }  # fmt: skip
    assert "checking 3 commits in bubblewrap" in told
    assert "[3/3] " in told
    assert "fits: 1 begin to pass, 1 keep passing" in told


@pytest.mark.usefixtures("bubblewrap_sandbox")
def test_when_nothing_fits_the_answer_is_no(lab_at: At) -> None:
    lab = lab_at("joined")
    same = "def test_nothing():\n    assert True\n\n\ndef test_more():\n    assert True\n"
    commit(lab, {"words.py": "x = 1\n", "tests/test_no.py": same}, "Fix what was never broken")
    answer = lab.labkit("task", "mine", "--check", "--path", "tests/test_no.py")
    assert answer.code == 1
    assert "does not fit: nothing to solve: every hidden test passes at the base too" in answer.out


def test_a_history_that_is_not_whole_says_so(lab_at: At) -> None:
    lab = lab_at("joined")
    oid = lab.project.git("rev-parse", "HEAD~2:tests/test_greet.py")
    (lab.project.folder / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
    says = ("git cannot read this history to its end", oid, "git fetch --refetch")
    lab.refused("task", "mine", code=3, says=says)


@pytest.mark.usefixtures("bubblewrap_sandbox")
def test_a_commit_that_cannot_be_checked_says_why(lab_at: At) -> None:
    lab = lab_at("joined")
    commit(lab, {"data.bin": "far away"}, "Keep some data")
    oid = lab.project.git("rev-parse", "HEAD:data.bin")
    commit(lab, {"words.py": "x = 1\n", "tests/test_no.py": "y = 1\n"}, "Fix it, on top of it")
    (lab.project.folder / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
    answer = lab.labkit("task", "mine", "--check", "--path", "tests/test_no.py")
    assert answer.code == 1
    assert "not checked: commit" in answer.out
    assert "lacks the content of 1 file, such as data.bin" in answer.out


def test_a_repository_without_a_fit_commit(lab_at: At) -> None:
    lab = lab_at("joined")
    answer = lab.labkit("task", "mine", "--path", "nowhere", me="")
    assert (answer.code, answer.out) == (0, "")
    assert "no commit touches both source and tests; labkit task new --blank" in answer.err


def test_what_it_lists_makes_a_task(lab_at: At) -> None:
    lab = lab_at("joined")
    commits, _ = mined(lab)
    lab.done("task", "new", "--from", str(commits[0]["commit"]), me=ANA)
