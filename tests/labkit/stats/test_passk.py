"""pass^k and pass@k against published values and against counting by hand."""

from collections.abc import Callable
from itertools import combinations
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.stats import pass_at_k, pass_hat_k, plug_in_pass_at_k

COUNTS = st.integers(1, 8).flatmap(
    lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))
)


@pytest.mark.parametrize(
    ("n", "c", "k", "expected"),
    [
        pytest.param(5, 2, 1, 0.4, id="the-rate-itself"),
        pytest.param(5, 2, 2, 0.7, id="two-of-five"),
        pytest.param(5, 3, 2, 0.9, id="three-of-five"),
        pytest.param(5, 0, 3, 0.0, id="none-pass"),
        pytest.param(6, 3, 2, 0.8, id="inspect-pair"),
        pytest.param(6, 3, 5, 1.0, id="inspect-five"),
        pytest.param(4, 4, 3, 1.0, id="all-pass"),
        pytest.param(200, 1, 1, 0.005, id="one-of-two-hundred"),
        pytest.param(5, 4, 2, 1.0, id="too-few-failures-to-fail-twice"),
        pytest.param(6, 3, 3, 0.95, id="inspect-reducers"),
        pytest.param(200, 10, 10, 0.40854786608141713, id="humaneval-scale"),
    ],
)
def test_pass_at_k_matches_published_values(n: int, c: int, k: int, expected: float) -> None:
    assert pass_at_k(n, c, k) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("n", "c", "k", "expected"),
    [
        pytest.param(2, 2, 2, 1.0, id="both"),
        pytest.param(2, 1, 2, 0.0, id="one-of-two"),
        pytest.param(3, 2, 2, 1 / 3, id="two-of-three"),
        pytest.param(6, 3, 2, 0.2, id="three-of-six"),
        pytest.param(4, 3, 3, 0.25, id="three-of-four"),
        pytest.param(4, 4, 4, 1.0, id="all-four"),
        pytest.param(5, 3, 2, 0.3, id="three-of-five"),
        pytest.param(6, 3, 3, 0.05, id="inspect-three"),
    ],
)
def test_pass_hat_k_matches_published_values(n: int, c: int, k: int, expected: float) -> None:
    assert pass_hat_k(n, c, k) == pytest.approx(expected, abs=1e-12)


@given(COUNTS)
def test_both_equal_counting_every_choice_of_attempts(counts: tuple[int, int, int]) -> None:
    n, c, k = counts
    draws = list(combinations([True] * c + [False] * (n - c), k))
    assert pass_hat_k(n, c, k) == pytest.approx(sum(map(all, draws)) / len(draws))
    assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, draws)) / len(draws))


def expectation(figure: Callable[[int], float], n: int, p: float) -> float:
    """Return the mean of a figure of the passes over Binomial(n, p)."""
    return sum(comb(n, c) * p**c * (1 - p) ** (n - c) * figure(c) for c in range(n + 1))


@given(COUNTS, st.floats(0, 1))
def test_both_are_unbiased_and_putting_in_the_rate_is_not(
    counts: tuple[int, int, int], p: float
) -> None:
    n, _, k = counts
    assert expectation(lambda c: pass_hat_k(n, c, k), n, p) == pytest.approx(p**k, abs=1e-9)
    at_least_one = 1 - (1 - p) ** k
    assert expectation(lambda c: pass_at_k(n, c, k), n, p) == pytest.approx(at_least_one, abs=1e-9)
    assert expectation(lambda c: (c / n) ** k, n, p) >= p**k - 1e-9
    assert expectation(lambda c: plug_in_pass_at_k(n, c, k), n, p) <= at_least_one + 1e-9


def test_the_bias_of_the_rate_put_in() -> None:
    assert expectation(lambda c: plug_in_pass_at_k(5, c, 2), 5, 0.5) == pytest.approx(
        0.70, abs=1e-12
    )
    assert expectation(lambda c: pass_at_k(5, c, 2), 5, 0.5) == pytest.approx(0.75, abs=1e-12)
    # three of five, five tries: two failures are too few to fail five times
    assert pass_at_k(5, 3, 5) == 1
    assert plug_in_pass_at_k(5, 3, 5) == pytest.approx(0.98976, abs=1e-12)


@given(COUNTS)
def test_putting_in_the_rate_is_never_above_the_unbiased_estimate(
    counts: tuple[int, int, int],
) -> None:
    n, c, k = counts
    assert plug_in_pass_at_k(n, c, k) <= pass_at_k(n, c, k) + 1e-12
    assert plug_in_pass_at_k(n, c, 1) == pytest.approx(c / n)
    assert plug_in_pass_at_k(n, n, k) == 1
    assert plug_in_pass_at_k(n, 0, k) == 0


@given(COUNTS)
def test_pass_hat_k_is_at_most_the_rate_and_pass_at_k_at_least(
    counts: tuple[int, int, int],
) -> None:
    n, c, k = counts
    slack = 1e-12
    assert pass_hat_k(n, c, k) <= c / n + slack
    assert pass_at_k(n, c, k) >= c / n - slack


@pytest.mark.parametrize(
    ("n", "c", "k"),
    [
        pytest.param(1, 1, 2, id="one-attempt-has-no-pass-hat-2"),
        pytest.param(2, 0, 5, id="k-above-n"),
        pytest.param(2, 1, 0, id="k-zero"),
        pytest.param(2, 3, 1, id="more-passes-than-attempts"),
        pytest.param(2, -1, 1, id="negative-passes"),
        pytest.param(0, 0, 1, id="no-attempts"),
    ],
)
def test_undefined_is_refused_and_never_zero_or_one(n: int, c: int, k: int) -> None:
    with pytest.raises(ValueError, match=r"undefined|impossible"):
        pass_hat_k(n, c, k)
    with pytest.raises(ValueError, match=r"undefined|impossible"):
        pass_at_k(n, c, k)
    with pytest.raises(ValueError, match=r"undefined|impossible"):
        plug_in_pass_at_k(n, c, k)
