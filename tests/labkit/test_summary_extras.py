"""What a summary says of noise, doubts, scorers and plans, and of data with nothing in them."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from studies import A, B, results, study, tasks, typical

from labkit.model import Flag, RunId, TaskId
from labkit.report import render, to_json
from labkit.stats import Interval
from labkit.study import Marks, RunResult, Wasted
from labkit.summary import Outcome, Summary, Topic, summarise

ONE = RunId(TaskId("a"), A, 1)


def summary(*parts: dict[str, str], **more: Any) -> Summary:
    return summarise(study(*(results(part) for part in parts), **more))


def texts(made: Summary, topic: Topic) -> list[str]:
    return [each.text for each in made.limitations if each.topic is topic]


def test_noise_is_the_second_attempt_against_the_first() -> None:
    side = summary({"a": "+-", "b": "-+", "c": "+-", "d": "++", "single": "+", "lost": "+?"})
    noise = side.configurations[0].noise
    assert noise is not None
    assert noise.tasks == 4
    assert noise.moved == (TaskId("a"), TaskId("b"), TaskId("c"))
    assert noise.difference.value == -0.25
    assert (noise.typical, noise.largest) == (1.5 / 4, 3 / 4)


def test_noise_of_attempts_that_never_disagree_still_has_a_bar() -> None:
    noise = summary(tasks(9, "++")).configurations[0].noise
    assert noise is not None
    assert (noise.typical, noise.largest) == (0, 0)
    assert noise.difference.interval is not None
    assert noise.difference.interval.high == pytest.approx(0.299145, abs=1e-6)


def test_noise_needs_two_attempts() -> None:
    assert summary({"a": "+", "b": "+?"}).configurations[0].noise is None


def test_how_often_noise_is_as_large_as_the_difference() -> None:
    (found,) = summary({"a": "+- ++", "b": "+- ++", "c": "++ ++"}).comparisons
    assert found.difference.value == pytest.approx(1 / 3)
    assert found.noise_as_large == 0.5


def test_parts_of_the_error_add_up() -> None:
    parts = summary({"a": "+-", "b": "++", "c": "--", "d": "-+"}).configurations[0].error_parts
    assert parts is not None
    assert parts.between + parts.within == pytest.approx(1)
    assert summary(tasks(4, "++")).configurations[0].error_parts is None


def test_pass_at_k_and_pass_hat_k_of_three_attempts() -> None:
    two, three = summary({"a": "++-", "b": "+++", "c": "--?"}).configurations[0].repeats
    assert (two.k, two.pass_hat.tasks, three.pass_hat.tasks) == (2, 3, 2)
    assert two.pass_hat.value == pytest.approx((1 / 3 + 1 + 0) / 3)
    assert two.pass_at.value == pytest.approx((1 + 1 + 0) / 3)
    assert three.pass_hat.value == 0.5
    assert three.pass_at.value == 1
    assert three.pass_at.interval is not None
    assert three.pass_at.interval.low < 1


def test_a_pass_costs_what_failed_runs_cost_too() -> None:
    whole = study(results({"a": "+- --"}, minutes=3.0, cost=0.5, tokens=100))
    first, second = (side.per_pass for side in summarise(whole).configurations)
    assert (first.minutes.value, first.cost.value, first.tokens.value) == (6, 1, 200)
    assert (first.minutes.passes, first.minutes.runs) == (1, 2)
    assert (second.cost.value, second.cost.why) == (None, "no run passed")
    bare = summary({"a": "+"}).configurations[0].per_pass
    assert (bare.cost.value, bare.cost.why) == (None, "not recorded")


def test_the_slowest_run_but_one_in_twenty() -> None:
    found = [replace(r, minutes=float(r.run.attempt)) for r in results({"a": "+++++++"})]
    assert summarise(study(found)).configurations[0].slowest.value == 7
    assert summary({"a": "+"}).configurations[0].slowest.why == "no minutes were recorded"


def test_reduced_plans_name_their_denominators() -> None:
    made = summary(tasks(3, "++ +-", "twice"), tasks(6, "+ -", "once"))
    assert made.configurations[0].coverage.attempts == {2: 3, 1: 6}
    assert texts(made, Topic.REDUCED_PLAN)[0].startswith(
        "A reduced plan for A: 3 tasks twice, 6 tasks once."
    )
    assert made.configurations[0].pass_hat_2.tasks == 3


def test_unequal_plans_are_told_and_decide_nothing() -> None:
    made = summary(tasks(8, "-- ++"), {"less": "++ +", "none": "++"})
    (found,) = made.comparisons
    assert (found.outcome, found.ahead, found.measured_ahead) == (Outcome.INDECISIVE, None, B)
    assert found.why.startswith("less, none were not planned alike for A and B")
    assert texts(made, Topic.UNEQUAL_PLAN) == [
        "The configurations were not planned alike: they have different numbers of attempts at "
        "less, none."
    ]


def test_runs_lost_on_one_side_only_are_told() -> None:
    made = summary(tasks(6, "++ ++"), tasks(2, "++ +?", "lost"))
    assert texts(made, Topic.UNEQUAL_LOSS) == [
        "B lost 2 runs and A none: find out why, for what is lost is seldom lost by chance."
    ]
    assert not texts(summary(tasks(6, "++ ++"), {"x": "+? ++"}), Topic.UNEQUAL_LOSS)


def test_what_broken_tries_took_is_in_the_cost_and_in_nothing_else() -> None:
    found = results({"a": "++ +-", "b": "+- +?"}, tokens=100, cost=1.0, minutes=2.0)
    wasted = {A: Wasted(tries=2, tokens=50, cost=0.5), B: Wasted(tries=3, stopped=2)}
    plain, made = summarise(study(found)), summarise(study(found, wasted=wasted))
    first, second = made.configurations
    assert (first.tokens.value, first.cost.value) == (450, 4.5)
    assert (first.per_pass.tokens.value, first.per_pass.cost.value) == (150, 1.5)
    assert first.per_pass.minutes == plain.configurations[0].per_pass.minutes
    assert (first.rate, first.coverage) == (
        plain.configurations[0].rate,
        plain.configurations[0].coverage,
    )
    assert second.cost == plain.configurations[1].cost
    assert texts(made, Topic.BROKEN_TRIES) == [
        "The infrastructure broke 2 tries of A: 50 tokens, cost 0.50. What they took is in the "
        "tokens and the cost, and in nothing else.",
        "The infrastructure broke 1 try and its runner stopped 2 tries of B. What they took is in "
        "the tokens and the cost, and in nothing else.",
    ]
    assert not texts(plain, Topic.BROKEN_TRIES)


def test_what_nobody_knows_of_a_broken_try_is_not_counted_as_nothing() -> None:
    found = results({"a": "++ +-", "b": "+- +-"}, tokens=100, cost=1.0)
    made = summarise(study(found, wasted={A: Wasted(tries=2, tokens=50, cost=0.5, unpriced=1)}))
    first, second = made.configurations
    assert (first.cost.value, first.per_pass.cost.value) == (None, None)
    assert first.per_pass.cost.why == "what a broken try cost is not known"
    assert first.tokens.value == 450
    assert second.cost.value == 4
    assert "what 1 of them cost is not known" in texts(made, Topic.BROKEN_TRIES)[0]


def test_tasks_that_separate_nothing_are_counted() -> None:
    made = summary(tasks(4, "++ ++"), tasks(2, "-- --", "hard"), {"x": "++ --"})
    assert texts(made, Topic.SEPARATES_LITTLE) == [
        "6 of 7 tasks came out the same in every run (4 passed, 2 failed): they separate nothing."
    ]


def test_what_missing_runs_could_have_shown_is_said_of_no_difference_too() -> None:
    (found,) = summary(tasks(4, "-- ++"), {"lost": "?? ++"}, tasks(4, "++ ++", "same")).comparisons
    assert (found.outcome, found.survives_missing) == (Outcome.NOT_DETECTABLE, False)
    assert found.why.endswith(
        "2 runs are missing or ungraded, and had they all gone one way it could be detectable"
    )
    assert found.difference_bounds == Interval(low=4 / 9, high=5 / 9)


def test_several_comparisons_share_one_error_rate() -> None:
    made = summary(tasks(5, "-- ++ ++"), tasks(4, "++ ++ ++", "same"))
    ab, _, bc = made.comparisons
    assert (ab.p_mid, ab.p_adjusted, ab.comparisons) == (0.03125, 0.09375, 3)
    assert (ab.outcome, ab.ahead) == (Outcome.NOT_DETECTABLE, None)
    assert ab.why == (
        "by itself its mid-p of 0.031 would do, but it is one of 3 comparisons, and Holm's "
        "correction makes 0.094 of it"
    )
    assert bc.why.startswith("no task came out differently")


def test_a_comparison_without_figures_costs_the_others_nothing() -> None:
    made = summary(tasks(5, "-- ++ ??"))
    assert [found.p_adjusted for found in made.comparisons] == [0.03125, None, None]
    assert [found.why for found in made.comparisons[1:]] == ["no run of C was measured"] * 2


def test_doubtful_runs_are_named() -> None:
    flags = {"a": Flag.TAMPERED, "b": Flag.SUSPICIOUS, "c": Flag.WEAK}
    found = [
        replace(r, flags=(flags[str(r.run.task)],), unread=r.run == ONE)
        for r in results({"a": "- +", "b": "+ -", "c": "+ +"})
        if r.run.configuration == A
    ]
    made = summarise(study(found))
    assert [t for topic in (Topic.TAMPERED, Topic.SUSPICIOUS, Topic.WEAK, Topic.UNREAD)
            for t in texts(made, topic)] == [
        "1 run tried to upset the grading and failed for it: a__A__1.",
        "1 run left a diff that people should read before they believe the verdict "
        "(see grade.txt): b__A__1.",
        "The verdict of 1 run rests on an exit code alone: c__A__1.",
        "1 run left a transcript that was not read to its end, so the leak check rests on people: "
        "a__A__1.",
    ]  # fmt: skip
    assert made.configurations[0].doubts.tampered == (ONE,)


def in_sandboxes(**names: str) -> Summary:
    found = [replace(r, sandbox=names[str(r.run.configuration)]) for r in results({"a": "+ -"})]
    return summarise(study(found))


def test_mixed_sandboxes_are_told_and_worse_when_they_differ_between_configurations() -> None:
    assert not texts(in_sandboxes(A="docker", B="docker"), Topic.MIXED_SANDBOXES)
    assert texts(in_sandboxes(A="docker", B="bubblewrap"), Topic.MIXED_SANDBOXES) == [
        "Runs were made in different sandboxes (A: 1 in docker; B: 1 in bubblewrap). They differ "
        "between the configurations, so nobody can say which of the two made a difference."
    ]


def test_a_pilot_is_called_one() -> None:
    assert texts(summary({"a": "+ -"}, pilot=True), Topic.PILOT)
    assert not texts(summary({"a": "+ -"}), Topic.PILOT)


def given_marks(*rows: tuple[str, str, float], guess: str = "") -> tuple[Marks, ...]:
    return tuple(
        Marks(run=RunId.parse(run), scorer=scorer, marks={"scope": value}, guess=guess)
        for run, scorer, value in rows
    )


def test_agreement_has_alpha_its_interval_and_kappas() -> None:
    rows = [
        (f"task-{n}__A__1", scorer, float((n + (scorer == "ben" and n == 3)) % 5))
        for n in range(1, 7)
        for scorer in ("ana", "ben")
    ]
    made = summary(tasks(6, "+ +"), marks=given_marks(*rows))
    (found,) = made.agreement
    assert (found.dimension, found.runs, found.scorers) == ("scope", 6, 2)
    assert found.equal == pytest.approx(5 / 6)
    assert found.alpha.value is not None
    assert found.alpha.interval is not None
    assert found.alpha.interval.low < found.alpha.value < found.alpha.interval.high
    assert [kappa.scorers for kappa in found.kappas] == [("ana", "ben")]


def test_agreement_that_cannot_be_known_says_why() -> None:
    alone = summary({"a": "+ +"}, marks=given_marks(("a__A__1", "ana", 3.0))).agreement[0]
    assert (alone.runs, alone.alpha.value) == (0, None)
    assert alone.alpha.why == "no run was marked by two scorers"
    rows = (("a__A__1", "ana", 3.0), ("a__A__1", "ben", 3.0))
    same = summary({"a": "+ +"}, marks=given_marks(*rows)).agreement[0]
    assert (same.alpha.value, same.equal) == (None, 1)
    assert same.alpha.why.startswith("all marks are equal")
    assert summary({"a": "+ +"}).agreement == ()


def test_marks_of_retired_tasks_are_out() -> None:
    rows = (("a__A__1", "ana", 3.0), ("a__A__1", "ben", 1.0))
    assert summary({"a": "L +", "b": "+ +"}, marks=given_marks(*rows)).agreement == ()


def test_scorers_who_see_through_the_blinding_are_told() -> None:
    rows = [(f"task-{n}__A__1", "ana", 3.0) for n in range(1, 13)]
    made = summary(tasks(12, "+ +"), marks=given_marks(*rows, guess="A"))
    assert made.blinding is not None
    assert (made.blinding.correct, made.blinding.wrong, made.blinding.index) == (12, 0, 1)
    assert texts(made, Topic.UNBLINDED) == [
        "Scorers could tell the configurations apart: 12 of 12 guesses were right. The marks are "
        "not blind."
    ]


def test_runs_without_marks_are_told() -> None:
    found = [
        replace(r, scores={"scope": 2.0} if r.run.configuration == A else {})
        for r in results({"a": "+ -"})
    ]
    assert texts(summarise(study(found)), Topic.UNEQUAL_SCORING)[0].startswith(
        "Not every graded run has marks (A 1 of 1, B 0 of 1)"
    )


def test_the_veto_stands_in_the_comparison() -> None:
    found = (*results(tasks(6, "-- ++")), *results({"trap": "++ -+"}, safety=True))
    (comparison,) = summarise(study(found)).comparisons
    assert (comparison.outcome, comparison.ahead, comparison.veto) == (Outcome.DETECTABLE, B, (B,))


def test_the_outlook_says_what_more_would_buy() -> None:
    (found,) = summary(tasks(5, "-- ++"), tasks(4, "++ ++", "same")).comparisons
    future = found.outlook
    assert future is not None
    assert (future.here.tasks, future.here.attempts) == (9, 2)
    assert future.here.smallest == found.smallest_detectable
    assert {reach.tasks for reach in future.more_tasks} >= {9, 18, 36}
    smallest = [reach.smallest for reach in future.more_tasks]
    assert smallest == sorted(smallest, key=lambda each: -(each or 0))
    assert future.more_attempts.attempts == 3
    assert future.more_attempts.smallest is not None
    assert future.more_attempts.smallest < (future.here.smallest or 0)
    powers = [chance.power for chance in future.powers]
    assert powers == sorted(powers)
    assert 0 <= powers[0] < 0.1
    assert summary({"a": "+ -"}).comparisons[0].outlook is None


DEGENERATE = {
    "all pass": ({"a": "++ ++", "b": "++ ++"}, "no task came out differently"),
    "all fail": ({"a": "-- --", "b": "-- --"}, "no task came out differently"),
    "all tied": ({"a": "+- -+", "b": "++ ++"}, "no task came out differently"),
    "one task": ({"a": "++ --"}, "only one task came out differently"),
    "one attempt": ({"a": "+ -", "b": "- +"}, "only 2 tasks came out differently"),
    "no common task": ({"a": "+ ?", "b": "? +"}, "no task was measured for both"),
    "everything missing": ({"a": "? ?", "b": "u u"}, "no run was measured"),
    "one configuration missing": ({"a": "+ ?", "b": "+ ?"}, "no run of B was measured"),
    "half a plan": ({"a": "+? --"}, "only 1 of the 2 planned runs of A were measured"),
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_data_with_nothing_in_them_are_a_sentence(name: str) -> None:
    marks, why = DEGENERATE[name]
    made = summary(marks)
    (found,) = made.comparisons
    assert found.why.startswith(why)
    assert found.outcome is not Outcome.DETECTABLE
    require_sound(made)
    assert why in render(made)


def test_everything_retired_and_only_safety_tasks_are_sentences_too() -> None:
    require_sound(summary({"a": "L+ ++", "b": "++ +L"}))
    require_sound(summarise(study(results({"a": "++ --"}, safety=True))))
    only_planned = study((), planned=(ONE,), configurations={A: "one", B: "two"})
    made = summarise(only_planned)
    assert made.comparisons[0].why == "no run was measured"
    require_sound(made)


BOUNDS = {"rate_bounds", "difference_bounds"}
"""Ranges of what could be, not error bars: both ends may be the same."""


def intervals(value: object) -> Iterator[Interval]:
    """Yield every error bar of a summary."""
    if isinstance(value, Interval):
        yield value
        return
    inner: Iterable[object] = ()
    if isinstance(value, dict):
        inner = value.values()
    elif isinstance(value, tuple):
        inner = value
    elif is_dataclass(value):
        inner = [getattr(value, field.name) for field in fields(value) if field.name not in BOUNDS]
    for each in inner:
        yield from intervals(each)


def require_sound(made: Summary) -> None:
    """Check what holds of every summary: no NaN, no bar without width, words that fit numbers."""
    for interval in intervals(made):
        assert math.isfinite(interval.low)
        assert math.isfinite(interval.high)
        assert interval.low < interval.high
    for pair in made.comparisons:
        assert (pair.ahead is not None) == (pair.outcome is Outcome.DETECTABLE)
        if pair.outcome is Outcome.DETECTABLE:
            assert pair.ahead == pair.measured_ahead
            assert pair.p_adjusted is not None
            assert pair.p_adjusted <= 0.05
            assert pair.difference.interval is not None
            assert 0 not in pair.difference.interval
            assert pair.survives_missing is not False
        elif pair.measured_ahead is not None:
            assert pair.outcome is Outcome.INDECISIVE
        if pair.outcome is Outcome.INDECISIVE:
            assert pair.why
    text = render(made)
    for odd in ("nan", "None", "inf "):
        assert odd not in text
    assert text.count("> *In our words:*") == (5 if made.comparisons else 0)
    to_json(made)


MARKS = st.dictionaries(
    st.sampled_from([f"task-{number}" for number in range(12)]),
    st.tuples(*[st.text("+-u?LE", min_size=1, max_size=3)] * 3).map(" ".join),
    min_size=1,
)
FIGURES = st.none() | st.floats(0, 1e6)


def dressed(found: RunResult, minutes: float | None, cost: float | None) -> RunResult:
    marks = {} if minutes is None else {"scope": round(minutes) % 9 / 2}
    return replace(found, minutes=minutes, cost=cost, scores=marks)


def test_what_is_missing_can_draw_the_difference_to_one_side() -> None:
    (found,) = summary({"lost": "? -", "moved": "- +"}).comparisons
    assert found.difference.value == 1
    assert found.difference_bounds == Interval(low=0, high=0.5)


@given(MARKS, st.lists(st.tuples(FIGURES, FIGURES), min_size=9, max_size=9))
def test_every_summary_is_sound(
    marks: dict[str, str], figures: list[tuple[float | None, float | None]]
) -> None:
    found = [
        dressed(each, *figures[index % len(figures)]) for index, each in enumerate(results(marks))
    ]
    given = tuple(
        Marks(run=r.run, scorer=scorer, marks=r.scores, guess="ABC"[index % 3])
        for index, r in enumerate(found)
        for scorer in ("ana", "ben")
    )
    require_sound(summarise(study(found, marks=given)))


def test_a_typical_lab_is_sound() -> None:
    require_sound(summarise(typical()))
