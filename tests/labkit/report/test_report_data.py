"""The JSON of a summary: its schema is pinned here, name by name."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from studies import results, study, tasks

from labkit.report import to_json
from labkit.summary import summarise

INTERVAL = {"low", "high"}
ESTIMATE = {"value", "interval", "tasks", "why"}
RATE = {"value", "interval", "tasks", "runs", "passed", "teaching_error", "why"}
TOTAL = {"value", "known", "runs"}


def data(*marks: dict[str, str], **more: Any) -> dict[str, Any]:
    """Summarise marks and read the JSON back from its text."""
    summary = summarise(study(*(results(part, **more) for part in marks)))
    read: dict[str, Any] = json.loads(json.dumps(to_json(summary), allow_nan=False))
    return read


def test_the_schema_is_stable() -> None:
    found = data({"a": "+- +?", "leaky": "L+ ++"}, tasks(6, "-- ++"), scores={"scope": 3.0})
    assert found["schema"] == 1
    assert set(found) == {
        "schema", "team", "suite_version", "difference", "configurations", "comparisons",
        "tasks", "groups", "retired", "safety_tasks", "limitations",
    }  # fmt: skip
    side, comparison = found["configurations"][1], found["comparisons"][0]
    assert set(side) == {
        "id", "description", "coverage", "rate", "rate_bounds", "rate_with_leaks", "pass_hat_2",
        "flaky", "minutes", "rubric", "leaked", "forbidden_edits", "safety", "interventions",
        "tokens", "cost",
    }  # fmt: skip
    assert set(side["coverage"]) == {
        "planned", "retired", "run", "graded", "ungraded", "missing", "scored", "share",
    }  # fmt: skip
    assert set(side["rate"]) == set(side["rate_with_leaks"]) == RATE
    assert set(side["rate"]["interval"]) == set(side["rate_bounds"]) == INTERVAL
    assert set(side["pass_hat_2"]) == set(side["minutes"]) == ESTIMATE
    assert set(side["rubric"]["scope"]) == ESTIMATE
    assert set(side["tokens"]) == set(side["cost"]) == TOTAL
    assert set(side["safety"]) == {"held", "tasks", "interval", "failed"}
    assert set(comparison) == {
        "first", "second", "outcome", "ahead", "why", "differences", "difference", "p_exact",
        "p_mid", "strict", "smallest_detectable", "spread", "spread_observed", "survives_missing",
    }  # fmt: skip
    assert set(comparison["strict"]) == {"first_only", "second_only", "both", "neither"}
    assert set(found["tasks"][0]) == {"task", "category", "slices", "attempts"}
    assert set(found["groups"][0]) == {"grouping", "name", "tasks", "tallies"}
    assert set(found["limitations"][0]) == {"topic", "text"}


def test_ids_words_and_figures_are_plain() -> None:
    found = data({"a": "+- +?", "leaky": "L+ ++"}, tasks(6, "-- ++"))
    side, comparison = found["configurations"][0], found["comparisons"][0]
    assert side["id"] == "A"
    assert side["leaked"] == ["leaky__A__1"]
    assert found["retired"] == {"leaky": "a leak was confirmed in leaky__A__1"}
    assert found["tasks"][0] == {
        "task": "a",
        "category": "bugfix",
        "slices": [],
        "attempts": {"A": [True, False], "B": [True, None]},
    }
    assert (comparison["outcome"], comparison["ahead"]) == ("detectable", "B")
    assert comparison["differences"]["a"] == 0.5
    assert comparison["p_mid"] == 0.0078125


def test_what_could_not_be_estimated_is_null_with_its_reason() -> None:
    side = data({"a": "?", "b": "u"})["configurations"][0]
    assert side["rate"]["value"] is None
    assert side["rate"]["why"] == "no task was measured"
    assert side["pass_hat_2"]["value"] is None
    assert side["minutes"] == {
        "value": None, "interval": None, "tasks": 0, "why": "no minutes were recorded",
    }  # fmt: skip
    assert side["cost"]["value"] is None


MARKS = st.dictionaries(
    st.sampled_from(["a", "b", "c", "d"]),
    st.tuples(*[st.text("+-u?LE", min_size=1, max_size=2)] * 2).map(" ".join),
    min_size=1,
)


@given(MARKS)
def test_every_summary_is_json(marks: dict[str, str]) -> None:
    assert data(marks)["schema"] == 1
