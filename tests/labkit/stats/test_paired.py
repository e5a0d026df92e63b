"""The paired interval and the sign-flip test, against published values and by enumeration."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from statistics import NormalDist

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.stats import paired_interval, sign_flip_test

HALVES = [Fraction(step, 2) for step in range(-2, 3)]
SIXTHS = [Fraction(step, 6) for step in range(-6, 7)]
DIFFERENCES = st.lists(st.sampled_from(HALVES), min_size=1, max_size=12)

MATCHED = [
    pytest.param(
        [1, 0.5, 0, 0, -0.5, 1, 1, 0.5, 0], -0.0387358, 0.6880359, 0.125, 0.078125, id="mixed"
    ),
    pytest.param([0.5] + [0] * 8, -0.1300947, 0.257573, 1.0, 0.5, id="half-a-task"),
    pytest.param([0] * 9, -0.299145, 0.299145, 1.0, 0.5, id="all-tied"),
    pytest.param([1] * 4 + [0] * 5, 0.012346, 0.7333487, 0.125, 0.0625, id="four-of-nine"),
    pytest.param([1] * 5 + [0] * 4, 0.0902188, 0.8112215, 0.0625, 0.03125, id="five-of-nine"),
    pytest.param([1] * 6 + [0] * 3, 0.1680916, 0.8794162, 0.03125, 0.015625, id="six-of-nine"),
    pytest.param([1] * 2 + [-1] + [0] * 7, -0.2800529, 0.4535443, 1.0, 0.625, id="tie-2-1"),
    pytest.param([1] * 3 + [-1] * 2 + [0] * 5, -0.338235, 0.4986258, 1.0, 0.6875, id="tie-3-2"),
    pytest.param([1] * 9, 0.4017099, 1.0, 0.00390625, 0.001953125, id="nine-of-nine"),
]


@pytest.mark.parametrize(("differences", "low", "high", "exact", "mid"), MATCHED)
def test_task_mean_differences(
    differences: list[float], low: float, high: float, exact: float, mid: float
) -> None:
    interval, test = paired_interval(differences), sign_flip_test(differences)
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-6)
    assert (test.p_exact, test.p_mid) == pytest.approx((exact, mid), abs=1e-12)


TANGO = [
    pytest.param(6, 16, 161, -0.124, -0.0054, 5e-5, id="cavo-2012"),
    pytest.param(3, 0, 3, -0.123, 1.0, 5e-5, id="all-gains"),
    pytest.param(0, 3, 3, -1.0, 0.123, 5e-5, id="all-losses"),
    pytest.param(1, 7, 21, -0.517232, -0.026003, 1e-5, id="bentur-2009"),
    pytest.param(40, 20, 160, 0.030865, 0.218064, 1e-5, id="propcis"),
]


@pytest.mark.parametrize(("gains", "losses", "n", "low", "high", "slack"), TANGO)
def test_one_attempt_is_the_interval_of_tango(
    gains: int, losses: int, n: int, low: float, high: float, slack: float
) -> None:
    interval = paired_interval([1] * gains + [-1] * losses + [0] * (n - gains - losses))
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=slack)


@pytest.mark.parametrize(
    ("losses", "gains", "exact", "mid"),
    [
        pytest.param(1, 7, 0.0703125, 0.0390625, id="bentur-2009"),
        pytest.param(6, 16, 0.052479, 0.034690, id="cavo-2012"),
        pytest.param(0, 6, 0.03125, 0.015625, id="six-one-way"),
        pytest.param(0, 0, 1.0, 0.5, id="nothing-moved"),
    ],
)
def test_one_attempt_is_the_test_of_mcnemar(
    losses: int, gains: int, exact: float, mid: float
) -> None:
    found = sign_flip_test([1] * gains + [-1] * losses)
    assert (found.p_exact, found.p_mid) == pytest.approx((exact, mid), abs=1e-6)
    assert found.moved == gains + losses


def test_darwins_maize() -> None:
    inches = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    found = sign_flip_test(inches)
    assert found.p_exact == 1726 / 32768
    assert found.p_mid == pytest.approx(0.05181884765625, abs=1e-12)


@given(st.lists(st.sampled_from(SIXTHS), max_size=9))
def test_the_sign_flip_test_equals_flipping_every_sign(differences: list[Fraction]) -> None:
    observed = abs(sum(differences, Fraction()))
    sums = [
        abs(sum((sign * d for sign, d in zip(signs, differences, strict=True)), Fraction()))
        for signs in product((-1, 1), repeat=len(differences))
    ]
    beyond = sum(total > observed for total in sums)
    equal = sum(total == observed for total in sums)
    for given_as in (differences, [float(d) for d in differences]):
        found = sign_flip_test(given_as)
        assert found.p_exact == pytest.approx((beyond + equal) / len(sums), abs=1e-12)
        assert found.p_mid == pytest.approx((beyond + equal / 2) / len(sums), abs=1e-12)


@given(DIFFERENCES)
def test_the_interval_holds_the_mean_and_is_never_a_point(differences: list[Fraction]) -> None:
    interval = paired_interval(differences)
    mean = float(sum(differences) / len(differences))
    assert -1 <= interval.low <= mean <= interval.high <= 1
    assert interval.low < interval.high


@given(DIFFERENCES)
def test_swapping_the_configurations_negates_and_order_is_nothing(
    differences: list[Fraction],
) -> None:
    interval = paired_interval(differences)
    swapped = paired_interval([-d for d in reversed(differences)])
    assert (swapped.low, swapped.high) == pytest.approx((-interval.high, -interval.low), abs=1e-12)
    assert sign_flip_test([-d for d in reversed(differences)]) == sign_flip_test(differences)


@given(DIFFERENCES)
def test_a_tied_task_leaves_the_test_as_it_is(differences: list[Fraction]) -> None:
    assert sign_flip_test([*differences, Fraction(0)]) == sign_flip_test(differences)


@pytest.mark.parametrize("n", [5, 6, 7, 8, 9])
def test_every_detectable_outcome_has_an_interval_without_zero(n: int) -> None:
    for differences in combinations_with_replacement(HALVES, n):
        if sign_flip_test(differences).p_mid <= 0.05:
            assert 0 not in paired_interval(differences), differences


def spelled(levels: Sequence[Fraction], counts: Sequence[int]) -> list[Fraction]:
    return [level for level, many in zip(levels, counts, strict=True) for _ in range(many)]


@pytest.mark.parametrize("n", [10, 12, 15, 18, 24, 36])
def test_single_attempts_are_detectable_only_with_an_interval_without_zero(n: int) -> None:
    levels = [Fraction(-1), Fraction(0), Fraction(1)]
    for losses in range(n + 1):
        for gains in range(n - losses + 1):
            differences = spelled(levels, [losses, n - losses - gains, gains])
            if sign_flip_test(differences).p_mid <= 0.05:
                assert 0 not in paired_interval(differences), differences


def test_the_reverse_fails_for_two_outcomes_of_nine_tasks() -> None:
    borderline = [
        (losses, gains)
        for losses in range(10)
        for gains in range(10 - losses)
        if 0 not in paired_interval([-1] * losses + [1] * gains + [0] * (9 - losses - gains))
        and sign_flip_test([-1] * losses + [1] * gains).p_mid > 0.05
    ]
    assert borderline == [(0, 4), (4, 0)]


@settings(deadline=None)
@given(st.lists(st.sampled_from(HALVES), min_size=10, max_size=36))
def test_pairs_of_attempts_are_detectable_only_with_an_interval_without_zero(
    differences: list[Fraction],
) -> None:
    if sign_flip_test(differences).p_mid <= 0.05:
        assert 0 not in paired_interval(differences)


def test_three_attempts_may_be_detectable_by_the_test_alone() -> None:
    """Five tasks moved one way, but by very different amounts: the verdict must ask both."""
    differences = [Fraction(1, 3)] * 4 + [Fraction(1)]
    assert sign_flip_test(differences).p_mid == 0.03125
    assert 0 in paired_interval(differences)


@given(DIFFERENCES)
def test_the_exact_p_is_never_below_the_mid_p(differences: list[Fraction]) -> None:
    found = sign_flip_test(differences)
    assert 0 < found.p_mid <= found.p_exact <= 1


@pytest.mark.parametrize("moved", [0, 1, 2, 3, 4])
def test_fewer_than_five_moved_tasks_are_never_detectable(moved: int) -> None:
    assert sign_flip_test([Fraction(1)] * moved + [Fraction(0)] * 20).p_mid > 0.05


def test_two_hundred_tasks_stay_exact() -> None:
    found = sign_flip_test([Fraction(1, 3)] * 60 + [Fraction(-1, 2)] * 20 + [Fraction(0)] * 120)
    assert 0 < found.p_mid < found.p_exact < 0.05
    assert math.isfinite(found.p_mid)


@pytest.mark.parametrize(
    "differences", [pytest.param([], id="none"), pytest.param([0.5, 1.5], id="above-one")]
)
def test_what_are_no_differences_is_refused(differences: list[float]) -> None:
    with pytest.raises(ValueError, match="between -1 and 1"):
        paired_interval(differences)


@given(DIFFERENCES, st.integers(2, 4))
def test_copies_of_attempts_leave_the_interval_as_it_is(
    differences: list[Fraction], copies: int
) -> None:
    """A task mean of copied attempts is the same mean."""
    again = [sum([d] * copies, Fraction()) / copies for d in differences]
    assert paired_interval(again) == paired_interval(differences)


@given(DIFFERENCES)
def test_a_tied_task_more_never_widens_the_lead(differences: list[Fraction]) -> None:
    before, after = paired_interval(differences), paired_interval([*differences, Fraction(0)])
    if before.low > 0:
        assert after.low < before.low
    if before.high < 0:
        assert after.high > before.high


@given(DIFFERENCES)
def test_more_confidence_is_wider(differences: list[Fraction]) -> None:
    narrow, wide = paired_interval(differences, 0.8), paired_interval(differences, 0.99)
    assert wide.low <= narrow.low <= narrow.high <= wide.high


@given(DIFFERENCES)
def test_at_no_difference_the_statistic_is_the_sum_over_its_flipped_spread(
    differences: list[Fraction],
) -> None:
    total, squares = sum(differences, Fraction()), sum(d * d for d in differences)
    if not total:
        return
    z = abs(float(total)) / math.sqrt(squares)
    edge = 2 * NormalDist().cdf(z) - 1
    if 0.01 < edge < 0.999:
        assert 0 in paired_interval(differences, min(0.9999, edge + 0.0005))
        assert 0 not in paired_interval(differences, edge - 0.0005)


TWENTY_FIVE = [Fraction(n * n + 3, 997) * (-1) ** (n % 3) for n in range(1, 26)]


def test_twenty_five_different_sizes_are_enumerated() -> None:
    """Against counting half of the signs at a time, in whole numbers."""
    steps = [int(d * 997) for d in TWENTY_FIVE]
    first, second = ([0], [0])
    for place, step in enumerate(steps):
        grown = first if place % 2 else second
        grown[:] = [s + step for s in grown] + [s - step for s in grown]
    second.sort()
    observed = abs(sum(steps))
    beyond = sum(len(second) - bisect_right(second, observed - s) for s in first)
    reached = sum(len(second) - bisect_left(second, observed - s) for s in first)
    found = sign_flip_test(TWENTY_FIVE)
    assert found.p_exact == 2 * reached / 2**25
    assert found.p_mid == (beyond + reached) / 2**25
    assert found.moved == 25


def test_sixty_irregular_sizes_are_rounded_and_stay_close() -> None:
    sizes = [math.sqrt(n + 2) * (1 if n % 3 else -1) / 9 for n in range(60)]
    found = sign_flip_test(sizes)
    z = abs(sum(sizes)) / math.sqrt(sum(d * d for d in sizes))
    assert found.p_exact == pytest.approx(2 - 2 * NormalDist().cdf(z), rel=0.05)
    assert found.moved == 60
    assert sign_flip_test([-d for d in sizes]) == found


@pytest.mark.parametrize("n", [100, 2000])
def test_thousands_of_tasks_agree_with_the_normal_curve(n: int) -> None:
    differences = [Fraction(1, 2)] * n + [Fraction(-1)] * (n * 9 // 20) + [Fraction(0)] * n
    found = sign_flip_test(differences)
    z = float(sum(differences)) / math.sqrt(sum(d * d for d in differences))
    assert found.p_mid == pytest.approx(2 - 2 * NormalDist().cdf(z), rel=0.02)


def test_noise_of_floats_is_no_move() -> None:
    assert sign_flip_test([0.1 + 0.2 - 0.3, 1.0]).moved == 1


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_not_finite_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="cannot be reckoned with"):
        sign_flip_test([0.5, value])
    with pytest.raises(ValueError, match="between -1 and 1"):
        paired_interval([0.5, value])
