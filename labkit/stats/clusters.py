"""Tasks that come in clusters, such as a class's tasks by team: they share a code base and a hand.

Every cluster is one draw. So the spread between clusters decides, and their number gives the
degrees of freedom. Where clusters differ less than chance would have them, tasks decide.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from labkit.stats.interval import Interval, upper_level
from labkit.stats.quantiles import normal_quantile, student_quantile
from labkit.stats.score import matched, score_interval

Clusters = Sequence[Sequence[Fraction | float]]
"""One sequence a cluster: a number for each of its tasks."""
_FEWEST = 2


def clustered_interval(clusters: Clusters, confidence: float = 0.95) -> Interval | None:
    """Return the interval of the mean of per-task differences over all tasks.

    `paired_interval`, with sum(D^2) of the clusters' sums D in the place of sum(d^2) where that is
    more, and the quantile of t with (clusters - 1) degrees of freedom in the place of z.
    None for fewer than two clusters. Raises ValueError for an empty one, or a difference outside
    -1 to 1.
    """
    upper = upper_level(confidence)
    numbers = _numbers(clusters, -1)
    if len(numbers) < _FEWEST:
        return None
    whole = [number for cluster in numbers for number in cluster]
    squares = math.fsum(number * number for number in whole)
    between = math.fsum(math.fsum(cluster) ** 2 for cluster in numbers)
    moves = matched(whole, max(squares, between))
    return score_interval(moves, student_quantile(upper, len(numbers) - 1))


def clustered_size(clusters: Clusters, confidence: float = 0.95) -> float | None:
    """Return the n to give to `wilson_interval` for the mean of task means that come in clusters.

    p(1-p) over the variance of the mean between clusters, from the number of clusters to that of
    tasks, times (z/t)^2 with t of (clusters - 1) degrees of freedom (Korn and Graubard 1998);
    at least 1. The number of clusters where all tasks are equal. None for fewer than two clusters.
    Raises ValueError for an empty one, or a mean outside 0 to 1.
    """
    upper = upper_level(confidence)
    numbers = _numbers(clusters, 0)
    count = len(numbers)
    if count < _FEWEST:
        return None
    tasks = sum(map(len, numbers))
    mean = math.fsum(number for cluster in numbers for number in cluster) / tasks
    apart = math.fsum((math.fsum(c) - mean * len(c)) ** 2 for c in numbers)
    variance = count / (count - 1) * apart / tasks**2
    own = mean * (1 - mean)
    size = min(float(tasks), max(float(count), own / variance)) if variance and own else count
    if own and not variance:
        size = tasks
    scale = normal_quantile(upper) / student_quantile(upper, count - 1)
    return max(1.0, size * scale**2)


def _numbers(clusters: Clusters, least: float) -> list[list[float]]:
    numbers = [[float(number) for number in cluster] for cluster in clusters]
    if not all(numbers) or not all(least <= number <= 1 for of in numbers for number in of):
        raise ValueError(f"a cluster needs tasks, each with a number from {least} to 1")
    return numbers
