"""Rules that let a new version through or stop it, and how often they stop one that is the same.

The rules are arithmetic on whole numbers and fractions, so that a case exactly at the bar is
decided by algebra and not by rounding. The false alarms suppose that every task's chance to be
passed, the same for both versions, is drawn from a beta distribution.
"""

import math
from collections.abc import Sequence
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
    if multiple < 0:
        raise ValueError(f"a bar of {multiple} standard errors is impossible")
    n = len(differences)
    if n < _FEWEST_FOR_A_SPREAD:
        return None
    exact = [Fraction(difference) for difference in differences]
    total, squares = sum(exact), sum(difference**2 for difference in exact)
    reached = total**2 * (n - 1)
    needed = Fraction(multiple) ** 2 * (n * squares - total**2)
    if total < 0 or reached < needed:
        return Bar.BELOW
    return Bar.ABOVE if reached > needed else Bar.AT


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
        lost = _chance(attempts, both, mean, icc)
    else:
        lost = _chance(attempts, attempts, mean, icc) - _chance(both, both, mean, icc)
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
            drops[attempts + before - after] += ways * _chance(before + after, both, mean, icc)
    allowed = math.floor((1 + beyond) * n * attempts)
    return math.fsum(drawn(drops, n)[allowed + 1 :])


def _chance(passed: int, of: int, mean: float, icc: float) -> float:
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


def _check(n: int, attempts: int, mean: float, icc: float) -> None:
    if n < 1 or attempts < 1:
        raise ValueError(f"{n} tasks with {attempts} attempts each are no gate")
    if not 0 < mean < 1 or not 0 < icc < 1:
        raise ValueError(f"a mean of {mean} and an icc of {icc}: both lie between 0 and 1")
