"""The figures against scipy's, statsmodels' and krippendorff's own, on data that hypothesis makes.

What those do not have is tested by enumeration elsewhere: the moment-matched interval, mid-p for
differences of several sizes, Newcombe's and Bonett's intervals, pass^k, the power.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal, get_args

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.descriptivestats import sign_test
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower, normal_power
from statsmodels.stats.proportion import proportion_confint

import labkit.stats as ours
from labkit.stats.quantiles import beta_quantile, normal_quantile, student_quantile

COUNTS = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
CONFIDENCES = st.sampled_from([0.8, 0.9, 0.95, 0.99])
LEVELS = (0, 1, 2, 3, 4)
MARKS = st.lists(st.tuples(*[st.sampled_from(LEVELS)] * 2), min_size=2, max_size=40)


@given(COUNTS, CONFIDENCES)
def test_intervals_of_a_rate(counts: tuple[int, int], confidence: float) -> None:
    passed, n = counts
    for method, mine in (
        ("wilson", ours.wilson_interval(passed / n, n, confidence)),
        ("agresti_coull", ours.agresti_coull_interval(passed / n, n, confidence)),
        ("beta", ours.clopper_pearson_interval(passed, n, confidence)),
    ):
        found = proportion_confint(passed, n, alpha=1 - confidence, method=method)
        assert (mine.low, mine.high) == pytest.approx(found, abs=1e-9), method


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemars_tests(b: int, c: int) -> None:
    assume(b + c)
    table = [[5, b], [c, 7]]
    assert ours.mcnemar_test(b, c).p_exact == pytest.approx(mcnemar(table).pvalue, abs=1e-12)
    for corrected in (False, True):
        if b == c and corrected:
            continue  # statsmodels corrects beyond 0 there: (|0| - 1)^2 / n
        found = ours.mcnemar_chi_squared(b, c, corrected=corrected)
        theirs = mcnemar(table, exact=False, correction=corrected)
        assert found is not None
        assert (found.statistic, found.p) == pytest.approx((theirs.statistic, theirs.pvalue))


@given(st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=60).filter(any))
def test_flips_of_one_size_are_the_sign_test(differences: list[int]) -> None:
    _, theirs = sign_test(np.array(differences), 0)
    assert ours.sign_flip_test(differences).p_exact == pytest.approx(theirs, abs=1e-12)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(-6, 6), min_size=2, max_size=11).filter(any))
def test_flips_of_every_sign_are_scipys_permutation_test(sixths: list[int]) -> None:
    theirs = stats.permutation_test(
        [np.array(sixths, dtype=float)],
        lambda x, axis: np.abs(np.sum(x, axis=axis)),
        permutation_type="samples",
        alternative="greater",
        n_resamples=5000,  # more than 2^11: all of them
        vectorized=True,
    )
    found = ours.sign_flip_test([Fraction(step, 6) for step in sixths])
    assert found.p_exact == pytest.approx(theirs.pvalue, abs=1e-12)


@given(st.lists(st.floats(0, 4), min_size=2, max_size=30), CONFIDENCES)
def test_the_interval_of_a_mean(values: list[float], confidence: float) -> None:
    assume(np.ptp(values) > 1e-6)
    centre, error = np.mean(values), stats.sem(values)
    low, high = stats.t.interval(confidence, len(values) - 1, loc=centre, scale=error)
    found = ours.mean_interval(values, 0, 4, confidence)
    assert found is not None
    clipped = (max(0, low), min(4, high))
    assert (found.low, found.high) == pytest.approx(clipped, abs=1e-9)


@given(st.lists(st.floats(0, 100), min_size=6, max_size=40, unique=True))
def test_the_interval_of_a_median(minutes: list[float]) -> None:
    theirs: Any = stats.quantile_test(minutes, q=0, p=0.5).confidence_interval(0.95)
    found = ours.median_interval(minutes)
    assert found is not None
    assert (found.low, found.high) == (theirs.low, theirs.high)


@settings(deadline=None, max_examples=25)  # statsmodels takes 40 ms for each
@given(st.lists(st.floats(0, 1), min_size=1, max_size=10))
def test_holms_correction(ps: list[float]) -> None:
    _, theirs, _, _ = multipletests(ps, method="holm")
    assert list(ours.holm(ps)) == pytest.approx(list(theirs), abs=1e-12)


@settings(deadline=None)
@given(MARKS, st.sampled_from(["none", "linear", "quadratic"]))
def test_kappas(marks: list[tuple[int, int]], weights: str) -> None:
    a, b = zip(*marks, strict=True)
    mine = ours.weighted_kappa(a, b, LEVELS, weights)
    error = ours.weighted_kappa_standard_error(a, b, LEVELS, weights)
    assume(error is not None and error > 1e-6)  # at 0, statsmodels takes the root of a rounding
    table = np.zeros((5, 5))
    np.add.at(table, (a, b), 1)
    names = {"none": None, "linear": "linear", "quadratic": "quadratic"}
    theirs = cohens_kappa(table, wt=names[weights])
    assert mine == pytest.approx(theirs.kappa, abs=1e-9)
    assert error == pytest.approx(theirs.std_kappa, abs=1e-9)


@given(st.lists(st.tuples(*[st.sampled_from("abc")] * 4), min_size=2, max_size=20))
def test_the_kappa_of_fleiss(items: list[tuple[str, ...]]) -> None:
    mine = ours.fleiss_kappa(items)
    assume(mine is not None)
    counted, _ = aggregate_raters(np.array(items))
    assert mine == pytest.approx(fleiss_kappa(counted), abs=1e-9)


Metric = Literal["nominal", "ordinal", "interval", "ratio"]
METRICS: tuple[Metric, ...] = get_args(Metric)
RATINGS = st.integers(2, 15).flatmap(
    lambda n: st.lists(
        st.lists(st.sampled_from([None, 1, 2, 3, 4, 5]), min_size=n, max_size=n),
        min_size=2,
        max_size=4,
    )
)


@settings(deadline=None)
@given(RATINGS, st.sampled_from(METRICS))
def test_krippendorffs_alpha(ratings: Sequence[Sequence[int | None]], metric: Metric) -> None:
    mine = ours.krippendorff_alpha(ratings, metric)
    assume(mine is not None)
    numbers = np.array(ratings, dtype=float)
    theirs = krippendorff.alpha(reliability_data=numbers, level_of_measurement=metric)
    assert mine == pytest.approx(theirs, abs=1e-9)


@given(st.floats(1e-4, 1 - 1e-4), st.integers(1, 300), st.integers(1, 300))
def test_quantiles(probability: float, first: int, second: int) -> None:
    assert normal_quantile(probability) == pytest.approx(stats.norm.ppf(probability), abs=1e-9)
    student = student_quantile(probability, first)
    assert student == pytest.approx(stats.t.ppf(probability, first), rel=1e-7, abs=1e-9)
    beta = beta_quantile(probability, alpha=first, beta=second)
    assert beta == pytest.approx(stats.beta.ppf(probability, first, second), abs=1e-9)


@pytest.mark.parametrize("n", [12, 18, 36, 100])
@pytest.mark.parametrize("aim", [0.8, 0.9])
def test_the_rule_of_thumb_is_near_the_exact_power_of_the_t_test(n: int, aim: float) -> None:
    found = ours.minimum_detectable_effect(n, 0.43, power=aim)
    theirs = TTestPower().solve_power(nobs=n, alpha=0.05, power=aim) * 0.43
    assert found == pytest.approx(theirs, rel=0.02)


@given(st.floats(0.02, 0.5), st.floats(0.1, 1))
def test_the_number_of_tasks_has_the_power_of_the_z_test(effect: float, spread: float) -> None:
    n = ours.tasks_needed(effect, spread)
    theirs = normal_power(effect / spread, n, alpha=0.05)
    assert theirs == pytest.approx(0.8, abs=1e-4)


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 2**32 - 1), st.sampled_from([6, 9, 20, 36]), st.integers(1, 3))
def test_the_power_is_that_of_outcomes_drawn_at_random(seed: int, n: int, attempts: int) -> None:
    shares = ours.Design(attempts=attempts).shares(0.25)
    levels = [float(level) for level in sorted(shares)]
    chances = np.array([shares[level] for level in sorted(shares)])
    draw = np.random.default_rng(seed)
    found = ours.power(n, shares)
    rejected = [
        ours.sign_flip_test(draw.choice(levels, size=n, p=chances / chances.sum()).tolist()).p_mid
        <= 0.05
        for _ in range(400)
    ]
    # Five standard errors: once in two million draws.
    slack = 5 * (0.25 / 400) ** 0.5
    assert sum(rejected) / 400 == pytest.approx(found.mid, abs=slack)
