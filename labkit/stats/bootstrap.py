"""The bootstrap interval of a mean, without drawing anything: the ideal bootstrap.

Resampling n values infinitely often gives their mean a distribution that can be written down, the
n-fold convolution of the values' own. So there is no seed, and every machine gives the same digits.
It is a secondary figure: below 20 tasks it is too narrow.
"""

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import accumulate
from statistics import NormalDist

from labkit.stats.flips import as_fraction, drawn
from labkit.stats.interval import Interval, upper_level

_MOST_POINTS = 2**20
_COARSEST_GRID = 16
_MOST_BITS = 2**18
"""From here on, the Fourier transform is quicker than exact whole numbers."""


class BootstrapMethod(StrEnum):
    """How bounds are read off the distribution of the resampled mean."""

    PERCENTILE = "percentile"
    """Its quantiles."""
    BASIC = "basic"
    """Its quantiles, mirrored at the mean."""
    BCA = "bca"
    """Its quantiles at levels corrected for bias and skewness."""


def bootstrap_interval(
    values: Sequence[Fraction | float],
    confidence: float = 0.95,
    method: str = BootstrapMethod.PERCENTILE,
) -> Interval | None:
    """Return the bootstrap interval of the mean of `values`: percentile, basic or bca.

    Sources: Efron 1979; Efron 1987 for BCa, whose acceleration is sum(u^3) / (6 sum(u^2)^1.5) with
    u = value - mean. Values with a common measure are exact while n * (range / measure) is below
    1,048,576; others are rounded to a grid as fine as that allows. None when the interval would
    have no width, as for equal values: Wilson's does not vanish there. Raises ValueError for no
    values, values that are not finite, or an unknown method.
    """
    upper = upper_level(confidence)
    kind = _method(method)
    if not values or not all(map(math.isfinite, values)):
        raise ValueError("a bootstrap needs values, all of them finite")
    levels = _levels(values)
    if levels is None:
        return None
    sums = _resampled_sums(levels.steps)
    if kind is BootstrapMethod.BCA:
        low, high = _bca_levels(levels.steps, sums, upper)
    else:
        low, high = 1 - upper, 1 - upper
    first, last = _from_below(sums, low), _from_above(sums, high)
    if kind is BootstrapMethod.BASIC:
        twice = 2 * sum(levels.steps)
        first, last = twice - last, twice - first
    if first == last:
        return None
    return Interval(low=levels.mean(first), high=levels.mean(last))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Levels:
    """The values as whole steps above the smallest."""

    smallest: Fraction
    step: Fraction
    steps: tuple[int, ...]

    def mean(self, total: int) -> float:
        return float(self.smallest + self.step * total / len(self.steps))


def _method(name: str) -> BootstrapMethod:
    try:
        return BootstrapMethod(name)
    except ValueError:
        known = ", ".join(BootstrapMethod)
        raise ValueError(f"{name!r} is no way to bootstrap; there are {known}") from None


def _levels(values: Sequence[Fraction | float]) -> _Levels | None:
    exact = [as_fraction(value) for value in values]
    smallest = min(exact)
    above = [value - smallest for value in exact]
    spread = max(above)
    if not spread:
        return None
    scale = math.lcm(*(value.denominator for value in above))
    step = Fraction(math.gcd(*(int(value * scale) for value in above)), scale)
    step = max(step, spread / max(_COARSEST_GRID, _MOST_POINTS // len(values)))
    return _Levels(
        smallest=smallest, step=step, steps=tuple(round(value / step) for value in above)
    )


def _resampled_sums(steps: Sequence[int]) -> list[float]:
    """Return the chance of each sum of n draws from the n steps, from 0 on."""
    n, points = len(steps), len(steps) * max(steps) + 1
    counts = Counter(steps)
    bits = (n * n.bit_length() + 8) // 8 * 8
    if bits * points > _MOST_BITS:
        return drawn([counts[step] / n for step in range(max(steps) + 1)], n)
    # A polynomial is raised to a power as one whole number, with room for each coefficient.
    base = sum(count << (bits * step) for step, count in counts.items())
    width = bits // 8
    packed: bytes = (base**n).to_bytes(width * points, "little")
    everything = n**n
    return [
        int.from_bytes(packed[start : start + width], "little") / everything
        for start in range(0, width * points, width)
    ]


def _from_below(sums: Sequence[float], level: float) -> int:
    """Return the smallest sum with at least `level` at or below it."""
    reached = (total for total, share in enumerate(accumulate(sums)) if share >= level)
    return next(reached, len(sums) - 1)


def _from_above(sums: Sequence[float], level: float) -> int:
    return len(sums) - 1 - _from_below(sums[::-1], level)


def _bca_levels(steps: Sequence[int], sums: Sequence[float], upper: float) -> tuple[float, float]:
    """Return the corrected levels: of the low bound from below, of the high bound from above."""
    observed = sum(steps)
    below = math.fsum(sums[:observed]) + sums[observed] / 2
    normal = NormalDist()
    bias, z = normal.inv_cdf(below), normal.inv_cdf(upper)
    mean = statistics.fmean(steps)
    skewness = math.fsum((step - mean) ** 3 for step in steps)
    acceleration = skewness / (6 * math.fsum((step - mean) ** 2 for step in steps) ** 1.5)

    def level(quantile: float) -> float:
        shifted = bias + quantile
        return normal.cdf(bias + shifted / (1 - acceleration * shifted))

    return level(-z), 1 - level(z)
