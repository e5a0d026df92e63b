"""Krippendorff's alpha: how far any number of scorers agree, when not everyone marked everything.

All of it is computed from one table of coincidences, in fractions, so that no digit depends on the
order of the scorers or items.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from itertools import accumulate
from math import isfinite
from typing import assert_never

from labkit.stats.interval import Interval
from labkit.stats.jackknife import grouped, jackknife_interval

Ratings = Sequence[Sequence[float | None]]
"""One row a scorer, one column an item; None for "not marked"."""
_Table = Mapping[tuple[float, float], Fraction]


class Metric(StrEnum):
    """How far apart two marks are."""

    NOMINAL = "nominal"
    """All marks that differ are equally far apart."""
    ORDINAL = "ordinal"
    """By the number of marks given between them: for a rubric."""
    INTERVAL = "interval"
    """By their difference."""
    RATIO = "ratio"
    """By their difference over their sum; for marks from 0 on."""


def krippendorff_alpha(ratings: Ratings, metric: str = Metric.ORDINAL) -> float | None:
    """Return 1 - (disagreement observed) / (disagreement expected by chance).

    `ratings` has one row a scorer and one column an item, None for "not marked"; items with fewer
    than two marks are left out. Disagreement of marks c, k is 0 or 1 (nominal), the square of
    n_c/2 + (marks given between them) + n_k/2 (ordinal), (c-k)^2 (interval), ((c-k)/(c+k))^2
    (ratio), averaged over the pairs within items, and over all pairs. From below 0 to 1.
    Source: Krippendorff 2011, Computing Krippendorff's Alpha-Reliability. None when all marks are
    equal or no item has two. Raises ValueError for rows of different length, marks that are not
    finite or (ratio) negative, or an unknown metric.
    """
    kind = _metric(metric)
    return _alpha(_added(_tables(ratings, kind)), kind)


def krippendorff_alpha_interval(
    ratings: Ratings,
    metric: str = Metric.ORDINAL,
    *,
    tasks: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
) -> Interval | None:
    """Return the interval of `krippendorff_alpha` by leaving out one task at a time.

    `tasks` names the task of each item, whose items are left out together; without it every item
    is its own. See `jackknife_interval` for the method and for when it is None.
    Raises ValueError as `krippendorff_alpha` does.
    """
    kind = _metric(metric)
    return jackknife_interval(
        grouped(_tables(ratings, kind), tasks),
        lambda table: _alpha(table, kind),
        confidence=confidence,
    )


def _tables(ratings: Ratings, metric: Metric) -> list[_Table]:
    """Return the coincidences of each item: every pair of its m marks counts 1/(m-1)."""
    if len({len(row) for row in ratings}) > 1:
        raise ValueError("every scorer needs a mark, or None, for the same items")
    for mark in (mark for row in ratings for mark in row if mark is not None):
        if not isfinite(mark) or (metric is Metric.RATIO and mark < 0):
            raise ValueError(f"the mark {mark} has no place on a scale of kind {metric}")
    return [_coincidences(column) for column in zip(*ratings, strict=True)]


def _coincidences(column: Sequence[float | None]) -> _Table:
    marks = Counter(mark for mark in column if mark is not None)
    m = marks.total()
    return {
        (c, k): Fraction(many * (others - (c == k)), m - 1)
        for c, many in marks.items()
        for k, others in marks.items()
        if m > 1 and others > (c == k)
    }


def _added(tables: Sequence[_Table]) -> _Table:
    total: defaultdict[tuple[float, float], Fraction] = defaultdict(Fraction)
    for table in tables:
        for pair, amount in table.items():
            total[pair] += amount
    return total


def _alpha(table: _Table, metric: Metric) -> float | None:
    marks: defaultdict[float, Fraction] = defaultdict(Fraction)
    for (c, _), amount in table.items():
        marks[c] += amount
    apart = _distance(metric, marks)
    observed = sum(amount * apart(c, k) for (c, k), amount in table.items())
    expected = sum(
        one * other * apart(c, k) for c, one in marks.items() for k, other in marks.items()
    )
    if not expected:
        return None
    return float(1 - (sum(marks.values()) - 1) * observed / Fraction(expected))


def _distance(
    metric: Metric, marks: Mapping[float, Fraction]
) -> Callable[[float, float], Fraction]:
    """Return the function that says how far two marks are apart, squared."""
    match metric:
        case Metric.NOMINAL:
            return lambda c, k: Fraction(c != k)
        case Metric.ORDINAL:
            order = sorted(marks)
            reached = accumulate(marks[mark] for mark in order)
            place = {
                mark: up_to - marks[mark] / 2 for mark, up_to in zip(order, reached, strict=True)
            }
            return lambda c, k: (place[c] - place[k]) ** 2
        case Metric.INTERVAL:
            return lambda c, k: (Fraction(c) - Fraction(k)) ** 2
        case Metric.RATIO:
            return lambda c, k: (
                ((Fraction(c) - Fraction(k)) / (Fraction(c) + Fraction(k))) ** 2
                if c != k
                else Fraction()
            )
        case _:
            assert_never(metric)


def _metric(name: str) -> Metric:
    try:
        return Metric(name)
    except ValueError:
        known = ", ".join(Metric)
        raise ValueError(f"{name!r} is no way to measure disagreement; there are {known}") from None
