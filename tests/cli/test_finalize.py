"""`labkit finalize`: one look, recorded before it is taken, and nothing readable left of it."""

import json
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.desk import Desk
from cli.labs import ANA, BEN, Lab, wait_for

from labkit.model import Member
from labkit.seal import new_identity, open_sealed, write_identity

ON = ("finalize", "--suite", "suite.yaml", "--candidate")
WORD = "swordfish"
"""Stands in the inputs of one test case and in the folder of the other."""


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = Desk.at(tmp_path)
    desk.done("suite", "seal", "suite.yaml")
    assert desk.holding(WORD) == []
    return desk


def ledger(desk: Desk) -> list[dict[str, object]]:
    lines = (desk.folder / "suite.finalized.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_the_test_split_is_scored_once_and_recorded(desk: Desk) -> None:
    answer = desk.done(*ON, "mine.py:echo", "-n", "2", "--seed", "5")
    assert "mine (test, version" in answer.out
    assert "all  2 of 2  100 %" in answer.out
    assert desk.asked() == ["eight 1 5", "eight 2 6", "seven 1 5", "seven 2 6"]
    begun, completed = ledger(desk)
    assert (begun["event"], completed["event"]) == ("begun", "completed")
    (run,) = desk.runs()
    assert completed["report"] == f"../desk-runs/{run.name}"
    assert desk.holding(WORD) == []
    assert list(desk.temporary.iterdir()) == []
    assert not (run / "rollouts").exists()
    samples = open_sealed((run / "samples.jsonl.age").read_bytes(), desk.identity)
    assert WORD.encode() in samples
    assert len(samples.splitlines()) == 4


@pytest.mark.parametrize("candidate", ["mine.py:echo", "mine.py:small"])
def test_there_is_no_second_look_for_anybody(desk: Desk, candidate: str) -> None:
    desk.done(*ON, "mine.py:echo")
    (run,) = desk.runs()
    desk.refused(
        *ON,
        candidate,
        says=(
            "the test split of mine was scored by ",
            "with mine.py:echo on " + str(ledger(desk)[1]["at"])[:16].replace("T", " at "),
            str(run / "report.json"),
            "a new question wants new test cases",
        ),
    )


def interrupted(desk: Desk, candidate: str = "mine.py:slow", *more: str) -> None:
    with desk.start(*ON, candidate, "-n", "3", *more) as program:
        wait_for(lambda: len(desk.asked()) > 1)
        program.send_signal(signal.SIGINT)
        _, err = program.communicate(timeout=60)
    assert program.returncode == 130, err
    assert [entry["event"] for entry in ledger(desk)] == ["begun"]


def test_an_interrupted_look_goes_on_and_is_no_second_one(desk: Desk) -> None:
    interrupted(desk)
    assert list(desk.temporary.iterdir()) == []
    answer = desk.done(*ON, "mine.py:slow", "-n", "3")
    assert "going on with the look that" in answer.err
    assert "all  2 of 2  100 %" in answer.out
    assert len(desk.asked()) <= 7
    begun, resumed, completed = ledger(desk)
    assert [begun["event"], completed["event"]] == ["begun", "completed"]
    assert (resumed["event"], resumed["samples"] in (1, 2)) == ("resumed", True)
    (run,) = desk.runs()
    assert "interrupted and resumed 1 time" in (run / "report.md").read_text()
    assert desk.holding(WORD) == []


def test_no_sample_of_an_interrupted_look_is_taken_twice(desk: Desk) -> None:
    interrupted(desk)
    with desk.start(*ON, "mine.py:slow", "-n", "3") as program:
        wait_for(lambda: len(desk.asked()) > 3)
        program.send_signal(signal.SIGINT)
        program.communicate(timeout=60)
    (run,) = desk.runs()
    (run / "samples.jsonl").unlink()
    desk.refused(*ON, "mine.py:slow", "-n", "3", code=3, says=("of this look lay there on",))


def test_a_ledger_that_lost_its_end_is_noticed(desk: Desk) -> None:
    desk.done(*ON, "mine.py:echo")
    path = desk.folder / "suite.finalized.jsonl"
    path.write_text(path.read_text().splitlines(keepends=True)[0])
    desk.refused(*ON, "mine.py:echo", code=3, says=("had come to its end",))


def test_an_interrupted_look_goes_on_only_as_the_same(desk: Desk) -> None:
    interrupted(desk)
    desk.refused(*ON, "mine.py:echo", "-n", "3", says=("this would be another candidate",))
    desk.refused(
        *(*ON, "mine.py:slow", "-n", "2"),
        says=("this would be other settings", "--candidate mine.py:slow (n 3"),
    )
    code = desk.folder / "mine.py"
    code.write_text(code.read_text() + "\n# better\n")
    desk.refused(*ON, "mine.py:slow", "-n", "3", says=("other settings", "with the code of then"))


def test_a_killed_look_leaves_nothing_once_it_has_gone_on(desk: Desk) -> None:
    with desk.start(*ON, "mine.py:slow", "-n", "3") as program:
        wait_for(lambda: len(desk.asked()) > 1)
        program.kill()
        program.communicate(timeout=60)
    assert desk.holding(WORD) != []
    desk.done(*ON, "mine.py:slow", "-n", "3")
    assert desk.holding(WORD) == []


def test_an_outage_does_not_use_the_look_up(desk: Desk) -> None:
    answer = desk.done(*ON, "mine.py:once", code=3)
    assert "the look is not over" in answer.err
    assert [entry["event"] for entry in ledger(desk)] == ["begun"]
    desk.write("back", "")
    answer = desk.done(*ON, "mine.py:once")
    assert "all  2 of 2  100 %" in answer.out
    assert [entry["event"] for entry in ledger(desk)] == ["begun", "resumed", "completed"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("nonsense",), ("'nonsense' is no candidate",)),
        (("mine.py:gone",), ("mine.py",)),
        (("mine.py:echo", "--policy", "x"), ("--policy is 'x'",)),
        (("mine.py:echo", "--key", "gone.agekey"), ("no holder's key in gone.agekey",)),
        (("mine.py:echo", "--val", "gone"), ("gone",)),
    ],
)
def test_a_mistake_does_not_use_the_look_up(
    desk: Desk, words: tuple[str, ...], says: tuple[str, ...]
) -> None:
    desk.refused(*ON, *words, says=says)
    assert not (desk.folder / "suite.finalized.jsonl").exists()
    assert desk.asked() == []


