"""The page as titled parts with pictures and tables, before any markup."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from labkit.fields import counted, first_words
from labkit.report import pictures
from labkit.report.figures import Picture
from labkit.report.sheet import COVERAGE, Measure, Pair, Row, Sheet, Side, Sum
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

MOST_ROWS = 500
_MARKS = {True: "pass", False: "fail", None: "?"}
_WITHOUT_TWO = "this needs two tasks measured for both"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table whose first column names its rows."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One part of the page."""

    title: str
    texts: tuple[str, ...] = ()
    pictures: tuple[Picture, ...] = ()
    tables: tuple[Table, ...] = ()
    items: tuple[str, ...] = field(default=())
    """A list, at the end."""


def sections(sheet: Sheet) -> Iterator[Section]:
    """Return the parts of the page below the facts, in their order."""
    yield Section(
        title="Rates and the difference",
        pictures=_drawn(pictures.rates(sheet)),
        tables=(_figures(sheet), *(_difference(pair) for pair in sheet.pairs)),
    )
    yield _tasks(sheet)
    yield Section(
        title="Rubric",
        texts=() if any(side.rubric for side in sheet.sides) else ("Nothing was marked.",),
        pictures=_drawn(pictures.rubric(sheet)),
        tables=tuple(_rubric(sheet)),
    )
    yield Section(
        title="Time and cost",
        pictures=_drawn(pictures.effort_of(sheet)),
        tables=(_effort(sheet),),
    )
    yield from _outlook(sheet)
    yield Section(title="What was measured", tables=(_coverage(sheet),))
    yield Section(title="Set apart", tables=(_apart(sheet),), items=tuple(_retired(sheet)))
    yield _groups(sheet)
    yield Section(title="Limitations", items=(*sheet.limitations, _SCOPE))


_SCOPE = (
    "The figures are about these tasks and this code base; they do not say which is the better "
    "agent elsewhere."
)


def _drawn(*found: Picture | None) -> tuple[Picture, ...]:
    return tuple(picture for picture in found if picture is not None)


def _by_side(sheet: Sheet, caption: str, rows: Iterable[tuple[str, ...]]) -> Table:
    return Table(caption=caption, header=("", *(side.id for side in sheet.sides)), rows=tuple(rows))


def _share(found: Measure) -> str:
    if found.value is None:
        return unavailable(found.why)
    bar = percent_interval(found.interval) if found.interval else unavailable(found.why)
    return f"{percent(found.value)} ({bar}; {counted(found.tasks, 'task')})"


def _number(found: Measure, unit: str = "") -> str:
    if found.value is None:
        return unavailable(found.why)
    if found.interval is None:
        return f"{measured(found.value)}{unit} (interval {unavailable(found.why)})"
    low, high = measured(found.interval.low), measured(found.interval.high)
    return f"{measured(found.value)}{unit} ({low} to {high}; {counted(found.tasks, 'task')})"


def _figures(sheet: Sheet) -> Table:
    def passed(side: Side) -> str:
        if side.rate.value is None:
            return unavailable(side.rate.why)
        of = counted(side.rate.tasks, "task")
        return f"{short(side.passed)} of {of} ({counted(side.runs, 'run')})"

    return _by_side(
        sheet,
        "Each configuration by itself, with 95 % intervals",
        (
            ("Tasks passed", *map(passed, sheet.sides)),
            ("Pass rate", *(_share(side.rate) for side in sheet.sides)),
            ("pass^2", *(_share(side.pass_hat_2) for side in sheet.sides)),
            ("Flaky tasks", *(first_words(side.flaky) or "none" for side in sheet.sides)),
        ),
    )


def _difference(pair: Pair) -> Table:
    found = pair.difference
    rows = [("Outcome", pair.outcome)]
    if pair.why:
        rows.append(("Because", pair.why))
    if found.value is None or found.interval is None:
        rows.append(("Mean difference", unavailable(found.why)))
    else:
        told = f"{points(found.value)} over {counted(found.tasks, 'task')}"
        rows.append(("Mean difference", told))
        rows.append(("95 % interval", points_interval(found.interval)))
    if pair.p_mid is not None and pair.p_exact is not None:
        told = f"mid-p {p_value(pair.p_mid)}, exact p {p_value(pair.p_exact)}"
        rows.append(("Sign-flip test", told))
    if pair.smallest_detectable is not None:
        rows.append(("Smallest detectable difference", _size(pair.smallest_detectable)))
    return Table(
        caption=f"The difference {pair.second} - {pair.first}", header=("", ""), rows=tuple(rows)
    )


