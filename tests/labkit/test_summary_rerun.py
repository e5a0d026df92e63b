"""A configuration against itself in an earlier summary."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from studies import A, B, results, study, tasks

from labkit.errors import InputError, LabkitError
from labkit.fields import json_text
from labkit.model import TaskId
from labkit.report import render, to_json
from labkit.summary import Outcome, Rerun, Summary, summarise
from labkit.summary.earlier import Earlier, read_earlier
from labkit.summary.rerun import rerun


def summary(*parts: dict[str, str], digest: str = "same", **more: Any) -> Summary:
    """Summarise marks of tasks whose digest is their name and `digest`."""
    found = [result for part in parts for result in results(part)]
    digests = {r.run.task: f"{r.run.task} {digest}" for r in found}
    return summarise(study(found, digests=digests, **more))


def earlier(folder: Path, made: Summary) -> Earlier:
    """Write a summary.json and read it back."""
    path = folder / "old.json"
    path.write_text(json_text(to_json(made)), encoding="utf-8")
    return read_earlier(path)


def one(folder: Path, then: Summary, now: Summary) -> Rerun:
    return rerun(now, earlier(folder, then))[0]


def test_a_smoke_subset_is_paired_with_the_same_tasks_of_before(tmp_path: Path) -> None:
    then = summary(tasks(6, "-- ++"), tasks(3, "++ ++", "other"))
    now = summary(tasks(6, "++ ++"), {"new": "++ ++"})
    found = one(tmp_path, then, now)
    assert (found.configuration, found.outcome, found.ahead) == (A, Outcome.DETECTABLE, "now")
    assert found.paired.difference.value == 1
    assert found.paired.difference.tasks == 6
    assert len(found.paired.gained) == 6
    assert found.only_earlier == tuple(TaskId(f"other-{n}") for n in (1, 2, 3))
    assert found.only_now == (TaskId("new"),)


def test_every_rerun_shares_one_error_rate(tmp_path: Path) -> None:
    then = summary(tasks(5, "-- ++"))
    both = rerun(summary(tasks(5, "++ --")), earlier(tmp_path, then))
    assert [found.configuration for found in both] == [A, B]
    assert [found.paired.p_mid for found in both] == [0.03125, 0.03125]
    assert [found.p_adjusted for found in both] == [0.0625, 0.0625]
    assert {found.outcome for found in both} == {Outcome.NOT_DETECTABLE}
    assert "Holm's correction makes 0.062 of it" in both[0].why


def test_a_task_that_changed_is_named_and_not_compared(tmp_path: Path) -> None:
    then = summary(tasks(2, "-- ++"))
    found = [*results({"task-1": "++ ++", "task-2": "++ ++"})]
    digests = {TaskId("task-1"): "task-1 same", TaskId("task-2"): "another prompt"}
    now = summarise(study(found, digests=digests))
    (first, _) = rerun(now, earlier(tmp_path, then))
    assert first.changed == (TaskId("task-2"),)
    assert first.paired.difference.tasks == 1


def test_too_little_of_a_rerun_decides_nothing(tmp_path: Path) -> None:
    then = summary(tasks(6, "-- ++"), tasks(6, "-- ++", "lost"))
    now = summary(tasks(6, "++ ++"), tasks(6, "?? ++", "lost"))
    found = one(tmp_path, then, now)
    assert (found.outcome, found.ahead) == (Outcome.INDECISIVE, None)
    assert "only 12 of the 24 planned runs of A in this summary were measured" in found.why


def test_nothing_measured_now_is_a_sentence(tmp_path: Path) -> None:
    found = one(tmp_path, summary(tasks(3, "-- ++")), summary(tasks(3, "?? ++")))
    assert found.why == "no run of A was measured in this summary"
    assert found.paired.difference.value is None


@pytest.mark.parametrize(
    ("now", "says"),
    [
        pytest.param(summary({"b": "++ ++"}), "has none of these tasks", id="other-tasks"),
        pytest.param(
            summary({"a": "++ ++"}, digest="new"), "was changed since", id="changed-tasks"
        ),
        pytest.param(summary({"a": "++ ++"}, digest=""), "was changed since", id="unknown"),
    ],
)
def test_what_has_nothing_in_common_is_refused(tmp_path: Path, now: Summary, says: str) -> None:
    with pytest.raises(InputError, match=says):
        rerun(now, earlier(tmp_path, summary({"a": "++ ++"})))


def test_other_configurations_are_refused(tmp_path: Path) -> None:
    then = earlier(tmp_path, summary({"a": "++ ++"}))
    only_c = summarise(
        study(
            [r for r in results({"a": "+ + +"}) if r.run.configuration not in {A, B}],
            digests={TaskId("a"): "a same"},
        )
    )
    with pytest.raises(InputError, match="none of these configurations"):
        rerun(only_c, then)


def test_the_page_tells_of_the_rerun(tmp_path: Path) -> None:
    now = summary(tasks(6, "++ ++"), configurations={A: "agent 2", B: "agent B"})
    found = rerun(now, earlier(tmp_path, summary(tasks(6, "-- ++"), {"gone": "++ ++"})))
    text = render(replace(now, reruns=found))
    assert "## Against the earlier summary" in text
    assert "| A | agent A | agent 2 | +100 points over 6 tasks (" in text
    assert "detectable: now is ahead" in text
    assert "B: no task came out differently" in text
    assert "left out: `gone` only in the earlier summary." in text


def broken(folder: Path, **changes: Any) -> Path:
    values = to_json(summary({"a": "++ ++"})) | changes
    path = folder / "broken.json"
    path.write_text(json_text(values), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        pytest.param({"schema": 1}, "is not of schema 2", id="old-schema"),
        pytest.param({"team": 7}, "'7' is no text", id="number-for-text"),
        pytest.param({"tasks": [{}]}, 'there is no "task"', id="no-task"),
        pytest.param({"tasks": 3}, "not iterable", id="no-list"),
        pytest.param(
            {"tasks": [{"task": "a", "digest": "", "attempts": {"A": ["yes"]}}]},
            "no list of true, false and null",
            id="words-for-outcomes",
        ),
        pytest.param(
            {"tasks": [{"task": "A b", "digest": "", "attempts": {}}]},
            "task id 'A b' is not allowed",
            id="odd-id",
        ),
    ],
)
def test_a_file_that_is_no_summary_is_named(
    tmp_path: Path, changes: dict[str, Any], says: str
) -> None:
    with pytest.raises(LabkitError) as caught:
        read_earlier(broken(tmp_path, **changes))
    assert "broken.json" in caught.value.message
    assert says in caught.value.message
    assert caught.value.hint


def test_a_file_that_is_no_json_is_named(tmp_path: Path) -> None:
    path = tmp_path / "words.json"
    path.write_text("not JSON", encoding="utf-8")
    with pytest.raises(LabkitError, match=r"words\.json"):
        read_earlier(path)
