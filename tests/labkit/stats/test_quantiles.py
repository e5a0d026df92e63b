"""Quantiles worked out without scipy, against scipy's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betaincinv, stdtr, stdtrit

from labkit.stats.quantiles import beta_quantile, student_probability, student_quantile

PROBABILITIES = st.floats(0.001, 0.999)
DEGREES = st.integers(1, 1000)


@given(PROBABILITIES, DEGREES)
def test_students_quantile_is_scipys(probability: float, degrees: int) -> None:
    expected = float(stdtrit(degrees, probability))
    assert student_quantile(probability, degrees) == pytest.approx(expected, rel=1e-8, abs=1e-9)


@given(st.floats(-50, 50), DEGREES)
def test_students_probability_is_scipys(value: float, degrees: int) -> None:
    expected = float(stdtr(degrees, value))
    assert student_probability(value, degrees) == pytest.approx(expected, abs=1e-11)


@given(PROBABILITIES, st.integers(1, 150), st.integers(1, 150))
def test_the_beta_quantile_is_scipys(probability: float, alpha: int, beta: int) -> None:
    expected = float(betaincinv(alpha, beta, probability))
    found = beta_quantile(probability, alpha=alpha, beta=beta)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