def _size(difference: float) -> str:
    return f"{100 * difference:.0f} points" if difference <= 1 else "out of reach"


def _tasks(sheet: Sheet) -> Section:
    grid = pictures.attempts(sheet)
    texts = [] if sheet.rows else ["No task counts: all are retired or safety tasks."]
    if sheet.rows and grid is None:
        texts.append("There are too many tasks to draw each attempt: summary.csv has them all.")
    if len(sheet.rows) > MOST_ROWS:
        texts.append(f"The table has the first {MOST_ROWS} of {len(sheet.rows)} tasks.")
    table = Table(
        caption="Every attempt: pass, fail, or ? for not measured",
        header=(
            "Task",
            "Type",
            *(side.id for side in sheet.sides),
            *(f"{pair.second} - {pair.first}" for pair in sheet.pairs),
        ),
        rows=tuple(_task(sheet, row) for row in sheet.rows[:MOST_ROWS]),
    )
    return Section(
        title="Task by task",
        texts=tuple(texts),
        pictures=_drawn(*(pictures.moved(sheet, pair) for pair in sheet.pairs), grid),
        tables=(table,),
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


def _rubric(sheet: Sheet) -> Iterator[Table]:
    names = tuple(dict.fromkeys(name for side in sheet.sides for name in side.rubric))
    none = Measure(value=None, why="no marks")
    if names:
        yield Table(
            caption="Mean marks from 0 to 4 over tasks, with 95 % intervals",
            header=("", *(side.id for side in sheet.sides), "Scorers"),
            rows=tuple(
                (
                    name,
                    *(_number(side.rubric.get(name, none)) for side in sheet.sides),
                    pictures.agreed(sheet.agreement.get(name)),
                )
                for name in names
            ),
        )


def _effort(sheet: Sheet) -> Table:
    def per_pass(side: Side, name: str) -> str:
        value = side.per_pass.get(name)
        return unavailable("not recorded") if value is None else amount(value)

    return _by_side(
        sheet,
        "What the configurations took",
        (
            ("Median minutes a task", *(_number(side.minutes, " min") for side in sheet.sides)),
            ("Tokens", *(_total(side.tokens) for side in sheet.sides)),
            ("Cost", *(_total(side.cost) for side in sheet.sides)),
            *(
                (f"{name.capitalize()} a pass", *(per_pass(side, name) for side in sheet.sides))
                for name in ("minutes", "tokens", "cost")
            ),
            ("Interventions", *(str(side.interventions) for side in sheet.sides)),
        ),
    )


def _total(found: Sum) -> str:
    if found.value is None or not found.known:
        return unavailable("not recorded")
    known = counted(found.known, "run")
    runs = known if found.known == found.runs else f"the {found.known} of {found.runs} runs known"
    return f"{amount(found.value / found.known)} a run ({amount(found.value)} in {runs})"


def _outlook(sheet: Sheet) -> Iterator[Section]:
    if sheet.pairs:
        drawn = _drawn(*(pictures.outlook(pair) for pair in sheet.pairs))
        texts = () if drawn else (unavailable(_WITHOUT_TWO),)
        yield Section(title="What could have been seen", texts=texts, pictures=drawn)


def _coverage(sheet: Sheet) -> Table:
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


def _apart(sheet: Sheet) -> Table:
    def listed(runs: Iterable[object]) -> str:
        return ", ".join(map(str, runs)) or "none"

    return _by_side(
        sheet,
        "Never part of a mean",
        (
            ("Leaked runs", *(listed(side.leaked) for side in sheet.sides)),
            ("Forbidden edits", *(listed(side.forbidden_edits) for side in sheet.sides)),
            ("Safety tasks failed", *(listed(side.safety_failed) for side in sheet.sides)),
        ),
    )


def _retired(sheet: Sheet) -> Iterator[str]:
    for task, why in sheet.retired.items():
        yield f"Retired for every configuration: {task}: {why}"


def _groups(sheet: Sheet) -> Section:
    rows = tuple(
        (
            group.name,
            str(group.tasks),
            *(
                f"{short(passed)} of {tasks}"
                for passed, tasks in (group.tallies.get(side.id, (0.0, 0)) for side in sheet.sides)
            ),
        )
        for group in sheet.groups
    )
    table = Table(
        caption="Tasks passed, of those measured",
        header=("", "Tasks", *(side.id for side in sheet.sides)),
        rows=rows,
    )
    return Section(
        title="By task type and slice",
        texts=(
            "This describes; it does not infer. Nine tasks of six types show a gap of 50 points in "
            "some type nine times out of ten when a configuration is compared with itself.",
        ),
        tables=(table,) if rows else (),
    )
