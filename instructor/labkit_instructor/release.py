"""Unblinding: only once every assigned mark is in, and only with the key that was committed to."""

from collections.abc import Mapping
from dataclasses import dataclass

from labkit.errors import IntegrityError, PhaseError
from labkit.fields import counted, first_words
from labkit.model import Member
from labkit.rubric import Rubric
from labkit.scores import Assignment, JoinedScore, Sheet, assigned_to, missing_marks
from labkit_instructor.blinding import Blinding


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """Everything that scorers were given and have handed in."""

    assignment: Assignment
    sheets: Mapping[Member, Sheet]
    rubric: Rubric


def missing(scoring: Scoring) -> tuple[str, ...]:
    """Return one line for each assigned run that a scorer has not marked in full."""
    scorers = sorted({scorer for _, scorer in scoring.assignment})
    return tuple(
        f"{scorer}: {line}"
        for scorer in scorers
        for line in missing_marks(
            scoring.sheets.get(scorer, ()), assigned_to(scoring.assignment, scorer), scoring.rubric
        )
    )


def unblind(blinding: Blinding, scoring: Scoring) -> tuple[JoinedScore, ...]:
    """Join every score with its run, sorted by run and scorer.

    `blinding` comes from `open_blinding`, which has checked its commitment; the names are computed
    anew from it. Raises PhaseError that names the marks still missing, and IntegrityError when the
    assignment does not name just the runs that were blinded.
    """
    lacking = missing(scoring)
    if lacking:
        raise PhaseError(
            f"{counted(len(lacking), 'score')} {'is' if len(lacking) == 1 else 'are'} missing: "
            f"{first_words(lacking)}",
            hint="each scorer finishes with: labkit score",
        )
    runs = {blind: run for run, blind in blinding.names.items()}
    if {blind for blind, _ in scoring.assignment} != set(runs):
        raise IntegrityError(
            "the assignment does not name the runs that were blinded",
            hint="restore evals/blind/assignment.csv from git",
        )
    assigned = set(scoring.assignment)
    joined = [
        JoinedScore(run=runs[score.blind], scorer=scorer, score=score)
        for scorer, sheet in scoring.sheets.items()
        for score in sheet
        if (score.blind, scorer) in assigned
    ]
    return tuple(sorted(joined, key=lambda row: (row.run, row.scorer)))
