"""The power of the sign-flip test, exactly: every outcome weighed by its chance.

What the test decides depends only on how many differences there are of each size, and on their sum.
So the numbers of each size are enumerated, and the sum is handled as a whole: a row of chances for
every number of the other sizes, into which the differences of the first size go one by one.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING, TypeVar

from labkit.stats.design import Design
from labkit.stats.flips import as_fraction

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]

Level = TypeVar("Level", bound=Fraction | float)
_MOST_CHANCES = 20_000_000
"""Outcomes times possible sums: some tenths of a second of work, the first time."""
_NEGLIGIBLE = 1e-12
"""Rarer rows of outcomes are left out, and count as not rejected."""
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
    or more outcomes than can be enumerated (`is_enumerable`).
    """
    if n < 1 or n != int(n):
        raise ValueError(f"{n} tasks have no power")
    if not 0 < significance < 1:
        raise ValueError(f"a significance lies between 0 and 1, and {significance} does not")
    sizes = _sizes(shares)
    if not sizes:
        return Power(exact=0.0, mid=0.0)
    steps = tuple(size.step for size in sizes)
    if not _fits(n, steps):
        raise ValueError(
            f"{n} tasks with differences of {len(sizes)} sizes have {_outcomes(n, len(sizes)):,} "
            "outcomes, which are too many to enumerate"
        )
    limits = _limits(n, steps, significance)
    return _rejected(n, sizes, limits)


def is_enumerable(n: int, attempts: int) -> bool:
    """Return whether `power` can enumerate n tasks with so many attempts."""
    return _fits(n, range(1, attempts + 1))


def detectable_effect(
    n: int,
    design: Design,
    significance: float = 0.05,
    aim: float = 0.8,
) -> float | None:
    """Return the smallest true difference that n tasks detect (by mid-p) with a power of `aim`.

    It is found to a tenth of a point. None when even the largest difference that the design's pass
    rate leaves room for is out of reach. Raises ValueError as `power` does, and for an `aim` that
    is not above the significance and below 1.
    """
    from scipy.optimize import brentq  # noqa: PLC0415 - slow

    if not significance < aim < 1:
        raise ValueError(f"a power to plan for lies from {significance} to 1, and {aim} does not")

    def excess(effect: float) -> float:
        # On the normal scale, power rises nearly in a straight line: few steps find the root.
        reached = power(n, design.shares(effect), significance).mid
        return normal.inv_cdf(min(max(reached, _NEGLIGIBLE), 1 - _NEGLIGIBLE)) - wanted

    normal = NormalDist()
    wanted = normal.inv_cdf(aim)
    most = 1 - design.mean - _FINEST_EFFECT
    if excess(most) < 0:
        return None
    return min(most, brentq(excess, 0.0, most, xtol=_FINEST_EFFECT / 2) + _FINEST_EFFECT / 2)


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


def _outcomes(n: int, sizes: int) -> int:
    """Return in how many ways n differences can be of these sizes, or 0."""
    return math.comb(n + sizes, sizes)


