"""The figures of one configuration, each over the runs and tasks that count."""

from dataclasses import replace

import pytest
from studies import A, B, results, study, tasks

from labkit.model import Category, HardFailKind, RunId, TaskId
from labkit.summary import ConfigurationSummary, Topic, summarise


def first(*marks: dict[str, str]) -> ConfigurationSummary:
    """Summarise marks of one study and take configuration A."""
    return summarise(study(*(results(part) for part in marks))).configurations[0]


def test_attempts_are_averaged_within_a_task_and_tasks_are_the_units() -> None:
    rate = first(tasks(5, "++"), {"half": "+-"}, tasks(3, "--", "none")).rate
    assert (rate.passed, rate.tasks, rate.runs) == (5.5, 9, 18)
    assert rate.value == pytest.approx(5.5 / 9)
    assert rate.teaching_error == pytest.approx((5.5 / 9 * 3.5 / 9 / 9) ** 0.5)


def test_the_error_bar_does_not_shrink_when_attempts_are_repeated() -> None:
    once = first({"a": "+", "b": "-", "c": "+"}).rate
    often = first({"a": "++++", "b": "----", "c": "++++"}).rate
    assert once.interval == often.interval


def test_a_perfect_rate_keeps_an_error_bar_and_loses_the_teaching_one() -> None:
    rate = first(tasks(9, "++")).rate
    assert rate.value == 1
    assert rate.interval is not None
    assert rate.interval.low == pytest.approx(0.700855, abs=1e-6)
    assert rate.teaching_error is None


def test_uneven_attempts_weigh_no_more_than_one_task() -> None:
    rate = first({"a": "+++", "b": "-"}).rate
    assert rate.value == pytest.approx(0.5)
    assert rate.runs == 4


def test_missing_and_ungraded_runs_change_the_coverage_and_not_the_mean() -> None:
    side = first({"a": "+?", "b": "-u", "c": "++", "lost": "?u"})
    assert (side.rate.passed, side.rate.tasks, side.rate.runs) == (2, 3, 4)
    found = side.coverage
    assert (found.planned, found.graded, found.ungraded, found.missing) == (8, 4, 2, 2)
    assert found.share == 0.5


def test_a_planned_run_without_a_result_is_missing() -> None:
    found = results({"a": "++"})
    more = RunId(TaskId("b"), A, 1)
    summary = summarise(study(found, planned=(*(r.run for r in found), more)))
    side = summary.configurations[0]
    assert (side.coverage.planned, side.coverage.missing) == (3, 1)
    assert side.rate.tasks == 1
    assert [row.category for row in summary.tasks] == [Category.BUGFIX, None]


def test_incomplete_rates_carry_their_worst_and_best_case() -> None:
    bounds = first({"a": "+?", "b": "--", "lost": "??", "c": "++"}).rate_bounds
    assert bounds is not None
    assert (bounds.low, bounds.high) == pytest.approx((1.5 / 4, 3 / 4))
    assert first({"a": "+-"}).rate_bounds is None


def test_nothing_measured_is_not_zero() -> None:
    summary = summarise(study(results({"a": "?", "b": "u"})))
    assert [limitation.topic for limitation in summary.limitations] == [Topic.INCOMPLETE]
    side = summary.configurations[0]
    assert side.rate.value is None
    assert side.rate.interval is None
    assert side.rate.why == "no task was measured"
    assert side.pass_hat_2.value is None
    assert side.minutes.value is None
    assert side.cost.value is None


def test_pass_hat_2_is_over_tasks_with_two_measured_attempts() -> None:
    estimate = first(
        {"both": "++", "one": "+-", "none": "--", "single": "+", "lost": "+?"}
    ).pass_hat_2
    assert estimate.value == pytest.approx(1 / 3)
    assert estimate.tasks == 3
    assert estimate.interval is not None


def test_pass_hat_2_of_three_attempts_is_unbiased() -> None:
    assert first({"a": "++-"}).pass_hat_2.value == pytest.approx(1 / 3)


def test_single_attempts_leave_pass_hat_2_undefined_and_say_so() -> None:
    summary = summarise(study(results({"a": "+", "b": "-"})))
    assert summary.configurations[0].pass_hat_2.value is None
    assert Topic.SINGLE_ATTEMPT in {limitation.topic for limitation in summary.limitations}


def test_flaky_tasks_are_named() -> None:
    assert first({"a": "+-", "b": "++", "c": "-+"}).flaky == (TaskId("a"), TaskId("c"))


def test_a_leak_retires_its_task_for_every_configuration() -> None:
    summary = summarise(study(results({"a": "++ ++", "b": "+- --", "leaky": "++ L+"})))
    a, b = summary.configurations
    assert (a.rate.passed, a.rate.tasks) == (1.5, 2)
    assert (b.rate.passed, b.rate.tasks) == (1, 2)
    assert list(summary.retired) == [TaskId("leaky")]
    assert b.leaked == (RunId(TaskId("leaky"), B, 1),)
    assert a.coverage.retired == b.coverage.retired == 2
    assert a.coverage.share == 1


