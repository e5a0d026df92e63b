"""Score sheets: one file a scorer, what may be written into it and in which order.

Marks that need the results (correctness) are taken only for runs whose other marks were recorded
before, and close those others: whoever knows the result may not judge the diff anew.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from labkit.errors import InputError, LabkitError, refuse
from labkit.model import BlindId, Member, RunId
from labkit.rubric import Rubric, mark
from labkit.spreadsheet import Row, read_table, write_table

Assignment = tuple[tuple[BlindId, Member], ...]
"""Who scores what: pairs of run and scorer. A scorer's pairs stand in the order to score them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What one scorer says of one run."""

    blind: BlindId
    marks: Mapping[str, float]
    """By dimension; one that was not judged yet is not in it."""
    guess: str = ""
    """Which configuration the scorer thinks made the run; empty when there is no guess."""
    note: str = ""


Sheet = tuple[Score, ...]
"""One scorer's scores, each run once."""


def read_assignment(data: bytes) -> Assignment:
    """Read blind/assignment.csv back."""
    columns = ("blind_id", "scorer")
    rows = read_table(data, "assignment.csv", columns=columns, needed=columns)
    return tuple((BlindId(row.cells["blind_id"]), Member(row.cells["scorer"])) for row in rows)


def write_assignment(assignment: Assignment) -> str:
    """Return blind/assignment.csv."""
    rows = [{"blind_id": str(blind), "scorer": str(scorer)} for blind, scorer in assignment]
    return write_table(("blind_id", "scorer"), rows)


def assigned_to(assignment: Assignment, scorer: Member) -> tuple[BlindId, ...]:
    """Return a scorer's runs in the order to score them."""
    return tuple(blind for blind, who in assignment if who == scorer)


def read_sheet(
    data: bytes, place: str, *, scorer: Member, assignment: Assignment, rubric: Rubric
) -> Sheet:
    """Read a scorer's sheet, as labkit or a spreadsheet saved it.

    Raises InputError with every problem at once, each with its row and column: an unknown run or
    one of another scorer, a run met twice, a mark out of range.
    """
    rows = read_table(data, place, columns=_columns(rubric), needed=["blind_id"])
    mine = set(assigned_to(assignment, scorer))
    everything = {blind for blind, _ in assignment}
    problems: list[str] = []
    scores: dict[BlindId, Score] = {}
    for row in rows:
        at = f"{place}, row {row.number}"
        blind = _known(row, at, everything, problems)
        marks = _marks(row, at, rubric, problems)
        guess = _guess(row, at, problems)
        if blind is None:
            continue
        if blind not in mine:
            problems.append(f"{at}: {blind} is not assigned to {scorer}")
        elif blind in scores:
            problems.append(f"{at}: {blind} is there a second time")
        scores[blind] = Score(blind=blind, marks=marks, guess=guess, note=row.cells["note"])
    refuse(problems, hint="mend these rows and hand the file in again; nothing was recorded")
    return tuple(scores.values())


def write_sheet(sheet: Sheet, rubric: Rubric) -> str:
    """Return a sheet as CSV, in the order of its scores."""
    return write_table(_columns(rubric), [_cells(score) for score in sheet])


def record(sheet: Sheet, new: Sheet, rubric: Rubric) -> Sheet:
    """Return the sheet with the new scores in it; an empty cell leaves what is there.

    Raises InputError for late marks of a run whose early marks were not all recorded before, and
    for changed early marks of a run that has late ones.
    """
    kept = {score.blind: score for score in sheet}
    problems: list[str] = []
    for score in new:
        before = kept.get(score.blind, Score(blind=score.blind, marks={}))
        problems += _out_of_order(before, score, rubric)
        kept[score.blind] = replace(
            before,
            marks={**before.marks, **score.marks},
            guess=score.guess or before.guess,
            note=score.note or before.note,
        )
    refuse(
        problems,
        hint="the marks for the diff and the message come first, and stay once the results "
        "were shown",
    )
    return tuple(kept.values())


def missing_marks(sheet: Sheet, assigned: Sequence[BlindId], rubric: Rubric) -> tuple[str, ...]:
    """Return one line for each assigned run that lacks marks: "B0042: correctness"."""
    marks = {score.blind: score.marks for score in sheet}
    return tuple(
        f"{blind}: {', '.join(lacking)}"
        for blind in assigned
        if (lacking := [name for name in rubric.names if name not in marks.get(blind, {})])
    )


