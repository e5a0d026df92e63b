"""Where the noise comes from, against worked values and algebra."""

import math
import statistics
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.stats import (
    combined_standard_error,
    intraclass_correlation,
    pass_hat_k,
    standard_error,
    variance_parts,
)

PASS, SPLIT, FAIL = (1, 1), (1, 0), (0, 0)
NINE = [PASS, PASS, SPLIT, FAIL, PASS, SPLIT, PASS, FAIL, PASS]
PAIRS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=2, max_size=12)
TASKS = st.lists(
    st.lists(st.integers(0, 1), min_size=1, max_size=4), min_size=2, max_size=12
).filter(lambda tasks: any(len(task) > 1 for task in tasks))


def test_the_parts_of_a_worked_example() -> None:
    parts = variance_parts(NINE)
    assert parts is not None
    assert parts.total == pytest.approx(0.020833333333333332, abs=1e-12)
    assert parts.within == pytest.approx(0.006172839506172839, abs=1e-12)
    assert parts.between == pytest.approx(0.014660493827160495, abs=1e-12)


@given(TASKS)
def test_the_parts_sum_to_the_whole_and_none_is_negative(tasks: list[list[int]]) -> None:
    parts = variance_parts(tasks)
    error = standard_error([statistics.fmean(task) for task in tasks])
    assert parts is not None
    assert error is not None
    assert parts.total == pytest.approx(error**2, abs=1e-12)
    assert parts.between + parts.within == pytest.approx(parts.total, abs=1e-12)
    assert min(parts.between, parts.within) >= 0
    again = variance_parts([list(reversed(task)) for task in reversed(tasks)])
    assert again is not None
    assert (again.total, again.within) == pytest.approx((parts.total, parts.within), abs=1e-12)


def test_the_noise_between_identical_attempts_is_nothing() -> None:
    parts = variance_parts([PASS, FAIL, PASS])
    assert parts is not None
    assert parts.within == 0


@pytest.mark.parametrize(
    "attempts",
    [
        pytest.param([], id="no-task"),
        pytest.param([PASS], id="one-task"),
        pytest.param([(1,), (0,)], id="one-attempt-each"),
    ],
)
def test_without_repeats_or_tasks_the_parts_are_missing(attempts: list[tuple[int, ...]]) -> None:
    assert variance_parts(attempts) is None
    assert combined_standard_error(attempts) is None


def test_the_legacy_figure_of_a_worked_example() -> None:
    means = [statistics.fmean(task) for task in NINE]
    assert standard_error(means) == pytest.approx(0.14433756729740643, abs=1e-12)
    assert combined_standard_error(NINE) == pytest.approx(0.16433554953054488, abs=1e-12)


@given(PAIRS)
def test_the_legacy_figure_is_the_lab_formula_and_a_little(pairs: list[tuple[int, int]]) -> None:
    means = [statistics.fmean(pair) for pair in pairs]
    n, p = len(means), statistics.fmean(means)
    combined, own = combined_standard_error(pairs), standard_error(means)
    assert combined is not None
    assert own is not None
    identity = p * (1 - p) / n + statistics.variance(means) / n**2
    assert combined**2 == pytest.approx(identity, abs=1e-12)
    assert combined >= own - 1e-12


def test_a_task_without_its_repeat_has_no_legacy_figure() -> None:
    assert combined_standard_error([PASS, (1,)]) is None


def test_one_task_has_no_standard_error() -> None:
    assert standard_error([0.5]) is None


# sierra-research/tau-bench README, leaderboard: pass^1 and pass^2
@pytest.mark.parametrize(
    ("pass_1", "pass_2", "expected"),
    [
        pytest.param(0.692, 0.576, 0.4557465655731551, id="retail"),
        pytest.param(0.42, 0.273, 0.3965517241379312, id="airline"),
        pytest.param(0.46, 0.326, 0.46054750402576483, id="airline-other"),
    ],
)
def test_how_alike_attempts_are(pass_1: float, pass_2: float, expected: float) -> None:
    assert intraclass_correlation(pass_1, pass_2) == pytest.approx(expected, abs=1e-9)


@given(PAIRS)
def test_the_correlation_is_that_of_the_two_attempts(pairs: list[tuple[int, int]]) -> None:
    """With each pair taken in both orders, it is Pearson's."""
    both = [*pairs, *((b, a) for a, b in pairs)]
    rate = statistics.fmean(a for a, _ in both)
    twice = statistics.fmean(pass_hat_k(2, a + b, 2) for a, b in pairs)
    found = intraclass_correlation(rate, twice)
    if rate in {0, 1}:
        assert found is None
        return
    pearson = statistics.correlation([a for a, _ in both], [b for _, b in both])
    assert found == pytest.approx(pearson, abs=1e-9)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        pytest.param(lambda: variance_parts([(1, 0), ()]), "without attempts", id="parts"),
        pytest.param(lambda: combined_standard_error([()]), "without attempts", id="legacy"),
        pytest.param(lambda: intraclass_correlation(0.5, 0.6), "impossible together", id="order"),
        pytest.param(lambda: intraclass_correlation(1.5, 0.6), "impossible together", id="rate"),
        pytest.param(lambda: intraclass_correlation(math.nan, 0.1), "impossible", id="nan"),
    ],
)
def test_nonsense_is_refused(call: Callable[[], object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call()
