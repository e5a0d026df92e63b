"""The grades of a run are a chain of files that the holder's log can vouch for."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.errors import IntegrityError
from labkit.model import RunId, Verdict
from labkit.records import GradeRecord, record_text
from labkit.suite import digest
from labkit.verdicts import keep_earlier, superseded
from labkit.workspace import replace as write

FIRST = GradeRecord(
    run=RunId.parse("t__A__1"), suite_version="v", commitment="c", verdict=Verdict.FAIL, reason="1"
)


def put(folder: Path, grade: GradeRecord) -> str:
    """Write a grade as labkit grade does, and return what the log tells of it."""
    text = record_text(grade)
    write(folder / "grade.txt", f"{grade.reason}\n")
    write(folder / "result.txt", "FAIL\n")
    write(folder / "grade.json", text)
    return digest(text.encode())


def regrade(folder: Path, told: list[str], reason: str) -> None:
    earlier = keep_earlier(folder, told)
    told.append(put(folder, replace(FIRST, reason=reason, supersedes=earlier)))


def test_a_first_grade_supersedes_nothing(tmp_path: Path) -> None:
    assert keep_earlier(tmp_path, ()) == ""
    put(tmp_path, FIRST)
    assert superseded(tmp_path) == ()


@given(count=st.integers(1, 4), interrupted=st.sets(st.integers(0, 3)))
def test_every_told_grade_is_kept_whatever_was_interrupted(
    tmp_path_factory: pytest.TempPathFactory, count: int, interrupted: set[int]
) -> None:
    folder = tmp_path_factory.mktemp("run")
    told: list[str] = []
    regrade(folder, told, "0")
    for number in range(1, count + 1):
        if number in interrupted:
            # Killed after the old one was kept, and again after a new one that no log tells of.
            assert keep_earlier(folder, told) == told[-1]
            put(folder, replace(FIRST, reason="never told", supersedes=told[-1]))
        regrade(folder, told, str(number))
    assert [grade.reason for grade in superseded(folder)] == [
        str(number) for number in reversed(range(count))
    ]
    assert (folder / "grade-1.txt").read_text() == "0\n"
    assert not (folder / f"grade-{count + 1}.json").exists()


def test_a_grade_that_no_log_tells_of_is_not_kept(tmp_path: Path) -> None:
    put(tmp_path, FIRST)
    assert keep_earlier(tmp_path, ()) == ""
    assert keep_earlier(tmp_path, ("another",)) == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "grade.json",
        "grade.txt",
        "result.txt",
    ]


@pytest.mark.parametrize("gone", [True, False], ids=["gone", "changed"])
def test_a_chain_that_was_touched_is_damaged(tmp_path: Path, *, gone: bool) -> None:
    told: list[str] = []
    for reason in ("0", "1", "2"):
        regrade(tmp_path, told, reason)
    path = tmp_path / "grade-1.json"
    if gone:
        path.unlink()
    else:
        path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(IntegrityError, match=r"t__A__1: the earlier grade .* is not kept"):
        superseded(tmp_path)
