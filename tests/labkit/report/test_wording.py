"""How numbers are written."""

import pytest

from labkit.fields import counted
from labkit.report.wording import (
    amount,
    p_value,
    percent,
    percent_interval,
    plain,
    points,
    points_interval,
    short,
    table,
)
from labkit.stats import Interval


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        pytest.param(short(6.5), "6.5", id="half-a-task"),
        pytest.param(short(6.0), "6", id="whole-tasks"),
        pytest.param(short(19 / 3), "6.3", id="a-third"),
        pytest.param(percent(2 / 3), "67 %", id="no-false-precision"),
        pytest.param(percent_interval(Interval(low=0, high=0.3)), "0 % to 30 %", id="interval"),
        pytest.param(points(-0.3571), "-36 points", id="signed-points"),
        pytest.param(points(0), "0 points", id="no-difference"),
        pytest.param(points(0.0004), "+0.04 points", id="side-of-zero"),
        pytest.param(
            points_interval(Interval(low=-0.13, high=0.257)), "-13 to +26 points", id="bar"
        ),
        pytest.param(p_value(0.0625), "= 0.0625", id="p"),
        pytest.param(p_value(1e-9), "< 0.001", id="p-is-never-zero"),
        pytest.param(counted(1, "task"), "1 task", id="one"),
        pytest.param(counted(0, "task"), "0 tasks", id="none"),
        pytest.param(amount(1234567.0), "1,234,567", id="tokens"),
        pytest.param(amount(0.01234), "0.0123", id="cost"),
        pytest.param(plain("a\n <b> & c"), "a &lt;b> &amp; c", id="no-markup"),
    ],
)
def test_numbers_and_words(written: str, expected: str) -> None:
    assert written == expected


def test_a_cell_can_neither_end_its_row_nor_add_a_column() -> None:
    assert table(["a"], [["x | y\nz"]]) == "| a |\n| --- |\n| x \\| y z |"
