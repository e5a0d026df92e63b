"""What a plan could detect: the figures of known plans, and what holds for all."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.forecast import Prospect, Scheme, forecast


def scheme(tasks: int, attempts: int = 2, configurations: int = 2, safety: int = 0) -> Scheme:
    return Scheme(tasks=tasks, attempts=attempts, configurations=configurations, safety=safety)


def detectable(prospect: Prospect | None) -> float:
    assert prospect is not None
    assert prospect.detectable is not None
    return prospect.detectable


def test_nine_tasks_twice_and_what_more_would_buy() -> None:
    found = forecast(scheme(9))
    assert found.planned.detectable is None
    powers = [100 * chance for chance in found.planned.powers.values()]
    assert powers == pytest.approx([4, 14, 34, 60], abs=0.6)
    assert detectable(found.more_attempts) == pytest.approx(0.42, abs=0.006)
    assert detectable(found.more_tasks) == pytest.approx(0.29, abs=0.006)
    assert found.more_tasks.scheme == scheme(18)
    assert found.gaps[0.1] == pytest.approx(0.55, abs=0.01)


def test_other_guesses_of_the_noise_lie_around() -> None:
    found = forecast(scheme(18))
    low, high = found.detectable_range
    assert low is not None
    assert high is not None
    assert low == pytest.approx(0.27, abs=0.006)
    assert high == pytest.approx(0.36, abs=0.006)
    assert low < detectable(found.planned) < high


def test_runs_count_safety_tasks_and_rates_do_not() -> None:
    with_safety = forecast(scheme(12, safety=3))
    assert with_safety.planned.scheme.runs == 60
    assert with_safety.planned.powers == forecast(scheme(12)).planned.powers
    assert with_safety.more_tasks.scheme.runs == 96


def test_more_comparisons_find_less() -> None:
    pair, three = forecast(scheme(18)), forecast(scheme(18, configurations=3))
    assert three.planned.scheme.comparisons == 3
    assert three.planned.scheme.significance == pytest.approx(0.05 / 3)
    assert detectable(three.planned) > detectable(pair.planned)


def test_a_rate_above_half_is_taken_as_the_same_distance_below() -> None:
    high, low = forecast(scheme(12), 0.8), forecast(scheme(12), 0.2)
    assert detectable(high.planned) == pytest.approx(detectable(low.planned), abs=1e-9)
    assert high.rate == 0.8


def test_nine_attempts_have_no_tenth() -> None:
    assert forecast(scheme(6, attempts=9)).more_attempts is None


def test_thousands_of_tasks_go_by_the_normal_curve() -> None:
    found = forecast(scheme(4000))
    assert not found.planned.exact
    assert detectable(found.planned) == pytest.approx(0.43 * (1.96 + 0.84) / 4000**0.5, rel=0.02)


def test_a_single_task_finds_nothing() -> None:
    found = forecast(scheme(1, attempts=1))
    assert set(found.planned.powers.values()) == {0.0}
    assert found.detectable_range == (None, None)


@settings(deadline=None, max_examples=15)
@given(st.integers(1, 24), st.integers(1, 3), st.integers(2, 4), st.floats(0.01, 0.99))
def test_what_always_holds(tasks: int, attempts: int, configurations: int, rate: float) -> None:
    found = forecast(scheme(tasks, attempts, configurations), rate)
    powers = list(found.planned.powers.values())
    assert all(0 <= chance <= 1 for chance in powers)
    assert all(smaller <= larger + 1e-9 for smaller, larger in pairwise(powers))
    for more in (found.more_attempts, found.more_tasks):
        assert more is not None
        assert more.scheme.runs > found.planned.scheme.runs
    if found.planned.detectable is not None:
        assert detectable(found.more_tasks) < found.planned.detectable
    assert all(0 <= chance <= 1 for chance in found.gaps.values())
