"""What the runs of a plan take: time, tokens and money, by earlier runs or by the limit."""

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from labkit.records import RunRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """What a run takes by the mean of earlier runs."""

    mean: float
    runs: int
    """How many recorded it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """What each run of a plan takes; what nobody measured is None."""

    pilot: int
    """How many earlier runs there are."""
    minutes: Guess | None
    most_minutes: float
    """The limit of a run, which labkit.yaml sets."""
    tokens: Guess | None
    cost: Guess | None


def effort(records: Sequence[RunRecord], most_minutes: float) -> Effort:
    """Work out what a run takes from the records of earlier runs; there may be none."""
    return Effort(
        pilot=len(records),
        minutes=_guess(record.seconds / 60 for record in records),
        most_minutes=most_minutes,
        tokens=_guess(record.tokens for record in records),
        cost=_guess(record.cost for record in records),
    )


def share_out(runs: int, people: int) -> int:
    """Return how many runs whoever has the most has, if they are shared out evenly."""
    return math.ceil(runs / people)


def _guess(figures: Iterable[float | None]) -> Guess | None:
    known = [figure for figure in figures if figure is not None]
    return Guess(mean=statistics.fmean(known), runs=len(known)) if known else None