def early_done(sheet: Sheet, blind: BlindId, rubric: Rubric) -> bool:
    """Tell whether the results of a run may be shown to its scorer."""
    return any(score.blind == blind and rubric.early <= score.marks.keys() for score in sheet)


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedScore:
    """One row of scores.csv: a score with the run it turned out to be of."""

    run: RunId
    scorer: Member
    score: Score


def write_scores(rows: Sequence[JoinedScore], rubric: Rubric) -> str:
    """Return scores.csv, sorted by run and scorer."""
    ordered = sorted(rows, key=lambda row: (row.run, row.scorer))
    return write_table(
        ("run", "scorer", *_columns(rubric)),
        [{"run": str(r.run), "scorer": str(r.scorer), **_cells(r.score)} for r in ordered],
    )


def read_scores(data: bytes, rubric: Rubric) -> tuple[JoinedScore, ...]:
    """Read scores.csv back; raises InputError with every problem at once."""
    columns = ("run", "scorer", *_columns(rubric))
    problems: list[str] = []
    joined = []
    for row in read_table(data, "scores.csv", columns=columns, needed=columns):
        at = f"scores.csv, row {row.number}"
        try:
            blind = BlindId(row.cells["blind_id"])
            run, scorer = RunId.parse(row.cells["run"]), Member(row.cells["scorer"])
        except LabkitError as error:
            problems.append(f"{at}: {error.message}")
            continue
        score = Score(
            blind=blind,
            marks=_marks(row, at, rubric, problems),
            guess=_guess(row, at, problems),
            note=row.cells["note"],
        )
        joined.append(JoinedScore(run=run, scorer=scorer, score=score))
    refuse(problems, hint="labkit unblind writes this file; do not edit it")
    return tuple(joined)


def mean_marks(rows: Sequence[JoinedScore]) -> dict[RunId, dict[str, float]]:
    """Return each run's marks, averaged over those scorers who gave one."""
    found: dict[RunId, dict[str, list[float]]] = {}
    for row in rows:
        for name, value in row.score.marks.items():
            found.setdefault(row.run, {}).setdefault(name, []).append(value)
    return {
        run: {name: sum(values) / len(values) for name, values in marks.items()}
        for run, marks in found.items()
    }


def _columns(rubric: Rubric) -> tuple[str, ...]:
    return ("blind_id", *rubric.names, "guess", "note")


def _cells(score: Score) -> dict[str, str]:
    marks = {name: f"{value:g}" for name, value in score.marks.items()}
    return {"blind_id": str(score.blind), **marks, "guess": score.guess, "note": score.note}


def _known(row: Row, at: str, everything: set[BlindId], problems: list[str]) -> BlindId | None:
    text = row.cells["blind_id"].upper()
    known = next((blind for blind in everything if str(blind) == text), None)
    if known is None:
        problems.append(
            f"{at}, column blind_id: there is no run {text[:40]!r} (did a spreadsheet change it?)"
        )
    return known


def _marks(row: Row, at: str, rubric: Rubric, problems: list[str]) -> dict[str, float]:
    marks = {}
    for name in rubric.names:
        try:
            if row.cells[name]:
                marks[name] = mark(row.cells[name])
        except InputError as error:
            problems.append(f"{at}, column {name}: {error.message}")
    return marks


def parse_guess(text: str) -> str:
    """Return the letter that a scorer guessed, or nothing; raises InputError for anything else."""
    guess = text.strip().upper()
    if not re.fullmatch(r"[A-Z]?", guess):
        raise InputError(f"{guess[:40]!r} is not a configuration's letter")
    return guess


def _guess(row: Row, at: str, problems: list[str]) -> str:
    try:
        return parse_guess(row.cells["guess"])
    except InputError as error:
        problems.append(f"{at}, column guess: {error.message}")
        return ""


def _out_of_order(before: Score, new: Score, rubric: Rubric) -> list[str]:
    late = sorted(rubric.late & new.marks.keys())
    if late and not rubric.early <= before.marks.keys():
        lacking = ", ".join(sorted(rubric.early - before.marks.keys()))
        return [f"{new.blind}: {', '.join(late)} comes after {lacking}"]
    if late or rubric.late & before.marks.keys():
        changed = sorted(
            name
            for name in rubric.early & new.marks.keys()
            if new.marks[name] != before.marks[name]
        )
        if changed:
            return [f"{new.blind}: {', '.join(changed)} was closed when the results were shown"]
    return []
