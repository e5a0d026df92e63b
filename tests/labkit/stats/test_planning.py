"""Planning figures, against the values of the study behind them."""

import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.stats import (
    expected_spread,
    minimum_detectable_effect,
    rule_of_thumb_power,
    tasks_needed,
)

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("n", "expected"),
    [
        pytest.param(9, 0.4569, id="nine"),
        pytest.param(18, 0.3006, id="eighteen"),
        pytest.param(36, 0.2061, id="thirty-six"),
    ],
)
def test_the_smallest_difference_that_n_tasks_detect(n: int, expected: float) -> None:
    assert minimum_detectable_effect(n, 0.429) == pytest.approx(expected, abs=5e-5)


def test_a_single_task_detects_nothing() -> None:
    assert minimum_detectable_effect(1, 0.429) is None


@pytest.mark.parametrize(
    ("attempts", "expected"),
    [
        pytest.param(1, 0.56, id="one"),
        pytest.param(2, 0.43, id="two"),
        pytest.param(3, 0.38, id="three"),
    ],
)
def test_the_spread_to_expect_before_there_are_data(attempts: int, expected: float) -> None:
    assert expected_spread(attempts) == pytest.approx(expected, abs=0.005)


def test_the_sample_size_of_miller() -> None:
    # Miller 2024, arXiv 2411.00640: variance 1/9 of the differences, 3 points: 969 tasks
    assert tasks_needed(0.03, 1 / 3) == pytest.approx(968.9974980677883, abs=1e-6)


@given(st.integers(2, 300), st.floats(0.01, 1), st.floats(0.5, 0.98))
def test_more_tasks_detect_less_and_more_power_costs(n: int, spread: float, power: float) -> None:
    found = minimum_detectable_effect(n, spread, power=power)
    fewer_tasks = minimum_detectable_effect(n + 1, spread, power=power)
    more_power = minimum_detectable_effect(n, spread, power=power + 0.01)
    assert found is not None
    assert fewer_tasks is not None
    assert more_power is not None
    assert fewer_tasks < found < more_power
    # The sample size is the same rule with z for t: never more tasks than the t rule asks for.
    assert tasks_needed(found, spread, power=power) <= n + 1e-9


@pytest.mark.parametrize(
    ("call", "says"),
    [
        pytest.param(lambda: minimum_detectable_effect(9, -0.1), "impossible", id="spread"),
        pytest.param(lambda: minimum_detectable_effect(9, math.nan), "impossible", id="nan"),
        pytest.param(lambda: minimum_detectable_effect(9, 1, power=1.0), "below 1", id="power-1"),
        pytest.param(lambda: minimum_detectable_effect(9, 1, power=0.3), "below 1", id="power-low"),
        pytest.param(lambda: minimum_detectable_effect(9, 1, 1.0), "confidence", id="confidence"),
        pytest.param(lambda: tasks_needed(0, 1), "no number of tasks", id="no-effect"),
        pytest.param(lambda: tasks_needed(0.1, math.inf), "impossible", id="infinite-spread"),
        pytest.param(lambda: expected_spread(0), "too few", id="attempts"),
    ],
)
def test_nonsense_is_refused(call: Callable[[], object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call()


@given(st.integers(2, 300), st.floats(0.05, 1), st.sampled_from([0.5, 0.8, 0.95]))
def test_the_rough_power_is_the_inverse_of_the_smallest_difference(
    n: int, spread: float, power: float
) -> None:
    effect = minimum_detectable_effect(n, spread, power=power)
    assert effect is not None
    assert rule_of_thumb_power(n, spread, effect) == pytest.approx(power, abs=1e-6)
    assert rule_of_thumb_power(n, spread, -effect) == pytest.approx(power, abs=1e-6)


def test_one_task_has_no_power_and_no_spread_none_either() -> None:
    assert rule_of_thumb_power(1, 0.4, 0.5) is None
    with pytest.raises(ValueError, match="leaves no room"):
        rule_of_thumb_power(9, 0.0, 0.5)


def test_a_whole_summary_needs_no_scipy() -> None:
    code = (
        "import sys; sys.path.insert(0, 'tests'); from studies import typical; "
        "from labkit.report import render; from labkit.summary import summarise; "
        "render(summarise(typical())); print('scipy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() == "False"


def test_importing_statistics_summary_and_report_does_not_import_scipy() -> None:
    code = "import sys, labkit.report; print('scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
