"""Predicates, rubrics and compositions: whose fault a failure is, and what it does to the score."""

import itertools
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.errors import InputError, ToolError
from labkit.graders import (
    AllOf,
    AnyOf,
    Case,
    Criterion,
    Judge,
    Output,
    PredicateGrader,
    RubricGrader,
    Verdict,
)

CASE = Case(id="sum", inputs=(2, 3), reference=5)
FIVE = Output(value=5)


def asserts(output: Output, case: Case) -> bool:
    assert output.value == case.reference, "the sum is wrong"
    return True


def leaves(output: Output, case: Case) -> bool:
    del output, case
    raise SystemExit(0)


def tells(output: Output, case: Case) -> bool:
    del output, case
    pytest.fail("as pytest fails")


def recurses(output: Output, case: Case) -> bool:
    return recurses(output, case)


@pytest.mark.parametrize(
    ("function", "value", "passed", "detail"),
    [
        (asserts, 5, True, "holds"),
        (asserts, 6, False, "AssertionError: the sum is wrong"),
        (lambda o, _: o.value > 4, 5, True, "holds"),
        (lambda o, _: o.value > 4, 4, False, "does not hold"),
        (lambda o, _: o.value > 4, None, False, "TypeError: '>' not supported"),
        (lambda o, _: o.value["x"], {}, False, "KeyError: 'x'"),
        (lambda o, _: o.value, None, False, "the predicate returned nothing"),
        (lambda o, _: o.value, 1, False, "the predicate returned a value of type int"),
        (lambda o, _: o.value, "yes", False, "the predicate returned a value of type str"),
        (leaves, 5, False, "SystemExit: 0"),
        (tells, 5, False, "Failed: as pytest fails"),
        (recurses, 5, False, "RecursionError"),
        (lambda: True, 5, False, "TypeError"),
    ],
)
def test_a_predicate_passes_on_true_alone(
    function: Callable[[Output, Case], object], value: object, *, passed: bool, detail: str
) -> None:
    verdict = PredicateGrader(function=function)(Output(value=value), CASE)
    assert (verdict.passed, verdict.score) == (passed, float(passed))
    assert verdict.detail.startswith(detail)


def test_ctrl_c_goes_through_a_predicate() -> None:
    def stopped(output: Output, case: Case) -> bool:
        del output, case
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        PredicateGrader(function=stopped)(FIVE, CASE)


def marks(**scores: object) -> Judge:
    """Return a judge that gives these marks."""

    def judge(criterion: Criterion, output: Output, case: Case) -> object:
        del output, case
        answer = scores[criterion.name]
        if isinstance(answer, BaseException):
            raise answer
        return answer

    return judge


def rubric(judge: Judge, threshold: float = 0.5, **weights: float) -> RubricGrader:
    """Return a rubric with these criteria."""
    criteria = tuple(
        Criterion(name=name, question=f"is it {name}?", weight=weight)
        for name, weight in weights.items()
    )
    return RubricGrader(criteria=criteria, judge=judge, threshold=threshold)


def test_weights_change_the_outcome() -> None:
    judge = marks(right=1, tidy=0)
    even = rubric(judge, 0.6, right=1, tidy=1)(FIVE, CASE)
    assert even == Verdict.failing("right 1, tidy 0", score=0.5)
    heavy = rubric(judge, 0.6, right=3, tidy=1)(FIVE, CASE)
    assert heavy == Verdict.passing("right 1, tidy 0", score=0.75)


def test_the_threshold_is_reached_exactly() -> None:
    weights = {"a": 0.1, "b": 0.2, "c": 0.3}
    judge = marks(a=0.7, b=0.7, c=0.7)
    assert 0.7 * sum(weights.values()) > 0.1 * 0.7 + 0.2 * 0.7 + 0.3 * 0.7
    assert rubric(judge, 0.7, **weights)(FIVE, CASE).passed
    assert rubric(judge, 0.7000001, **weights)(FIVE, CASE).passed is False


