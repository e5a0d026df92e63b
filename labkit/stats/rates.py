"""Error bars of one pass rate. The units are tasks, never runs.

Wilson's interval on the mean of the task means keeps its coverage at few tasks and never has zero
width; attempts within a task are averaged first, so `n` is the number of tasks.
"""

import math
import statistics
from collections.abc import Sequence

from labkit.stats.interval import Interval, upper_level
from labkit.stats.quantiles import beta_quantile, normal_quantile


def wilson_interval(mean: float, n: float, confidence: float = 0.95) -> Interval:
    """Return Wilson's score interval (1927) of a rate.

    (p + z^2/2n +- z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n), p being `mean`: the mean of `n` task
    means, any number from 0 to 1 (6.5 of 9 tasks). `n` is a number of tasks, or what
    `effective_tasks` gives. Raises ValueError for less than one task and outside these ranges.
    """
    _check_rate(mean, n)
    z = normal_quantile(upper_level(confidence))
    shrink = 1 + z * z / n
    centre = (mean + z * z / (2 * n)) / shrink
    reach = z * math.sqrt(mean * (1 - mean) / n + (z / (2 * n)) ** 2) / shrink
    # At 0 and 1 the bound is exact; rounding must not push it past.
    low = 0.0 if mean == 0 else centre - reach
    high = 1.0 if mean == 1 else centre + reach
    return Interval(low=low, high=high)


def wald_standard_error(mean: float, n: float) -> float:
    """Return sqrt(p(1-p)/n), the teaching approximation.

    It is 0 at rates of 0 and 1, where it says nothing: do not print it as an error bar there.
    Raises ValueError as `wilson_interval` does.
    """
    _check_rate(mean, n)
    return math.sqrt(mean * (1 - mean) / n)


def agresti_coull_interval(mean: float, n: float, confidence: float = 0.95) -> Interval:
    """Return the interval of Agresti and Coull (1998), to compare with: wider than Wilson's.

    p +- z sqrt(p(1-p)/m) with m = n + z^2 and p = (n mean + z^2/2)/m, clipped to 0 and 1.
    Raises ValueError as `wilson_interval` does.
    """
    _check_rate(mean, n)
    z = normal_quantile(upper_level(confidence))
    trials = n + z * z
    centre = (n * mean + z * z / 2) / trials
    reach = z * math.sqrt(centre * (1 - centre) / trials)
    return Interval(low=max(0.0, centre - reach), high=min(1.0, centre + reach))


def clopper_pearson_interval(successes: int, n: int, confidence: float = 0.95) -> Interval:
    """Return the exact binomial interval of Clopper and Pearson (1934): for "it never failed".

    The bounds are the quantiles of Beta(c, n-c+1) at (1-confidence)/2 and of Beta(c+1, n-c) at
    (1+confidence)/2. Its coverage is at least `confidence` at every true rate. A one-sided bound of
    95 % is a bound at a confidence of 90 %. Raises ValueError unless the counts are whole,
    0 <= successes <= n and n >= 1.
    """
    if n < 1 or not 0 <= successes <= n or successes != int(successes) or n != int(n):
        raise ValueError(f"{successes} successes of {n} are not a rate")
    upper = upper_level(confidence)
    failures = n - successes
    return Interval(
        low=beta_quantile(1 - upper, alpha=successes, beta=failures + 1) if successes else 0.0,
        high=beta_quantile(upper, alpha=successes + 1, beta=failures) if failures else 1.0,
    )


def effective_tasks(task_means: Sequence[float], attempts: float) -> float:
    """Return how many single-attempt tasks say as much: p(1-p) / (s^2/n), from n to n * attempts.

    Wilson's interval at this number credits repeated attempts: narrower, and still at least 91 %
    in the worst case. It is for 20 tasks and more. Task means that are all equal give n.
    Raises ValueError for no task means, any outside 0 to 1, or less than one attempt.
    """
    n = len(task_means)
    if not n or not all(0 <= mean <= 1 for mean in task_means):
        raise ValueError("effective tasks need task means between 0 and 1")
    if not 1 <= attempts < math.inf:
        raise ValueError(f"{attempts} attempts are too few for effective tasks")
    spread = statistics.variance(task_means) if n > 1 else 0.0
    if not spread:
        return float(n)
    mean = statistics.fmean(task_means)
    return min(max(mean * (1 - mean) * n / spread, float(n)), n * attempts)


def _check_rate(mean: float, n: float) -> None:
    if not 1 <= n < math.inf or not 0 <= mean <= 1:
        raise ValueError(f"a rate of {mean} over {n} tasks is not a rate")
