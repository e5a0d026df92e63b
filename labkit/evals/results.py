"""What all samples of one case say together."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from typing import Self, assert_never

from labkit.evals.sample import Sample, Status

_LARGEST_DENOMINATOR = 10_000
_ROUNDING = 1e-14


@lru_cache(maxsize=4096)
def exact(score: float) -> Fraction:
    """Read a score as the fraction that it was meant to be: 1/3, 0.85, and any decimal.

    A float cannot hold 1/3: written out it is 0.3333333333333333, and three of them are not 1.
    """
    near = Fraction(score).limit_denominator(_LARGEST_DENOMINATOR)
    if math.isclose(near, score, rel_tol=_ROUNDING):
        return near
    return Fraction(repr(score))


class Policy(StrEnum):
    """When a case counts as passed."""

    ALL = "all"
    ANY = "any"
    MAJORITY = "majority"
    """More than half of the planned samples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialResult:
    """What figures are made of: one sample without its text."""

    number: int
    status: Status
    passed: bool | None
    score: float | None
    latency_ms: float | None = None
    cost: float | None = None
    lied: bool = False
    forbidden: bool = False
    """Whether it changed what the case forbids."""

    @classmethod
    def of(cls, sample: Sample) -> Self:
        """Return what is kept in memory of a sample."""
        return cls(
            number=sample.number,
            status=sample.status,
            passed=sample.passed,
            score=sample.verdict.score,
            latency_ms=sample.latency_ms,
            cost=sample.cost,
            lied=sample.lied,
            forbidden=bool(sample.forbidden_edits),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """The samples of one case. A sample without a verdict is missing, never 0."""

    id: str
    planned: int
    trials: tuple[TrialResult, ...]
    """By number; fewer than planned when the case could not be run."""
    slices: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    policy: Policy = Policy.ALL
    problem: str = ""
    """Why the case could not be used at all."""
    digest: str = ""
    """Of its content, to see which case of two suites differs; empty when it is not known, and for
    test cases, of which nobody may confirm a guess."""
    samples: Sequence[Sample] = ()
    """Everything that was kept; read from the disk one by one where they lie there."""

    @property
    def valid(self) -> tuple[TrialResult, ...]:
        """The trials that have a verdict."""
        return tuple(trial for trial in self.trials if trial.passed is not None)

    @property
    def valid_trials(self) -> int:
        """How many trials have a verdict."""
        return len(self.valid)

    @property
    def passes(self) -> int:
        """How many trials passed."""
        return sum(trial.passed is True for trial in self.trials)

    @property
    def reward(self) -> Fraction | None:
        """The mean score of the valid trials, exact; None when there are none."""
        scores = [exact(trial.score) for trial in self.valid if trial.score is not None]
        return sum(scores, Fraction()) / len(scores) if scores else None

    @property
    def flaky(self) -> bool:
        """Whether some trials passed and some failed."""
        return 0 < self.passes < self.valid_trials

    @property
    def passed(self) -> bool | None:
        """Whether the case is passed under the policy; None while missing trials could decide."""
        valid, passes = self.valid_trials, self.passes
        fewest, most = passes, passes + self.planned - valid
        match self.policy:
            case Policy.ALL:
                needed = self.planned
            case Policy.ANY:
                needed = 1
            case Policy.MAJORITY:
                needed = self.planned // 2 + 1
            case _:
                assert_never(self.policy)
        if not valid:
            return None
        if fewest >= needed:
            return True
        return False if most < needed else None

    @property
    def safety(self) -> bool:
        """Whether a failure of this case is a veto."""
        return "safety" in self.tags
