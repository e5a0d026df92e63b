"""Kappa against published values, and against counting disagreements pair by pair."""

import math
import statistics
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.stats import (
    Weights,
    fleiss_kappa,
    raw_agreement,
    weighted_kappa,
    weighted_kappa_interval,
    weighted_kappa_standard_error,
)

SCALE = (0, 1, 2, 3, 4)
MARKS = st.lists(
    st.tuples(st.sampled_from([*SCALE, None]), st.sampled_from([*SCALE, None])),
    min_size=1,
    max_size=18,
)
ANXIETY = [
    *[(3, 2), (6, 1), (4, 4), (6, 4), (2, 3), (4, 2), (2, 1), (4, 6), (3, 1), (3, 1)],
    *[(2, 1), (3, 2), (3, 3), (3, 3), (2, 1), (2, 1), (1, 3), (3, 3), (3, 2), (4, 2)],
]


def spelled(table: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    """Return the marks that make up a table of rows by columns."""
    pairs = [
        (i, j) for i, row in enumerate(table) for j, many in enumerate(row) for _ in range(many)
    ]
    return [i for i, _ in pairs], [j for _, j in pairs]


# Wikipedia, Cohen's kappa; Artstein and Poesio 2008, table 1.
@pytest.mark.parametrize(
    ("table", "expected"),
    [
        pytest.param(((20, 5), (10, 15)), 0.4, id="wikipedia"),
        pytest.param(((45, 15), (25, 15)), 0.1304347826, id="wikipedia-even"),
        pytest.param(((25, 35), (5, 35)), 0.2592592593, id="wikipedia-uneven"),
        pytest.param(((20, 20), (10, 50)), 0.347826087, id="artstein-poesio"),
    ],
)
def test_cohens_kappa(table: Sequence[Sequence[int]], expected: float) -> None:
    assert weighted_kappa(*spelled(table), (0, 1), "none") == pytest.approx(expected, abs=1e-9)


# SAS, as statsmodels tests against it (test_inter_rater.py); the quadratic kappa is statsmodels'.
@pytest.mark.parametrize(
    ("weights", "kappa", "error", "low", "high"),
    [
        pytest.param("none", 0.4842, 0.1380, 0.2137, 0.7547, id="none"),
        pytest.param("linear", 0.4701, 0.1457, 0.1845, 0.7558, id="linear"),
    ],
)
def test_a_printout_of_sas(
    weights: str, kappa: float, error: float, low: float, high: float
) -> None:
    marks = spelled(((0, 4, 1), (0, 8, 0), (0, 1, 5)))
    value = weighted_kappa(*marks, (0, 1, 2), weights)
    se = weighted_kappa_standard_error(*marks, (0, 1, 2), weights)
    assert value is not None
    assert se is not None
    assert (value, se) == pytest.approx((kappa, error), abs=5e-5)
    assert (value - 1.959964 * se, value + 1.959964 * se) == pytest.approx((low, high), abs=1e-4)


def test_quadratic_weights() -> None:
    marks = spelled(((0, 4, 1), (0, 8, 0), (0, 1, 5)))
    assert weighted_kappa(*marks, (0, 1, 2)) == pytest.approx(0.4501607717041801, abs=1e-9)


# scikit-learn, test_cohen_kappa
@pytest.mark.parametrize(
    ("weights", "expected"), [("none", 0.9315), ("linear", 0.9412), ("quadratic", 0.9541)]
)
def test_the_three_weights(weights: str, expected: float) -> None:
    marks = spelled(((46, 0, 0), (4, 40, 0), (0, 0, 10)))
    assert weighted_kappa(*marks, (0, 1, 2), weights) == pytest.approx(expected, abs=5e-5)


# R's irr, data "anxiety": it counts observed levels only; the scale as declared has level 5 too.
@pytest.mark.parametrize(
    ("levels", "weights", "expected"),
    [
        pytest.param((1, 2, 3, 4, 6), "none", -0.006289308, id="unweighted"),
        pytest.param((1, 2, 3, 4, 6), "linear", 0.1459075, id="observed-levels"),
        pytest.param((1, 2, 3, 4, 5, 6), "linear", 0.1262, id="declared-levels"),
    ],
)
def test_an_unused_level_counts(levels: tuple[int, ...], weights: str, expected: float) -> None:
    a, b = zip(*ANXIETY, strict=True)
    slack = 5e-5 if len(levels) > 5 else 1e-6
    assert weighted_kappa(a, b, levels, weights) == pytest.approx(expected, abs=slack)


def test_the_diagnoses_of_fleiss() -> None:
    rows = [
        *("444444", "222555", "233335", "555555", "222444", "113333", "333355", "113334"),
        *("114444", "555555", "144444", "124444", "222333", "144444", "224445", "333335"),
        *("111455", "111112", "224444", "133555", "555555", "244444", "224555", "114444"),
        *("144445", "222224", "111155", "224444", "133333", "555555"),
    ]
    assert fleiss_kappa(rows) == pytest.approx(0.43024452006014074, abs=1e-9)


def test_the_psychiatrists_of_wikipedia() -> None:
    counts = [
        *((0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1)),
        *((7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7)),
    ]
    rows = [[level for level, many in enumerate(row) for _ in range(many)] for row in counts]
    assert fleiss_kappa(rows) == pytest.approx(0.2099, abs=5e-5)


@given(MARKS, st.sampled_from(list(Weights)))
def test_kappa_is_disagreement_against_that_of_every_pair(
    marks: list[tuple[int | None, int | None]], weights: Weights
) -> None:
    apart: Callable[[int, int], float] = {
        Weights.NONE: lambda i, j: float(i != j),
        Weights.LINEAR: lambda i, j: abs(i - j) / 4,
        Weights.QUADRATIC: lambda i, j: ((i - j) / 4) ** 2,
    }[weights]
    a, b = zip(*marks, strict=True)
    found = weighted_kappa(a, b, SCALE, weights)
    both = [(i, j) for i, j in marks if i is not None and j is not None]
    chance = statistics.fmean([apart(i, j) for i, _ in both for _, j in both] or [0.0])
    if not chance:
        assert found is None
        return
    observed = statistics.fmean(apart(i, j) for i, j in both)
    assert found == pytest.approx(1 - observed / chance, abs=1e-9)
    assert found == pytest.approx(weighted_kappa(b[::-1], a[::-1], SCALE, weights), abs=1e-12)
    upside_down = weighted_kappa(a, b, SCALE[::-1], weights)
    assert found == pytest.approx(upside_down, abs=1e-12)


@given(MARKS, st.sampled_from(list(Weights)))
def test_an_interval_holds_its_kappa_and_is_never_a_point(
    marks: list[tuple[int | None, int | None]], weights: Weights
) -> None:
    a, b = zip(*marks, strict=True)
    kappa = weighted_kappa(a, b, SCALE, weights)
    interval = weighted_kappa_interval(a, b, SCALE, weights)
    if interval is not None:
        assert kappa is not None
        assert -1 <= interval.low < interval.high <= 1
        assert interval.low <= kappa <= interval.high
        wider = weighted_kappa_interval(a, b, SCALE, weights, confidence=0.99)
        assert wider is not None
        assert wider.low <= interval.low
        assert interval.high <= wider.high


def test_tasks_that_were_scored_twice_do_not_count_twice() -> None:
    """Copying every item adds nothing where the copies belong to the same task."""
    a = [0, 1, 2, 3, 4, 2, 1, 3, 0]
    b = [0, 1, 3, 3, 4, 1, 1, 2, 1]
    tasks = list("abcdefghi")
    once = weighted_kappa_interval(a, b, SCALE)
    twice = weighted_kappa_interval(a * 2, b * 2, SCALE, tasks=tasks * 2)
    naive = weighted_kappa_interval(a * 2, b * 2, SCALE)
    assert once is not None
    assert naive is not None
    assert twice == once
    assert naive.high - naive.low < once.high - once.low


@pytest.mark.parametrize(
    ("a", "b"),
    [
        pytest.param([], [], id="no-items"),
        pytest.param([1, 1, 1], [1, 1, 1], id="one-level-used"),
        pytest.param([1, None], [None, 2], id="no-common-item"),
    ],
)
def test_without_variation_kappa_is_missing(a: list[int | None], b: list[int | None]) -> None:
    assert weighted_kappa(a, b, SCALE) is None
    assert weighted_kappa_standard_error(a, b, SCALE) is None
    assert weighted_kappa_interval(a, b, SCALE) is None


def test_perfect_agreement_has_no_interval() -> None:
    a = [0, 1, 2, 3, 4, 0, 1, 2, 3]
    assert weighted_kappa(a, a, SCALE) == 1
    assert weighted_kappa_interval(a, a, SCALE) is None


def test_raw_agreement_leaves_out_what_one_did_not_score() -> None:
    assert raw_agreement([1, 2, None, 4], [1, 3, 3, None]) == 0.5
    assert raw_agreement([None], [3]) is None


def test_fleiss_without_variation_is_missing() -> None:
    assert fleiss_kappa([]) is None
    assert fleiss_kappa(["aaa", "aaa"]) is None


@pytest.mark.parametrize(
    ("call", "says"),
    [
        pytest.param(lambda: weighted_kappa([1], [1, 2], SCALE), "not 1 and 2", id="lengths"),
        pytest.param(lambda: weighted_kappa([5], [1], SCALE), "mark 5 is no level", id="level"),
        pytest.param(lambda: weighted_kappa([1], [1], (1, 1)), "each level once", id="twice"),
        pytest.param(
            lambda: weighted_kappa([1], [1], SCALE, "cubic"),
            "none, linear, quadratic",
            id="weights",
        ),
        pytest.param(
            lambda: weighted_kappa_interval([1], [1], SCALE, tasks=["a", "b"]),
            "as many task names",
            id="tasks",
        ),
        pytest.param(
            lambda: weighted_kappa_interval([1], [1], SCALE, confidence=0), "confidence", id="level"
        ),
        pytest.param(lambda: raw_agreement([1], []), "not 1 and 0", id="raw-lengths"),
        pytest.param(lambda: fleiss_kappa(["aa", "aaa"]), "same number of marks", id="ragged"),
        pytest.param(lambda: fleiss_kappa(["a", "b"]), "at least two", id="one-scorer"),
    ],
)
def test_nonsense_is_refused(call: Callable[[], object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call()


def test_the_standard_error_is_nothing_at_perfect_agreement() -> None:
    found = weighted_kappa_standard_error([0, 1, 2], [0, 1, 2], SCALE)
    assert found is not None
    assert math.isclose(found, 0, abs_tol=1e-12)
