"""Two configurations against each other: what may be said, and what may not."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from studies import SIGNS, A, B, C, results, study, tasks

from labkit.model import Category, RunId, TaskId
from labkit.study import Regrade, Study
from labkit.summary import Comparison, Grouping, Outcome, Summary, Topic, summarise


def compared(*marks: dict[str, str]) -> Comparison:
    """Summarise marks of one study and take its only comparison."""
    (comparison,) = summarise(study(*(results(part) for part in marks))).comparisons
    return comparison


def test_five_tasks_one_way_are_detectable() -> None:
    found = compared(tasks(5, "-- ++"), tasks(4, "++ ++", "same"))
    assert (found.outcome, found.ahead, found.why) == (Outcome.DETECTABLE, B, "")
    assert found.difference.value == pytest.approx(5 / 9)
    assert found.difference.interval is not None
    assert found.difference.interval.low == pytest.approx(0.0902188, abs=1e-6)
    assert (found.p_exact, found.p_mid) == (0.0625, 0.03125)


def test_the_difference_is_the_second_less_the_first() -> None:
    found = compared(tasks(5, "++ --"))
    assert (found.ahead, found.difference.value) == (A, -1)


def test_fewer_than_five_moved_tasks_are_named_as_the_reason() -> None:
    found = compared(tasks(3, "-- ++"), tasks(6, "++ ++", "same"))
    assert (found.outcome, found.ahead) == (Outcome.NOT_DETECTABLE, None)
    assert "only 3 tasks came out differently" in found.why
    assert "fewer than 5" in found.why


def test_all_tied_is_no_certainty() -> None:
    found = compared(tasks(9, "++ ++"))
    assert found.outcome is Outcome.NOT_DETECTABLE
    assert found.why.startswith("no task came out differently")
    assert found.difference.interval is not None
    assert found.difference.interval.high == pytest.approx(0.299145, abs=1e-6)
    assert found.p_mid == 0.5
    assert found.smallest_detectable is not None
    assert found.smallest_detectable > 0.2
    assert not found.spread_observed


def test_a_borderline_interval_does_not_count_as_detectable() -> None:
    found = compared(tasks(6, "++ --"), tasks(2, "+- ++", "half"))
    assert found.difference.interval is not None
    assert 0 not in found.difference.interval
    assert (found.outcome, found.p_mid) == (Outcome.NOT_DETECTABLE, 0.05078125)
    assert found.why.startswith("a borderline case")


def test_below_sixty_per_cent_coverage_nothing_is_decided() -> None:
    found = compared(tasks(5, "-- ++"), tasks(5, "?? ??", "lost"))
    assert (found.outcome, found.ahead) == (Outcome.INDECISIVE, None)
    assert "only 10 of the 20 planned runs of A" in found.why


def test_sixty_per_cent_is_enough() -> None:
    found = compared(tasks(9, "- +"), tasks(6, "- ?", "lost"))
    assert (found.outcome, found.survives_missing) == (Outcome.DETECTABLE, True)


def test_nothing_in_common_is_indecisive_and_has_no_figures() -> None:
    found = compared({"a": "+ ?", "b": "+ ?", "c": "? +"})
    assert found.outcome is Outcome.INDECISIVE
    assert found.why == "no task was measured for both"
    assert (found.difference.value, found.p_exact, found.smallest_detectable) == (None, None, None)


def test_a_task_with_no_valid_run_of_one_side_is_out_of_the_pairs() -> None:
    found = compared({"a": "++ +-", "b": "++ ??", "c": "-- --"})
    assert list(found.differences) == [TaskId("a"), TaskId("c")]
    assert found.difference.value == pytest.approx(-0.25)


def test_the_strict_table_counts_a_task_as_passed_when_every_attempt_passed() -> None:
    strict = compared(
        {"a": "++ +-", "b": "+- ++", "both": "++ ++", "half": "+- -+", "none": "-- --"}
    ).strict
    assert strict.first_only == (TaskId("a"),)
    assert strict.second_only == (TaskId("b"),)
    assert strict.both == (TaskId("both"),)
    assert strict.neither == (TaskId("half"), TaskId("none"))


@pytest.mark.parametrize(
    ("lost", "survives"),
    [
        pytest.param("++ ++", None, id="nothing-missing"),
        pytest.param("++ +?", True, id="one-run-missing"),
        pytest.param("?? ??", False, id="a-whole-task-missing"),
    ],
)
def test_whether_the_outcome_stands_whatever_missing_runs_had_done(
    lost: str, survives: object
) -> None:
    found = compared(tasks(5, "-- ++"), tasks(6, "++ ++", "same"), {"lost": lost})
    assert found.survives_missing is survives
    assert found.measured_ahead == B
    if survives is False:
        assert (found.outcome, found.ahead) == (Outcome.INDECISIVE, None)
        assert found.why == (
            "on what was measured B is detectably ahead, but 4 runs are missing or ungraded, "
            "and had they gone the other way it would not be"
        )
    else:
        assert (found.outcome, found.ahead) == (Outcome.DETECTABLE, B)


def test_the_smallest_detectable_difference_rests_on_the_observed_spread() -> None:
    found = compared(tasks(5, "-- ++"), tasks(4, "++ ++", "same"))
    assert found.spread == pytest.approx(0.5270463)
    assert found.spread_observed
    assert found.smallest_detectable == pytest.approx(0.5613, abs=1e-3)


def test_every_two_configurations_are_compared() -> None:
    summary = summarise(study(results({"a": "+ - +", "b": "- - +"})))
    assert [(c.first, c.second) for c in summary.comparisons] == [(A, B), (A, C), (B, C)]
    assert [c.difference.value for c in summary.comparisons] == [-0.5, 0.5, 1]


def test_one_configuration_has_no_comparison() -> None:
    assert summarise(study(results({"a": "+"}))).comparisons == ()


def test_task_types_and_slices_are_tallied() -> None:
    summary = summarise(
        study(
            results({"a": "++ +-", "b": "-- ++"}, slices=("parsing", "cli")),
            results({"c": "++ ??"}, category=Category.FEATURE),
        )
    )
    told = {
        (group.grouping, group.name): (
            group.tasks,
            [(tally.passed, tally.tasks) for tally in group.tallies.values()],
        )
        for group in summary.groups
    }
    assert told == {
        (Grouping.CATEGORY, "bugfix"): (2, [(1, 2), (1.5, 2)]),
        (Grouping.CATEGORY, "feature"): (1, [(1, 1), (0, 0)]),
        (Grouping.SLICE, "cli"): (2, [(1, 2), (1.5, 2)]),
        (Grouping.SLICE, "parsing"): (2, [(1, 2), (1.5, 2)]),
    }


def topics(summary: Summary) -> set[Topic]:
    return {limitation.topic for limitation in summary.limitations}


@pytest.mark.parametrize(
    ("marks", "topic"),
    [
        pytest.param({"a": "++ ++", "b": "++ ++"}, Topic.CEILING, id="ceiling"),
        pytest.param({"a": "-- --", "b": "-- -?"}, Topic.FLOOR, id="floor"),
        pytest.param({"a": "++ +?"}, Topic.INCOMPLETE, id="incomplete"),
    ],
)
def test_what_the_marks_themselves_limit(marks: dict[str, str], topic: Topic) -> None:
    assert topic in topics(summarise(study(results(marks))))


def test_sound_marks_limit_nothing() -> None:
    assert topics(summarise(study(results({"a": "++ +-", "b": "-- ++"})))) == set()


def test_solo_work_and_identical_attempts_are_named() -> None:
    twins = (RunId(TaskId("a"), A, 1), RunId(TaskId("a"), A, 2))
    summary = summarise(study(results({"a": "++ +-"}), solo=True, identical=(twins,)))
    assert topics(summary) == {Topic.SOLO, Topic.IDENTICAL_ATTEMPTS}
    assert "a__A__1 and a__A__2 left the same diff" in summary.limitations[-1].text


def regrade(run: RunId, verdicts: str, *, corrected: bool, late: bool = False) -> Regrade:
    before, after = (SIGNS[sign] for sign in verdicts)
    assert before
    assert after
    return Regrade(run=run, before=before, after=after, corrected=corrected, late=late)


def test_corrections_and_flaky_grades_are_named() -> None:
    one, two = (RunId(TaskId("a"), A, attempt) for attempt in (1, 2))
    whole = study(
        results({"a": "++ +-", "b": "-- ++"}),
        corrections={TaskId("a"): ("too strict", "too lenient"), TaskId("b"): ("a typo",)},
        regrades=(
            regrade(one, "-+", corrected=True, late=True),
            regrade(two, "++", corrected=True),
            regrade(two, "-+", corrected=False),
            regrade(one, "++", corrected=False),
        ),
    )
    summary = summarise(whole)
    assert topics(summary) == {Topic.CORRECTED, Topic.FLAKY_GRADE}
    assert [limitation.text for limitation in summary.limitations] == [
        "The hidden tests of a were corrected after the freeze (too strict; too lenient), and all "
        "its runs are graded by the corrected ones. Verdicts that changed: a__A__1 from fail to "
        "pass. Scorers may have seen the earlier verdicts.",
        "The hidden tests of b were corrected after the freeze (a typo), and all its runs are "
        "graded by the corrected ones. Verdicts that changed: none.",
        "a__A__2 was graded twice by the same hidden tests: fail at first, pass the second time, "
        "which is what counts here.",
    ]


MARKS = st.dictionaries(
    st.sampled_from([f"task-{number}" for number in range(12)]),
    st.tuples(*[st.text("+-u?LE", min_size=1, max_size=3)] * 2).map(" ".join),
    min_size=1,
)


def shuffled(whole: Study, seed: int) -> Study:
    mixed = list(whole.results)
    random.Random(seed).shuffle(mixed)  # noqa: S311 - an order, not a secret
    plan = tuple(reversed(whole.planned))
    return study(mixed, planned=plan, configurations=whole.configurations)


@given(MARKS, st.integers(0, 1000))
def test_the_order_of_results_is_nothing(marks: dict[str, str], seed: int) -> None:
    whole = study(results(marks))
    assert summarise(shuffled(whole, seed)) == summarise(whole)


@given(MARKS)
def test_what_always_holds(marks: dict[str, str]) -> None:
    summary = summarise(study(results(marks)))
    for side in summary.configurations:
        found = side.coverage
        assert found.planned == found.retired + found.run + found.missing
        assert found.run == found.graded + found.ungraded
        if side.rate.value is not None:
            assert side.rate.interval is not None
            assert side.rate.interval.low <= side.rate.value <= side.rate.interval.high
            if side.rate_bounds:
                slack = 1e-12
                assert side.rate_bounds.low - slack <= side.rate.value
                assert side.rate.value <= side.rate_bounds.high + slack
        if side.pass_hat_2.value is None:
            assert side.pass_hat_2.why
    (comparison,) = summary.comparisons
    assert (comparison.ahead is not None) == (comparison.outcome is Outcome.DETECTABLE)
    if comparison.outcome is Outcome.DETECTABLE:
        assert comparison.difference.interval is not None
        assert 0 not in comparison.difference.interval
    strict = comparison.strict
    sorted_in = [*strict.first_only, *strict.second_only, *strict.both, *strict.neither]
    assert sorted(sorted_in) == sorted(comparison.differences)


@given(MARKS)
def test_swapping_the_configurations_mirrors_the_comparison(marks: dict[str, str]) -> None:
    (there,) = summarise(study(results(marks))).comparisons
    turned = {task: " ".join(reversed(signs.split())) for task, signs in marks.items()}
    (back,) = summarise(study(results(turned))).comparisons
    assert back.outcome is there.outcome
    assert back.p_mid == there.p_mid
    assert back.differences == {task: -value for task, value in there.differences.items()}


@given(MARKS)
def test_copies_of_every_attempt_change_no_interval(marks: dict[str, str]) -> None:
    twice = {task: " ".join(signs * 2 for signs in both.split()) for task, both in marks.items()}
    (once,) = summarise(study(results(marks))).comparisons
    (doubled,) = summarise(study(results(twice))).comparisons
    assert doubled.difference == once.difference
    assert doubled.p_mid == once.p_mid


@given(MARKS, st.text("u?", min_size=1, max_size=3))
def test_what_the_infrastructure_broke_changes_the_coverage_and_no_rate(
    marks: dict[str, str], broken: str
) -> None:
    more = {
        task: " ".join(signs + broken for signs in both.split()) for task, both in marks.items()
    }
    before, after = summarise(study(results(marks))), summarise(study(results(more)))
    for one, other in zip(before.configurations, after.configurations, strict=True):
        assert other.rate == one.rate
        assert other.pass_hat_2 == one.pass_hat_2
        if one.coverage.share:
            assert other.coverage.share is not None
            assert other.coverage.share < one.coverage.share
    assert after.comparisons[0].difference == before.comparisons[0].difference
