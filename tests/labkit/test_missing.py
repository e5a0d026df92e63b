from pathlib import Path

import pytest
from wires import a_record

from labkit import missing
from labkit.model import Ending, RunId
from labkit.records import MissingRecord, load_missing, save
from labkit_runner.causes import Broken
from labkit_runner.tries import Shelf
from labkit_runner.voided import Took, Try, keep

RUN = RunId.parse("bug-1__A__1")
FIRST = Try(when="2026-01-02", why="no credit", kind=Broken.QUOTA, took=Took(cost=0.5)).facts()
LATER = Try(when="2026-01-03", why="Ctrl-C", kind=Broken.INTERRUPTED).facts()


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(
        raw=tmp_path / "raw",
        missing=tmp_path / "missing",
        voided=tmp_path / "voided",
        planned={RUN: "ben"},
    )


def broke_off(shelf: Shelf) -> None:
    each = Try(when="2026-01-03", why="Ctrl-C", kind=Broken.INTERRUPTED)
    keep(shelf.voided, RUN, each, None)


def bens(shelf: Shelf) -> Path:
    path = shelf.own(RUN, "ben")
    save(path, MissingRecord(run=RUN, runner="ben", reasons=("no credit",), voided=(FIRST,)))
    return path


def test_who_takes_a_run_over_writes_a_file_of_their_own(shelf: Shelf) -> None:
    path = bens(shelf)
    before = path.read_bytes()
    broke_off(shelf)
    shelf.note(RUN, "ana")
    assert path.read_bytes() == before
    assert [each.name for each in missing.paths(shelf.missing, RUN)] == [
        f"{RUN}.json", f"{RUN}.ana.json"
    ]  # fmt: skip
    found = missing.load(shelf.missing, RUN)
    assert found
    assert (found.voided, found.lost) == ((FIRST, LATER), True)
    assert found.reasons == ("no credit", "2026-01-03 Ctrl-C")
    record = a_record(str(RUN), earlier_failures=found.reasons, voided=found.voided)
    shelf.done(record)
    assert missing.paths(shelf.missing, RUN) == (path,)
    assert path.read_bytes() == before


def test_a_try_that_broke_off_is_told_at_once_and_loses_no_run(shelf: Shelf) -> None:
    broke_off(shelf)
    shelf.note(RUN, "ben")
    assert load_missing(shelf.own(RUN, "ben")).voided == (LATER,)
    assert not missing.is_lost(shelf.missing, RUN)
    shelf.note(RUN, "ben", lost=True)
    shelf.note(RUN, "ben")
    assert missing.is_lost(shelf.missing, RUN)


def test_a_record_that_tells_of_more_than_the_run_stays(shelf: Shelf) -> None:
    path = bens(shelf)
    shelf.done(a_record(str(RUN), runner="ben", ending=Ending.COMPLETED))
    assert path.is_file()
    assert missing.tries_of(shelf.missing, RUN, (LATER,)) == (FIRST, LATER)
    told = {"earlier_failures": ("no credit",), "voided": (FIRST,)}
    shelf.done(a_record(str(RUN), runner="ben", **told))
    assert not path.exists()
