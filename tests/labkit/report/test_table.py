"""The outcomes as CSV."""

import csv
import io

from sheets import HOSTILE, named, rich
from studies import results, study

from labkit.report.data import to_json
from labkit.report.reading import read_sheet
from labkit.report.table import to_csv
from labkit.summary import summarise


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_a_row_for_each_task_and_configuration() -> None:
    found = rows(to_csv(rich()))
    assert len(found) == 18
    (half,) = [row for row in found if (row["task"], row["configuration"]) == ("half", "A")]
    assert half == {
        "task": "half",
        "category": "bugfix",
        "slices": "",
        "configuration": "A",
        "planned": "2",
        "measured": "2",
        "passed": "1",
        "share": "0.5",
        "attempts": "pass fail",
        "minutes": "3",
    }


def test_what_was_not_measured_is_empty_and_not_zero() -> None:
    values = to_json(summarise(study(results({"a": "?? +?"}, slices=("swift", "ui")))))
    first, second = rows(to_csv(read_sheet(values)))
    assert (first["share"], first["minutes"], first["measured"]) == ("", "", "0")
    assert first["attempts"] == "missing missing"
    assert (second["share"], second["planned"], second["measured"]) == ("1", "2", "1")
    assert second["slices"] == "swift ui"


def test_no_cell_is_a_formula() -> None:
    found = rows(to_csv(read_sheet(named(HOSTILE))))
    cells = [cell for row in found for cell in row.values()]
    assert "'=cmd|' /C calc'!A0" in cells
    assert not [cell for cell in cells if cell[:1] in set("=+-@\t")]
