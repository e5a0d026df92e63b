"""The tables of the page; their first column names their rows."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from labkit.fields import counted, first_words
from labkit.report.facts import per_run
from labkit.report.pictures import agreed
from labkit.report.sheet import COVERAGE, Noise, Pair, Row, Sheet, Side
from labkit.report.wording import (
    amount,
    measured,
    p_value,
    percent,
    percent_interval,
    points,
    points_interval,
    short,
    unavailable,
)
from labkit.summary import Estimate

MOST_ROWS = 500
_MARKS = {True: "pass", False: "fail", None: "?"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A caption, a header and rows of texts."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def _by_side(
    sheet: Sheet, caption: str, rows: Iterable[tuple[str, Callable[[Side], str]]]
) -> Table:
    """Make a table with a column for each configuration, of a function for each row."""
    return Table(
        caption=caption,
        header=("", *(side.id for side in sheet.sides)),
        rows=tuple((name, *map(write, sheet.sides)) for name, write in rows),
    )


def figures(sheet: Sheet) -> Table:
    """Each configuration by itself."""
    rows: list[tuple[str, Callable[[Side], str]]] = [
        ("Tasks passed", _passed),
        ("Pass rate", lambda side: _share(side.rate)),
        ("pass^2", lambda side: _share(side.pass_hat_2)),
        ("Flaky tasks", lambda side: first_words(side.flaky) or "none"),
    ]
    if any(side.noise for side in sheet.sides):
        rows.append(("Second attempts less first ones", lambda side: _noise(side.noise)))
    return _by_side(sheet, "Each configuration by itself, with 95 % intervals", rows)


def _passed(side: Side) -> str:
    if side.rate.value is None:
        return unavailable(side.rate.why)
    of = counted(side.rate.tasks, "task")
    return f"{short(side.passed)} of {of} ({counted(side.runs, 'run')})"


def _share(found: Estimate) -> str:
    if found.value is None:
        return unavailable(found.why)
    bar = percent_interval(found.interval) if found.interval else unavailable(found.why)
    return f"{percent(found.value)} ({bar}; {counted(found.tasks, 'task')})"


def _noise(found: Noise | None) -> str:
    if found is None or found.difference.value is None:
        return unavailable("no task has two measured attempts")
    return (
        f"{points(found.difference.value)}, by chance alone, which stays within "
        f"{_size(found.largest)} 19 times out of 20"
    )


def difference(pair: Pair) -> Table:
    """One configuration against another."""
    return Table(
        caption=f"The difference {pair.second} - {pair.first}",
        header=("", ""),
        rows=tuple(_difference(pair)),
    )


def _difference(pair: Pair) -> Iterator[tuple[str, str]]:
    found = pair.difference
    yield "Outcome", pair.outcome
    if pair.why:
        yield "Because", pair.why
    if found.value is None or found.interval is None:
        yield "Mean difference", unavailable(found.why)
    else:
        yield "Mean difference", f"{points(found.value)} over {counted(found.tasks, 'task')}"
        yield "95 % interval", points_interval(found.interval)
    if pair.p_mid is not None and pair.p_exact is not None:
        yield "Sign-flip test", f"mid-p {p_value(pair.p_mid)}, exact p {p_value(pair.p_exact)}"
    if pair.p_adjusted is not None and pair.comparisons > 1:
        told = f"mid-p {p_value(pair.p_adjusted)} over {pair.comparisons} comparisons"
        yield "The same by Holm", told
    if pair.smallest_detectable is not None:
        yield "Smallest detectable difference", _size(pair.smallest_detectable)
    if pair.survives_missing is not None:
        stays = "what was found stays" if pair.survives_missing else "what was found could turn"
        bounds = f": {points_interval(pair.bounds)}" if pair.bounds else ""
        yield "Whatever missing runs had done", f"{stays}{bounds}"


def _size(difference: float) -> str:
    return f"{100 * difference:.0f} points" if difference <= 1 else "out of reach"


def attempts(sheet: Sheet) -> Table:
    """Every attempt of the first tasks."""
    return Table(
        caption="Every attempt: pass, fail, or ? for not measured",
        header=(
            "Task",
            "Type",
            *(side.id for side in sheet.sides),
            *(f"{pair.second} - {pair.first}" for pair in sheet.pairs),
        ),
        rows=tuple(_task(sheet, row) for row in sheet.rows[:MOST_ROWS]),
    )


def _task(sheet: Sheet, row: Row) -> tuple[str, ...]:
    outcomes = (
        " ".join(_MARKS[passed] for passed in row.attempts.get(side.id, ())) or "not planned"
        for side in sheet.sides
    )
    moves = (
        points(pair.differences[row.task]) if row.task in pair.differences else "not measured"
        for pair in sheet.pairs
    )
    return (row.task, row.category, *outcomes, *moves)


def rubric(sheet: Sheet) -> Table:
    """The marks by dimension, and how far scorers agreed."""
    names = dict.fromkeys(name for side in sheet.sides for name in side.rubric)
    return Table(
        caption="Mean marks from 0 to 4 over tasks, with 95 % intervals",
        header=("", *(side.id for side in sheet.sides), "Scorers"),
        rows=tuple(
            (
                name,
                *(_number(side.rubric[name]) for side in sheet.sides),
                agreed(sheet.agreement.get(name)),
            )
            for name in names
        ),
    )


def _number(found: Estimate, unit: str = "") -> str:
    if found.value is None:
        return unavailable(found.why)
    if found.interval is None:
        return f"{measured(found.value)}{unit}, interval {unavailable(found.why)}"
    low, high = measured(found.interval.low), measured(found.interval.high)
    return f"{measured(found.value)}{unit} ({low} to {high}; {counted(found.tasks, 'task')})"


def effort(sheet: Sheet) -> Table:
    """Time, tokens and cost."""
    rows: list[tuple[str, Callable[[Side], str]]] = [
        ("Median minutes a task", lambda side: _number(side.minutes, " min")),
        ("Tokens", lambda side: per_run(side.tokens)),
        ("Cost", lambda side: per_run(side.cost)),
        ("Interventions", lambda side: str(side.interventions)),
    ]
    if any(side.slowest is not None for side in sheet.sides):
        rows.insert(1, ("95th percentile of runs", lambda side: _plain(side.slowest, " min")))
    rows += [
        (f"{name.capitalize()} a pass", _of_a_pass(name))
        for name in ("minutes", "tokens", "cost")
        if any(side.per_pass.get(name) is not None for side in sheet.sides)
    ]
    return _by_side(sheet, "What the configurations took", rows)


def _of_a_pass(name: str) -> Callable[[Side], str]:
    return lambda side: _plain(side.per_pass.get(name))


def _plain(value: float | None, unit: str = "") -> str:
    return unavailable("not recorded") if value is None else f"{amount(value)}{unit}"


def coverage(sheet: Sheet) -> Table:
    """How much of the plan was measured."""
    return Table(
        caption="Runs, and the share of the plan that was graded, retired tasks left out",
        header=("", *COVERAGE, "coverage"),
        rows=tuple(
            (
                side.id,
                *(str(side.coverage[name]) for name in COVERAGE),
                unavailable("all are retired") if side.share is None else percent(side.share),
            )
            for side in sheet.sides
        ),
    )


def apart(sheet: Sheet) -> Table:
    """What stands beside the rates."""

    def listed(runs: Iterable[object]) -> str:
        return ", ".join(map(str, runs)) or "none"

    return _by_side(
        sheet,
        "Never part of a mean",
        (
            ("Leaked runs", lambda side: listed(side.leaked)),
            ("Forbidden edits", lambda side: listed(side.forbidden_edits)),
            ("Safety tasks failed", lambda side: listed(side.safety_failed)),
        ),
    )


def groups(sheet: Sheet) -> Table:
    """Tasks by type and slice."""
    return Table(
        caption="Tasks passed, of those measured",
        header=("", "Tasks", *(side.id for side in sheet.sides)),
        rows=tuple(
            (
                group.name,
                str(group.tasks),
                *(
                    f"{short(passed)} of {tasks}"
                    for passed, tasks in (
                        group.tallies.get(side.id, (0.0, 0)) for side in sheet.sides
                    )
                ),
            )
            for group in sheet.groups
        ),
    )
