"""Krippendorff's alpha against published values, and against its definition pair by pair."""

import math
import statistics
from collections import Counter
from collections.abc import Callable
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.stats import Metric, krippendorff_alpha, krippendorff_alpha_interval, weighted_kappa

_: None = None
FOUR = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
    [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
]
THREE = [
    [_, _, _, _, _, 3, 4, 1, 2, 1, 1, 3, 3, _, 3],
    [1, _, 2, 1, 3, 3, 4, 3, _, _, _, _, _, _, _],
    [_, _, 2, 1, 3, 4, 4, _, 2, 1, 1, 3, 3, _, 4],
]
Ratings = list[list[int | None]]
RATINGS = st.integers(1, 8).flatmap(
    lambda items: st.lists(
        st.lists(st.sampled_from([None, 0, 1, 2, 3, 4]), min_size=items, max_size=items),
        min_size=2,
        max_size=4,
    )
)


def columns(units: list[list[int]]) -> Ratings:
    """Turn items into rows of scorers."""
    raters = max(map(len, units))
    return [[unit[r] if r < len(unit) else None for unit in units] for r in range(raters)]


# Krippendorff 2011, Computing Krippendorff's Alpha-Reliability (.743, .815, .849, .797; example A
# .095), digits of the package krippendorff 0.9; Wikipedia (.691, .811); Inspect AI's tests.
@pytest.mark.parametrize(
    ("ratings", "metric", "expected"),
    [
        pytest.param(FOUR, "nominal", 904 / 1216, id="four-nominal"),
        pytest.param(FOUR, "ordinal", 0.8153875037548814, id="four-ordinal"),
        pytest.param(FOUR, "interval", 0.8491071428571428, id="four-interval"),
        pytest.param(FOUR, "ratio", 0.7974027747116121, id="four-ratio"),
        pytest.param(THREE, "nominal", 0.691358024691358, id="three-nominal"),
        pytest.param(THREE, "interval", 0.8108448928121059, id="three-interval"),
        pytest.param(
            [[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]],
            "nominal",
            0.09523809523809534,
            id="binary",
        ),
        pytest.param(
            columns([[1, 1, 1], [0, 0, 0], [1, 1, 1], [0, 0, 1]]),
            "nominal",
            0.6857142857142857,
            id="inspect-three",
        ),
        pytest.param(columns([[1, 1, 0], [0, 0]]), "nominal", 1 / 3, id="inspect-missing"),
        pytest.param(
            columns([[0, 1], [0, 1], [1, 0], [1, 0]]), "nominal", -0.75, id="inspect-opposed"
        ),
        pytest.param(
            columns([[1, 2], [3, 4], [1, 1]]), "interval", 0.7916666666666666, id="inspect-near"
        ),
        pytest.param(columns([[1, 2], [3, 4]]), "interval", 0.7, id="inspect-two"),
        pytest.param(
            columns([[1, 1], [3, 4], [5, 5]]), "ordinal", 0.9494949494949495, id="inspect-ordinal"
        ),
    ],
)
def test_published_values(ratings: Ratings, metric: str, expected: float) -> None:
    assert krippendorff_alpha(ratings, metric) == pytest.approx(expected, abs=1e-9)


def apart(metric: Metric, c: int, k: int, marks: list[int]) -> float:
    match metric:
        case Metric.NOMINAL:
            return float(c != k)
        case Metric.INTERVAL:
            return float((c - k) ** 2)
        case Metric.RATIO:
            return ((c - k) / (c + k)) ** 2 if c != k else 0.0
        case Metric.ORDINAL:
            counts = Counter(marks)
            low, high = min(c, k), max(c, k)
            between = sum(counts[level] for level in range(low, high + 1))
            return (between - (counts[c] + counts[k]) / 2) ** 2


