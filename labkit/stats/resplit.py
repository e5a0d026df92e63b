"""What chance alone makes of attempts that disagree: a configuration against itself."""

import math

from labkit.stats.flips import flipped

_ALMOST_ALWAYS = 0.95
_ROUNDING = 1e-12


def typical_noise(moved: int) -> float:
    """Return the mean of |S|, S being the sum of `moved` steps of 1 with random signs.

    m C(m-1, floor((m-1)/2)) / 2^(m-1). With n tasks of which m have two attempts that disagree,
    S/n is the difference between first and second attempts, dealt out anew.
    Raises ValueError for a negative number.
    """
    _check(moved)
    if not moved:
        return 0.0
    ways: int = math.comb(moved - 1, (moved - 1) // 2)
    return moved * ways / (1 << (moved - 1))


def largest_noise(moved: int) -> int:
    """Return the smallest size that |S| stays within 19 times out of 20; see `typical_noise`."""
    _check(moved)
    ways = flipped([1] * moved)
    return next(
        size
        for size in range(moved % 2, moved + 1, 2)
        if 2 * ways.tail(size).beyond <= 1 - _ALMOST_ALWAYS
    )


def noise_at_least(moved: int, size: float) -> float:
    """Return the chance that |S| reaches `size`; see `typical_noise`."""
    _check(moved)
    whole = math.ceil(size - _ROUNDING)
    if whole <= 0:
        return 1.0
    return min(1.0, 2 * flipped([1] * moved).tail(whole - 1).beyond)


def _check(moved: int) -> None:
    if moved < 0:
        raise ValueError(f"{moved} tasks cannot have moved")
