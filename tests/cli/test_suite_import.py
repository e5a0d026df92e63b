"""`labkit suite import`: other tools' tasks as a suite, and their own solutions on it."""

from pathlib import Path

import pytest
from cli.desk import Desk
from harbortasks import write_task
from instances import solved_project, write_instances

from labkit.evals import read_report
from labkit.evals.suitefile import read_suite

WRONG = {"instruction.md": None}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk.at(tmp_path)


def solved(desk: Desk, candidate: str) -> float:
    """Return the reward of a candidate on the imported suite."""
    words = ("--suite", "mine", "--candidate", candidate, "--out", f"run-{len(candidate)}")
    desk.done("evaluate", *words)
    return float(read_report(desk.folder / words[-1]).reward or 0)


@pytest.mark.bubblewrap
@pytest.mark.usefixtures("bubblewrap_sandbox")
def test_tasks_of_harbor(desk: Desk) -> None:
    write_task(desk.folder / "tasks" / "add")
    write_task(desk.folder / "tasks" / "bad", **WRONG)
    answer = desk.done("suite", "import", "tasks", "mine", code=1)
    assert "left out: bad: it has no instruction.md" in answer.err
    assert "mine/suite.json has 1 of 2 tasks" in answer.err
    assert "--candidate solutions:tasks" in answer.err
    assert solved(desk, "solutions:tasks") == 1
    assert solved(desk, "nothing") == 0.25
    (case,) = read_suite(desk.folder / "mine").suite.cases
    assert case.folder is not None
    assert case.folder.parent == desk.folder / "mine" / "files"
    desk.done("suite", "check", "mine")


@pytest.mark.bubblewrap
@pytest.mark.usefixtures("bubblewrap_sandbox")
def test_instances(tmp_path: Path) -> None:
    project = solved_project(tmp_path / "words")
    write_instances(project, {}, {"instance_id": "odd", "FAIL_TO_PASS": ["bare"]})
    desk = Desk.at(project.folder)
    answer = desk.done("suite", "import", "../../all.jsonl", "mine", code=1)
    assert "left out: odd: 'bare' is no test as pytest names them" in answer.err
    assert solved(desk, "patches:mine/gold.jsonl") == 1
    assert solved(desk, "nothing") == 0


def test_what_is_refused(desk: Desk) -> None:
    write_task(desk.folder / "tasks" / "bad", **WRONG)
    (desk.folder / "empty").mkdir()
    (desk.folder / "lines.jsonl").write_text("{}\n", encoding="utf-8")
    for words, says in {
        ("tasks", "mine"): "bad: it has no instruction.md",
        ("tasks", "empty"): "empty is already there",
        ("empty", "mine"): "empty holds no task: no task.toml",
        ("gone.jsonl", "mine"): "no file gone.jsonl",
    }.items():
        desk.refused("suite", "import", *words, says=(says,))
    assert not (desk.folder / "mine").exists()
    assert not list(desk.folder.glob(".labkit-*"))