def test_another_key_opens_nothing(desk: Desk) -> None:
    write_identity(desk.home / "other.agekey", new_identity(), passphrase="four words")  # noqa: S106 - a test's
    desk.refused(
        *(*ON, "mine.py:echo", "--key", str(desk.home / "other.agekey")),
        code=3,
        says=("does not open with this key",),
    )


def test_an_unsealed_split_is_not_scored(tmp_path: Path) -> None:
    desk = Desk.at(tmp_path)
    desk.refused(
        *ON, "mine.py:echo", says=("has no sealed test split", "labkit suite seal suite.yaml")
    )


@pytest.mark.parametrize(
    ("old", "new"), [("mine.py:echo", "mine.py:other"), ('"begun"', '"began"'), ("{", "[")]
)
def test_a_changed_ledger_is_noticed(desk: Desk, old: str, new: str) -> None:
    desk.done(*ON, "mine.py:echo")
    path = desk.folder / "suite.finalized.jsonl"
    path.write_text(path.read_text().replace(old, new))
    desk.refused(*ON, "mine.py:echo", code=3, says=("is not as labkit left it",))


def test_a_ledger_that_is_gone_is_noticed_by_its_run(desk: Desk) -> None:
    desk.done(*ON, "mine.py:echo")
    (desk.folder / "suite.finalized.jsonl").unlink()
    desk.refused(*ON, "mine.py:echo", code=3, says=("is a look at this split, and",))


