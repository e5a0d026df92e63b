"""A study as a report: which runs count, and as what."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from studies import A, B, C, results, study, typical

from labkit.errors import InputError
from labkit.evals.reportfile import from_dict, to_dict
from labkit.evals.results import TrialResult
from labkit.evals.sample import Status
from labkit.evals.studyreport import study_report
from labkit.model import ConfigurationId, Flag, TaskId
from labkit.summary import summarise


def trials(marks: dict[str, str], which: ConfigurationId = A) -> dict[str, tuple[TrialResult, ...]]:
    """Return the trials of each task."""
    report = study_report(study(results(marks)), which)
    return {case.id: case.trials for case in report.cases}


def test_each_run_is_what_it_was() -> None:
    found = trials({"bug-1": "+-?uE +++++"})["bug-1"]
    assert [trial.passed for trial in found] == [True, False, None, None, False]
    assert [trial.score for trial in found] == [1, 0, None, None, 0]
    assert [trial.status for trial in found] == [
        Status.GRADED, Status.GRADED, Status.ERRORED, Status.UNGRADED, Status.FORBIDDEN,
    ]  # fmt: skip
    assert [trial.number for trial in found] == [1, 2, 3, 4, 5]
    assert [trial.forbidden for trial in found] == [False] * 4 + [True]


def test_a_forbidden_edit_is_a_veto_of_a_task_that_is_no_safety_task() -> None:
    report = study_report(study(results({"bug-1": "E+ ++", "bug-2": "++ ++"})), A)
    assert report.safety.ok is False
    assert report.safety.failures == ("bug-1: forbidden edits in 1 of 2 samples",)
    assert study_report(study(results({"bug-1": "E+ ++"})), B).safety.failures == ()


def test_a_leak_takes_the_task_out_for_every_configuration() -> None:
    made = study(results({"bug-1": "L+ ++", "bug-2": "+- ++"}), retired={TaskId("bug-3"): "old"})
    for which in (A, B):
        report = study_report(made, which)
        assert [case.id for case in report.cases] == ["bug-2"]
        assert report.notes == ("2 retired tasks left out: bug-1, bug-3.",)


def test_a_planned_run_without_a_result_is_missing_and_never_a_fail() -> None:
    whole = study(results({"bug-1": "++ ++", "bug-2": "-- ++"}))
    lost = replace(whole, results=whole.results[1:])
    (case, _) = study_report(lost, A).cases
    assert (case.planned, case.valid_trials) == (2, 1)
    assert case.reward == 1
    assert case.trials[0].status is Status.ERRORED
    assert study_report(lost, A).coverage == Fraction(3, 4)


def test_what_a_run_took_and_what_its_task_is() -> None:
    report = study_report(typical(), A)
    case = report.case("trap-secret")
    assert case.tags == ("safety",)
    assert case.slices == ("cli", "trap")
    first = report.case("bug-dates").trials[0]
    assert (first.latency_ms, first.cost) == (60_000, 0.21)
    assert report.notes == (
        "299,700 tokens in 18 runs that recorded them.",
        "Safety tasks count in these figures, and are a veto besides.",
    )
    assert (report.suite, report.suite_version, report.n) == ("blue: golden tasks", "v1", 2)
    assert report.candidate == "A: command 2.1 model-small medium"
    assert not report.subset


def test_a_diff_that_does_not_apply_and_what_people_should_know() -> None:
    made = study(
        results({"bug-1": "-- ++"}, flags=(Flag.NOT_APPLIED,), unread=True),
        corrections={TaskId("bug-1"): ("wrong",)},
    )
    report = study_report(made, A)
    assert [trial.status for trial in report.cases[0].trials] == [Status.NOT_APPLIED] * 2
    assert report.notes == (
        "The transcript could not be read to its end: bug-1__A__1, bug-1__A__2.",
        "Hidden tests were corrected after the freeze: bug-1.",
    )


def test_a_configuration_that_is_not_there() -> None:
    with pytest.raises(InputError, match="no configuration C") as caught:
        study_report(study(results({"bug-1": "+ +"})), C)
    assert caught.value.hint == "it compares A, B"


SIGNS = st.lists(st.sampled_from("+-?uE"), min_size=3, max_size=3).map("".join)


@given(st.dictionaries(st.sampled_from(["b-1", "b-2", "b-3", "b-4"]), SIGNS, min_size=1))
def test_the_mean_is_the_summary_s_and_the_file_reads_back(signs: dict[str, str]) -> None:
    made = study(results({task: f"{each} +++" for task, each in signs.items()}))
    report = study_report(made, A)
    rate = summarise(made).configurations[0].rate.value
    assert (report.reward is None) == (rate is None)
    if report.reward is not None:
        assert float(report.reward) == rate
    assert to_dict(from_dict(to_dict(report))) == to_dict(report)
