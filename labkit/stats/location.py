"""Error bars of a mean and of a median, for rubric marks and minutes."""

import math
import statistics
from collections.abc import Sequence
from fractions import Fraction

from labkit.stats.interval import Interval, upper_level
from labkit.stats.quantiles import student_quantile

_FEWEST_FOR_A_SPREAD = 2


def mean_interval(
    values: Sequence[float], low: float, high: float, confidence: float = 0.95
) -> Interval | None:
    """Return Student's t interval of the mean, clipped to the scale from `low` to `high`.

    mean +- t s/sqrt(n), t with n-1 degrees of freedom (Student 1908). None when it cannot be
    estimated: fewer than two values, or all of them equal (an interval of zero width would claim
    certainty). Raises ValueError for a value outside the scale, or a scale upside down.
    """
    upper = upper_level(confidence)
    if not low < high:
        raise ValueError(f"a scale from {low} to {high} has no room")
    if not all(low <= value <= high for value in values):
        raise ValueError(f"a value lies outside the scale from {low} to {high}")
    n = len(values)
    if n < _FEWEST_FOR_A_SPREAD or min(values) == max(values):
        return None
    mean = statistics.fmean(values)
    reach = student_quantile(upper, n - 1) * statistics.stdev(values) / math.sqrt(n)
    return Interval(low=max(low, mean - reach), high=min(high, mean + reach))


def median_interval(values: Sequence[float], confidence: float = 0.95) -> Interval | None:
    """Return the order-statistic interval of the median: exact, whatever the distribution.

    It runs from the r-th smallest to the r-th largest value, with the largest r for which at most
    (1 - confidence)/2 of Binomial(n, 1/2) lies below r (Thompson 1936). None when there is none (at
    95 %, for fewer than six values) and when it would be a point because the values are equal.
    Raises ValueError for values that are not numbers.
    """
    tail = 1 - upper_level(confidence)
    if any(math.isnan(value) for value in values):
        raise ValueError("a value that is not a number has no place in an order")
    n = len(values)
    allowed = Fraction(tail) * 2**n
    rank, ways, below = 0, 1, 1
    while below <= allowed:
        ways = ways * (n - rank) // (rank + 1)
        rank += 1
        below += ways
    if rank == 0:
        return None
    ordered = sorted(values)
    low, high = ordered[rank - 1], ordered[n - rank]
    return Interval(low=low, high=high) if low < high else None
