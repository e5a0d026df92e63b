import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.errors import InputError
from labkit.model import BlindId, Member, RunId
from labkit.rubric import Dimension, Rubric
from labkit.scores import (
    JoinedScore,
    Score,
    Sheet,
    assigned_to,
    early_done,
    mean_marks,
    missing_marks,
    read_assignment,
    read_scores,
    read_sheet,
    record,
    write_assignment,
    write_scores,
    write_sheet,
)

ANA, BEN = Member("ana"), Member("ben")
ONE, TWO, THREE = BlindId("B0042"), BlindId("B0007"), BlindId("B9999")
ASSIGNMENT = ((ONE, ANA), (TWO, ANA), (THREE, BEN))
RUBRIC = Rubric(
    dimensions=tuple(
        Dimension(name=name, weight=1, after_results=name == "correctness", levels=("x",) * 5)
        for name in ("scope", "quality", "correctness")
    ),
    hard_fails=(),
)
SHEET = (
    Score(
        blind=ONE, marks={"scope": 3.5, "quality": 4.0}, guess="A", note="caf\u00e9; \u00abok\u00bb"
    ),
    Score(blind=TWO, marks={"scope": 0.0}),
)
TEXT = """\
blind_id,scope,quality,correctness,guess,note
B0042,3.5,4,,A,caf\u00e9; \u00abok\u00bb
B0007,0,,,,
"""


def read(data: bytes) -> Sheet:
    return read_sheet(data, "ana.csv", scorer=ANA, assignment=ASSIGNMENT, rubric=RUBRIC)


def problems_of(data: bytes) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        read(data)
    return caught.value.problems


def test_a_sheet_is_written_as_csv() -> None:
    assert write_sheet(SHEET, RUBRIC) == TEXT


GERMAN = TEXT.replace("; ", " ").replace(",", ";").replace("3.5", "3,5")


@pytest.mark.parametrize(
    ("data", "note"),
    [
        (TEXT.encode(), "caf\u00e9; \u00abok\u00bb"),
        (TEXT.encode("utf-8-sig"), "caf\u00e9; \u00abok\u00bb"),
        (TEXT.replace("\n", "\r\n").encode(), "caf\u00e9; \u00abok\u00bb"),
        (TEXT.encode("cp1252"), "caf\u00e9; \u00abok\u00bb"),
        (TEXT.replace(",", "\t").encode("utf-16"), "caf\u00e9; \u00abok\u00bb"),
        (TEXT.replace(",", "\t").encode("utf-16-le"), "caf\u00e9; \u00abok\u00bb"),
        (GERMAN.encode("utf-8-sig"), "caf\u00e9 \u00abok\u00bb"),
        (b"sep=;\r\n" + GERMAN.encode(), "caf\u00e9 \u00abok\u00bb"),
        (TEXT.replace("\n", ",,\n").encode(), "caf\u00e9; \u00abok\u00bb"),
        (TEXT.upper().replace("CAF\u00c9; \u00abOK\u00bb", "x").encode(), "x"),
        (TEXT.replace("B0042", " B0042 ").encode() + b",,,,,\n\n", "caf\u00e9; \u00abok\u00bb"),
    ],
    ids=[
        "plain",
        "byte-order mark",
        "crlf",
        "cp1252",
        "utf-16 tabs",
        "utf-16 without mark",
        "semicolons and decimal comma",
        "sep line",
        "empty last columns",
        "capitals",
        "blanks and empty rows",
    ],
)
def test_a_sheet_reads_as_any_spreadsheet_saves_it(data: bytes, note: str) -> None:
    first, second = read(data)
    assert (first.blind, first.marks, first.guess) == (ONE, {"scope": 3.5, "quality": 4.0}, "A")
    assert first.note == note
    assert second == SHEET[1]


def test_every_problem_is_told_at_once_with_row_and_column() -> None:
    text = (
        "blind_id,scope,quality,guess,note\n"
        "B0042,5,3.25,A,\n"
        "42,1,1,,\n"
        "B9999,1,1,,\n"
        "B0007,1,1,AB,\n"
        "B0007,03-Apr,1,,\n"
    )
    assert problems_of(text.encode()) == (
        "ana.csv, row 2, column scope: '5' is not a mark from 0 to 4, whole or half",
        "ana.csv, row 2, column quality: '3.25' is not a mark from 0 to 4, whole or half",
        "ana.csv, row 3, column blind_id: there is no run '42' (did a spreadsheet change it?)",
        "ana.csv, row 4: B9999 is not assigned to ana",
        "ana.csv, row 5, column guess: 'AB' is not a configuration's letter",
        "ana.csv, row 6, column scope: '03-Apr' is not a mark from 0 to 4, whole or half",
        "ana.csv, row 6: B0007 is there a second time",
    )


@pytest.mark.parametrize(
    "changed", ["00123", "1e3", "1.23457E+16", "TRUE", "=HYPERLINK(1)", "+1", "@a"]
)
def test_an_id_that_a_spreadsheet_changed_is_noticed(changed: str) -> None:
    told = problems_of(f"blind_id,scope\n{changed},1\n".encode())
    assert "row 2, column blind_id: there is no run" in told[0]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "is empty"),
        ("\n , \n", "is empty"),
        ("run,scope\nB0042,1\n", 'no column "blind_id"'),
        ("B0042,1\n", 'no column "blind_id"'),
        ("blind_id,scpoe\nB0042,1\n", 'unknown column "scpoe"'),
        ("blind_id,scope,scope\nB0042,1,2\n", 'the column "scope" is there twice'),
        ("blind_id,scope\nB0042,1,2\n", "row 2: there are cells beside the last column"),
        ("blind_id,scope\n" + "B0042,3,5\n", "row 2: there are cells beside the last column"),
        ('blind_id,note\nB0042,"open\n', "is not CSV"),
    ],
    ids=["empty", "blank", "no id", "no header", "typo", "twice", "beside", "comma mark", "quote"],
)
def test_a_table_that_cannot_be_read_is_named(text: str, complaint: str) -> None:
    assert any(complaint in problem for problem in problems_of(text.encode()))


