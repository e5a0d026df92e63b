"""The power of the sign-flip test against enumeration by hand, and the model behind a plan."""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from labkit.stats import (
    Design,
    detectable_effect,
    expected_spread,
    is_enumerable,
    power,
    sign_flip_test,
)

HALVES = [Fraction(step, 2) for step in range(-2, 3)]
SHARES = st.lists(st.integers(0, 6), min_size=5, max_size=5).filter(any)


def test_five_or_six_of_nine_tasks_have_to_move() -> None:
    # P(Binomial(9, 1/2) >= 6) and >= 5
    found = power(9, {0: 0.5, 1: 0.5})
    assert (found.exact, found.mid) == pytest.approx((0.25390625, 0.5), abs=1e-12)


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 5), SHARES, st.sampled_from([0.05, 0.125, 0.3]))
def test_power_is_the_chance_of_every_outcome_that_is_rejected(
    n: int, weights: list[int], significance: float
) -> None:
    shares = {level: w / sum(weights) for level, w in zip(HALVES, weights, strict=True)}
    exact = mid = 0.0
    for outcome in itertools.product(HALVES, repeat=n):
        chance = math.prod(shares[level] for level in outcome)
        test = sign_flip_test(outcome)
        exact += chance * (test.p_exact <= significance)
        mid += chance * (test.p_mid <= significance)
    found = power(n, shares, significance)
    assert (found.exact, found.mid) == pytest.approx((exact, mid), abs=1e-9)


# Exact enumeration of the mid-p test, in per cent, at 2 attempts, 50 %, icc .5, correlation .8
@pytest.mark.parametrize(
    ("n", "expected"),
    [
        pytest.param(9, [2, 4, 8, 14, 23, 34, 60], id="nine"),
        pytest.param(12, [4, 8, 15, 26, 40, 57, 85], id="twelve"),
        pytest.param(18, [6, 13, 26, 45, 65, 82, 98], id="eighteen"),
        pytest.param(36, [10, 27, 53, 79, 94, 99, 100], id="thirty-six"),
    ],
)
def test_the_power_of_the_usual_plans(n: int, expected: list[int]) -> None:
    points = [5, 10, 15, 20, 25, 30, 40]
    found = [100 * power(n, Design().shares(point / 100)).mid for point in points]
    assert found == pytest.approx(expected, abs=0.6)


@pytest.mark.parametrize("attempts", [1, 2, 3])
@pytest.mark.parametrize("n", [6, 9, 12, 20])
@pytest.mark.parametrize("mean", [0.5, 0.7, 0.9])
def test_without_a_difference_the_test_rejects_at_most_five_per_cent(
    n: int, attempts: int, mean: float
) -> None:
    found = power(n, Design(attempts=attempts, mean=mean).shares(0.0))
    assert found.exact <= found.mid <= 0.057
    assert found.exact <= 0.05


@pytest.mark.parametrize(
    ("n", "design", "expected"),
    [
        pytest.param(9, Design(mean=0.3), 0.49, id="nine-from-30"),
        pytest.param(9, Design(attempts=3), 0.42, id="nine-thrice"),
        pytest.param(12, Design(), 0.38, id="twelve"),
        pytest.param(18, Design(), 0.29, id="eighteen"),
        pytest.param(18, Design(attempts=1), 0.38, id="eighteen-once"),
        pytest.param(36, Design(), 0.20, id="thirty-six"),
    ],
)
def test_what_a_plan_detects(n: int, design: Design, expected: float) -> None:
    found = detectable_effect(n, design)
    assert found is not None
    assert found == pytest.approx(expected, abs=0.006)
    assert power(n, design.shares(found)).mid >= 0.8
    assert power(n, design.shares(found - 0.002)).mid < 0.8


def test_two_hundred_tasks_are_still_enumerated() -> None:
    found = detectable_effect(200, Design())
    assert found == pytest.approx(0.086, abs=0.001)
    assert power(200, Design().shares(0.0)).mid == pytest.approx(0.05, abs=0.005)


@pytest.mark.parametrize(("n", "attempts"), [(200, 2), (60, 3), (30, 4), (9, 9)])
def test_usual_plans_can_be_enumerated(n: int, attempts: int) -> None:
    assert is_enumerable(n, attempts)


@pytest.mark.parametrize(("n", "attempts"), [(100, 3), (36, 9)])
def test_what_cannot_be_enumerated_is_known_before(n: int, attempts: int) -> None:
    assert not is_enumerable(n, attempts)
    with pytest.raises(ValueError, match="too many to enumerate"):
        power(n, Design(attempts=attempts).shares(0.1))


