"""The page as titled parts with pictures and tables, before any markup."""

from collections.abc import Iterator
from dataclasses import dataclass

from labkit.report import htmltables as tables
from labkit.report import pictures
from labkit.report.figures import Picture
from labkit.report.htmltables import MOST_ROWS, Table
from labkit.report.sheet import Sheet
from labkit.report.wording import unavailable

_WITHOUT_TWO = "this needs two tasks measured for both"
_ONLY_DESCRIBES = (
    "This describes; it does not infer. Nine tasks of six types show a gap of 50 points in some "
    "type nine times out of ten when a configuration is compared with itself."
)
_SCOPE = (
    "The figures are about these tasks and this code base; they do not say which is the better "
    "agent elsewhere."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One part of the page."""

    title: str
    texts: tuple[str, ...] = ()
    pictures: tuple[Picture, ...] = ()
    tables: tuple[Table, ...] = ()
    points: tuple[str, ...] = ()
    """A list, at the end."""


def sections(sheet: Sheet) -> Iterator[Section]:
    """Return the parts of the page below the facts, in their order."""
    yield Section(
        title="Rates and the difference",
        pictures=_drawn(pictures.rates(sheet)),
        tables=(tables.figures(sheet), *map(tables.difference, sheet.pairs)),
    )
    yield _tasks(sheet)
    yield _rubric(sheet)
    yield Section(
        title="Time and cost",
        pictures=_drawn(pictures.effort_of(sheet)),
        tables=(tables.effort(sheet),),
    )
    yield from _outlook(sheet)
    yield Section(title="What was measured", tables=(tables.coverage(sheet),))
    yield Section(
        title="Set apart",
        tables=(tables.apart(sheet),),
        points=tuple(
            f"Retired for every configuration: {task}: {why}" for task, why in sheet.retired.items()
        ),
    )
    yield Section(
        title="By task type and slice",
        texts=(_ONLY_DESCRIBES,),
        tables=(tables.groups(sheet),) if sheet.groups else (),
    )
    yield Section(title="Limitations", points=(*sheet.limitations, _SCOPE))


def _drawn(*found: Picture | None) -> tuple[Picture, ...]:
    return tuple(picture for picture in found if picture is not None)


def _tasks(sheet: Sheet) -> Section:
    grid = pictures.attempts(sheet)
    texts = [] if sheet.rows else ["No task counts: all are retired or safety tasks."]
    if sheet.rows and grid is None:
        texts.append("There are too many tasks to draw each attempt: summary.csv has them all.")
    if len(sheet.rows) > MOST_ROWS:
        texts.append(f"The table has the first {MOST_ROWS} of {len(sheet.rows)} tasks.")
    return Section(
        title="Task by task",
        texts=tuple(texts),
        pictures=_drawn(*(pictures.moved(sheet, pair) for pair in sheet.pairs), grid),
        tables=(tables.attempts(sheet),) if sheet.rows else (),
    )


def _rubric(sheet: Sheet) -> Section:
    marked = any(side.rubric for side in sheet.sides)
    return Section(
        title="Rubric",
        texts=() if marked else ("Nothing was marked.",),
        pictures=_drawn(pictures.rubric(sheet)),
        tables=(tables.rubric(sheet),) if marked else (),
    )


def _outlook(sheet: Sheet) -> Iterator[Section]:
    if sheet.pairs:
        drawn = _drawn(*(pictures.outlook(pair) for pair in sheet.pairs))
        texts = () if drawn else (unavailable(_WITHOUT_TWO),)
        yield Section(title="What could have been seen", texts=texts, pictures=drawn)
