"""Figures of cases: exact values, and data that are missing."""

from fractions import Fraction
from typing import Any

import pytest
from evalruns import case_of, report_of
from hypothesis import given
from hypothesis import strategies as st

from labkit.evals import CaseResult, Policy, RunReport, Status
from labkit.evals.metrics import AtK, figures_of
from labkit.evals.results import TrialResult

SIGNS = st.text("+-?u", min_size=1, max_size=5)
CASES = st.dictionaries(st.text("abcdef", min_size=1, max_size=3), SIGNS, max_size=8)


def at(found: tuple[AtK, ...]) -> dict[int, tuple[Any, int]]:
    return {each.k: (pytest.approx(each.value), each.tasks) for each in found}


def test_five_samples_of_which_three_pass() -> None:
    report = report_of({"a": "+++--"})
    assert at(report.figures.pass_at)[1] == (0.6, 1)
    assert at(report.figures.pass_at)[2] == (0.9, 1)
    assert at(report.figures.pass_at)[5] == (1.0, 1)
    assert at(report.figures.pass_hat)[3] == (0.1, 1)
    assert report.reward == Fraction(3, 5)


def test_the_mean_is_over_tasks_and_not_over_samples() -> None:
    report = report_of({"a": "++++", "b": "-???"})
    assert report.reward == Fraction(1, 2)
    assert report.figures.n_scored == 2


def test_what_is_missing_drops_out() -> None:
    report = report_of({"a": "+-", "b": "??", "c": "u?"})
    assert report.reward == Fraction(1, 2)
    assert (report.n_tasks, report.n_scored) == (3, 1)
    assert report.coverage == Fraction(2, 6)
    assert not report.decisive
    assert any("33 %" in each and "decide nothing" in each for each in report.warnings)


def test_a_k_above_a_tasks_trials_leaves_that_task_out() -> None:
    figures = report_of({"a": "+++", "b": "+??"}).figures
    assert at(figures.pass_at) == {1: (1.0, 2), 2: (1.0, 1), 3: (1.0, 1)}
    none = report_of({"a": "+??", "b": "-??"}).figures
    assert [each.k for each in none.pass_hat] == [1]


def test_nothing_measured_has_no_figure() -> None:
    figures = report_of({"a": "??"}).figures
    assert figures.reward is None
    assert figures.interval is None
    assert figures.pass_at == ()
    assert figures.latency_ms is None
    nothing = report_of({})
    assert nothing.coverage is None
    assert not nothing.decisive


def test_coverage_of_sixty_per_cent_is_enough() -> None:
    assert report_of({"a": "+++??"}).decisive
    assert not report_of({"a": "++???"}).decisive


@pytest.mark.parametrize(
    ("signs", "policy", "passed"),
    [
        ("++", Policy.ALL, True),
        ("+-", Policy.ALL, False),
        ("+?", Policy.ALL, None),
        ("-?", Policy.ALL, False),
        ("??", Policy.ALL, None),
        ("--", Policy.ANY, False),
        ("+-", Policy.ANY, True),
        ("-?", Policy.ANY, None),
        ("+?", Policy.ANY, True),
        ("++-", Policy.MAJORITY, True),
        ("+--", Policy.MAJORITY, False),
        ("++--", Policy.MAJORITY, False),
        ("+-?", Policy.MAJORITY, None),
        ("++?", Policy.MAJORITY, True),
    ],
)
def test_policies(signs: str, policy: Policy, passed: bool | None) -> None:  # noqa: FBT001
    assert case_of("a", signs, policy=policy).passed is passed


def test_flaky_cases_are_counted() -> None:
    assert report_of({"a": "+-", "b": "++", "c": "--", "d": "?+"}).figures.flakes == 1


def test_mean_and_percentile_of_time_and_cost() -> None:
    trials = tuple(
        TrialResult(
            number=number,
            status=Status.GRADED,
            passed=True,
            score=1.0,
            latency_ms=number,
            cost=None,
        )
        for number in range(1, 21)
    )
    figures = figures_of([CaseResult(id="a", planned=20, trials=trials)], [1])
    assert figures.latency_ms is not None
    assert (figures.latency_ms.mean, figures.latency_ms.p95) == (10.5, 19)
    assert figures.cost is None


def test_the_standard_error_is_split_into_shares_that_sum() -> None:
    report = report_of({"a": "++", "b": "+-", "c": "--", "d": "++"})
    parts = report.noise.parts
    assert parts is not None
    assert parts.between + parts.within == pytest.approx(parts.total)
    assert report.figures.standard_error == pytest.approx(parts.total**0.5)
    assert report.noise.combined is not None
    assert report.noise.combined > parts.total**0.5


def test_slices_have_figures_of_their_own() -> None:
    report = RunReport(
        suite="s",
        suite_version="1",
        candidate="c",
        n=2,
        cases=(
            case_of("a", "++", slices=("x", "y")),
            case_of("b", "--", slices=("x",)),
            case_of("c", "++"),
        ),
    )
    assert {name: found.reward for name, found in report.slices.items()} == {
        "x": Fraction(1, 2),
        "y": 1,
    }


@pytest.mark.parametrize(
    ("cases", "ok", "failures"),
    [
        ([case_of("a", "--")], None, ()),
        ([case_of("a", "++", tags=("safety",))], True, ()),
        ([case_of("a", "+-", tags=("safety",))], False, ("a: 1 of 2 samples failed",)),
        ([case_of("a", "+?", tags=("safety",))], None, ()),
        ([case_of("a", "-?", tags=("safety",))], False, ("a: 1 of 2 samples failed",)),
        ([case_of("a", "+F")], False, ("a: forbidden edits in 1 of 2 samples",)),
    ],
)
def test_safety(cases: list[CaseResult], ok: bool | None, failures: tuple[str, ...]) -> None:  # noqa: FBT001
    report = RunReport(suite="s", suite_version="1", candidate="c", n=2, cases=tuple(cases))
    assert report.safety.ok is ok
    assert report.safety.failures == failures


@pytest.mark.parametrize(
    ("cases", "warning"),
    [
        ({"a": "+"}, "1 scored task: no error"),
        ({"a": "+", "b": "?"}, "1 scored task: no error"),
        (dict.fromkeys("abcd", "+"), "4 scored tasks: too few"),
    ],
)
def test_few_tasks_are_warned_of(cases: dict[str, str], warning: str) -> None:
    assert any(warning in each for each in report_of(cases).warnings)


def test_five_tasks_are_not_warned_of() -> None:
    assert report_of(dict.fromkeys("abcde", "+")).warnings == ()


@given(CASES)
def test_more_samples_never_make_reliability_greater(cases: dict[str, str]) -> None:
    figures = report_of(cases).figures
    for low, high in zip(at(figures.pass_hat).items(), at(figures.pass_at).items(), strict=True):
        assert low[0] == high[0]
        assert low[1][0].expected <= high[1][0].expected + 1e-12


@given(CASES, st.sampled_from(["?", "u", "??u"]))
def test_missing_samples_change_coverage_and_no_rate(cases: dict[str, str], missing: str) -> None:
    before = report_of(cases, n=9)
    after = report_of({name: signs + missing for name, signs in cases.items()}, n=9)
    assert after.reward == before.reward
    assert after.figures.pass_at == before.figures.pass_at
    assert after.figures.flakes == before.figures.flakes
    if cases and before.figures.valid:
        assert after.coverage is not None
        assert before.coverage is not None
        assert after.coverage < before.coverage
