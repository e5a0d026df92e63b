"""How often a gate, as it is set, would stop a version that is the same as the baseline."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from labkit.evals.gaterules import CaseRule, Metric
from labkit.evals.report import RunReport
from labkit.evals.results import CaseResult
from labkit.fields import counted
from labkit.stats import (
    Alarms,
    Alike,
    DropRule,
    GateRules,
    false_alarms,
    intraclass_correlation,
    pass_hat_k,
)

USUAL_ICC = 0.5
"""What public benchmarks of agents show, about."""
_LOWEST_ICC, _HIGHEST_ICC = 0.1, 0.9
_FEWEST_TO_ESTIMATE = 5
_TWICE = 2
_MOST_TRIALS = 20
"""Of a task: more make the noise within it little smaller, and the reckoning much longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FalseAlarms:
    """The gate's own false-alarm rates, and what they suppose."""

    rates: Alarms
    tasks: int
    mean: float
    mean_from: str
    icc: float
    icc_from: str
    usual: Alarms | None
    """The rates at the usual correlation, where the baseline's own was taken: few tasks tell it
    badly, and a baseline that never wavers makes a gate look better than it is."""
    most_trials: int | None
    """How many trials a task was reckoned with, where some have more."""
    graded: bool
    """Whether the baseline has scores between 0 and 1, which the model does not know."""

    def to_dict(self) -> dict[str, Any]:
        """Return the rates and what they suppose as plain values."""
        return {
            "block": self.rates.block,
            "pass": self.rates.passed,
            "indecisive": self.rates.indecisive,
            "draws": self.rates.draws,
            "block_error": self.rates.error(self.rates.block),
            "tasks": self.tasks,
            "mean": self.mean,
            "mean_from": self.mean_from,
            "icc": self.icc,
            "icc_from": self.icc_from,
            "block_at_usual_icc": (self.usual or self.rates).block,
            "pass_at_usual_icc": (self.usual or self.rates).passed,
            "most_trials": self.most_trials,
            "graded": self.graded,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class GateShape:
    """Everything of a gate that its false alarms depend on, beside the tasks."""

    metric: Metric
    cases: CaseRule
    rule: DropRule
    paired: bool


def false_alarms_of(
    baseline: RunReport, trials: Sequence[tuple[int, int]], shape: GateShape
) -> FalseAlarms | None:
    """Return a gate's false-alarm rates at tasks with so many trials before and after.

    Tasks are supposed to differ as the baseline's do, and each sample to pass or to fail. None
    without a task.
    """
    if not trials:
        return None
    scored = [case for case in baseline.cases if case.valid_trials]
    mean, mean_from = _mean(baseline, scored)
    icc, icc_from = _icc(scored)
    rules = GateRules(
        value=shape.metric.of_counts,
        lost=shape.cases.lost,
        rule=shape.rule,
        paired=shape.paired,
    )
    most = max(_MOST_TRIALS, shape.metric.k)
    kinds = Counter((min(before, most), min(after, most)) for before, after in trials)
    rates = false_alarms(Alike(trials=kinds, mean=mean, icc=icc), rules)
    return FalseAlarms(
        rates=rates,
        tasks=len(trials),
        mean=mean,
        mean_from=mean_from,
        icc=icc,
        icc_from=icc_from,
        usual=None
        if icc == USUAL_ICC
        else false_alarms(Alike(trials=kinds, mean=mean, icc=USUAL_ICC), rules),
        most_trials=most if max(map(max, trials)) > most else None,
        graded=any(trial.score not in {0, 1} for case in scored for trial in case.valid),
    )


def _mean(baseline: RunReport, scored: Sequence[CaseResult]) -> tuple[float, str]:
    rates = [Fraction(case.passes, case.valid_trials) for case in scored]
    known = sum(rates, Fraction()) / len(rates) if rates else baseline.reward
    if known is None:
        return 0.5, "the usual guess: the baseline has none"
    if 0 < known < 1:
        return float(known), "the baseline's"
    n = max(1, baseline.n_scored)
    return (
        float((known * n + Fraction(1, 2)) / (n + 1)),
        f"the baseline's is {int(100 * known)} %; half a task was put on the other side",
    )


def _icc(scored: Sequence[CaseResult]) -> tuple[float, str]:
    repeated = [case for case in scored if case.valid_trials >= _TWICE]
    if len(repeated) < _FEWEST_TO_ESTIMATE:
        return USUAL_ICC, (
            f"the usual guess: the baseline has {counted(len(repeated), 'task')} with two trials"
        )
    once = sum(Fraction(case.passes, case.valid_trials) for case in repeated) / len(repeated)
    twice = sum(
        Fraction(pass_hat_k(case.valid_trials, case.passes, _TWICE)) for case in repeated
    ) / len(repeated)
    found = intraclass_correlation(float(once), min(float(twice), float(once)))
    if found is None:
        return USUAL_ICC, "the usual guess: the baseline's trials all ended the same way"
    kept = min(max(found, _LOWEST_ICC), _HIGHEST_ICC)
    return kept, "the baseline's" if kept == found else f"the baseline's is {found:.2f}"
