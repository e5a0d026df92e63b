"""Error bars of one pass rate. The units are tasks, never runs.

Wilson's interval on the mean of the task means keeps its coverage at few tasks and never has zero
width; attempts within a task are averaged first, so `n` is the number of tasks.
"""

import math

from labkit.stats.interval import Interval
from labkit.stats.quantiles import beta_quantile, normal_quantile


def wilson_interval(mean: float, n: int, *, confidence: float = 0.95) -> Interval:
    """Return Wilson's score interval (1927) of a rate.

    `mean` is the mean of `n` task means and may be any number from 0 to 1 (6.5 of 9 tasks).
    Raises ValueError outside these ranges.
    """
    _check_rate(mean, n)
    z = normal_quantile((1 + confidence) / 2)
    shrink = 1 + z * z / n
    centre = (mean + z * z / (2 * n)) / shrink
    reach = z * math.sqrt(mean * (1 - mean) / n + (z / (2 * n)) ** 2) / shrink
    # At 0 and 1 the bound is exact; rounding must not push it past.
    low = 0.0 if mean == 0 else centre - reach
    high = 1.0 if mean == 1 else centre + reach
    return Interval(low=low, high=high)


def wald_standard_error(mean: float, n: int) -> float:
    """Return sqrt(p(1-p)/n), the teaching approximation.

    It is 0 at rates of 0 and 1, where it says nothing: do not print it as an error bar there.
    Raises ValueError as `wilson_interval` does.
    """
    _check_rate(mean, n)
    return math.sqrt(mean * (1 - mean) / n)


def clopper_pearson_interval(successes: int, n: int, *, confidence: float = 0.95) -> Interval:
    """Return the exact binomial interval of Clopper and Pearson (1934): for "it never failed".

    Its coverage is at least `confidence` at every true rate. Raises ValueError unless
    0 <= successes <= n and n >= 1.
    """
    if n < 1 or not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n} are not a rate")
    tail = (1 - confidence) / 2
    failures = n - successes
    return Interval(
        low=beta_quantile(tail, alpha=successes, beta=failures + 1) if successes else 0.0,
        high=beta_quantile(1 - tail, alpha=successes + 1, beta=failures) if failures else 1.0,
    )


def _check_rate(mean: float, n: int) -> None:
    if n < 1 or not 0 <= mean <= 1:
        raise ValueError(f"a rate of {mean} over {n} tasks is not a rate")
