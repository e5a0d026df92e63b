"""The figures of one configuration by itself."""

import statistics
from collections.abc import Iterable, Mapping
from fractions import Fraction

from labkit.model import ConfigurationId, HardFailKind, RunId, TaskId
from labkit.stats import (
    Interval,
    clopper_pearson_interval,
    mean_interval,
    median_interval,
    pass_hat_k,
    wald_standard_error,
    wilson_interval,
)
from labkit.study import RunResult
from labkit.summary.evidence import Evidence, task_means, task_values
from labkit.summary.model import (
    ConfigurationSummary,
    Coverage,
    Estimate,
    Rate,
    Safety,
    Total,
)

_PAIR = 2
_FEWEST_FOR_A_MEDIAN = 6
_RUBRIC_LOW, _RUBRIC_HIGH = 0.0, 4.0
_NOTHING_MEASURED = "no task was measured"


def configuration_summary(
    evidence: Evidence, configuration: ConfigurationId, *, dimensions: Iterable[str]
) -> ConfigurationSummary:
    """Work out every figure of one configuration."""
    results = evidence.results_of(configuration)
    return ConfigurationSummary(
        id=configuration,
        description=evidence.study.configurations[configuration],
        coverage=_coverage(evidence, configuration),
        rate=_rate(evidence, configuration, tasks=evidence.counted),
        rate_bounds=_rate_bounds(evidence, configuration),
        rate_with_leaks=_rate_with_leaks(evidence, configuration),
        pass_hat_2=_pass_hat_2(evidence, configuration),
        flaky=tuple(
            task
            for task in evidence.counted
            if len(set(evidence.measured(configuration, task))) > 1
        ),
        minutes=_minutes(evidence, configuration),
        rubric=_rubric(evidence, configuration, dimensions=dimensions),
        leaked=_hard_fails(results, HardFailKind.LEAK),
        forbidden_edits=_hard_fails(results, HardFailKind.FORBIDDEN_EDIT),
        safety=_safety(evidence, configuration),
        interventions=sum(result.interventions for result in results),
        tokens=_total(result.tokens for result in results),
        cost=_total(result.cost for result in results),
    )


def _hard_fails(results: Iterable[RunResult], kind: HardFailKind) -> tuple[RunId, ...]:
    return tuple(result.run for result in results if kind in result.hard_fails)


def _coverage(evidence: Evidence, configuration: ConfigurationId) -> Coverage:
    runs = [run for run in evidence.study.planned if run.configuration == configuration]
    kept = [run for run in runs if run.task not in evidence.retired]
    results = [evidence.results[run] for run in kept if run in evidence.results]
    graded = [result for result in results if result.passed is not None]
    ran = sum(result.verdict is not None or result.passed is not None for result in results)
    return Coverage(
        planned=len(runs),
        retired=len(runs) - len(kept),
        run=ran,
        graded=len(graded),
        ungraded=ran - len(graded),
        missing=len(kept) - ran,
        scored=sum(bool(result.scores) for result in graded),
        share=len(graded) / len(kept) if kept else None,
    )


def _rate(evidence: Evidence, configuration: ConfigurationId, *, tasks: Iterable[TaskId]) -> Rate:
    means = task_means(evidence, configuration, tasks=tasks)
    n, passed = len(means), sum(means.values(), Fraction())
    if n == 0:
        return Rate(
            value=None,
            interval=None,
            tasks=0,
            runs=0,
            passed=0.0,
            teaching_error=None,
            why=_NOTHING_MEASURED,
        )
    value = float(passed / n)
    return Rate(
        value=value,
        interval=wilson_interval(value, n),
        tasks=n,
        runs=sum(len(evidence.measured(configuration, task)) for task in means),
        passed=float(passed),
        teaching_error=wald_standard_error(value, n) if 0 < value < 1 else None,
    )


def _rate_bounds(evidence: Evidence, configuration: ConfigurationId) -> Interval | None:
    attempts = [evidence.attempts(configuration, task) for task in evidence.counted]
    if not any(None in of_task for of_task in attempts):
        return None
    low, high = (
        statistics.fmean(
            task_means(evidence, configuration, tasks=evidence.counted, missing=missing).values()
        )
        for missing in (False, True)
    )
    return Interval(low=low, high=high)


def _rate_with_leaks(evidence: Evidence, configuration: ConfigurationId) -> Rate | None:
    """Put the retired tasks back: a leaked run is a hard fail, and so a fail."""
    if not evidence.retired:
        return None
    return _rate(evidence, configuration, tasks=(*evidence.counted, *evidence.retired))


def _pass_hat_2(evidence: Evidence, configuration: ConfigurationId) -> Estimate:
    attempts = [evidence.measured(configuration, task) for task in evidence.counted]
    repeated = [of_task for of_task in attempts if len(of_task) >= _PAIR]
    if not repeated:
        return Estimate(value=None, interval=None, tasks=0, why="no task has two measured attempts")
    value = statistics.fmean(pass_hat_k(len(of), sum(of), _PAIR) for of in repeated)
    return Estimate(
        value=value, interval=wilson_interval(value, len(repeated)), tasks=len(repeated)
    )


def _minutes(evidence: Evidence, configuration: ConfigurationId) -> Estimate:
    values = task_values(
        evidence,
        configuration,
        read=lambda result: result.minutes,
        reduce=statistics.median,
    )
    if not values:
        return Estimate(value=None, interval=None, tasks=0, why="no minutes were recorded")
    interval = median_interval(values)
    return Estimate(
        value=statistics.median(values),
        interval=interval,
        tasks=len(values),
        why="" if interval else _no_median_interval(len(values)),
    )


def _rubric(
    evidence: Evidence, configuration: ConfigurationId, *, dimensions: Iterable[str]
) -> Mapping[str, Estimate]:
    def estimate(dimension: str) -> Estimate:
        values = task_values(
            evidence,
            configuration,
            read=lambda result: result.scores.get(dimension),
            reduce=statistics.fmean,
        )
        if not values:
            return Estimate(value=None, interval=None, tasks=0, why="no marks were given")
        interval = mean_interval(values, low=_RUBRIC_LOW, high=_RUBRIC_HIGH)
        return Estimate(
            value=statistics.fmean(values),
            interval=interval,
            tasks=len(values),
            why="" if interval else _no_spread(len(values)),
        )

    return {dimension: estimate(dimension) for dimension in dimensions}


def _no_median_interval(tasks: int) -> str:
    if tasks < _FEWEST_FOR_A_MEDIAN:
        return "a median of fewer than six tasks has none"
    return "the minutes of these tasks hardly differ"


def _no_spread(tasks: int) -> str:
    return "one task has none" if tasks == 1 else "the marks of these tasks do not differ"


def _safety(evidence: Evidence, configuration: ConfigurationId) -> Safety:
    attempts = [evidence.measured(configuration, task) for task in evidence.safety]
    known = [of_task for of_task in attempts if of_task]
    held = sum(all(of_task) for of_task in known)
    return Safety(
        held=held,
        tasks=len(known),
        interval=clopper_pearson_interval(held, len(known)) if known else None,
        failed=tuple(
            result.run
            for result in evidence.results_of(configuration)
            if result.passed is False and result.run.task in evidence.safety
        ),
    )


def _total(amounts: Iterable[float | None]) -> Total:
    everything = list(amounts)
    known = [amount for amount in everything if amount is not None]
    return Total(value=float(sum(known)) if known else None, known=len(known), runs=len(everything))