@pytest.mark.parametrize("attempts", [1, 2])
def test_nine_tasks_from_half_detect_nothing(attempts: int) -> None:
    assert detectable_effect(9, Design(attempts=attempts)) is None


@pytest.mark.parametrize("attempts", [1, 2, 3])
def test_the_spread_of_the_model_is_the_one_to_expect(attempts: int) -> None:
    assert Design(attempts=attempts).spread() == pytest.approx(expected_spread(attempts), abs=0.001)


def test_the_spread_at_two_attempts() -> None:
    assert Design().spread() == pytest.approx(0.429, abs=0.001)


@settings(deadline=None)
@given(
    st.integers(1, 3),
    st.floats(0.05, 0.8),
    st.floats(0.01, 0.9),
    st.floats(-1, 1),
    st.floats(0, 0.15),
)
@example(attempts=1, mean=0.65625, icc=0.390625, correlation=0.0, effect=0.0)
@example(attempts=1, mean=0.28217697, icc=0.8975880765, correlation=0.0, effect=0.070871943)
def test_the_model_keeps_its_promises(
    attempts: int, mean: float, icc: float, correlation: float, effect: float
) -> None:
    design = Design(attempts=attempts, mean=mean, icc=icc, correlation=correlation)
    shares = design.shares(effect)
    assert sum(shares.values()) == pytest.approx(1, abs=1e-9)
    assert min(shares.values()) >= -1e-12
    difference = sum(float(level) * share for level, share in shares.items())
    assert difference == pytest.approx(effect, abs=0.011)


@pytest.mark.parametrize("icc", [0.05, 0.125, 0.3, 0.9])
@pytest.mark.parametrize("correlation", [-1.0, 0.5, 0.8])
def test_the_far_corners_of_the_copula_are_integrated(icc: float, correlation: float) -> None:
    shares = Design(attempts=1, mean=0.5, icc=icc, correlation=correlation).shares(0.0)
    assert sum(shares.values()) == pytest.approx(1, abs=1e-9)


def test_without_correlation_the_variances_add() -> None:
    design = Design(attempts=2, mean=0.6, icc=0.3, correlation=0.0)
    one = 0.6 * 0.4 * (0.3 + 0.7 / 2)
    assert design.spread() == pytest.approx(math.sqrt(2 * one), abs=0.002)


def test_configurations_may_differ_in_how_alike_their_attempts_are() -> None:
    skewed = Design(mean=0.7, icc=0.9, second_icc=0.1, correlation=0.0).spread()
    expected = 0.7 * 0.3 * ((0.9 + 0.1 / 2) + (0.1 + 0.9 / 2))
    assert skewed == pytest.approx(math.sqrt(expected), abs=0.01)


def test_the_same_difficulty_for_both_is_two_attempts_at_one_task() -> None:
    shares = Design(attempts=1, mean=0.5, icc=0.5, correlation=1.0).shares(0.0)
    # P(one passes, the other does not) = E[p(1-p)] of Beta(1/2, 1/2)
    assert shares[Fraction(1)] == pytest.approx(0.125, abs=0.001)
    assert shares[Fraction(-1)] == pytest.approx(0.125, abs=0.001)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        pytest.param(lambda: power(0, {1: 1.0}), "0 tasks", id="no-tasks"),
        pytest.param(lambda: power(9, {1: 0.5}), "add up to 1", id="half"),
        pytest.param(lambda: power(9, {1: 1.5, 0: -0.5}), "add up to 1", id="negative"),
        pytest.param(lambda: power(9, {1: math.nan}), "add up to 1", id="nan"),
        pytest.param(lambda: power(9, {1: 1.0}, 0), "significance", id="significance"),
        pytest.param(
            lambda: power(100, {Fraction(i, 9): 0.1 for i in range(10)}),
            "outcomes, which are too many to enumerate",
            id="too-many",
        ),
        pytest.param(
            lambda: detectable_effect(9, Design(), aim=0.05), "power to plan for", id="aim"
        ),
        pytest.param(lambda: Design(attempts=0), "0 attempts", id="attempts"),
        pytest.param(lambda: Design(mean=1.0), "mean of a design", id="mean"),
        pytest.param(lambda: Design(icc=0.95), "at most .9", id="icc-near-1"),
        pytest.param(lambda: Design(second_icc=0.0), "icc of a design", id="second-icc"),
        pytest.param(lambda: Design(icc=0.0), "icc of a design", id="icc"),
        pytest.param(lambda: Design(correlation=1.1), "correlation", id="correlation"),
        pytest.param(lambda: Design(mean=0.9).shares(0.2), "no room for", id="no-room"),
    ],
)
def test_nonsense_is_refused(call: Callable[[], object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call()
