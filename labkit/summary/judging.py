"""Whether sets of attempts can be told apart: one test for each two, all of them held together."""

from collections.abc import Sequence
from dataclasses import dataclass

from labkit.forecast import SIGNIFICANCE
from labkit.stats import Interval, holm, paired_interval, sign_flip_test
from labkit.summary.evidence import Attempts
from labkit.summary.pair import Paired
from labkit.summary.pairing import Missing, differences, mean_of, pair

Two = tuple[Attempts, Attempts]
_EXTREMES: tuple[Missing, Missing] = ((False, True), (True, False))
"""Missing runs at their worst for the first and best for the second, and the reverse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """Two sets of attempts, compared."""

    paired: Paired
    p_adjusted: float | None
    tests: int
    """How many comparisons were held together."""
    direction: int
    """1 when the second is detectably ahead on what was measured, -1 when the first is, else 0."""
    missing: int
    """How many planned attempts were not measured."""
    survives: bool | None
    """Whether the direction stays whatever missing runs had done; None when none is missing."""
    bounds: Interval | None
    """The mean difference had they all gone one way, or the other."""


def judge(twos: Sequence[Two]) -> tuple[Judged, ...]:
    """Compare the second of each two with the first; the tests share one error rate by Holm."""
    paired = [pair(*two) for two in twos]
    ps = [found.p_mid for found in paired]
    return tuple(
        _judged(two, found, ps, place)
        for place, (two, found) in enumerate(zip(twos, paired, strict=True))
    )


def _judged(two: Two, paired: Paired, ps: Sequence[float | None], place: int) -> Judged:
    adjusted = adjust(ps)[place]
    direction = direction_of(paired.difference.value, adjusted, paired.difference.interval)
    missing = sum(of.count(None) for side in two for of in side.values())
    extremes = _extremes(two, ps, place) if missing else []
    means = [mean for mean, _ in extremes]
    return Judged(
        paired=paired,
        p_adjusted=adjusted,
        tests=sum(p is not None for p in ps),
        direction=direction,
        missing=missing,
        survives=all(way == direction for _, way in extremes) if extremes else None,
        bounds=Interval(low=min(means), high=max(means)) if means else None,
    )


def _extremes(two: Two, ps: Sequence[float | None], place: int) -> list[tuple[float, int]]:
    """Return mean and direction if missing runs had all gone one way, and if the other."""
    found = []
    for missing in _EXTREMES:
        if moved := differences(*two, missing):
            values = list(moved.values())
            mean = mean_of(values)
            p = sign_flip_test(values).p_mid
            adjusted = adjust([*ps[:place], p, *ps[place + 1 :]])[place]
            found.append((mean, direction_of(mean, adjusted, paired_interval(values))))
    return found


def direction_of(mean: float | None, adjusted: float | None, interval: Interval | None) -> int:
    """Return which side is detectably ahead, as in `Judged`: test and interval have to say so.

    With three attempts a mid-p of at most .05 does not imply an interval without 0.
    """
    if mean is None or adjusted is None or adjusted > SIGNIFICANCE:
        return 0
    if interval is not None and interval.low <= 0 <= interval.high:
        return 0
    return 1 if mean > 0 else -1


def adjust(ps: Sequence[float | None]) -> tuple[float | None, ...]:
    """Return each p by Holm, over all comparisons that have one."""
    adjusted = iter(holm([p for p in ps if p is not None]))
    return tuple(None if p is None else next(adjusted) for p in ps)
