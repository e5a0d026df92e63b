"""Error bars of one rate, against published values."""

import math
from collections.abc import Callable
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from labkit.stats import (
    agresti_coull_interval,
    clopper_pearson_interval,
    effective_tasks,
    wald_standard_error,
    wilson_interval,
)

WILSON = [
    pytest.param(15, 148, 0.062386, 0.160487, id="newcombe-1998"),
    pytest.param(81, 263, 0.2553, 0.3662, id="newcombe-1998-large"),
    pytest.param(0, 20, 0.0, 0.161125, id="newcombe-1998-none"),
    pytest.param(1, 29, 0.006113, 0.171755, id="newcombe-1998-one"),
    pytest.param(3, 10, 0.1077913, 0.6032219, id="r-prop-test"),
    pytest.param(10, 10, 0.7224672, 1.0, id="r-prop-test-all"),
    pytest.param(9, 9, 0.700855, 1.0, id="nine-of-nine"),
    pytest.param(0, 10, 0.0, 0.2775328, id="r-prop-test-none"),
    pytest.param(19, 38, 0.348499283643951, 0.651500716356049, id="statsmodels-half"),
    pytest.param(6, 10, 0.3126738, 0.8318197, id="six-of-ten"),
    pytest.param(3, 3, 0.438503, 1.0, id="three-of-three"),
    pytest.param(0, 9, 0.0, 0.299145, id="none-of-nine"),
    pytest.param(6.5, 9, 0.4019093, 0.9095817, id="half-a-task"),
]


@pytest.mark.parametrize(("passed", "n", "low", "high"), WILSON)
def test_wilson_matches_published_values(passed: float, n: int, low: float, high: float) -> None:
    interval = wilson_interval(passed / n, n)
    assert interval.low == pytest.approx(low, abs=5e-5)
    assert interval.high == pytest.approx(high, abs=5e-5)


CLOPPER_PEARSON = [
    pytest.param(20, 100, 0.1266555521019559, 0.2918426890886281, id="r-binom-test"),
    pytest.param(13, 16, 0.5435, 0.9595, id="fagerland-2017"),
    pytest.param(10, 10, 0.6915029, 1.0, id="all"),
    pytest.param(0, 20, 0.0, 0.168433, id="none"),
    pytest.param(1, 29, 0.000873, 0.177644, id="one"),
    pytest.param(15, 148, 0.057844, 0.16165, id="newcombe-1998"),
]


@pytest.mark.parametrize(("successes", "n", "low", "high"), CLOPPER_PEARSON)
def test_clopper_pearson_matches_published_values(
    successes: int, n: int, low: float, high: float
) -> None:
    interval = clopper_pearson_interval(successes, n)
    assert interval.low == pytest.approx(low, abs=5e-5)
    assert interval.high == pytest.approx(high, abs=5e-5)


def test_the_teaching_error_is_the_lab_formula() -> None:
    assert wald_standard_error(0.6, 10) == pytest.approx(0.15491933384829668, abs=1e-12)
    assert wald_standard_error(1.0, 9) == 0


@given(st.integers(1, 300), st.fractions(0, 1, max_denominator=12))
def test_wilson_holds_the_rate_and_never_shrinks_to_a_point(n: int, share: float) -> None:
    interval = wilson_interval(float(share), n)
    assert 0 <= interval.low <= share <= interval.high <= 1
    assert interval.low < interval.high


@given(st.integers(1, 60), st.data())
def test_clopper_pearson_holds_the_rate_and_more_confidence_is_wider(
    n: int, data: st.DataObject
) -> None:
    successes = data.draw(st.integers(0, n))
    narrow = clopper_pearson_interval(successes, n, confidence=0.8)
    wide = clopper_pearson_interval(successes, n)
    assert wide.low <= narrow.low <= successes / n <= narrow.high <= wide.high


@pytest.mark.parametrize(
    ("mean", "n"),
    [
        pytest.param(0.5, 0, id="no-tasks"),
        pytest.param(1.01, 9, id="above-one"),
        pytest.param(-0.1, 9, id="below-zero"),
    ],
)
def test_what_is_no_rate_is_refused(mean: float, n: int) -> None:
    with pytest.raises(ValueError, match="not a rate"):
        wilson_interval(mean, n)
    with pytest.raises(ValueError, match="not a rate"):
        wald_standard_error(mean, n)


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (3, 2), (-1, 2)])
def test_impossible_counts_are_refused(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match="not a rate"):
        clopper_pearson_interval(successes, n)


def test_no_failure_in_thirty_one_sided() -> None:
    # exact binomial; the rule of three gives .1
    upper = clopper_pearson_interval(0, 30, confidence=0.90).high
    assert upper == pytest.approx(0.09503385285530419, abs=1e-9)