def test_the_rate_with_leaks_puts_the_task_back_and_fails_the_leaked_run() -> None:
    summary = summarise(study(results({"a": "++ ++", "leaky": "++ L+"})))
    a, b = (side.rate_with_leaks for side in summary.configurations)
    assert a is not None
    assert b is not None
    assert (a.passed, a.tasks) == (2, 2)
    assert (b.passed, b.tasks) == (1.5, 2)
    assert first({"a": "++"}).rate_with_leaks is None


def test_a_task_can_be_retired_by_decision() -> None:
    summary = summarise(
        study(results({"a": "+", "b": "-"}), retired={TaskId("b"): "printed in an issue"})
    )
    assert summary.configurations[0].rate.value == 1
    assert summary.retired == {TaskId("b"): "printed in an issue"}


def test_all_tasks_retired_leaves_no_rate_and_no_coverage() -> None:
    side = first({"a": "L"})
    assert side.rate.value is None
    assert side.coverage.share is None


def test_a_forbidden_edit_is_a_fail_in_the_rate_and_counted() -> None:
    side = first({"a": "E+", "b": "++"})
    assert side.rate.passed == 1.5
    assert side.forbidden_edits == (RunId(TaskId("a"), A, 1),)


def test_safety_tasks_are_a_veto_and_no_term_of_a_mean() -> None:
    summary = summarise(study(results({"a": "++"}), results({"trap": "+-"}, safety=True)))
    side = summary.configurations[0]
    assert side.rate.tasks == 1
    assert (side.safety.held, side.safety.tasks) == (0, 1)
    assert side.safety.failed == (RunId(TaskId("trap"), A, 2),)
    assert summary.safety_tasks == (TaskId("trap"),)
    assert [row.task for row in summary.tasks] == [TaskId("a")]


def test_never_failed_is_bounded_by_clopper_and_pearson() -> None:
    safety = summarise(study(results(tasks(9, "++"), safety=True))).configurations[0].safety
    assert (safety.held, safety.tasks) == (9, 9)
    assert safety.interval is not None
    assert safety.interval.low == pytest.approx(0.6637, abs=1e-4)


def test_minutes_are_the_median_over_tasks_of_the_median_over_measured_runs() -> None:
    found = [
        replace(result, minutes=result.minutes + late)
        for number in range(1, 10)
        for result, late in zip(
            results({f"task-{number}": "++-"}, minutes=float(number)), (0, 50, 0), strict=True
        )
        if result.minutes is not None
    ]
    lost = results({"lost": "?"}, minutes=99.0)
    minutes = summarise(study(found, lost)).configurations[0].minutes
    assert (minutes.value, minutes.tasks) == (5, 9)
    assert minutes.interval is not None
    assert (minutes.interval.low, minutes.interval.high) == (2, 8)


def test_the_median_of_few_tasks_has_a_value_and_says_why_it_has_no_bar() -> None:
    minutes = summarise(study(results(tasks(5, "+"), minutes=2.0))).configurations[0].minutes
    assert minutes.value == 2
    assert minutes.interval is None
    assert "fewer than six" in minutes.why


def test_the_median_of_equal_minutes_has_no_bar_without_width() -> None:
    minutes = summarise(study(results(tasks(9, "+"), minutes=2.0))).configurations[0].minutes
    assert minutes.value == 2
    assert minutes.interval is None
    assert "hardly differ" in minutes.why


def test_rubric_marks_are_means_over_tasks_for_each_dimension() -> None:
    summary = summarise(
        study(
            results({"a": "+-"}, scores={"scope": 4.0, "tests": 1.0}),
            results({"b": "++"}, scores={"scope": 2.0}),
            results({"lost": "?"}, scores={"scope": 0.0}),
            results({"unmarked": "++"}),
        )
    )
    side = summary.configurations[0]
    scope, written = side.rubric["scope"], side.rubric["tests"]
    assert (scope.value, scope.tasks) == (3, 2)
    assert scope.interval is not None
    assert (scope.interval.low, scope.interval.high) == (0, 4)
    assert (written.value, written.interval, written.tasks) == (1, None, 1)
    assert side.coverage.scored == 4


def test_a_dimension_marked_for_one_side_only_is_not_zero_for_the_other() -> None:
    a, b = results({"a": "+ +"})
    summary = summarise(study((replace(a, scores={"scope": 4.0}), b)))
    there, absent = (side.rubric["scope"] for side in summary.configurations)
    assert (there.value, there.why) == (4, "one task has none")
    assert (absent.value, absent.why) == (None, "no marks were given")


def test_totals_say_how_many_runs_recorded_them() -> None:
    side = summarise(
        study(results({"a": "++"}, tokens=500, interventions=1), results({"b": "+?"}))
    ).configurations[0]
    assert (side.tokens.value, side.tokens.known, side.tokens.runs) == (1000, 2, 4)
    assert (side.cost.value, side.cost.known) == (None, 0)
    assert side.interventions == 2


def test_a_leaked_run_is_a_hard_fail_even_when_grading_never_saw_it() -> None:
    found = results({"leaky": "?"}, hard_fails=(HardFailKind.LEAK,))
    side = summarise(study(found, results({"a": "+"}))).configurations[0]
    assert side.leaked == (RunId(TaskId("leaky"), A, 1),)
    assert side.rate_with_leaks is not None
    assert side.rate_with_leaks.passed == 1
