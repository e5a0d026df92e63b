"""The gate: whether a candidate may take the place of a baseline. Yes, no, or not known."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

from labkit.errors import InputError, refuse
from labkit.evals.compare import Comparison, compare_runs, other_cases
from labkit.evals.drops import Drop, paired_drop, unpaired_drop
from labkit.evals.falsealarms import FalseAlarms, GateShape, false_alarms_of
from labkit.evals.gatechecks import Check, CheckName, coverage_check, safety_check, weakened
from labkit.evals.gaterules import CaseRule, GateMode, Metric, Want, bar_height, share
from labkit.evals.gatewords import told_cases, told_drop
from labkit.evals.report import RunReport
from labkit.fields import counted, first_words, json_text
from labkit.report.wording import percent
from labkit.stats import DropRule, Outcome

_FEWEST_TO_TRUST = 5


@dataclass(frozen=True, kw_only=True)
class GateDecision:
    """What a gate decided, and everything that it decided by."""

    gate: "RegressionGate"
    mode: GateMode
    """The mode that was used."""
    checks: tuple[Check, ...]
    comparison: Comparison
    drop: Drop
    baseline: RunReport = field(repr=False)
    notes: tuple[str, ...] = ()
    """What people should know beside the verdict, a sentence each."""

    @cached_property
    def false_alarms(self) -> FalseAlarms | None:
        """How often this gate stops a version that is the same; None without a task to say it of.

        The check on overfitting is not in it.
        """
        blind = any(
            check.name is CheckName.CASES and check.outcome is None for check in self.checks
        )
        shape = GateShape(
            metric=self.gate.measure,
            cases=CaseRule.OFF if blind else self.gate.cases,
            rule=self.gate.rule,
            paired=self.mode is GateMode.PAIRED,
        )
        return false_alarms_of(self.baseline, self.drop.trials, shape)

    @property
    def outcome(self) -> Outcome:
        """BLOCK when a check blocks, PASS when all that were made pass, else INDECISIVE."""
        found = {check.outcome for check in self.checks}
        if Outcome.BLOCK in found:
            return Outcome.BLOCK
        return Outcome.INDECISIVE if Outcome.INDECISIVE in found else Outcome.PASS

    @property
    def blocked(self) -> bool:
        """Whether something was found that speaks against the candidate."""
        return self.outcome is Outcome.BLOCK

    @property
    def passed(self) -> bool:
        """Whether the candidate may go on."""
        return self.outcome is Outcome.PASS

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is not let through, a sentence for each check that says so; empty for a PASS."""
        if self.passed:
            return ()
        return tuple(check.detail for check in self.checks if check.outcome is self.outcome)

    def to_dict(self) -> dict[str, Any]:
        """Return the decision as plain values; fractions stand both exactly and as numbers."""
        from labkit.evals.gatereport import to_dict  # noqa: PLC0415 - it knows decisions

        return to_dict(self)

    def to_json(self) -> str:
        """Return the decision as JSON."""
        return json_text(self.to_dict())

    def to_markdown(self) -> str:
        """Return the decision as Markdown, for the summary of a CI step."""
        from labkit.evals.gatereport import to_markdown  # noqa: PLC0415 - it knows decisions

        return to_markdown(self)

    def to_junit(self) -> str:
        """Return the decision as JUnit XML: a test for each check, and one for each case."""
        from labkit.evals.gatejunit import to_junit  # noqa: PLC0415 - it knows decisions

        return to_junit(self)

    def with_check(self, check: Check) -> Self:
        """Return the decision with one more check; too little measured still blocks nothing."""
        measured = all(
            each.outcome is not Outcome.INDECISIVE
            for each in self.checks
            if each.name is CheckName.COVERAGE
        )
        return replace(self, checks=(*self.checks, check if measured else weakened(check)))


