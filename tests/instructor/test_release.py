from dataclasses import replace

import pytest

from labkit.errors import IntegrityError, PhaseError
from labkit.model import BlindId, Member, RunId
from labkit.rubric import Dimension, Rubric
from labkit.scores import Score
from labkit_instructor.blinding import Blinding
from labkit_instructor.release import Scoring, missing, unblind

ANA, BEN = Member("ana"), Member("ben")
RUNS = tuple(RunId.parse(f"bug-slug__{name}__1") for name in "AB")
BLINDING = Blinding(key=bytes(32), runs=RUNS)
A, B = (BLINDING.names[run] for run in RUNS)
RUBRIC = Rubric(
    dimensions=(
        Dimension(name="scope", weight=1, after_results=False, levels=("x",) * 5),
        Dimension(name="correctness", weight=1, after_results=True, levels=("x",) * 5),
    ),
    hard_fails=(),
)


def full(blind: BlindId, value: float) -> Score:
    return Score(blind=blind, marks={"scope": value, "correctness": value})


SCORING = Scoring(
    assignment=((A, ANA), (B, ANA), (B, BEN)),
    sheets={ANA: (full(B, 1), full(A, 4)), BEN: (full(B, 2),)},
    rubric=RUBRIC,
)


def test_scores_are_joined_with_their_runs() -> None:
    assert missing(SCORING) == ()
    rows = unblind(BLINDING, SCORING)
    assert [(row.run, row.scorer, row.score.marks["scope"]) for row in rows] == [
        (RUNS[0], ANA, 4),
        (RUNS[1], ANA, 1),
        (RUNS[1], BEN, 2),
    ]


def test_nothing_is_joined_before_every_score_is_in() -> None:
    half = Score(blind=A, marks={"scope": 4})
    scoring = replace(SCORING, sheets={ANA: (full(B, 1), half)})
    assert missing(scoring) == (f"ana: {A}: correctness", f"ben: {B}: scope, correctness")
    with pytest.raises(PhaseError, match=f"2 scores are missing: ana: {A}: correctness"):
        unblind(BLINDING, scoring)


def test_a_score_that_nobody_was_asked_for_does_not_count() -> None:
    sheets = {**SCORING.sheets, BEN: (full(B, 2), full(A, 0))}
    assert unblind(BLINDING, replace(SCORING, sheets=sheets)) == unblind(BLINDING, SCORING)


@pytest.mark.parametrize(
    "blinding",
    [Blinding(key=b"x" * 32, runs=RUNS), Blinding(key=bytes(32), runs=RUNS[:1])],
    ids=["another key", "fewer runs"],
)
def test_an_assignment_of_another_blinding_is_refused(blinding: Blinding) -> None:
    with pytest.raises(IntegrityError, match="does not name the runs that were blinded"):
        unblind(blinding, SCORING)
