"""The ledger: one look, and no line of it changed unseen."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.errors import IntegrityError, PhaseError
from labkit.evals.ledger import BEGUN, Entry, Ledger, Look

SALT = b"s" * 32
LOOK = Look(
    suite="mine",
    suite_version="0123456789abcdef",
    commitment="ab" * 32,
    candidate="cmd:solve",
    settings={"n": 2, "seed": 0},
)
ENTRY = Entry(
    event=BEGUN,
    look=LOOK,
    by="ana",
    at="2026-03-01T10:00:00+00:00",
    labkit="0.1",
    report="runs/final",
)


def completed(folder: Path) -> Ledger:
    ledger = Ledger(folder / "mine.finalized.jsonl", SALT)
    ledger.begin(ENTRY)
    ledger.complete(at="2026-03-01T11:00:00+00:00", digest="cd" * 32)
    return ledger


def test_a_look_begins_and_is_completed(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "mine.finalized.jsonl", SALT)
    assert ledger.entries() == ()
    ledger.begin(ENTRY)
    assert [entry.event for entry in ledger.entries()] == ["begun"]
    ledger.complete(at="2026-03-01T11:00:00+00:00", digest="cd" * 32)
    begun, done = ledger.entries()
    assert (begun.event, done.event) == ("begun", "completed")
    assert (begun.look, done.look) == (LOOK, LOOK)
    assert (done.digest, done.at[:13]) == ("cd" * 32, "2026-03-01T11")


def test_a_look_begins_once(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "mine.finalized.jsonl", SALT)
    ledger.begin(ENTRY)
    with pytest.raises(PhaseError, match="somebody has just begun to finalize"):
        ledger.begin(ENTRY)


def test_what_differs_between_two_looks_is_named() -> None:
    other = Look(
        suite="mine",
        suite_version="ff",
        commitment="ab" * 32,
        candidate="x",
        settings=LOOK.settings,
    )
    assert LOOK.differs(LOOK) == ()
    assert LOOK.differs(other) == ("suite_version", "candidate")


@given(
    line=st.integers(0, 1),
    name=st.sampled_from(["by", "at", "labkit", "report", "digest", "previous", "code", "event"]),
    value=st.text(st.characters(exclude_categories=["Cs"]), max_size=80),
)
def test_no_field_changes_unseen(
    tmp_path_factory: pytest.TempPathFactory, line: int, name: str, value: str
) -> None:
    ledger = completed(tmp_path_factory.mktemp("ledger"))
    lines = [json.loads(text) for text in ledger.path.read_text().splitlines()]
    if lines[line][name] == value:
        return
    lines[line][name] = value
    ledger.path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    with pytest.raises(IntegrityError, match="is not as labkit left it"):
        ledger.entries()


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("cmd:solve", "cmd:other"),
        lambda text: text.replace('"n": 2', '"n": 1'),
        lambda text: text.splitlines()[1] + "\n",
        lambda text: text + text.splitlines()[1] + "\n",
        lambda _: "",
        lambda _: "{",
        lambda text: text.replace("ana", "\\ud800"),
        lambda text: text.replace('"look"', '"loop"'),
    ],
)
def test_a_changed_ledger_is_noticed(tmp_path: Path, change: object) -> None:
    ledger = completed(tmp_path)
    assert callable(change)
    ledger.path.write_text(change(ledger.path.read_text()))
    with pytest.raises(IntegrityError):
        ledger.entries()


def test_a_ledger_of_another_split_is_noticed(tmp_path: Path) -> None:
    path = completed(tmp_path).path
    with pytest.raises(IntegrityError, match="line 1 was changed"):
        Ledger(path, b"t" * 32).entries()


def test_a_look_that_is_resumed_says_so(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "mine.finalized.jsonl", SALT)
    ledger.begin(ENTRY)
    ledger.resume(by="bo", at="2026-03-02T10:00:00+00:00", samples=3)
    ledger.resume(by="bo", at="2026-03-03T10:00:00+00:00", samples=3)
    with pytest.raises(IntegrityError, match=r"3 samples of this look .* and now 2"):
        ledger.resume(by="bo", at="2026-03-04T10:00:00+00:00", samples=2)
    ledger.complete(at="2026-03-04T11:00:00+00:00", digest="cd" * 32)
    events = [entry.event for entry in ledger.entries()]
    assert events == ["begun", "resumed", "resumed", "completed"]
    lines = ledger.path.read_text().splitlines(keepends=True)
    ledger.path.write_text("".join(lines[:1] + lines[2:]))
    with pytest.raises(IntegrityError, match="line 2 was changed"):
        ledger.entries()
