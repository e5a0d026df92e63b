"""The paired two-by-two table against published values, and against what it must be a case of."""

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chi2

from labkit.stats import (
    Interval,
    bonett_price_interval,
    mcnemar_chi_squared,
    mcnemar_test,
    newcombe_interval,
    paired_interval,
    sign_flip_test,
    tango_interval,
)

CAVO = ((59, 6), (16, 80))
BENTUR = ((1, 1), (7, 12))
CELLS = st.tuples(*[st.integers(0, 12)] * 4).filter(any)
METHODS = [
    pytest.param(tango_interval, id="tango"),
    pytest.param(newcombe_interval, id="newcombe"),
    pytest.param(bonett_price_interval, id="bonett-price"),
]
Table = tuple[tuple[int, int], tuple[int, int]]
Method = Callable[..., Interval]


# Fagerland, Lydersen and Laake 2017, Statistical Analysis of Contingency Tables (Cavo 2012,
# Bentur 2009); Altman, Machin, Bryant and Gardner 2000, table 6.2; PropCIs::scoreci.mp.
@pytest.mark.parametrize(
    ("method", "table", "low", "high", "slack"),
    [
        pytest.param(tango_interval, CAVO, -0.1240, -0.0054, 5e-5, id="tango-cavo"),
        pytest.param(tango_interval, ((0, 3), (0, 0)), -0.1230, 1.0, 5e-5, id="tango-all-first"),
        pytest.param(tango_interval, ((0, 0), (3, 0)), -1.0, 0.1230, 5e-5, id="tango-all-second"),
        pytest.param(tango_interval, BENTUR, -0.517232, -0.026003, 1e-5, id="tango-bentur"),
        pytest.param(
            tango_interval, ((50, 40), (20, 50)), 0.030865, 0.218064, 1e-5, id="tango-propcis"
        ),
        pytest.param(newcombe_interval, CAVO, -0.1186, -0.0046, 5e-5, id="newcombe-cavo"),
        pytest.param(
            newcombe_interval, ((1, 0), (0, 1)), -0.5734, 0.5734, 5e-5, id="newcombe-identity"
        ),
        pytest.param(newcombe_interval, BENTUR, -0.50692, -0.025559, 1e-5, id="newcombe-bentur"),
        pytest.param(
            newcombe_interval, ((14, 5), (0, 22)), 0.011483, 0.226493, 1e-5, id="newcombe-altman"
        ),
        pytest.param(bonett_price_interval, CAVO, -0.1195, -0.0032, 5e-5, id="bonett-price-cavo"),
    ],
)
def test_published_intervals(
    method: Method, table: Table, low: float, high: float, slack: float
) -> None:
    found = method(table)
    assert (found.low, found.high) == pytest.approx((low, high), abs=slack)


