"""Reading a summary.json back, and what people wrote in it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sheets import HOSTILE, document, named, nine, rich

from labkit.errors import IntegrityError
from labkit.report.reading import read_sheet, visible


def test_a_document_is_read_as_it_was_written() -> None:
    sheet = rich()
    first, second = sheet.sides
    assert (first.id, first.rate.tasks, first.passed, first.runs) == ("A", 9, 3.5, 18)
    assert second.coverage["graded"] == 18
    assert second.per_pass == {"minutes": 12.5, "tokens": 12.5, "cost": 12.5}
    (pair,) = sheet.pairs
    assert (pair.first, pair.second, pair.differences["half"]) == ("A", "B", 0.5)
    assert pair.outlook is not None
    assert [plan.tasks for plan in pair.outlook.more_tasks] == [4, 12, 18, 36, 900]
    assert sheet.agreement["scope"].alpha.value == 0.62
    (half,) = [row for row in sheet.rows if row.task == "half"]
    assert (half.mean("A"), half.mean("B"), half.mean("C")) == (0.5, 1.0, None)


def test_what_only_some_summaries_have_may_be_missing() -> None:
    values = document(nine())
    del values["agreement"]
    for pair in values["comparisons"]:
        del pair["outlook"], pair["p_adjusted"], pair["comparisons"], pair["difference_bounds"]
    for side in values["configurations"]:
        del side["per_pass"], side["noise"], side["slowest"]
    sheet = read_sheet(values)
    assert sheet.agreement == {}
    assert sheet.pairs[0].outlook is None
    assert sheet.sides[0].per_pass == {}


NEEDED = ("team", "configurations", "comparisons", "tasks", "groups", "retired", "limitations")


@pytest.mark.parametrize("name", NEEDED)
@pytest.mark.parametrize("stand_in", [None, 7, "text", [7]])
def test_anything_else_is_damage(name: str, stand_in: object) -> None:
    values = document(nine())
    values[name] = stand_in
    if name in ("team",):
        del values[name]
    with pytest.raises(IntegrityError, match=r"summary\.json is not what labkit writes"):
        read_sheet(values)


def test_a_safety_failure_names_a_run() -> None:
    values = document(nine())
    values["configurations"][0]["safety"]["failed"] = ["not a run"]
    with pytest.raises(IntegrityError):
        read_sheet(values)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two\nlines\tand  tabs", "two lines and tabs"),
        ("\u202eevil", "\\u202eevil"),
        ("bell\x07", "bell\\u0007"),
        ("half \ud800", "half \\ud800"),
        ("می‌خواهم", "می‌خواهم"),  # a joiner that Persian needs
    ],
)
def test_hidden_and_obeyed_characters_are_spelled_out(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text())
def test_visible_text_stays_as_it_is(text: str) -> None:
    once = visible(text)
    assert visible(once) == once
    assert once.isprintable() or "\u200c" in once or "\u200d" in once or not once.isascii()


def test_every_text_of_a_document_is_made_visible() -> None:
    def texts(value: Any) -> list[str]:
        if isinstance(value, dict):
            return [text for pair in value.items() for part in pair for text in texts(part)]
        if isinstance(value, list | tuple):
            return [text for part in value for text in texts(part)]
        return [value] if isinstance(value, str) else []

    assert any("\u202e" in text for text in texts(named(HOSTILE)))
    shown = repr(read_sheet(json.loads(json.dumps(named(HOSTILE)))))
    assert not {"\u202e", "\x1b", "\x00"} & set(shown)
    assert "\\x1b" not in shown
    assert "\\\\u202eevil" in shown
