"""Rules that let a new version through or stop it, and how often they stop one that is the same.

The rules are arithmetic on whole numbers and fractions, so that a case exactly at the bar is
decided by algebra and not by rounding. The false alarms suppose that every task's chance to be
passed, the same for both versions, is drawn from a beta distribution.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from labkit.stats.flips import drawn

_FEWEST_FOR_A_SPREAD = 2


class Bar(StrEnum):
    """On which side of a gate's bar a result lies."""

    ABOVE = "above the bar"
    AT = "exactly at the bar"
    """Not let through."""
    BELOW = "below the bar"


def standard_errors_bar(
    differences: Sequence[Fraction | int], multiple: Fraction | int = 1
) -> Bar | None:
    """Say whether the mean difference exceeds `multiple` of its standard errors s/sqrt(n).

    With S the sum and Q the sum of squares, it does if S > 0 and S^2(n-1) > multiple^2 (nQ - S^2).
    At one standard error, 16 % of versions that are the same pass as better. One task that improves
    is exactly at that bar, whatever n. None for fewer than two differences.
    Raises ValueError for a negative multiple.
    """
    n = len(differences)
    if n < _FEWEST_FOR_A_SPREAD:
        _check_multiple(multiple)
        return None
    exact = [Fraction(difference) for difference in differences]
    total, squares = sum(exact, Fraction()), sum((each**2 for each in exact), Fraction())
    return bar_of(total, (n * squares - total**2) / (n - 1), multiple)


def bar_of(difference: Fraction, squared_error: Fraction, multiple: Fraction | int = 1) -> Bar:
    """Say whether a difference exceeds `multiple` of its standard error, which is given squared.

    Raises ValueError for a negative multiple.
    """
    _check_multiple(multiple)
    reached, needed = difference**2, Fraction(multiple) ** 2 * squared_error
    if difference < 0 or reached < needed:
        return Bar.BELOW
    return Bar.ABOVE if reached > needed else Bar.AT


class Outcome(StrEnum):
    """What a gate, or one rule of it, decides."""

    PASS = "pass"
    BLOCK = "block"
    INDECISIVE = "indecisive"
    """The data carry neither; whoever needs a yes does not have one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DropRule:
    """How far a figure may drop from one version to the next.

    Raises ValueError for a tolerance outside 0 to 1, and for a negative bar.
    """

    tolerance: Fraction = Fraction(0)
    """A drop of as much is none."""
    bar: Fraction = Fraction(1)
    """How many standard errors a change has to exceed before it decides; 0: any change does."""
    better: bool = False
    """Whether the figure has to rise, instead of not dropping."""

    def __post_init__(self) -> None:
        if not 0 <= self.tolerance <= 1:
            raise ValueError(f"a tolerance of {self.tolerance} is not from 0 to 1")
        _check_multiple(self.bar)

    def judge(self, drop: Fraction, squared_error: Fraction) -> tuple[Outcome, Bar | None]:
        """Decide about a drop with its squared standard error.

        The bar is None where it did not matter: the drop is within the tolerance.
        """
        if self.better:
            return self._judge_gain(-drop, squared_error)
        if drop <= self.tolerance:
            return Outcome.PASS, None
        bar = bar_of(drop, squared_error, self.bar)
        return (Outcome.BLOCK if bar is Bar.ABOVE else Outcome.INDECISIVE), bar

    def _judge_gain(self, gain: Fraction, squared_error: Fraction) -> tuple[Outcome, Bar | None]:
        if gain < 0:
            return Outcome.BLOCK, None
        if gain <= self.tolerance:
            return Outcome.INDECISIVE, None
        bar = bar_of(gain, squared_error, self.bar)
        return (Outcome.PASS if bar is Bar.ABOVE else Outcome.INDECISIVE), bar


def false_block_chance(
    n: int, attempts: int, mean: float, icc: float = 0.5, *, only_total: bool = False
) -> float:
    """Return how often "no task that always passed may fail" blocks a version that is the same.

    1 - (1 - q)^n, q being the chance that all attempts pass before, and after not all do, or with
    `only_total` that none does (2/2 -> 0/2). Raises ValueError for no tasks or attempts, and for a
    mean or icc outside 0 to 1 or at its ends.
    """
    _check(n, attempts, mean, icc)
    both = 2 * attempts
    if only_total:
        lost = pattern_chance(attempts, both, mean, icc)
    else:
        lost = pattern_chance(attempts, attempts, mean, icc) - pattern_chance(both, both, mean, icc)
    return -math.expm1(n * math.log1p(-lost))


def false_drop_chance(
    n: int, attempts: int, mean: float, icc: float = 0.5, *, beyond: Fraction = Fraction(0)
) -> float:
    """Return how often the pass rate of a version that is the same drops by more than `beyond`.

    The drop is computed by convolution. Raises ValueError as `false_block_chance` does, and
    for a negative `beyond`.
    """
    _check(n, attempts, mean, icc)
    if beyond < 0:
        raise ValueError(f"a drop by more than {beyond} is no drop")
    both = 2 * attempts
    drops = [0.0] * (both + 1)
    for before in range(attempts + 1):
        for after in range(attempts + 1):
            ways = math.comb(attempts, before) * math.comb(attempts, after)
            drops[attempts + before - after] += ways * pattern_chance(
                before + after, both, mean, icc
            )
    allowed = math.floor((1 + beyond) * n * attempts)
    return math.fsum(drawn(drops, n)[allowed + 1 :])


def pattern_chance(passed: int, of: int, mean: float, icc: float) -> float:
    """Return the chance that of attempts at one task the first `passed` pass and the rest fail."""
    total = 1 / icc - 1
    chance = 1.0
    for attempt in range(of):
        if attempt < passed:
            share = mean * total + attempt
        else:
            share = (1 - mean) * total + attempt - passed
        chance *= share / (total + attempt)
    return chance


def _check_multiple(multiple: Fraction | int) -> None:
    if multiple < 0:
        raise ValueError(f"a bar of {multiple} standard errors is impossible")


def _check(n: int, attempts: int, mean: float, icc: float) -> None:
    if n < 1 or attempts < 1:
        raise ValueError(f"{n} tasks with {attempts} attempts each are no gate")
    if not 0 < mean < 1 or not 0 < icc < 1:
        raise ValueError(f"a mean of {mean} and an icc of {icc}: both lie between 0 and 1")
