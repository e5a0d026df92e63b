"""The power of the sign-flip test, exactly: every outcome weighed by its chance.

What the test decides depends only on how many differences there are of each size, and on their sum.
So the numbers of each size are enumerated, and the sum is handled as a whole.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar

from labkit.stats.design import Design
from labkit.stats.flips import Sum, TwoSums, as_fraction, binomial

Level = TypeVar("Level", bound=Fraction | float)
_MOST_OUTCOMES = 500_000
_NEGLIGIBLE = 1e-11
"""Rarer outcomes are left out, and count as not rejected."""
_ROUNDING = 1e-12
_FINEST_EFFECT = 0.001


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """The chances that each version of the sign-flip test rejects "no difference"."""

    exact: float
    mid: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Size:
    """Differences of one size: how likely one is of it, and then up rather than down."""

    step: int
    share: float
    up: float


def power(n: int, shares: Mapping[Level, float], significance: float = 0.05) -> Power:
    """Return the power of `sign_flip_test` at n tasks.

    `shares` gives the chance of each per-task difference, such as `Design.shares` returns; with no
    true difference it gives the chance of a false finding. Nothing is simulated.
    Raises ValueError for no tasks, chances that do not add up to 1, a significance outside 0 to 1,
    or more outcomes than can be enumerated.
    """
    if n < 1 or n != int(n):
        raise ValueError(f"{n} tasks have no power")
    if not 0 < significance < 1:
        raise ValueError(f"a significance lies between 0 and 1, and {significance} does not")
    sizes = _sizes(shares)
    outcomes = math.comb(n + len(sizes), len(sizes))
    if outcomes > _MOST_OUTCOMES:
        raise ValueError(
            f"{n} tasks with differences of {len(sizes)} sizes have {outcomes:,} outcomes, "
            f"and more than {_MOST_OUTCOMES:,} are not enumerated"
        )
    steps = tuple(size.step for size in sizes)
    exact, mid = [], []
    for counts, weight in _outcomes(n, [size.share for size in sizes]):
        limits = _limits(steps, counts, significance)
        parts = [binomial(s.step, many, s.up) for s, many in zip(sizes, counts, strict=True)]
        true_exact, true_mid = _beyond(parts, limits)
        exact.append(weight * true_exact)
        mid.append(weight * true_mid)
    return Power(exact=min(1.0, math.fsum(exact)), mid=min(1.0, math.fsum(mid)))


def detectable_effect(
    n: int,
    design: Design,
    significance: float = 0.05,
    aim: float = 0.8,
) -> float | None:
    """Return the smallest true difference that n tasks detect (by mid-p) with a power of `aim`.

    It is found to a tenth of a point by bisection. None when even the largest difference that the
    design's pass rate leaves room for is out of reach. Raises ValueError as `power` does.
    """
    low, high = 0.0, 1 - design.mean - _FINEST_EFFECT
    if power(n, design.shares(high), significance).mid < aim:
        return None
    while high - low > _FINEST_EFFECT:
        middle = (low + high) / 2
        if power(n, design.shares(middle), significance).mid < aim:
            low = middle
        else:
            high = middle
    return high


def _sizes(shares: Mapping[Level, float]) -> tuple[_Size, ...]:
    exact = {as_fraction(level): share for level, share in shares.items()}
    total = math.fsum(exact.values())
    if not all(share >= 0 for share in exact.values()) or not math.isclose(total, 1, abs_tol=1e-6):
        raise ValueError("the chances of the differences have to add up to 1")
    scale = math.lcm(*(level.denominator for level in exact))
    found = []
    for level in sorted({abs(level) for level in exact if level}):
        up, down = exact.get(level, 0.0), exact.get(-level, 0.0)
        if up + down:
            step, share = int(level * scale), (up + down) / total
            found.append(_Size(step=step, share=share, up=up / (up + down)))
    return tuple(found)


def _outcomes(n: int, shares: Sequence[float]) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield how many differences are of each size, with the chance of it; the others are 0."""
    if not shares:
        yield (), 1.0
        return
    *others, share = shares
    rest = max(0.0, 1 - share)
    for total, chance in binomial(1, n, share).items():
        many = (total + n) // 2
        if chance < _NEGLIGIBLE:
            continue
        scaled = [min(1.0, other / rest) if rest else 0.0 for other in others]
        for counts, weight in _outcomes(n - many, scaled):
            if weight * chance >= _NEGLIGIBLE:
                yield (*counts, many), weight * chance


@lru_cache(maxsize=100_000)
def _limits(
    steps: tuple[int, ...], counts: tuple[int, ...], significance: float
) -> tuple[int, int]:
    """Return the smallest sums that the exact and the mid-p test reject."""
    flips = TwoSums.of(binomial(step, many) for step, many in zip(steps, counts, strict=True))
    most = sum(step * many for step, many in zip(steps, counts, strict=True))

    def first(equal_weight: int) -> int:
        low, high = 0, most + 1
        while high - low > 1:
            middle = (low + high) // 2
            tail = flips.tail(middle)
            p = 2 * tail.beyond + equal_weight * tail.equal
            low, high = (low, middle) if p <= significance + _ROUNDING else (middle, high)
        return high

    return first(2), first(1)


def _beyond(parts: Sequence[Sum], limits: tuple[int, int]) -> tuple[float, float]:
    """Return the chances that the sum of the parts reaches each limit, up or down."""
    upward = TwoSums.of(parts)
    downward = TwoSums.of([{-total: chance for total, chance in part.items()} for part in parts])

    def reached(limit: int) -> float:
        return sum(side.tail(limit - 1).beyond for side in (upward, downward))

    exact, mid = limits
    return reached(exact), reached(mid)
