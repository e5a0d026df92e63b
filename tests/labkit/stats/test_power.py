"""Planning figures, against the values of the study behind them."""

import subprocess
import sys

import pytest

from labkit.stats import expected_spread, minimum_detectable_effect


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


def test_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match="impossible"):
        minimum_detectable_effect(9, -0.1)
    with pytest.raises(ValueError, match="too few"):
        expected_spread(0)


def test_importing_statistics_summary_and_report_does_not_import_scipy() -> None:
    code = "import sys, labkit.report; print('scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
