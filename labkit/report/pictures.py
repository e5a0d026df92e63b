"""Which pictures a summary has, and what of the sheet goes into each."""

from collections.abc import Callable, Iterable, Iterator

from labkit.fields import counted
from labkit.report.figures import (
    Amount,
    Bar,
    Dimension,
    End,
    Move,
    Panel,
    Picture,
    Plan,
    effort,
    forest,
    grid,
    marks,
    moves,
    power,
)
from labkit.report.sheet import Agreed, Pair, Sheet, Side
from labkit.report.wording import (
    NOT_AVAILABLE,
    amount,
    measured,
    percent,
    percent_interval,
    points,
    points_interval,
)
from labkit.summary import Estimate, Reach, Total

_ABOUT_TWICE = 1.8
_LARGEST = 20


def rates(sheet: Sheet) -> Picture | None:
    """Draw rates, pass^2 and the differences."""
    bars = [
        bar
        for index, side in enumerate(sheet.sides)
        for bar in (
            _rate(f"{side.id} pass rate", side.rate, index),
            _rate(f"{side.id} pass^2", side.pass_hat_2, index),
        )
    ]
    places = _places(sheet)
    return forest(bars, [_difference(pair, places.get(pair.second, 0)) for pair in sheet.pairs])


def _places(sheet: Sheet) -> dict[str, int]:
    return {side.id: index for index, side in enumerate(sheet.sides)}


def _rate(label: str, found: Estimate, side: int) -> Bar:
    text = NOT_AVAILABLE
    if found.value is not None:
        text = percent(found.value)
        text += f" ({percent_interval(found.interval)})" if found.interval else ""
    return Bar(label=label, value=found.value, interval=found.interval, text=text, side=side)


def _difference(pair: Pair, side: int) -> Bar:
    found = pair.difference
    text = NOT_AVAILABLE
    if found.value is not None:
        text = points(found.value)
        text += f" ({points_interval(found.interval)})" if found.interval else ""
    return Bar(
        label=f"{pair.second} - {pair.first}",
        value=found.value,
        interval=found.interval,
        text=text,
        side=side,
    )


def moved(sheet: Sheet, pair: Pair) -> Picture | None:
    """Draw what became of each task from the one configuration to the other."""
    found = []
    for row in sheet.rows:
        first, second = row.mean(pair.first), row.mean(pair.second)
        if first is not None and second is not None:
            found.append(Move(row.task, first, second))
    places = _places(sheet)
    return moves(
        found,
        End(pair.first, places.get(pair.first, 0)),
        End(pair.second, places.get(pair.second, 0)),
    )


def attempts(sheet: Sheet) -> Picture | None:
    """Draw every attempt."""
    return grid([(row.task, row.attempts) for row in sheet.rows])


def rubric(sheet: Sheet) -> Picture | None:
    """Draw the marks by dimension, with the agreement of scorers."""
    names = dict.fromkeys(name for side in sheet.sides for name in side.rubric)
    dimensions = [
        Dimension(
            name=name,
            means=tuple(
                (side.rubric[name].value, side.rubric[name].interval) for side in sheet.sides
            ),
            agreement=agreed(sheet.agreement.get(name)),
        )
        for name in names
    ]
    return marks(dimensions, [side.id for side in sheet.sides])


def agreed(found: Agreed | None) -> str:
    """Write how far scorers agree: alpha 0.62 (0.31 to 0.84), 12 runs."""
    if found is None or found.alpha.value is None:
        return f"agreement {NOT_AVAILABLE}"
    bar = found.alpha.interval
    within = f" ({bar.low:.2f} to {bar.high:.2f})" if bar else f" (interval {NOT_AVAILABLE})"
    return f"alpha {found.alpha.value:.2f}{within}, {counted(found.runs, 'run')}"


def effort_of(sheet: Sheet) -> Picture | None:
    """Draw time, tokens and cost."""
    return effort(tuple(_panels(sheet)), [side.id for side in sheet.sides])


def _panels(sheet: Sheet) -> Iterator[Panel]:
    yield Panel(
        title="median minutes a task", amounts=tuple(_minutes(sheet, side) for side in sheet.sides)
    )
    yield _panel(sheet, "tokens a run", lambda side: _each(side.tokens))
    yield _panel(sheet, "cost a run", lambda side: _each(side.cost))
    for name in ("minutes", "tokens", "cost"):
        yield _panel(sheet, f"{name} a pass", _of_a_pass(name))


def _minutes(sheet: Sheet, side: Side) -> Amount:
    found = side.minutes
    return Amount(
        value=found.value,
        text=NOT_AVAILABLE if found.value is None else f"{measured(found.value)} min",
        interval=found.interval,
        tasks=tuple(each for row in sheet.rows if (each := row.minutes.get(side.id)) is not None),
    )


def _panel(sheet: Sheet, title: str, value_of: Callable[[Side], float | None]) -> Panel:
    found = [value_of(side) for side in sheet.sides]
    return Panel(
        title=title,
        amounts=tuple(
            Amount(value=each, text=NOT_AVAILABLE if each is None else amount(each))
            for each in found
        ),
    )


def _of_a_pass(name: str) -> Callable[[Side], float | None]:
    return lambda side: side.per_pass.get(name)


def _each(total: Total) -> float | None:
    return total.value / total.known if total.value is not None and total.known else None


def outlook(pair: Pair) -> Picture | None:
    """Draw what this comparison could have detected, and what about twice the tasks would."""
    if pair.outlook is None:
        return None
    here = pair.outlook.here
    shown = [*_doubled(here, pair.outlook.more_tasks), pair.outlook.more_attempts]
    chances = [(each.effect, each.power) for each in pair.outlook.powers]
    return power(_plan(here), chances, list(map(_plan, shown)))


def _doubled(here: Reach, larger: Iterable[Reach]) -> Iterator[Reach]:
    """Yield a few larger plans, each with about twice the tasks of the one before."""
    before = here.tasks
    for reach in larger:
        if reach.tasks >= _ABOUT_TWICE * before and reach.tasks <= _LARGEST * here.tasks:
            yield reach
            before = reach.tasks


def _plan(reach: Reach) -> Plan:
    return Plan(reach.tasks, reach.attempts, reach.smallest)
