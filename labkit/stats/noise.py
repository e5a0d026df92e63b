"""How large a difference chance alone shows: what configurations that are the same look like."""

import math
from collections.abc import Mapping
from fractions import Fraction

from labkit.stats.flips import as_fraction, drawn

_ROUNDING = 1e-9


def chance_of_difference(n: int, shares: Mapping[Fraction, float], at_least: float) -> float:
    """Return how often the mean of n per-task differences is at least so far from 0, either way.

    `shares` gives the chance of each per-task difference, as `Design.shares(0)` does for two
    configurations that are the same. The distribution of the sum is their n-fold convolution, by
    the Fourier transform: nothing is drawn.
    Raises ValueError for no tasks, and for a size that is not from 0 to 1.
    """
    if n < 1 or not 0 <= at_least <= 1:
        raise ValueError(f"a difference of {at_least} over {n} tasks is no difference")
    exact = {as_fraction(level): share for level, share in shares.items()}
    scale = math.lcm(*(level.denominator for level in exact))
    most = max(int(abs(level) * scale) for level in exact)
    chances = [exact.get(Fraction(step, scale), 0.0) for step in range(-most, most + 1)]
    needed = at_least * n * scale - _ROUNDING
    sums = enumerate(drawn(chances, n), -n * most)
    return min(1.0, math.fsum(chance for total, chance in sums if abs(total) >= needed))
