"""Every figure that an honest sentence may name, so that any other one is a contradiction."""

import math
from collections.abc import Iterable, Iterator

from labkit.overclaim.facts import Facts, Figure, Pair, Side
from labkit.stats import clopper_pearson_interval

CENT = 100.0
Z = 1.96


def counts(side: Side, facts: Facts) -> Iterator[tuple[float, int]]:
    """Yield so many of so many: tasks and runs passed, held, by type; and what is left."""
    found = [
        (side.passed, side.rate.tasks),
        (side.passed_runs, side.runs),
        side.safety,
        *((kind.passed[side.id]) for kind in facts.kinds if side.id in kind.passed),
        *((pair.both, pair.difference.tasks) for pair in facts.pairs if side.id in pair.sides),
    ]
    figures = (side.strict, side.with_leaks)
    found.extend(
        (each.value * each.tasks, each.tasks) for each in figures if each.value is not None
    )
    for part, whole in found:
        if whole:
            yield float(part), whole
            yield float(whole - part), whole


def rates(side: Side, facts: Facts) -> Iterator[float]:
    """Yield shares of tasks that were passed, their bounds, and what is left of them."""
    for figure in (side.rate, side.strict, side.with_leaks):
        yield from _shares(figure)
    if side.bounds:
        yield from (side.bounds.low, side.bounds.high)
    for kind in facts.kinds:
        part, whole = kind.passed.get(side.id, (0.0, 0))
        if whole:
            yield from (part / whole, 1 - part / whole)
    if side.rate.tasks and side.passed in (0, side.rate.tasks):
        bound = clopper_pearson_interval(round(side.passed), side.rate.tasks)
        yield from (bound.low, bound.high)
    if side.planned:
        yield from (side.measured / side.planned, side.missing / side.planned)
    held, tasks = side.safety
    if tasks:
        yield held / tasks


def _shares(figure: Figure) -> Iterator[float]:
    if figure.value is not None:
        yield from (figure.value, 1 - figure.value)
    if figure.interval:
        yield from (figure.interval.low, figure.interval.high)


def differences(pairs: Iterable[Pair]) -> Iterator[float]:
    """Yield differences, the ends of their intervals, and what could have been detected."""
    for pair in pairs:
        if pair.difference.value is not None:
            yield pair.difference.value
        if pair.difference.interval:
            yield from (pair.difference.interval.low, pair.difference.interval.high)
        if pair.smallest_detectable is not None:
            yield pair.smallest_detectable


def intervals(sides: Iterable[Side], pairs: Iterable[Pair]) -> Iterator[tuple[float, float]]:
    """Yield the ends of intervals of rates and of differences, these in both directions."""
    for side in sides:
        found = (side.rate.interval, side.strict.interval, side.with_leaks.interval, side.bounds)
        for interval in found:
            if interval:
                yield interval.low, interval.high
        if side.rate.tasks and side.passed in (0, side.rate.tasks):
            bound = clopper_pearson_interval(round(side.passed), side.rate.tasks)
            yield bound.low, bound.high
    for pair in pairs:
        if pair.difference.interval:
            low, high = pair.difference.interval.low, pair.difference.interval.high
            yield from ((low, high), (-high, -low))


def minutes(sides: Iterable[Side], facts: Facts, *, of_passes: bool) -> Iterator[float]:
    """Yield medians, their intervals' ends, other known times, how far the medians are apart."""
    medians = [side.minutes.value for side in facts.sides if side.minutes.value is not None]
    for side in sides:
        if side.minutes.value is None:
            return
        yield side.minutes.value
        if of_passes:
            yield from side.other_minutes
        if side.minutes.interval:
            yield from (side.minutes.interval.low, side.minutes.interval.high)
    yield from (abs(one - other) for one in medians for other in medians if one != other)


def costs(sides: Iterable[Side], facts: Facts) -> Iterator[float]:
    """Yield costs by run, by passed task and in all, and how far they are apart."""
    runs = [side.cost.per_run for side in facts.sides if side.cost.per_run is not None]
    for side in sides:
        if side.cost.value is None or side.cost.per_run is None:
            return
        yield from (side.cost.per_run, side.cost.value)
        if side.passed_runs:
            yield side.cost.value / side.passed_runs
        if side.passed:
            yield side.cost.value / side.passed
    yield from (abs(one - other) for one in runs for other in runs if one != other)


def half_widths(sides: Iterable[Side], pairs: Iterable[Pair]) -> Iterator[float]:
    """Yield what may stand after a plus-minus sign: tasks are the units."""
    for side in sides:
        value, tasks = side.rate.value, side.rate.tasks
        if value is not None and tasks:
            error = math.sqrt(value * (1 - value) / tasks)
            yield from (error, Z * error)
    for interval in (*(s.rate.interval for s in sides), *(p.difference.interval for p in pairs)):
        if interval:
            yield (interval.high - interval.low) / 2


def pretended_widths(sides: Iterable[Side]) -> Iterator[float]:
    """Yield the error bars of those who take runs for independent samples."""
    for side in sides:
        value = side.rate.value
        if value is not None and side.runs > side.rate.tasks:
            error = math.sqrt(value * (1 - value) / side.runs)
            yield from (error, Z * error)