@given(RATINGS, st.sampled_from(list(Metric)))
def test_alpha_is_disagreement_within_items_against_that_of_all_pairs(
    ratings: Ratings, metric: Metric
) -> None:
    units = [[m for m in column if m is not None] for column in zip(*ratings, strict=True)]
    units = [unit for unit in units if len(unit) > 1]
    marks = [mark for unit in units for mark in unit]
    found = krippendorff_alpha(ratings, metric)
    overall = [apart(metric, c, k, marks) for c, k in permutations(marks, 2)]
    if not any(overall):
        assert found is None
        return
    within = sum(
        sum(apart(metric, c, k, marks) for c, k in permutations(unit, 2)) / (len(unit) - 1)
        for unit in units
    )
    expected = 1 - within / len(marks) / statistics.fmean(overall)
    assert found == pytest.approx(expected, abs=1e-9)
    shuffled = [row[::-1] for row in reversed(ratings)]
    assert krippendorff_alpha(shuffled, metric) == found


@given(RATINGS)
def test_the_scale_of_an_ordinal_mark_is_nothing_and_of_an_interval_mark_linear(
    ratings: Ratings,
) -> None:
    def spread(power: int, shift: float) -> list[list[float | None]]:
        return [[None if m is None else 3 * m**power + shift for m in row] for row in ratings]

    assert krippendorff_alpha(spread(3, 1)) == krippendorff_alpha(ratings)
    assert krippendorff_alpha(spread(1, 0.5), "interval") == krippendorff_alpha(ratings, "interval")


@given(RATINGS, st.sampled_from(list(Metric)))
def test_an_interval_holds_its_alpha_and_is_never_a_point(ratings: Ratings, metric: str) -> None:
    alpha = krippendorff_alpha(ratings, metric)
    interval = krippendorff_alpha_interval(ratings, metric)
    if interval is not None:
        assert alpha is not None
        assert -1 <= interval.low < interval.high <= 1
        assert interval.low <= alpha <= interval.high


def test_tasks_that_were_scored_twice_do_not_count_twice() -> None:
    tasks = list(range(12))
    once = krippendorff_alpha_interval(FOUR)
    twice = krippendorff_alpha_interval([row * 2 for row in FOUR], tasks=tasks * 2)
    assert once is not None
    assert twice is not None
    # The pooled n differs by the factor (n-1)/n in alpha itself, and by that only.
    assert (twice.low, twice.high) == pytest.approx((once.low, once.high), abs=0.05)


def test_with_many_items_it_is_kappa() -> None:
    a, b = [0, 1, 2, 3, 4, 2, 1, 3, 0] * 200, [0, 1, 3, 3, 4, 1, 1, 2, 1] * 200
    kappa = weighted_kappa(a, b, range(5), "quadratic")
    assert krippendorff_alpha([a, b], "interval") == pytest.approx(kappa, abs=0.005)


@pytest.mark.parametrize("metric", list(Metric))
@pytest.mark.parametrize(
    "ratings",
    [
        pytest.param([], id="no-scorer"),
        pytest.param([[], []], id="no-item"),
        pytest.param([[5, 5, 5], [5, 5, 5]], id="no-variation"),
        pytest.param([[1, None], [None, 2]], id="no-pair"),
    ],
)
def test_what_is_undefined_is_missing(ratings: Ratings, metric: str) -> None:
    assert krippendorff_alpha(ratings, metric) is None
    assert krippendorff_alpha_interval(ratings, metric) is None


def test_perfect_agreement_has_no_interval() -> None:
    row = [0, 1, 2, 3, 4]
    assert krippendorff_alpha([row, row]) == 1
    assert krippendorff_alpha_interval([row, row]) is None


@pytest.mark.parametrize(
    ("call", "says"),
    [
        pytest.param(lambda: krippendorff_alpha([[1], [1, 2]]), "for the same items", id="ragged"),
        pytest.param(lambda: krippendorff_alpha([[math.nan], [1]]), "no place", id="nan"),
        pytest.param(
            lambda: krippendorff_alpha([[-1], [1]], "ratio"), "-1 has no place", id="negative"
        ),
        pytest.param(
            lambda: krippendorff_alpha([[1], [1]], "cosine"), "nominal, ordinal", id="metric"
        ),
        pytest.param(
            lambda: krippendorff_alpha_interval([[1], [1]], tasks=[]), "task names", id="tasks"
        ),
    ],
)
def test_nonsense_is_refused(call: Callable[[], object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call()
