"""Intervals of means and medians."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.stats import mean_interval, median_interval

MARKS = st.lists(st.sampled_from([0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4]), min_size=2, max_size=12)


@pytest.mark.parametrize(
    ("n", "low", "high"),
    [
        pytest.param(6, 1, 6, id="six"),
        pytest.param(9, 2, 8, id="nine"),
        pytest.param(10, 2, 9, id="ten"),
        pytest.param(12, 3, 10, id="twelve"),
    ],
)
def test_the_median_runs_between_the_tabulated_ranks(n: int, low: int, high: int) -> None:
    values = [float(value) for value in range(n, 0, -1)]
    interval = median_interval(values)
    assert interval is not None
    assert (interval.low, interval.high) == (low, high)


@pytest.mark.parametrize("n", range(6))
def test_fewer_than_six_values_have_no_median_interval(n: int) -> None:
    assert median_interval([1.0] * n) is None


def test_the_mean_interval_is_students() -> None:
    # mean 3, s = sqrt(2.5), t(.975; 4) = 2.776445
    interval = mean_interval([1, 2, 3, 4, 5], low=-10, high=10)
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((1.0367568, 4.9632432), abs=1e-6)


def test_the_mean_interval_is_clipped_to_the_scale() -> None:
    interval = mean_interval([0, 4], low=0, high=4)
    assert interval is not None
    assert (interval.low, interval.high) == (0, 4)


@given(MARKS)
def test_the_mean_interval_holds_the_mean_and_is_never_a_point(values: list[float]) -> None:
    interval = mean_interval(values, low=0, high=4)
    if interval is None:
        assert len(set(values)) == 1
        return
    assert 0 <= interval.low < sum(values) / len(values) < interval.high <= 4


@pytest.mark.parametrize(
    "values",
    [
        pytest.param([], id="none"),
        pytest.param([3.0], id="one"),
        pytest.param([3.0, 3.0, 3.0], id="no-spread"),
    ],
)
def test_a_mean_without_spread_has_no_interval(values: list[float]) -> None:
    assert mean_interval(values, low=0, high=4) is None


def test_a_mark_off_the_scale_is_refused() -> None:
    with pytest.raises(ValueError, match="outside the scale"):
        mean_interval([1, 4.5], low=0, high=4)
