"""Error bars of one rate, against published values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.stats import clopper_pearson_interval, wald_standard_error, wilson_interval

WILSON = [
    pytest.param(15, 148, 0.062386, 0.160487, id="newcombe-1998"),
    pytest.param(81, 263, 0.2553, 0.3662, id="newcombe-1998-large"),
    pytest.param(0, 20, 0.0, 0.161125, id="newcombe-1998-none"),
    pytest.param(1, 29, 0.006113, 0.171755, id="newcombe-1998-one"),
    pytest.param(3, 10, 0.1077913, 0.6032219, id="r-prop-test"),
    pytest.param(10, 10, 0.7224672, 1.0, id="r-prop-test-all"),
    pytest.param(9, 9, 0.700855, 1.0, id="nine-of-nine"),
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
