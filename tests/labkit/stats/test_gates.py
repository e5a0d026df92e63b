"""Gates: decided by algebra at the bar, and honest about false alarms."""

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.stats import Bar, false_block_chance, false_drop_chance, standard_errors_bar

DIFFERENCES = st.lists(
    st.sampled_from([Fraction(step, 6) for step in range(-6, 7)]), min_size=2, max_size=12
)


@pytest.mark.parametrize("n", [2, 4, 8, 20, 50])
@pytest.mark.parametrize("gain", [Fraction(1), Fraction(1, 10), Fraction(1, 3)])
def test_one_task_that_improves_is_exactly_at_the_bar(n: int, gain: Fraction) -> None:
    assert standard_errors_bar([gain] + [Fraction(0)] * (n - 1)) is Bar.AT


@given(DIFFERENCES, st.integers(0, 3))
def test_the_bar_is_that_many_standard_errors(differences: list[Fraction], multiple: int) -> None:
    n = len(differences)
    mean = float(sum(differences)) / n
    squares = sum((float(d) - mean) ** 2 for d in differences)
    bar = multiple * math.sqrt(squares / (n - 1) / n)
    found = standard_errors_bar(differences, multiple)
    if mean > bar + 1e-9:
        assert found is Bar.ABOVE
    elif mean < bar - 1e-9:
        assert found is Bar.BELOW
    else:
        assert found is Bar.AT or abs(mean - bar) > 0


def test_two_of_nine_are_above_and_losses_below() -> None:
    assert standard_errors_bar([1, 1, 0, 0, 0, 0, 0, 0, 0]) is Bar.ABOVE
    assert standard_errors_bar([-1, -1, 0, 0, 0, 0, 0, 0, 0]) is Bar.BELOW
    assert standard_errors_bar([0, 0, 0]) is Bar.AT


def test_one_difference_has_no_standard_error() -> None:
    assert standard_errors_bar([1]) is None


# Exact enumeration, icc .5: any lost at 2 attempts, 2/2 -> 0/2, 3/3 -> 0/3, drop > 0, 5, 10 points
@pytest.mark.parametrize(
    ("n", "mean", "expected"),
    [
        pytest.param(9, 0.5, [62, 19, 4, 40, 40, 23], id="nine-at-50"),
        pytest.param(9, 0.7, [61, 16, 4, 39, 39, 21], id="nine-at-70"),
        pytest.param(9, 0.9, [36, 7, 1, 31, 31, 10], id="nine-at-90"),
        pytest.param(20, 0.7, [88, 32, 8, 43, 19, 6], id="twenty-at-70"),
    ],
)
def test_how_often_nothing_is_blocked(n: int, mean: float, expected: list[int]) -> None:
    found = [
        false_block_chance(n, 2, mean),
        false_block_chance(n, 2, mean, only_total=True),
        false_block_chance(n, 3, mean, only_total=True),
        false_drop_chance(n, 2, mean),
        false_drop_chance(n, 2, mean, beyond=Fraction(5, 100)),
        false_drop_chance(n, 2, mean, beyond=Fraction(10, 100)),
    ]
    assert [100 * chance for chance in found] == pytest.approx(expected, abs=0.6)


@given(st.integers(1, 30), st.integers(1, 4), st.floats(0.05, 0.95), st.floats(0.05, 0.95))
def test_false_alarms_order_themselves(n: int, attempts: int, mean: float, icc: float) -> None:
    strict = false_block_chance(n, attempts, mean, icc)
    total = false_block_chance(n, attempts, mean, icc, only_total=True)
    assert 0 < total <= strict + 1e-12 < 1 + 1e-9
    assert false_block_chance(n + 1, attempts, mean, icc) >= strict
    drop = false_drop_chance(n, attempts, mean, icc)
    assert 0 < drop <= 0.5
    assert false_drop_chance(n, attempts, mean, icc, beyond=Fraction(1, 10)) <= drop
    if n == attempts == 1:
        assert drop == pytest.approx(strict)


def test_a_drop_of_exactly_the_tolerance_passes() -> None:
    """One of ten tasks lost is a drop of 10 points: not more than 10."""
    some = false_drop_chance(10, 1, 0.7)
    more = false_drop_chance(10, 1, 0.7, beyond=Fraction(1, 10))
    least = false_drop_chance(10, 1, 0.7, beyond=Fraction(99, 1000))
    assert more < least == some


@pytest.mark.parametrize(
    ("call", "says"),
    [
        pytest.param(lambda: standard_errors_bar([1, 0], -1), "bar of -1", id="multiple"),
        pytest.param(lambda: false_block_chance(0, 2, 0.5), "no gate", id="no-tasks"),
        pytest.param(lambda: false_drop_chance(9, 0, 0.5), "no gate", id="no-attempts"),
        pytest.param(lambda: false_block_chance(9, 2, 1.0), "between 0 and 1", id="mean"),
        pytest.param(lambda: false_drop_chance(9, 2, 0.5, 1.0), "between 0 and 1", id="icc"),
        pytest.param(
            lambda: false_drop_chance(9, 2, 0.5, beyond=Fraction(-1)), "no drop", id="beyond"
        ),
    ],
)
def test_nonsense_is_refused(call: Callable[[], object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call()