def test_agresti_coull_matches_a_published_value() -> None:
    interval = agresti_coull_interval(0.3, 10)
    assert (interval.low, interval.high) == pytest.approx((0.1033384, 0.6076747), abs=1e-6)


@given(st.floats(0, 1), st.integers(1, 60))
def test_agresti_coull_holds_the_interval_of_wilson(mean: float, n: int) -> None:
    narrow, wide = wilson_interval(mean, n), agresti_coull_interval(mean, n)
    assert wide.low <= narrow.low + 1e-12
    assert narrow.high - 1e-12 <= wide.high


@given(st.integers(0, 60), st.integers(1, 60), st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_wilson_and_clopper_pearson_are_those_of_scipy(
    passed: int, n: int, confidence: float
) -> None:
    passed = min(passed, n)
    oracle = binomtest(passed, n)
    for mine, theirs in (
        (wilson_interval(passed / n, n, confidence), oracle.proportion_ci(confidence, "wilson")),
        (clopper_pearson_interval(passed, n, confidence), oracle.proportion_ci(confidence)),
    ):
        assert (mine.low, mine.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


@given(st.floats(0, 1), st.integers(1, 60))
def test_wilson_mirrors_and_shrinks(mean: float, n: int) -> None:
    found, mirrored, more = (
        wilson_interval(mean, n),
        wilson_interval(1 - mean, n),
        wilson_interval(mean, n + 1),
    )
    assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((found.low, found.high), abs=1e-9)
    assert more.high - more.low < found.high - found.low


@pytest.mark.parametrize("n", [1, 5, 9, 12, 20])
def test_clopper_pearson_covers_every_rate_by_enumeration(n: int) -> None:
    bounds = [clopper_pearson_interval(c, n) for c in range(n + 1)]
    for p in (step / 200 for step in range(201)):
        covered = sum(
            comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1) if p in bounds[c]
        )
        assert covered >= 0.95 - 1e-9


@pytest.mark.parametrize(("n", "least"), [(6, 0.91), (9, 0.91), (12, 0.91), (20, 0.92), (50, 0.94)])
def test_wilson_covers_what_is_promised_at_one_attempt_by_enumeration(n: int, least: float) -> None:
    bounds = [wilson_interval(c / n, n) for c in range(n + 1)]
    covered = [
        sum(comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1) if p in bounds[c])
        for p in (step / 20 for step in range(1, 20))
    ]
    assert min(covered) >= least - 0.005
    assert sum(covered) / len(covered) >= 0.945


def test_repeats_are_credited() -> None:
    means = [1, 1, 0.5, 0, 1, 0.5, 1, 0, 1]
    n = effective_tasks(means, 2)
    assert n == pytest.approx(10.6666667, abs=1e-6)
    interval = wilson_interval(sum(means) / 9, n)
    assert (interval.low, interval.high) == pytest.approx((0.3759857, 0.8690877), abs=1e-6)


def test_tasks_that_all_agree_are_credited_once() -> None:
    assert effective_tasks([1] * 9, 2) == 9
    assert effective_tasks([0.5], 3) == 1


@given(st.lists(st.sampled_from([0, 1 / 3, 2 / 3, 1]), min_size=1, max_size=20), st.integers(1, 4))
def test_credit_lies_between_tasks_and_runs(means: list[float], attempts: int) -> None:
    n = len(means)
    assert n <= effective_tasks(means, attempts) <= n * attempts


@pytest.mark.parametrize(
    ("call", "says"),
    [
        pytest.param(lambda: effective_tasks([], 2), "between 0 and 1", id="no-tasks"),
        pytest.param(lambda: effective_tasks([1.5], 2), "between 0 and 1", id="no-rate"),
        pytest.param(lambda: effective_tasks([0.5], 0), "too few", id="no-attempts"),
        pytest.param(lambda: agresti_coull_interval(2, 9), "not a rate", id="agresti-coull"),
        pytest.param(lambda: wilson_interval(math.nan, 9), "not a rate", id="nan"),
        pytest.param(lambda: wilson_interval(0.5, math.inf), "not a rate", id="infinite"),
        pytest.param(lambda: wilson_interval(0.5, 9, 1.0), "confidence", id="certain"),
        pytest.param(lambda: clopper_pearson_interval(1, 9, 0), "confidence", id="no-confidence"),
        pytest.param(lambda: clopper_pearson_interval(4.5, 9), "not a rate", id="half-a-task"),  # type: ignore[arg-type]
    ],
)
def test_nonsense_is_refused(call: Callable[[], object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call()
