"""How far two scorers agree beyond chance: kappa, on the scale that the rubric declares.

Levels that nobody used count as well: they set how far apart two marks are. An item that one of the
two did not score is left out.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from typing import TypeVar, assert_never

from labkit.stats.interval import Interval
from labkit.stats.jackknife import grouped, jackknife_interval

Level = TypeVar("Level", bound=Hashable)
_Table = Mapping[tuple[int, int], Fraction]


class Weights(StrEnum):
    """What a disagreement by several levels counts for."""

    NONE = "none"
    """Every disagreement alike: Cohen's kappa."""
    LINEAR = "linear"
    QUADRATIC = "quadratic"


def weighted_kappa(
    a: Sequence[Level | None],
    b: Sequence[Level | None],
    levels: Sequence[Level],
    weights: str = Weights.QUADRATIC,
) -> float | None:
    """Return 1 - (disagreement observed) / (disagreement expected by chance).

    `a` and `b` are the marks of two scorers, item by item, None for "not scored"; `levels` is the
    whole scale in order. A disagreement by s levels counts 1, s or s^2 by the weights. From below 0
    to 1. Sources: Cohen 1960 and 1968. None when chance leaves no room to disagree: no common item,
    or one level used. Raises ValueError for sequences of different length, a mark that is no level,
    levels that repeat, or unknown weights.
    """
    table = _added(_tables(a, b, levels))
    return _kappa(table, _weights(weights))


def weighted_kappa_interval(
    a: Sequence[Level | None],
    b: Sequence[Level | None],
    levels: Sequence[Level],
    weights: str = Weights.QUADRATIC,
    *,
    tasks: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
) -> Interval | None:
    """Return the interval of `weighted_kappa` by leaving out one task at a time.

    `tasks` names the task of each item, whose items are left out together; without it every item
    is its own. See `jackknife_interval` for the method and for when it is None.
    Raises ValueError as `weighted_kappa` does.
    """
    kind = _weights(weights)
    return jackknife_interval(
        grouped(_tables(a, b, levels), tasks),
        lambda table: _kappa(table, kind),
        confidence=confidence,
    )


def weighted_kappa_standard_error(
    a: Sequence[Level | None],
    b: Sequence[Level | None],
    levels: Sequence[Level],
    weights: str = Weights.QUADRATIC,
) -> float | None:
    """Return the large-sample standard error of `weighted_kappa`, as statistics packages print it.

    Source: Fleiss, Cohen and Everitt 1969. It is 0 at perfect agreement, where it says nothing, and
    it takes items for independent: `weighted_kappa_interval` does not. None when kappa is.
    Raises ValueError as `weighted_kappa` does.
    """
    kind, size = _weights(weights), len(levels)
    table = _added(_tables(a, b, levels))
    kappa = _kappa(table, kind)
    if kappa is None:
        return None
    rows, columns = _margins(table)
    n = sum(table.values())
    scale = range(size)
    credit = {(i, j): 1 - float(_apart(i, j, kind)) for i in scale for j in scale}
    by_row = [sum(credit[i, j] * columns[j] for j in scale) / n for i in scale]
    by_column = [sum(credit[i, j] * rows[i] for i in scale) / n for j in scale]
    chance = sum(by_row[i] * rows[i] for i in scale) / n
    spread = math.fsum(
        many / n * (credit[i, j] - (by_row[i] + by_column[j]) * (1 - kappa)) ** 2
        for (i, j), many in table.items()
    )
    spread -= (kappa - chance * (1 - kappa)) ** 2
    return math.sqrt(max(0.0, spread) / n) / (1 - chance)


def raw_agreement(a: Sequence[Level | None], b: Sequence[Level | None]) -> float | None:
    """Return the share of items with equal marks, of those that both scored; None without any.

    Raises ValueError for sequences of different length.
    """
    _check_lengths(a, b)
    both = [
        one == other
        for one, other in zip(a, b, strict=True)
        if one is not None and other is not None
    ]
    return sum(both) / len(both) if both else None


def fleiss_kappa(items: Sequence[Sequence[Hashable]]) -> float | None:
    """Return the kappa of Fleiss (1971): nominal marks, the same number of scorers for every item.

    Each item is the sequence of its marks. None when all marks are equal, or without items. Raises
    ValueError unless every item has the same number of marks, at least two.
    """
    raters = len(items[0]) if items else 2
    if raters < 2 or any(len(item) != raters for item in items):  # noqa: PLR2004 - a pair
        raise ValueError("every item needs the same number of marks, at least two")
    marks = Counter(mark for item in items for mark in item)
    total = marks.total()
    pairs = raters * (raters - 1)
    expected = Fraction(sum(many**2 for many in marks.values()), total**2) if total else Fraction(1)
    if expected == 1:
        return None
    alike = sum(many * (many - 1) for item in items for many in Counter(item).values())
    return float((Fraction(alike, pairs * len(items)) - expected) / (1 - expected))


def _kappa(table: _Table, weights: Weights) -> float | None:
    rows, columns = _margins(table)
    observed = sum(_apart(i, j, weights) * many for (i, j), many in table.items())
    expected = sum(
        _apart(i, j, weights) * above * beside
        for i, above in rows.items()
        for j, beside in columns.items()
    )
    return float(1 - observed * sum(table.values()) / Fraction(expected)) if expected else None


def _apart(i: int, j: int, weights: Weights) -> int:
    match weights:
        case Weights.NONE:
            return int(i != j)
        case Weights.LINEAR:
            return abs(i - j)
        case Weights.QUADRATIC:
            return (i - j) ** 2
        case _:
            assert_never(weights)


def _margins(table: _Table) -> tuple[Mapping[int, Fraction], Mapping[int, Fraction]]:
    rows: defaultdict[int, Fraction] = defaultdict(Fraction)
    columns: defaultdict[int, Fraction] = defaultdict(Fraction)
    for (i, j), many in table.items():
        rows[i] += many
        columns[j] += many
    return rows, columns


def _added(tables: Sequence[_Table]) -> _Table:
    pairs = Counter(pair for table in tables for pair in table)
    return {pair: Fraction(many) for pair, many in pairs.items()}


def _tables(
    a: Sequence[Level | None], b: Sequence[Level | None], levels: Sequence[Level]
) -> list[_Table]:
    """Return one table an item: the places of both marks on the scale; empty without both."""
    _check_lengths(a, b)
    places = {level: place for place, level in enumerate(levels)}
    if len(places) != len(levels):
        raise ValueError("a scale names each level once")
    for mark in (*a, *b):
        if mark is not None and mark not in places:
            raise ValueError(f"the mark {mark!r} is no level of the scale")
    return [
        {} if one is None or other is None else {(places[one], places[other]): Fraction(1)}
        for one, other in zip(a, b, strict=True)
    ]


def _check_lengths(a: Sequence[object], b: Sequence[object]) -> None:
    if len(a) != len(b):
        raise ValueError(f"two scorers mark the same items, not {len(a)} and {len(b)}")


def _weights(name: str) -> Weights:
    try:
        return Weights(name)
    except ValueError:
        known = ", ".join(Weights)
        raise ValueError(f"{name!r} is no way to weigh; there are {known}") from None