def test_a_changed_report_is_noticed(desk: Desk) -> None:
    desk.done(*ON, "mine.py:echo")
    (run,) = desk.runs()
    report = run / "report.json"
    report.write_text(report.read_text().replace('"n": 1', '"n": 2'))
    desk.refused(*ON, "mine.py:echo", code=3, says=("is not the report that was recorded on",))


def test_a_changed_seal_is_noticed(desk: Desk) -> None:
    sealed = desk.folder / "suite.test.age"
    sealed.write_bytes(sealed.read_bytes()[:-1] + b"x")
    desk.refused(*ON, "mine.py:echo", code=3, says=("is not the file that was sealed on",))


def test_test_is_told_beside_val(desk: Desk) -> None:
    desk.done("evaluate", "--suite", "suite.yaml", "--candidate", "mine.py:small", "-n", "2")
    (val,) = desk.runs()
    answer = desk.done(*ON, "mine.py:small", "-n", "2", "--val", str(val))
    assert "val 60 %, test 0 %: test is -60 points from val" in answer.err


def test_a_report_of_something_else_is_not_set_beside(desk: Desk) -> None:
    desk.done("suite", "new", "first")
    words = ("--suite", "first", "--candidate", "first/slug.py:solve", "--out", "theirs")
    desk.done("evaluate", *words)
    desk.refused(
        *(*ON, "mine.py:echo", "--val", "theirs"),
        says=("theirs is a report of first-suite, split val",),
    )


def test_what_a_killed_labkit_left_of_a_finished_look_goes(desk: Desk) -> None:
    desk.done(*ON, "mine.py:echo")
    (run,) = desk.runs()
    (run / "samples.jsonl").write_text(WORD)
    answer = desk.done(*ON, "mine.py:echo", code=2)
    assert "was scored by" in answer.err
    assert desk.holding(WORD) == []


def test_in_a_lab_the_look_is_in_the_signed_log(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("joined")
    folder = lab.workspace.evals / "suite"
    desk = Desk.at(lab.folder / "elsewhere")
    shutil.copytree(desk.folder, folder)
    lab.done("suite", "seal", "evals/suite", "--to", lab.identity.recipient)
    words = ("finalize", "--suite", "evals/suite", "--candidate", "evals/suite/mine.py:echo")
    lab.done(*words, me=ANA)
    log = [json.loads(line) for line in lab.workspace.log(Member(ANA)).read_text().splitlines()]
    assert [line["action"] for line in log[-2:]] == ["finalize", "finalized"]
    commitment = json.loads((folder / "suite.test.json").read_text())["commitment"]
    assert log[-2]["digests"] == {"commitment": commitment}
    shutil.rmtree(lab.workspace.evals / "suite-runs")
    (folder / "suite.finalized.jsonl").unlink()
    says = (f"the signed log of {ANA} tells of a look at this split",)
    lab.refused(*words, me=BEN, code=3, says=says)


@pytest.mark.bubblewrap
def test_fixture_tasks_are_finalized(tmp_path: Path) -> None:
    desk = Desk.at(tmp_path)
    desk.done("suite", "new", "five", "--fixtures")
    first, second = sorted(path for path in (desk.folder / "five").iterdir() if path.is_dir())[:2]
    for task in (first, second):
        file = task / "task.yaml"
        lines = [line for line in file.read_text().splitlines() if not line.startswith("split:")]
        file.write_text("\n".join([*lines, "split: test", ""]))
    on_five = ("--suite", "five", "--candidate")
    answer = desk.done("evaluate", *on_five, "known-fixes")
    assert "3 of 3  100 %" in answer.out
    assert "one trial" not in answer.err
    desk.done("suite", "seal", "five")
    assert not first.exists()
    assert not second.exists()
    answer = desk.done("finalize", *on_five, "known-fixes")
    assert "2 of 2  100 %" in answer.out
    desk.refused("finalize", *on_five, "nothing", says=("the test split of five was scored by",))
