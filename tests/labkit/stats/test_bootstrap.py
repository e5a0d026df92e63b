"""The ideal bootstrap against every resample, against scipy's, and against published values."""

import itertools
import math
import random
import statistics
from collections import Counter
from fractions import Fraction
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap

from labkit.stats import BootstrapMethod, Interval, bootstrap_interval

NINE = [1, 1, 0.5, 0, 1, 0.5, 1, 0, 1]
SIXTEEN = [10, 12, 12.5, 12.5, 13.9, 15, 21, 22, 23, 34, 50, 81, 89, 121, 134, 213]
HALVES = st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1)])
SMALL = st.lists(HALVES, min_size=1, max_size=5)
EVERY = list(BootstrapMethod)


def found(values: list[float], method: str = "percentile", confidence: float = 0.95) -> Interval:
    interval = bootstrap_interval(values, confidence, method)
    assert interval is not None
    return interval


# R's boot with many resamples, as scipy tests its own against it: to half a per cent.
@pytest.mark.parametrize(
    ("method", "low", "high"),
    [
        pytest.param("percentile", 28.86, 84.21, id="percentile"),
        pytest.param("basic", 23.77, 79.12, id="basic"),
        pytest.param("bca", 32.31, 91.43, id="bca"),
    ],
)
def test_published_values(method: str, low: float, high: float) -> None:
    interval = found([float(value) for value in SIXTEEN], method)
    assert (interval.low, interval.high) == pytest.approx((low, high), rel=0.005)


@pytest.mark.parametrize(
    ("method", "low", "high"),
    [
        pytest.param("percentile", 7 / 18, 16 / 18, id="percentile"),
        pytest.param("bca", 6 / 18, 16 / 18, id="bca"),
    ],
)
def test_nine_task_means(method: str, low: float, high: float) -> None:
    interval = found(NINE, method)
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-9)


@given(SMALL, st.sampled_from([0.5, 0.8, 0.9, 0.95]))
def test_percentile_equals_writing_out_every_resample(
    values: list[Fraction], confidence: float
) -> None:
    n = len(values)
    ways = Counter(sum(draw, Fraction()) / n for draw in itertools.product(values, repeat=n))
    tail = (1 - confidence) / 2 * n**n
    means = sorted(ways)
    low = next(m for m in means if sum(ways[x] for x in means if x <= m) >= tail - 1e-9)
    high = next(m for m in means[::-1] if sum(ways[x] for x in means if x >= m) >= tail - 1e-9)
    interval = bootstrap_interval(values, confidence)
    if low == high:
        assert interval is None
    else:
        assert interval == Interval(low=float(low), high=float(high))


@pytest.mark.parametrize("method", EVERY)
@given(values=st.lists(HALVES, min_size=2, max_size=12))
def test_order_shift_scale_and_mirror(method: str, values: list[Fraction]) -> None:
    interval = bootstrap_interval(values, method=method)
    moved = bootstrap_interval([3 * value + 7 for value in reversed(values)], method=method)
    mirrored = bootstrap_interval([-value for value in values], method=method)
    if interval is None:
        assert moved is None
        assert mirrored is None
        return
    assert moved is not None
    assert mirrored is not None
    ends = (interval.low, interval.high)
    assert (moved.low, moved.high) == pytest.approx([3 * end + 7 for end in ends], abs=1e-9)
    assert (-mirrored.high, -mirrored.low) == pytest.approx(ends, abs=1e-9)
    assert interval.low < interval.high


DRAW = random.Random(1)  # noqa: S311 - data, not secrets
LEVELS: list[float] = [DRAW.choice([0, 1, 2, 3, 4]) for _ in range(30)]
MINUTES = [round(DRAW.lognormvariate(1, 0.7), 2) for _ in range(12)]
MANY = [DRAW.gauss(3, 1) for _ in range(300)]


@pytest.mark.parametrize(
    "values",
    [
        pytest.param(LEVELS, id="levels"),
        pytest.param(MINUTES, id="minutes"),
        pytest.param(MANY, id="many"),
    ],
)
@pytest.mark.parametrize(
    ("method", "theirs"), [("percentile", "percentile"), ("basic", "basic"), ("bca", "BCa")]
)
def test_scipy_finds_the_same_by_drawing(
    values: list[float], method: str, theirs: Literal["percentile", "basic", "BCa"]
) -> None:
    oracle = bootstrap(
        (values,),
        lambda x, axis: x.mean(axis),
        n_resamples=20_000,
        method=theirs,
        rng=1,
        batch=2000,
    ).confidence_interval
    interval = found(values, method)
    slack = 0.06 * (oracle.high - oracle.low)
    assert (interval.low, interval.high) == pytest.approx((oracle.low, oracle.high), abs=slack)


@settings(deadline=None, max_examples=5)
@given(st.integers(80, 300))
def test_the_fourier_transform_takes_over_without_a_step(n: int) -> None:
    """With values 0 and 1 the resampled sum is binomial, on both sides of the switch."""
    passed = n // 3
    interval = found([1.0] * passed + [0.0] * (n - passed))
    share, spread = passed / n, math.sqrt(passed / n * (1 - passed / n) / n)
    assert interval.low == pytest.approx(share - 1.96 * spread, abs=2 / n)
    assert interval.high == pytest.approx(share + 1.96 * spread, abs=2 / n)


@pytest.mark.parametrize("method", EVERY)
@pytest.mark.parametrize(
    "values", [pytest.param([1.0] * 9, id="equal"), pytest.param([0.5], id="one")]
)
def test_without_spread_there_is_no_interval_and_no_point(method: str, values: list[float]) -> None:
    assert bootstrap_interval(values, method=method) is None


def test_a_confidence_that_leaves_one_value_gives_no_point() -> None:
    assert bootstrap_interval([0, 0, 0, 0, 1], 0.05) is None


def test_ten_thousand_values_keep_their_figures() -> None:
    draw = random.Random(7)  # noqa: S311 - data, not secrets
    values = [draw.gauss(0, 1) for _ in range(10_000)]
    interval = found(values)
    centre, error = statistics.fmean(values), statistics.stdev(values) / 100
    assert interval.low == pytest.approx(centre - 1.96 * error, abs=error / 20)
    assert interval.high == pytest.approx(centre + 1.96 * error, abs=error / 20)


@pytest.mark.parametrize(
    ("values", "method", "confidence", "says"),
    [
        pytest.param([], "percentile", 0.95, "needs values", id="none"),
        pytest.param([1, math.nan], "percentile", 0.95, "finite", id="nan"),
        pytest.param([1, math.inf], "bca", 0.95, "finite", id="infinite"),
        pytest.param([1, 2], "studentized", 0.95, "percentile, basic, bca", id="method"),
        pytest.param([1, 2], "bca", 1.0, "confidence", id="confidence"),
    ],
)
def test_nonsense_is_refused(
    values: list[float], method: str, confidence: float, says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        bootstrap_interval(values, confidence, method)