@pytest.mark.parametrize("data", [b"\x81\x8d", b"\xff\xfeb"], ids=["no letters", "odd utf-16"])
def test_a_file_that_is_no_text_is_named(data: bytes) -> None:
    assert "is not a text file" in problems_of(data)[0]


@pytest.mark.parametrize("note", ["=1+1", "+1", "-x", "@a", '=HYPERLINK("http://x")', "'=1", "''"])
def test_a_note_never_runs_in_a_spreadsheet_and_comes_back(note: str) -> None:
    text = write_sheet((Score(blind=ONE, marks={}, note=note),), RUBRIC)
    cells = next(csv.DictReader(io.StringIO(text)))
    assert cells["note"].startswith("'")
    assert read(text.encode())[0].note == note


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")))
def test_any_note_comes_back(note: str) -> None:
    text = write_sheet((Score(blind=ONE, marks={}, note=note),), RUBRIC)
    assert read(text.encode())[0].note == re.sub("\r\n?", "\n", note).strip()
    assert "\nB0042" in text


def test_early_marks_come_first() -> None:
    late = (Score(blind=ONE, marks={"correctness": 4.0}),)
    together = (Score(blind=ONE, marks={"scope": 3.0, "quality": 3.0, "correctness": 4.0}),)
    for new in (late, together):
        with pytest.raises(InputError, match="B0042: correctness comes after quality, scope"):
            record((), new, RUBRIC)
    with pytest.raises(InputError, match=r"B0042: correctness comes after quality$"):
        record((Score(blind=ONE, marks={"scope": 3.0}),), late, RUBRIC)
    done = record(SHEET, late, RUBRIC)
    assert done[0].marks == {"scope": 3.5, "quality": 4.0, "correctness": 4.0}
    assert (done[0].guess, done[0].note, done[1]) == ("A", SHEET[0].note, SHEET[1])


def test_early_marks_are_open_until_the_results_are_judged() -> None:
    changed = (Score(blind=ONE, marks={"scope": 1.0}, note="again"),)
    assert record(SHEET, changed, RUBRIC)[0].marks["scope"] == 1.0
    both = (Score(blind=ONE, marks={"scope": 1.0, "correctness": 0.0}),)
    with pytest.raises(InputError, match="B0042: scope was closed when the results were shown"):
        record(SHEET, both, RUBRIC)
    judged = record(SHEET, (Score(blind=ONE, marks={"correctness": 4.0}),), RUBRIC)
    with pytest.raises(InputError, match="B0042: scope was closed"):
        record(judged, changed, RUBRIC)
    same = (Score(blind=ONE, marks={"scope": 3.5, "quality": 4.0, "correctness": 3.0}),)
    assert record(judged, same, RUBRIC)[0].marks["correctness"] == 3.0


def test_one_bad_row_keeps_everything_out() -> None:
    new = (Score(blind=TWO, marks={"quality": 1.0}), Score(blind=THREE, marks={"correctness": 1.0}))
    with pytest.raises(InputError) as caught:
        record(SHEET, new, RUBRIC)
    assert caught.value.problems == ("B9999: correctness comes after quality, scope",)


def test_what_is_missing_is_named() -> None:
    assert missing_marks(SHEET, [ONE, TWO, THREE], RUBRIC) == (
        "B0042: correctness",
        "B0007: quality, correctness",
        "B9999: scope, quality, correctness",
    )
    assert early_done(SHEET, ONE, RUBRIC)
    assert not early_done(SHEET, TWO, RUBRIC)
    assert not early_done(SHEET, THREE, RUBRIC)


def test_an_assignment_comes_back_in_its_order() -> None:
    assert read_assignment(write_assignment(ASSIGNMENT).encode()) == ASSIGNMENT
    assert assigned_to(ASSIGNMENT, ANA) == (ONE, TWO)


RUN = RunId.parse("bug-slug__A__1")


def test_joined_scores_come_back() -> None:
    rows = (
        JoinedScore(run=RUN, scorer=BEN, score=Score(blind=ONE, marks={"scope": 2.0})),
        JoinedScore(run=RUN, scorer=ANA, score=SHEET[0]),
    )
    text = write_scores(rows, RUBRIC)
    assert text.startswith(
        "run,scorer,blind_id,scope,quality,correctness,guess,note\nbug-slug__A__1,ana,"
    )
    assert read_scores(text.encode(), RUBRIC) == rows[::-1]
    assert mean_marks(rows) == {RUN: {"scope": 2.75, "quality": 4.0}}


def test_damaged_joined_scores_are_named() -> None:
    text = write_scores((JoinedScore(run=RUN, scorer=ANA, score=SHEET[0]),), RUBRIC)
    with pytest.raises(InputError, match="row 2: 'slug' is not a run"):
        read_scores(text.replace("bug-slug__A__1", "slug").encode(), RUBRIC)
    with pytest.raises(InputError, match="row 2, column scope"):
        read_scores(text.replace("3.5", "9").encode(), RUBRIC)