@dataclass(frozen=True, slots=True, kw_only=True)
class RegressionGate:
    """Compares a candidate's report with a baseline's, by rules that are set beforehand.

    Numbers are read exactly: 0.05, "5%" and Fraction(1, 20) are the same. Raises InputError for
    what is none.
    """

    metric: Metric | str = "reward"
    """`reward`, `pass@k` or `pass^k`."""
    tolerance: Fraction | float | str = 0
    """How far the metric may drop (or, wanting better, has to rise) without deciding anything."""
    cases: CaseRule = CaseRule.ALL_TO_NONE
    mode: GateMode = GateMode.PAIRED
    bar: Fraction | float | str = 1
    """How many standard errors a change has to exceed."""
    want: Want = Want.NO_WORSE

    def __post_init__(self) -> None:
        for name, read in (
            ("metric", Metric.parse),
            ("tolerance", share),
            ("bar", bar_height),
            ("cases", CaseRule),
            ("mode", GateMode),
            ("want", Want),
        ):
            try:
                object.__setattr__(self, name, read(getattr(self, name)))
            except ValueError as error:
                raise InputError(f"a gate's {name}: {error}") from error

    @property
    def measure(self) -> Metric:
        """The metric, read."""
        return Metric.parse(self.metric)

    @property
    def rule(self) -> DropRule:
        """The rule on the metric, read."""
        return DropRule(
            tolerance=share(self.tolerance),
            bar=bar_height(self.bar),
            better=self.want is Want.BETTER,
        )

    def decide(self, baseline: RunReport, candidate: RunReport) -> GateDecision:
        """Decide whether the candidate may take the baseline's place.

        Raises InputError for reports of different suite versions, splits or policies, for a subset,
        and for a metric that a report without its cases does not have.
        """
        refuse(list(_ungateable(baseline, candidate)), hint="evaluate the whole split, without ids")
        comparison = compare_runs(baseline, candidate)
        mode = GateMode.SIGNIFICANT if _without_cases(baseline, candidate) else self.mode
        drop = _drop(self.measure, mode, baseline, candidate)
        checks = [self._cases(comparison, baseline, candidate), self._metric(drop)]
        coverage = coverage_check(baseline, candidate)
        if coverage.outcome is Outcome.INDECISIVE:
            checks = [weakened(check) for check in checks]
        return GateDecision(
            gate=self,
            mode=mode,
            checks=(safety_check(candidate), coverage, *checks),
            comparison=comparison,
            drop=drop,
            baseline=baseline,
            notes=tuple(_notes(self, comparison, baseline, candidate)),
        )

    def _cases(self, comparison: Comparison, baseline: RunReport, candidate: RunReport) -> Check:
        if self.cases is CaseRule.OFF:
            return Check(name=CheckName.CASES, outcome=None, detail="no rule on single cases")
        if _without_cases(baseline, candidate):
            return Check(
                name=CheckName.CASES,
                outcome=None,
                detail="not checkable: a report without its cases does not say which were lost",
            )
        lost = tuple(
            pair
            for pair in comparison.pairs
            if self.cases.lost(
                pair.before.valid_trials,
                pair.before.passes,
                pair.after.valid_trials,
                pair.after.passes,
            )
        )
        return Check(
            name=CheckName.CASES,
            outcome=Outcome.BLOCK if lost else Outcome.PASS,
            detail=told_cases(lost, self.cases, len(comparison.pairs)),
            cases=tuple(pair.id for pair in lost),
        )

    def _metric(self, drop: Drop) -> Check:
        if drop.value is None or drop.squared_error is None:
            judged, bar = Outcome.INDECISIVE, None
        else:
            judged, bar = self.rule.judge(drop.value, drop.squared_error)
        return Check(
            name=CheckName.METRIC,
            outcome=judged,
            detail=told_drop(drop, self.measure, self.rule, bar),
        )


def _ungateable(baseline: RunReport, candidate: RunReport) -> Iterator[str]:
    for which, report in (("baseline", baseline), ("candidate", candidate)):
        if report.subset:
            yield f"the {which}'s report is of some cases only: a subset goes through no gate"
    alike = baseline.suite_version == candidate.suite_version and baseline.split == candidate.split
    if alike and not (baseline.subset or candidate.subset):
        yield from other_cases(baseline, candidate)


def _without_cases(baseline: RunReport, candidate: RunReport) -> bool:
    return baseline.totals is not None or candidate.totals is not None


def _drop(metric: Metric, mode: GateMode, baseline: RunReport, candidate: RunReport) -> Drop:
    if metric.k and _without_cases(baseline, candidate):
        raise InputError(
            f"a report without its cases has no {metric.name} that a gate could use",
            hint="gate on the reward: --metric reward",
        )
    found = paired_drop if mode is GateMode.PAIRED else unpaired_drop
    return found(metric, baseline, candidate)


def _notes(
    gate: RegressionGate, comparison: Comparison, baseline: RunReport, candidate: RunReport
) -> Iterator[str]:
    if _without_cases(baseline, candidate):
        if gate.mode is GateMode.PAIRED:
            yield (
                "A report has no cases, so the drop was held against the standard errors of both "
                "sides: pairing the tasks would see smaller drops."
            )
        if candidate.totals and not candidate.safety.cases and not candidate.safety.failures:
            yield "The candidate's report has no cases: nothing is known of its safety."
        return
    if len(comparison.pairs) < _FEWEST_TO_TRUST:
        yield f"{counted(len(comparison.pairs), 'task')} scored in both: too few to lean on."
    yield from _lost_samples(baseline, candidate)
    yield from _gaps(comparison.missing_now, "before and could not be measured now")
    yield from _gaps(comparison.missing_before, "now and could not be measured before")
    if baseline.n != candidate.n:
        yield (
            f"The baseline has {counted(baseline.n, 'sample')} a case, the candidate {candidate.n}."
        )


def _lost_samples(baseline: RunReport, candidate: RunReport) -> Iterator[str]:
    """Tell of samples that only the candidate lost: crashing where one would fail looks better."""
    before, after = (each.figures.planned - each.figures.valid for each in (baseline, candidate))
    reward = candidate.reward
    if after <= before or reward is None:
        return
    worst = [
        (case.reward or Fraction()) * case.valid_trials / case.planned for case in candidate.cases
    ]
    yield (
        f"{counted(after, 'sample')} of the candidate {'has' if after == 1 else 'have'} no verdict "
        f"({before} of the baseline's): had they all failed, its reward would be "
        f"{percent(float(sum(worst, Fraction()) / len(worst)))}, not {percent(float(reward))}."
    )


def _gaps(names: Sequence[str], when: str) -> Iterator[str]:
    if names:
        verb = "was" if len(names) == 1 else "were"
        yield (
            f"{counted(len(names), 'case')} {verb} scored {when}: {first_words(names)}. "
            "That is missing data, and no regression."
        )
