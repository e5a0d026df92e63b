"""What a gate may be told: the figure, the rule on cases, the tolerance, all read exactly."""

import re
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from math import comb
from typing import assert_never

from labkit.errors import InputError
from labkit.evals.results import CaseResult

_NUMBER = re.compile(r"[0-9]{1,12}(?:\.[0-9]{0,12})?|\.[0-9]{1,12}|[0-9]{1,12}/[0-9]{1,12}")
_METRIC = re.compile(r"pass([@^])([1-9][0-9]?)")
_LARGEST_BAR = 100


class CaseRule(StrEnum):
    """When a single case stops a version, whatever the figure says."""

    OFF = "off"
    STRICT = "strict"
    """All its trials passed before, and not all pass now. Noisy: see `false_block_chance`."""
    ALL_TO_NONE = "all-to-none"
    """All its trials passed before, and none passes now."""

    def lost(self, before: int, passes_before: int, after: int, passes_after: int) -> bool:
        """Say whether a case with so many trials and passes, before and after, was lost."""
        if passes_before < before:
            return False
        match self:
            case CaseRule.OFF:
                return False
            case CaseRule.STRICT:
                return passes_after < after
            case CaseRule.ALL_TO_NONE:
                return passes_after == 0
            case _:
                assert_never(self)


class GateMode(StrEnum):
    """What the error of a drop is estimated from."""

    PAIRED = "paired"
    """The differences of the tasks that both reports scored."""
    SIGNIFICANT = "significant"
    """The standard error of each report by itself: all there is where the tasks are missing."""


class Want(StrEnum):
    """What a candidate has to be."""

    NO_WORSE = "no-worse"
    BETTER = "better"


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure of a task that a gate looks at."""

    name: str
    """`reward`, `pass@k` or `pass^k`."""
    k: int = 0
    """0: the mean score of the task's trials."""
    every: bool = False
    """Whether all of the k trials have to pass, or one."""

    @classmethod
    def parse(cls, text: "Metric | str") -> "Metric":
        """Read `reward`, `pass@1` or `pass^3`; raises InputError for anything else."""
        if isinstance(text, Metric):
            return text
        if text == "reward":
            return cls("reward")
        found = _METRIC.fullmatch(text)
        if not found:
            raise InputError(
                f"a gate knows no metric {text[:40]!r}", hint="use reward, pass@1 or pass^2"
            )
        return cls(text, k=int(found[2]), every=found[1] == "^")

    def of(self, case: CaseResult) -> Fraction | None:
        """Return a task's figure, exact; None when it has too few valid trials."""
        if not self.k:
            return case.reward
        if case.valid_trials < self.k:
            return None
        return self.of_counts(case.valid_trials, case.passes)

    def of_counts(self, trials: int, passes: int) -> Fraction:
        """Return the figure of a task whose trials pass or fail."""
        if not self.k:
            return Fraction(passes, trials)
        chosen = passes if self.every else trials - passes
        share = Fraction(comb(chosen, self.k), comb(trials, self.k))
        return share if self.every else 1 - share


def share(value: Fraction | float | str) -> Fraction:
    """Read a share of 1 exactly, as people write it: 0.05, 5%, 1/20.

    Raises InputError for anything else, and for what is not from 0 to 1.
    """
    if isinstance(value, str) and value.endswith("%"):
        number = _number(value[:-1].strip())
        found = None if number is None else number / 100
    else:
        found = _number(value)
    if found is None or found > 1:
        raise InputError(
            f"a tolerance of {str(value)[:40]!r} is no share of 1",
            hint="write 0.05, or 5% for five points",
        )
    return found


def bar_height(value: Fraction | float | str) -> Fraction:
    """Read a number of standard errors exactly: 1, 1.96, 0; raises InputError for anything else."""
    number = _number(value)
    if number is None or number > _LARGEST_BAR:
        raise InputError(
            f"a bar of {str(value)[:40]!r} standard errors is impossible",
            hint=f"write a number from 0 to {_LARGEST_BAR}, such as 1 or 1.96",
        )
    return number


def _number(value: Fraction | float | str) -> Fraction | None:
    """Return a number from 0 on, a float as the decimal that it is written as; else None."""
    if isinstance(value, float):
        value = repr(value)
    if isinstance(value, str):
        if not _NUMBER.fullmatch(value.strip()):
            return None
        try:
            return Fraction(value.strip())
        except ZeroDivisionError:
            return None
    return Fraction(value) if value >= 0 else None
