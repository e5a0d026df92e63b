"""The outcomes as CSV, a row for each task and configuration: the units of every figure."""

from labkit.report.sheet import Row, Sheet
from labkit.spreadsheet import write_table

_COLUMNS = (
    "task",
    "category",
    "slices",
    "configuration",
    "planned",
    "measured",
    "passed",
    "share",
    "attempts",
    "minutes",
)
_OUTCOMES = {True: "pass", False: "fail", None: "missing"}


def to_csv(sheet: Sheet) -> str:
    """Return the tasks in the rates; what was not measured is an empty cell, never 0."""
    return write_table(
        _COLUMNS, [_cells(row, side.id) for row in sheet.rows for side in sheet.sides]
    )


def _cells(row: Row, side: str) -> dict[str, str]:
    attempts = row.attempts.get(side, ())
    measured = [passed for passed in attempts if passed is not None]
    share, minutes = row.mean(side), row.minutes.get(side)
    return {
        "task": row.task,
        "category": row.category,
        "slices": " ".join(row.slices),
        "configuration": side,
        "planned": str(len(attempts)),
        "measured": str(len(measured)),
        "passed": str(sum(measured)),
        "share": "" if share is None else f"{share:.4g}",
        "attempts": " ".join(_OUTCOMES[passed] for passed in attempts),
        "minutes": "" if minutes is None else f"{minutes:.4g}",
    }
