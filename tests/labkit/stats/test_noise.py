"""What chance alone shows, against every outcome written out and against known figures."""

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.stats import Design, approximate_power, chance_of_difference, is_enumerable, power
from labkit.stats.flips import as_fraction

HALVES = [Fraction(step, 2) for step in range(-2, 3)]
SHARES = st.lists(st.integers(0, 6), min_size=5, max_size=5).filter(any)


@given(st.integers(1, 4), SHARES, st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]))
def test_it_is_the_chance_of_every_outcome_so_far_away(
    n: int, weights: list[int], gap: float
) -> None:
    shares = {level: w / sum(weights) for level, w in zip(HALVES, weights, strict=True)}
    expected = math.fsum(
        math.prod(shares[level] for level in outcome)
        for outcome in product(HALVES, repeat=n)
        if abs(sum(outcome, Fraction())) >= as_fraction(gap) * n
    )
    assert chance_of_difference(n, shares, gap) == pytest.approx(expected, abs=1e-9)


# From a simulation at 60 %, icc .5, correlation .8: in per cent, two attempts but for the first.
@pytest.mark.parametrize(
    ("n", "attempts", "expected"),
    [
        pytest.param(9, 1, 75, id="nine-once"),
        pytest.param(9, 2, 55, id="nine"),
        pytest.param(10, 2, 57, id="ten"),
        pytest.param(12, 2, 39, id="twelve"),
        pytest.param(18, 2, 32, id="eighteen"),
        pytest.param(36, 2, 14, id="thirty-six"),
    ],
)
def test_ten_points_by_chance(n: int, attempts: int, expected: float) -> None:
    found = chance_of_difference(n, Design(attempts=attempts, mean=0.6).shares(0.0), 0.1)
    assert 100 * found == pytest.approx(expected, abs=1)


@pytest.mark.parametrize("n", [36, 60, 100, 200])
@pytest.mark.parametrize("attempts", [1, 2, 3])
@pytest.mark.parametrize("effect", [0.05, 0.1, 0.2, 0.3])
def test_the_normal_curve_stands_in_for_large_sets(n: int, attempts: int, effect: float) -> None:
    if is_enumerable(n, attempts):
        design = Design(attempts=attempts)
        exact = power(n, design.shares(effect)).mid
        found = approximate_power(n, effect, design.spread(effect))
        assert found == pytest.approx(exact, abs=0.03)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        pytest.param(lambda: chance_of_difference(0, {Fraction(1): 1}, 0.1), "0 tasks", id="none"),
        pytest.param(lambda: chance_of_difference(9, {Fraction(1): 1}, 1.1), "of 1.1", id="size"),
        pytest.param(lambda: approximate_power(1, 0.1, 0.4), "1 tasks", id="one"),
        pytest.param(lambda: approximate_power(9, 0.1, 0.0), "deviation of 0", id="spread"),
    ],
)
def test_nonsense_is_refused(call: Callable[[], object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call()
