"""Error bars of a mean and of a median, for rubric marks and minutes."""

import math
import statistics
from collections.abc import Sequence

from labkit.stats.interval import Interval
from labkit.stats.quantiles import student_quantile

_FEWEST_FOR_A_SPREAD = 2


def mean_interval(
    values: Sequence[float], *, low: float, high: float, confidence: float = 0.95
) -> Interval | None:
    """Return Student's t interval of the mean, clipped to the scale from `low` to `high`.

    None when it cannot be estimated: fewer than two values, or all of them equal (an interval of
    zero width would claim certainty). Raises ValueError for a value outside the scale.
    """
    if any(not low <= value <= high for value in values):
        raise ValueError(f"a value lies outside the scale from {low} to {high}")
    n = len(values)
    spread = statistics.stdev(values) if n >= _FEWEST_FOR_A_SPREAD else 0.0
    if not spread:
        return None
    mean = statistics.fmean(values)
    reach = student_quantile((1 + confidence) / 2, n - 1) * spread / math.sqrt(n)
    return Interval(low=max(low, mean - reach), high=min(high, mean + reach))


def median_interval(values: Sequence[float], *, confidence: float = 0.95) -> Interval | None:
    """Return the order-statistic interval of the median: exact, whatever the distribution.

    It runs from the r-th smallest to the r-th largest value, with the largest r for which at most
    (1 - confidence)/2 of Binomial(n, 1/2) lies below r. None when there is none: at 95 %, for fewer
    than six values.
    """
    n = len(values)
    allowed = (1 - confidence) / 2 * 2**n
    rank, below = 0, 1
    while below <= allowed:
        rank += 1
        below += math.comb(n, rank)
    if rank == 0:
        return None
    ordered = sorted(values)
    return Interval(low=ordered[rank - 1], high=ordered[n - rank])
