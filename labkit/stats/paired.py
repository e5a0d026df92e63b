"""The paired comparison: an interval and an exact test on the per-task differences.

A difference is (task mean of the second configuration) - (task mean of the first), so it lies
between -1 and 1. Tasks on which both are equal count in `n` and in the interval.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from labkit.stats.interval import Interval
from labkit.stats.quantiles import normal_quantile

_BISECTIONS = 60
_LARGEST_DENOMINATOR = 10_000
"""Task means of up to nine attempts differ by fractions with denominators of at most 72."""


def paired_interval(
    differences: Sequence[Fraction | float], *, confidence: float = 0.95
) -> Interval:
    """Return the interval of the mean difference: Tango's (1998), matched to the second moment.

    With b the sum of gains, c the sum of losses and f = sum(d^2) / sum(|d|), Tango's score interval
    is taken at the counts b/f, c/f, n/f. Its variance under "no difference" is then sum(d^2)/n^2,
    the one that the sign-flip test uses; with one attempt per task f = 1, which is Tango's own.
    It never has zero width: n ties give +-z^2/(n+z^2).
    Raises ValueError for no differences, or any outside -1 to 1.
    """
    numbers = [float(difference) for difference in differences]
    if not numbers or any(abs(number) > 1 for number in numbers):
        raise ValueError("a paired interval needs differences between -1 and 1")
    moved = sum(map(abs, numbers))
    match = sum(number * number for number in numbers) / moved if moved else 1.0
    gains = sum(number for number in numbers if number > 0) / match
    losses = sum(-number for number in numbers if number < 0) / match
    n = len(numbers) / match
    z = normal_quantile((1 + confidence) / 2)
    return Interval(
        low=_tango_low(gains, losses, n=n, z=z), high=-_tango_low(losses, gains, n=n, z=z)
    )


def _tango_low(gains: float, losses: float, *, n: float, z: float) -> float:
    """Find the difference at which the score statistic, falling in it, equals z: by bisection."""
    low, high = -1.0, (gains - losses) / n
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        excess = gains - losses - n * middle
        if excess > z * math.sqrt(_tango_variance(gains, losses, n=n, delta=middle)):
            low = middle
        else:
            high = middle
    return high if high > -1 else -1.0


def _tango_variance(gains: float, losses: float, *, n: float, delta: float) -> float:
    """Return the variance of the sum of differences when the true mean difference is `delta`.

    `share` is the maximum-likelihood share of losses under that restriction (Tango 1998, eq. 4).
    """
    linear = (2 * n - gains + losses) * delta - gains - losses
    constant = -losses * delta * (1 - delta)
    share = (math.sqrt(max(0.0, linear**2 - 8 * n * constant)) - linear) / (4 * n)
    return max(0.0, n * (2 * share + delta * (1 - delta)))


@dataclass(frozen=True, slots=True, kw_only=True)
class SignFlip:
    """What the sign-flip test found; both p are two-sided."""

    p_exact: float
    p_mid: float
    """The exact p less half the chance of the very sum observed: less conservative at few tasks."""
    moved: int
    """How many differences are not 0. Below five, p_mid cannot reach .05."""


def sign_flip_test(differences: Sequence[Fraction | float]) -> SignFlip:
    """Test "no difference" by flipping the sign of every difference in all 2^n ways, exactly.

    With one attempt per task this is McNemar's test, exact and mid-p. Floats are read as the
    nearest fraction with a denominator of at most 10,000, which is exact for task means, so that
    equal sums are equal. No differences, or only zeros, give p_exact = 1.
    """
    fractions = [_fraction(difference) for difference in differences]
    scale = math.lcm(*(fraction.denominator for fraction in fractions))
    steps = [int(fraction * scale) for fraction in fractions if fraction]
    observed = abs(sum(steps))
    sums = _flipped_sums(Counter(map(abs, steps)))
    beyond = sum(ways for total, ways in sums.items() if abs(total) > observed)
    equal = sum(ways for total, ways in sums.items() if abs(total) == observed)
    everything = 2 ** len(steps)
    return SignFlip(
        p_exact=float(Fraction(beyond + equal, everything)),
        p_mid=float(Fraction(2 * beyond + equal, 2 * everything)),
        moved=len(steps),
    )


def _flipped_sums(sizes: Counter[int]) -> dict[int, int]:
    """Count in how many ways of choosing signs each sum comes about, one size after the other."""
    sums = {0: 1}
    for size, many in sizes.items():
        grown: Counter[int] = Counter()
        for positive in range(many + 1):
            shift, ways = size * (2 * positive - many), math.comb(many, positive)
            for total, before in sums.items():
                grown[total + shift] += before * ways
        sums = dict(grown)
    return sums


def _fraction(difference: Fraction | float) -> Fraction:
    if isinstance(difference, Fraction):
        return difference
    return Fraction(difference).limit_denominator(_LARGEST_DENOMINATOR)
