"""Where the noise of a pass rate comes from: between tasks, and within a task between attempts."""

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

_FEWEST_FOR_A_SPREAD = 2
Attempts = Sequence[Sequence[float]]
"""One sequence a task: passed or not (1 or 0), or another figure of each attempt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceParts:
    """The squared standard error of the mean over tasks, split: total = between + within."""

    total: float
    between: float
    """What only more tasks reduce."""
    within: float
    """What more attempts would reduce as well."""


def variance_parts(attempts: Attempts) -> VarianceParts | None:
    """Split s^2/n, s^2 being the variance of the n task means, by the law of total variance.

    within = mean(s_i^2) * mean(1/k_i) / n, with s_i^2 the variance among the k_i attempts of a task
    (the mean is over tasks with at least two attempts), at most s^2/n; between is the rest. Task
    means already hold the noise of their attempts, so nothing is added to s^2/n (compare
    `combined_standard_error`). None for fewer than two tasks, or when none has two attempts.
    Raises ValueError for a task without attempts.
    """
    means = _task_means(attempts)
    repeated = [task for task in attempts if len(task) >= _FEWEST_FOR_A_SPREAD]
    if len(means) < _FEWEST_FOR_A_SPREAD or not repeated:
        return None
    n = len(means)
    total = statistics.variance(means) / n
    patterns = Counter(map(tuple, repeated))  # pass and fail make few, and a variance is slow
    noise = math.fsum(many * statistics.variance(task) for task, many in patterns.items())
    noise /= len(repeated)
    within = min(total, noise * statistics.fmean(1 / len(task) for task in attempts) / n)
    return VarianceParts(total=total, between=total - within, within=within)


def standard_error(task_means: Sequence[float]) -> float | None:
    """Return s/sqrt(n), the standard error of a mean over tasks; None for fewer than two tasks."""
    if len(task_means) < _FEWEST_FOR_A_SPREAD:
        return None
    return statistics.stdev(task_means) / math.sqrt(len(task_means))


def combined_standard_error(attempts: Attempts) -> float | None:
    """Return the legacy figure sqrt(s^2/n + sum(s_i^2/k_i)/n^2), for comparison with older reports.

    It counts the noise within tasks twice and is up to 1.41 times too large. With two attempts for
    every task it is sqrt(p(1-p)/n + s^2/n^2). None for fewer than two tasks, or when a task has
    fewer than two attempts. Raises ValueError for a task without attempts.
    """
    means = _task_means(attempts)
    fewest = min(map(len, attempts), default=0)
    if len(means) < _FEWEST_FOR_A_SPREAD or fewest < _FEWEST_FOR_A_SPREAD:
        return None
    n = len(means)
    again = math.fsum(statistics.variance(task) / len(task) for task in attempts)
    return math.sqrt(statistics.variance(means) / n + again / n**2)


def intraclass_correlation(pass_1: float, pass_2: float) -> float | None:
    """Return how alike two attempts at one task are: (pass^2 - p^2) / (p(1-p)), p being pass^1.

    0 when attempts are as different as tasks, 1 when every task always or never passes. None at
    rates of 0 and 1. Raises ValueError unless 0 <= pass^2 <= pass^1 <= 1.
    """
    if not 0 <= pass_2 <= pass_1 <= 1:
        raise ValueError(f"pass^1 = {pass_1} and pass^2 = {pass_2} are impossible together")
    if pass_1 in {0, 1}:
        return None
    return (pass_2 - pass_1**2) / (pass_1 * (1 - pass_1))


def _task_means(attempts: Attempts) -> list[float]:
    if not all(attempts):
        raise ValueError("a task without attempts has no mean")
    return [statistics.fmean(task) for task in attempts]