def _fits(n: int, steps: Sequence[int]) -> bool:
    return _outcomes(n, len(steps)) * (2 * n * max(steps) + 1) <= _MOST_CHANCES


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Others:
    """The differences of all sizes but the first: a row for every number of each."""

    counts: "Whole"
    """A column for each size; the rows with the fewest differences come first."""
    sums: "Floats"
    """The distribution of their sum, with the sum 0 in the middle."""

    @classmethod
    def of(cls, n: int, steps: Sequence[int], ups: Sequence[float]) -> "_Others":
        import numpy as np  # noqa: PLC0415 - slow

        start = np.zeros(2 * n * max(steps) + 1)
        start[len(start) // 2] = 1.0
        rows: list[tuple[tuple[int, ...], Floats]] = [((), start)]
        for step, up in zip(steps[1:], ups[1:], strict=True):
            rows = [
                ((*counts, many), sums)
                for counts, fewer in rows
                for many, sums in enumerate(_growing(fewer, step, up, most=n - sum(counts)))
            ]
        rows.sort(key=lambda row: sum(row[0]))
        counts = np.array([row[0] for row in rows], dtype=np.int64).reshape(len(rows), -1)
        return cls(counts=counts, sums=np.array([row[1] for row in rows]))

    def only(self, rows: "NDArray[np.bool_]") -> "_Others":
        return _Others(counts=self.counts[rows], sums=self.sums[rows])


def _growing(sums: "Floats", step: int, up: float, *, most: int) -> "Iterator[Floats]":
    """Yield the distributions of the sum with 0 to `most` steps more."""
    yield sums
    for _ in range(most):
        yield (sums := _one_more(sums, step, up))


def _one_more(sums: "Floats", step: int, up: float) -> "Floats":
    import numpy as np  # noqa: PLC0415 - slow

    # What is moved off one end comes back at the other, but n steps never reach an end.
    grown = (1 - up) * np.roll(sums, -step, axis=-1)
    grown += up * np.roll(sums, step, axis=-1)
    return grown


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Limits:
    """The smallest sums that each version of the test rejects: a row as in `_Others`.

    A column for every number of differences of the first size; 0 where they would be too many.
    """

    exact: "Whole"
    mid: "Whole"


@lru_cache(maxsize=32)
def _limits(n: int, steps: tuple[int, ...], significance: float) -> _Limits:
    import numpy as np  # noqa: PLC0415 - slow

    others = _Others.of(n, steps, [0.5] * len(steps))
    room = n - others.counts.sum(axis=1)
    exact = np.zeros((len(room), n + 1), dtype=np.int64)
    mid = np.zeros_like(exact)
    middle = others.sums.shape[1] // 2
    for many, sums in enumerate(_growing_where_there_is_room(others, steps[0], 0.5, room)):
        right = sums[:, middle:]
        beyond = np.cumsum(right[:, ::-1], axis=1)[:, ::-1]
        kept = significance + _ROUNDING
        exact[: len(sums), many] = (2 * beyond > kept).sum(axis=1)
        mid[: len(sums), many] = (2 * beyond - right > kept).sum(axis=1)
    return _Limits(exact=exact, mid=mid)


def _growing_where_there_is_room(
    others: _Others, step: int, up: float, room: "Whole"
) -> "Iterator[Floats]":
    """Yield the sums with 0, 1, 2... of the first size; rows without room for so many drop out."""
    sums = others.sums
    for many in range(int(room.max()) + 1):
        sums = sums[: int((room >= many).sum())]
        yield sums
        sums = _one_more(sums, step, up)


def _rejected(n: int, sizes: Sequence[_Size], limits: _Limits) -> Power:
    import numpy as np  # noqa: PLC0415 - slow

    others = _Others.of(n, [size.step for size in sizes], [size.up for size in sizes])
    weights = _weights(n, [size.share for size in sizes], others.counts)
    likely = weights.max(axis=1) > _NEGLIGIBLE
    others, weights = others.only(likely), weights[likely]
    limits = _Limits(exact=limits.exact[likely], mid=limits.mid[likely])
    room = n - others.counts.sum(axis=1)
    exact = mid = 0.0
    sums_of = _growing_where_there_is_room(others, sizes[0].step, sizes[0].up, room)
    for many, sums in enumerate(sums_of):
        weight = weights[: len(sums), many]
        if weight.max() > _NEGLIGIBLE:
            below = np.cumsum(sums, axis=1)
            exact += float(weight @ _beyond(below, limits.exact[: len(sums), many]))
            mid += float(weight @ _beyond(below, limits.mid[: len(sums), many]))
    return Power(exact=min(1.0, max(0.0, exact)), mid=min(1.0, max(0.0, mid)))


def _beyond(below: "Floats", limit: "Whole") -> "Floats":
    """Return the chance of each row that its sum reaches its limit, up or down."""
    import numpy as np  # noqa: PLC0415 - slow

    rows, middle = np.arange(len(limit)), below.shape[1] // 2
    # One column further on either side stands for sums that cannot be.
    padded = np.pad(below, ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1)))
    inside: Floats = padded[rows, middle + limit] - padded[rows, middle + 1 - limit]
    return 1 - inside


def _weights(n: int, shares: Sequence[float], counts: "Whole") -> "Floats":
    """Return the chance of every outcome: rows as in `_Others`, columns as in `_Limits`."""
    import numpy as np  # noqa: PLC0415 - slow
    from scipy.special import gammaln, xlogy  # noqa: PLC0415 - slow

    first = np.arange(n + 1)
    still = n - counts.sum(axis=1)[:, None] - first
    possible = still >= 0
    still = np.where(possible, still, 0)
    logs = gammaln(n + 1) - gammaln(first + 1) - gammaln(still + 1)
    logs -= gammaln(counts + 1).sum(axis=1)[:, None]
    logs += xlogy(first, shares[0]) + xlogy(still, max(0.0, 1 - math.fsum(shares)))
    logs += xlogy(counts, np.array(shares[1:])).sum(axis=1)[:, None]
    weights: Floats = np.where(possible, np.exp(logs), 0.0)
    return weights