@given(
    scores=st.lists(st.integers(0, 100), min_size=1, max_size=6),
    weights=st.lists(st.integers(1, 100), min_size=6, max_size=6),
    threshold=st.integers(1, 100),
)
def test_the_mean_is_exact(scores: list[int], weights: list[int], threshold: int) -> None:
    names = [f"c{count}" for count in range(len(scores))]
    judge = marks(**{name: each / 100 for name, each in zip(names, scores, strict=True)})
    used = dict(zip(names, weights, strict=False))
    verdict = rubric(judge, threshold / 100, **{name: w / 100 for name, w in used.items()})(
        FIVE, CASE
    )
    pairs = zip(scores, used.values(), strict=True)
    mean = Fraction(sum(s * w for s, w in pairs), 100 * sum(used.values()))
    assert verdict.score == float(mean)
    assert verdict.passed is (mean >= Fraction(threshold, 100))


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (SystemExit(0), "raised SystemExit: 0 for a"),
        (TimeoutError("no answer"), "raised TimeoutError: no answer for a"),
        (ToolError("the model is not there"), "failed (the model is not there) for a"),
        (None, "answered nothing for a"),
        ("0.8", "answered a value of type str for a"),
        (float("nan"), "answered nan for a"),
        (1.01, "answered 1.01 for a"),
        (-1, "answered -1 for a"),
        (2**5000, "answered a whole number of 5001 bits for a"),
    ],
)
def test_a_judge_that_cannot_judge_is_missing_data(answer: object, why: str) -> None:
    verdict = rubric(marks(a=answer, b=1), a=1, b=1)(FIVE, CASE)
    assert (verdict.passed, verdict.score) == (None, None)
    assert verdict.detail == f"not graded: the judge {why}"


def test_ctrl_c_goes_through_a_judge() -> None:
    with pytest.raises(KeyboardInterrupt):
        rubric(marks(a=KeyboardInterrupt()), a=1)(FIVE, CASE)


def test_a_judge_may_say_yes_or_no() -> None:
    assert rubric(marks(a=True, b=False), a=1, b=3)(FIVE, CASE).score == 0.25
    zero = rubric(marks(a=0), a=1)(FIVE, CASE)
    assert (zero.graded, zero.passed, zero.score) == (True, False, 0)


def test_a_rubric_that_makes_no_sense_is_refused_with_all_that_is_wrong() -> None:
    twice = Criterion(name="a", question="?", weight=0)
    with pytest.raises(InputError) as caught:
        RubricGrader(criteria=(twice, twice), judge=marks(), threshold=2)
    assert caught.value.problems == (
        'there are several "criteria" called a',
        'the "weight" of a must be more than 0',
        'the "weight" of a must be more than 0',
        '"threshold" must be more than 0 and at most 1',
    )
    with pytest.raises(InputError, match='no "criteria"'):
        RubricGrader(criteria=(), judge=marks())
    for weight in (float("nan"), float("inf"), -1.0):
        with pytest.raises(InputError, match="more than 0"):
            rubric(marks(), a=weight)


class Says:
    """A grader that always says the same, or raises."""

    def __init__(self, verdict: Verdict | None) -> None:
        self.verdict = verdict

    def __call__(self, output: Output, case: Case) -> Verdict:
        del output, case
        if self.verdict is None:
            raise RuntimeError("broken")
        return self.verdict


PASS, HALF, FAIL = Verdict.passing("p"), Verdict.failing("h", score=0.5), Verdict.failing("f")
WORDS = [PASS, HALF, FAIL, None]


@pytest.mark.parametrize("said", list(itertools.product(WORDS, repeat=3)))
def test_all_of_and_any_of_follow_three_valued_logic(said: tuple[Verdict | None, ...]) -> None:
    graders = tuple(map(Says, said))
    every, one = AllOf(graders=graders)(FIVE, CASE), AnyOf(graders=graders)(FIVE, CASE)
    fails, passes, missing = (HALF in said or FAIL in said), PASS in said, None in said
    assert every.passed is (False if fails else None if missing else True)
    assert one.passed is (True if passes else None if missing else False)
    scores = [each.score for each in said if each is not None and each.score is not None]
    assert every.score == (min(scores) if every.graded else None)
    assert one.score == (max(scores) if one.graded else None)
    for order in itertools.permutations(graders):
        assert AllOf(graders=order)(FIVE, CASE).score == every.score
        assert AnyOf(graders=order)(FIVE, CASE).passed is one.passed


def test_compositions_tell_what_each_said() -> None:
    assert AllOf(graders=(Says(PASS), Says(FAIL)))(FIVE, CASE).detail == "p; f"
    missing = AllOf(graders=(Says(PASS), Says(None)))(FIVE, CASE)
    assert missing.detail == "not graded: the grader raised RuntimeError: broken"
    for kind in (AllOf, AnyOf):
        with pytest.raises(InputError, match='no "graders"'):
            kind(graders=())
