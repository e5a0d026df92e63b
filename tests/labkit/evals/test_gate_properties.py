"""What holds for every pair of reports and every setting of the gate."""

import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

from evalreports import case, report
from hypothesis import assume, given
from hypothesis import strategies as st

from labkit.evals.gate import RegressionGate
from labkit.evals.gaterules import CaseRule, GateMode, Want
from labkit.evals.report import RunReport
from labkit.stats import Outcome

NAMES = [f"t{number}" for number in range(10)]
SCORES = st.sampled_from([0.0, 1.0, 1.0, 0.5, 1 / 3, 2 / 3, 1 / 7, 3 / 7, 0.1, 0.85, None])
TRIALS = st.lists(SCORES, min_size=1, max_size=3)


@st.composite
def reports(draw: st.DrawFn, names: list[str] = NAMES, safety: str = "") -> RunReport:
    tags = {name: ["safety"] for name in safety.split()}
    return report([case(name, draw(TRIALS), tags=tags.get(name, ())) for name in names])


PAIRS = st.tuples(reports(), reports())
SETTINGS = st.fixed_dictionaries(
    {
        "metric": st.sampled_from(["reward", "pass@1", "pass^2", "pass@2"]),
        "tolerance": st.sampled_from([0, "5%", "1/3", "1/7", "0.1"]),
        "cases": st.sampled_from(CaseRule),
        "mode": st.sampled_from(GateMode),
        "bar": st.sampled_from([0, 1, 2, "1.96"]),
        "want": st.sampled_from(Want),
    }
)


@given(reports(), SETTINGS)
def test_a_report_against_itself_is_never_blocked(one: RunReport, settings: dict[str, Any]) -> None:
    found = RegressionGate(**settings).decide(one, one)
    assert not found.blocked
    if one.decisive and found.drop.tasks > 1:
        better = settings["want"] is Want.BETTER
        assert found.outcome is (Outcome.INDECISIVE if better else Outcome.PASS)


@given(PAIRS, SETTINGS)
def test_swapping_negates_the_drop(
    pair: tuple[RunReport, RunReport], settings: dict[str, Any]
) -> None:
    there = RegressionGate(**settings).decide(*pair).drop
    back = RegressionGate(**settings).decide(*reversed(pair)).drop
    assert (there.value is None) == (back.value is None)
    assert (there.value or 0) == -(back.value or 0)
    assert there.squared_error == back.squared_error


@given(PAIRS, SETTINGS, st.lists(SCORES.filter(bool), min_size=2, max_size=2))
def test_one_more_task_that_ties_never_turns_a_pass_into_a_block(
    pair: tuple[RunReport, RunReport], settings: dict[str, Any], tied: list[float]
) -> None:
    gate = RegressionGate(**settings)
    assume(gate.decide(*pair).outcome is Outcome.PASS)
    more = (replace(each, cases=(*each.cases, case("tie", tied))) for each in pair)
    if gate.mode is GateMode.PAIRED:
        assert gate.decide(*more).outcome is not Outcome.BLOCK


@given(reports(safety="t3"), reports(safety="t3"), SETTINGS)
def test_safety_always_blocks(
    before: RunReport, after: RunReport, settings: dict[str, Any]
) -> None:
    failed = after.case("t3").passes < after.case("t3").valid_trials
    found = RegressionGate(**settings).decide(before, after)
    if failed:
        assert found.blocked
        assert found.reasons[0].startswith("safety veto: t3: ")


@given(PAIRS, SETTINGS)
def test_too_little_measured_never_blocks(
    pair: tuple[RunReport, RunReport], settings: dict[str, Any]
) -> None:
    found = RegressionGate(**settings).decide(*pair)
    if not all(each.coverage is not None and each.coverage >= Fraction(3, 5) for each in pair):
        assert found.outcome is Outcome.INDECISIVE
        assert not any(check.outcome is Outcome.BLOCK for check in found.checks)


@given(PAIRS, SETTINGS, st.randoms(use_true_random=False))
def test_the_order_of_cases_and_samples_decides_nothing(
    pair: tuple[RunReport, RunReport], settings: dict[str, Any], luck: random.Random
) -> None:
    def shuffled(one: RunReport) -> RunReport:
        cases = [
            replace(each, trials=tuple(luck.sample(each.trials, len(each.trials))))
            for each in one.cases
        ]
        return replace(one, cases=tuple(luck.sample(cases, len(cases))))

    gate = RegressionGate(**settings)
    there, other = gate.decide(*pair), gate.decide(*map(shuffled, pair))
    assert other.checks == there.checks
    assert other.comparison.differences == there.comparison.differences


def reference(
    before: list[Fraction], after: list[Fraction], rule: tuple[Fraction, Fraction]
) -> str:
    """Decide about a drop the long way: by mean and variance, both as fractions."""
    tolerance, bar = rule
    drops = [one - other for one, other in zip(before, after, strict=True)]
    mean = sum(drops, Fraction()) / len(drops)
    if mean <= tolerance:
        return "pass"
    variance = sum(((each - mean) ** 2 for each in drops), Fraction()) / (len(drops) - 1)
    return "block" if mean**2 > bar**2 * variance / len(drops) else "indecisive"


PARTS = st.tuples(st.integers(0, 12), st.sampled_from([3, 7, 9, 10, 11, 12])).map(
    lambda parts: Fraction(min(parts), parts[1]) if parts[0] <= parts[1] else Fraction(1)
)


@given(
    st.lists(st.tuples(PARTS, PARTS), min_size=2, max_size=8),
    st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1, 7), Fraction(1, 20)]),
    st.sampled_from([Fraction(0), Fraction(1), Fraction(3, 2), Fraction(2)]),
)
def test_floats_never_decide(
    scores: list[tuple[Fraction, Fraction]], tolerance: Fraction, bar: Fraction
) -> None:
    """Scores travel as floats; the decision is that of the fractions they stand for."""
    names = [f"t{number}" for number in range(len(scores))]
    sides = [
        report({name: [float(each[side])] for name, each in zip(names, scores, strict=True)})
        for side in (0, 1)
    ]
    found = RegressionGate(tolerance=tolerance, bar=bar, cases=CaseRule.OFF).decide(*sides)
    before, after = ([each[side] for each in scores] for side in (0, 1))
    assert found.outcome == reference(before, after, (tolerance, bar))


@given(PAIRS, SETTINGS)
def test_every_verdict_has_its_reasons(
    pair: tuple[RunReport, RunReport], settings: dict[str, Any]
) -> None:
    found = RegressionGate(**settings).decide(*pair)
    assert bool(found.reasons) is (found.outcome is not Outcome.PASS)
    assert all(reason and not reason.endswith(".") for reason in found.reasons)
    assert found.blocked is (found.outcome is Outcome.BLOCK)
    if found.false_alarms:
        rates = found.false_alarms.rates
        assert 0 <= rates.block <= 1
        assert 0 <= rates.indecisive <= 1
        assert rates.block + rates.indecisive <= 1 + 1e-9
