"""Intervals of means and medians."""

import math
from collections.abc import Callable
from math import comb

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
    assert median_interval([float(value) for value in range(n)]) is None


def test_values_that_are_equal_have_no_median_interval_and_no_point() -> None:
    assert median_interval([3.0] * 9) is None


@pytest.mark.parametrize("n", [6, 9, 10, 12, 25])
@pytest.mark.parametrize("confidence", [0.8, 0.9, 0.95])
def test_the_median_interval_covers_by_enumeration(n: int, confidence: float) -> None:
    """The interval of ranks misses when too few values fall on either side of the median."""
    interval = median_interval([float(rank) for rank in range(1, n + 1)], confidence)
    assert interval is not None
    rank = int(interval.low)
    assert interval.high == n + 1 - rank
    inside = sum(comb(n, below) for below in range(rank, n - rank + 1)) / 2**n
    tighter = sum(comb(n, below) for below in range(rank + 1, n - rank)) / 2**n
    assert inside >= confidence > tighter


def test_ten_thousand_values_have_a_median_interval() -> None:
    interval = median_interval([float(rank) for rank in range(1, 10_001)])
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((5000.5 - 98, 5000.5 + 98), abs=1)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        pytest.param(lambda: median_interval([math.nan] * 9), "no place in an order", id="nan"),
        pytest.param(lambda: median_interval([1.0] * 9, 1.5), "confidence", id="confidence"),
        pytest.param(lambda: mean_interval([1, 2], 4, 0), "has no room", id="upside-down"),
        pytest.param(
            lambda: mean_interval([1, math.nan], 0, 4), "outside the scale", id="nan-mark"
        ),
        pytest.param(lambda: mean_interval([1, 2], 0, 4, 0), "confidence", id="mean-confidence"),
    ],
)
def test_nonsense_is_refused(call: Callable[[], object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call()


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
