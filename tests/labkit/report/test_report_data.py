"""The JSON of a summary: its schema is pinned here, name by name."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from studies import A, B, results, study, tasks

from labkit.fields import json_text
from labkit.model import TaskId
from labkit.report import to_json
from labkit.study import Marks
from labkit.summary import summarise
from labkit.summary.earlier import Earlier, read_earlier
from labkit.summary.leaderboard import against
from labkit.summary.rerun import rerun

ROOT = Path(__file__).parents[3]


def data(*marks: dict[str, str], **more: Any) -> dict[str, Any]:
    """Summarise marks and read the JSON back from its text."""
    summary = summarise(study(*(results(part, **more) for part in marks)))
    read: dict[str, Any] = json.loads(json.dumps(to_json(summary), allow_nan=False))
    return read


def names(value: Any, path: str = "") -> Iterator[str]:
    """Yield the path of every name in a document; what is named by data is one `*`."""
    match value:
        case dict():
            for name, inner in value.items():
                step = "*" if path.rpartition(".")[2] in BY_DATA else name
                yield from ([] if step == "*" else [f"{path}.{name}".lstrip(".")])
                yield from names(inner, f"{path}.{step}")
        case list():
            for inner in value:
                yield from names(inner, path)
        case _:
            pass


BY_DATA = {
    "attempts", "means", "minutes", "cost", "tallies", "rubric", "differences", "retired",
    "sandboxes", "scores",
}  # fmt: skip
"""Names whose inner names are ids."""


def whole_document() -> dict[str, Any]:
    """Make a document in which nothing is missing."""
    scores = {"scope": 3.0}
    found = (
        *results({"a": "+- +?", "leaky": "L+ ++", "d": "+- ++"}, scores=scores, minutes=2.0),
        *results(tasks(6, "-- ++"), slices=("io",), sandbox="docker"),
    )
    given = [
        Marks(run=r.run, scorer=scorer, marks={"scope": mark}, guess="A")
        for index, r in enumerate(found)
        for scorer, mark in (("x", index % 3), ("y", index % 2))
    ]
    whole = study(found, marks=given, digests={r.run.task: "d" for r in found})
    summary = summarise(whole)
    earlier = Earlier(
        place="old.json",
        team="blue",
        suite_version="v0",
        difference="model",
        configurations={A: "old"},
        digests={row.task: "d" for row in summary.tasks},
        attempts={A: {row.task: (True, False) for row in summary.tasks}},
    )
    summary = replace(
        summary,
        reruns=rerun(summary, earlier),
        leaderboard=against(summary, {A: 1.0, B: 2.0}),
    )
    read: dict[str, Any] = json.loads(json.dumps(to_json(summary), allow_nan=False))
    return read


def test_the_schema_is_stable_and_documented() -> None:
    found = whole_document()
    assert found["schema"] == 2
    told = sorted(set(names(found)))
    pinned = Path(__file__).with_name("summary_names.txt").read_text(encoding="utf-8").split()
    assert told == pinned
    text = (ROOT / "docs" / "summary-json.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"`([a-z_0-9]+)`", text))
    assert {name.rpartition(".")[2] for name in told} <= documented


def test_a_summary_reads_its_own_json_back(tmp_path: Path) -> None:
    path = tmp_path / "summary.json"
    path.write_text(json_text(whole_document()), encoding="utf-8")
    earlier = read_earlier(path)
    assert (earlier.team, earlier.configurations) == ("blue", {A: "agent A", B: "agent B"})
    assert earlier.attempts[A][TaskId("a")] == (True, False)
    assert earlier.attempts[B][TaskId("a")] == (True, None)
    assert earlier.digests[TaskId("d")] == "d"


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
        "means": {"A": 0.5, "B": 1.0},
        "minutes": {"A": None, "B": None},
        "cost": {"A": None, "B": None},
        "digest": "",
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
    assert data(marks)["schema"] == 2