@pytest.mark.parametrize("n", [1, 9, 12, 200])
def test_nothing_but_ties_is_not_certainty(n: int) -> None:
    z2 = 1.959963984540054**2
    found = tango_interval(((n, 0), (0, 0)))
    assert (found.low, found.high) == pytest.approx((-z2 / (n + z2), z2 / (n + z2)), abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
@given(cells=CELLS)
def test_swapping_the_configurations_negates(
    method: Method, cells: tuple[int, int, int, int]
) -> None:
    a, b, c, d = cells
    found, swapped = method(((a, b), (c, d))), method(((a, c), (b, d)))
    assert (swapped.low, swapped.high) == pytest.approx((-found.high, -found.low), abs=1e-12)
    assert -1 <= found.low <= (b - c) / (a + b + c + d) <= found.high <= 1
    assert found.low < found.high
    narrow = method(((a, b), (c, d)), 0.8)
    assert found.low <= narrow.low
    assert narrow.high <= found.high


@given(cells=CELLS)
def test_tango_is_the_paired_interval_of_single_attempts(cells: tuple[int, int, int, int]) -> None:
    a, b, c, d = cells
    paired = paired_interval([1] * b + [-1] * c + [0] * (a + d))
    table = tango_interval(((a, b), (c, d)))
    assert (table.low, table.high) == pytest.approx((paired.low, paired.high), abs=1e-12)


def tango_statistic(b: int, c: int, n: int, delta: float) -> float:
    """Tango 1998 with the restricted share found by search instead of by formula."""

    def likelihood(share: float) -> float:
        up, rest = share + delta, 1 - 2 * share - delta
        parts = [(b, up), (c, share), (n - b - c, rest)]
        if any(chance < 0 or (many and chance <= 0) for many, chance in parts):
            return -math.inf
        return sum(many * math.log(chance) for many, chance in parts if many)

    low, high = max(0.0, -delta), (1 - delta) / 2
    for _ in range(200):
        third = (high - low) / 3
        if likelihood(low + third) < likelihood(high - third):
            low += third
        else:
            high -= third
    share = (low + high) / 2
    return (b - c - n * delta) / math.sqrt(n * (2 * share + delta * (1 - delta)))


@given(st.integers(1, 8), st.integers(1, 8), st.integers(1, 8))
def test_at_its_bounds_tangos_statistic_is_the_quantile(b: int, c: int, ties: int) -> None:
    found = tango_interval(((ties, b), (c, 0)))
    n = b + c + ties
    assert tango_statistic(b, c, n, found.low) == pytest.approx(1.959964, abs=1e-4)
    assert tango_statistic(b, c, n, found.high) == pytest.approx(-1.959964, abs=1e-4)


# Fagerland, Lydersen and Laake 2013, BMC Med Res Methodol 13:91; 2017 for 6 against 16.
@pytest.mark.parametrize(
    ("b", "c", "exact", "mid"),
    [
        pytest.param(1, 7, 0.0703125, 0.0390625, id="bentur"),
        pytest.param(6, 16, 0.052479, 0.034690, id="cavo"),
        pytest.param(6, 0, 0.03125, 0.015625, id="six-nil"),
        pytest.param(9, 0, 0.00390625, 0.001953125, id="nine-nil"),
        pytest.param(2, 1, 1.0, 0.625, id="70-against-60-per-cent-of-ten"),
        pytest.param(0, 0, 1.0, 0.5, id="nothing-moved"),
    ],
)
def test_mcnemar(b: int, c: int, exact: float, mid: float) -> None:
    found = mcnemar_test(b, c)
    assert (found.p_exact, found.p_mid) == pytest.approx((exact, mid), abs=5e-7)
    assert found.moved == b + c


@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_is_the_sign_flip_test_and_scipys_binomial(b: int, c: int) -> None:
    found = mcnemar_test(b, c)
    assert found == mcnemar_test(c, b)
    assert found == sign_flip_test([-1] * c + [0, 0] + [1] * b)
    assert found.p_mid <= found.p_exact
    if b + c:
        assert found.p_exact == pytest.approx(binomtest(b, b + c).pvalue, abs=1e-12)


@pytest.mark.parametrize(
    ("b", "c", "plain", "corrected"),
    [
        pytest.param(1, 7, 0.03389485352468927, 0.07709987174354202, id="bentur"),
        pytest.param(6, 16, 0.033006, 0.055009, id="cavo"),
    ],
)
def test_the_textbook_approximation(b: int, c: int, plain: float, corrected: float) -> None:
    found, careful = mcnemar_chi_squared(b, c), mcnemar_chi_squared(b, c, corrected=True)
    assert found is not None
    assert careful is not None
    assert (found.p, careful.p) == pytest.approx((plain, corrected), abs=5e-7)
    assert found.p == pytest.approx(chi2.sf(found.statistic, 1), abs=1e-12)


def test_the_statistic_of_the_textbook() -> None:
    # Wikipedia, McNemar's test: 121 against 59
    found, careful = mcnemar_chi_squared(121, 59), mcnemar_chi_squared(121, 59, corrected=True)
    assert found is not None
    assert careful is not None
    assert found.statistic == pytest.approx(21.355555555555554, abs=1e-9)
    assert careful.statistic == pytest.approx(20.67222222222222, abs=1e-9)


def test_without_moves_the_approximation_is_missing() -> None:
    assert mcnemar_chi_squared(0, 0) is None


def test_as_many_each_way_is_never_more_than_nothing() -> None:
    found = mcnemar_chi_squared(4, 4, corrected=True)
    assert found is not None
    assert (found.statistic, found.p) == (0, 1)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("table", "says"),
    [
        pytest.param(((0, 0), (0, 0)), "without tasks", id="empty"),
        pytest.param(((1, -1), (0, 0)), "-1 is not a number of tasks", id="negative"),
        pytest.param(((1, 1), (0, 0.5)), r"0\.5 is not a number of tasks", id="half-a-task"),
        pytest.param(((1, 1),), "two rows of two counts", id="one-row"),
        pytest.param(((1, 1, 1), (1, 1)), "two rows of two counts", id="three-columns"),
    ],
)
def test_what_is_no_table_is_refused(method: Method, table: Table, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        method(table)


def test_mcnemar_refuses_what_is_no_count() -> None:
    with pytest.raises(ValueError, match="not a number of tasks"):
        mcnemar_test(-1, 2)
    with pytest.raises(ValueError, match="not a number of tasks"):
        mcnemar_chi_squared(1, -2)
