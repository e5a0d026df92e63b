"""The figures of one configuration by itself."""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction

from labkit.model import ConfigurationId, Flag, HardFailKind, RunId
from labkit.rubric import HIGHEST, LOWEST
from labkit.stats import (
    Interval,
    clopper_pearson_interval,
    mean_interval,
    wald_standard_error,
    wilson_interval,
)
from labkit.study import RunResult
from labkit.summary.evidence import Attempts, Evidence, task_means, task_values
from labkit.summary.model import (
    ConfigurationSummary,
    Coverage,
    Doubts,
    Estimate,
    Rate,
    Safety,
)
from labkit.summary.pairing import mean_of
from labkit.summary.repeats import error_parts, noise, pass_hat_2, repeats
from labkit.summary.spending import NO_WASTE, minutes, per_pass, slowest, total

_NOTHING_MEASURED = "no task was measured"


def configuration_summary(
    evidence: Evidence, configuration: ConfigurationId, *, dimensions: Iterable[str]
) -> ConfigurationSummary:
    """Work out every figure of one configuration."""
    results = evidence.results_of(configuration)
    attempts = evidence.counted_attempts(configuration)
    wasted = evidence.study.wasted.get(configuration, NO_WASTE)
    return ConfigurationSummary(
        id=configuration,
        description=evidence.study.configurations[configuration],
        coverage=_coverage(evidence, configuration),
        rate=_rate(attempts),
        rate_bounds=_rate_bounds(attempts),
        rate_with_leaks=_rate_with_leaks(evidence, configuration),
        pass_hat_2=pass_hat_2(attempts),
        repeats=repeats(attempts),
        flaky=tuple(task for task, of in attempts.items() if True in of and False in of),
        noise=noise(attempts),
        error_parts=error_parts(attempts),
        minutes=minutes(evidence, configuration),
        slowest=slowest(evidence, configuration),
        per_pass=per_pass(evidence, configuration),
        rubric=_rubric(evidence, configuration, dimensions=dimensions),
        leaked=_hard_fails(results, HardFailKind.LEAK),
        forbidden_edits=_hard_fails(results, HardFailKind.FORBIDDEN_EDIT),
        safety=_safety(evidence, configuration),
        doubts=_doubts(evidence, configuration),
        sandboxes=dict(sorted(Counter(r.sandbox for r in results if r.sandbox).items())),
        interventions=sum(result.interventions for result in results),
        tokens=total((result.tokens for result in results), wasted.tokens),
        cost=total((result.cost for result in results), wasted.cost, unpriced=wasted.unpriced),
    )


def _hard_fails(results: Iterable[RunResult], kind: HardFailKind) -> tuple[RunId, ...]:
    return tuple(result.run for result in results if kind in result.hard_fails)


def _coverage(evidence: Evidence, configuration: ConfigurationId) -> Coverage:
    found = evidence.results[configuration]
    kept = [each for task, of in found.items() if task not in evidence.retired for each in of]
    planned = sum(map(len, found.values()))
    results = [result for result in kept if result is not None]
    graded = [result for result in results if result.passed is not None]
    ran = sum(result.verdict is not None or result.passed is not None for result in results)
    attempts = Counter(len(found[task]) for task in evidence.counted if task in found)
    return Coverage(
        planned=planned,
        retired=planned - len(kept),
        run=ran,
        graded=len(graded),
        ungraded=ran - len(graded),
        missing=len(kept) - ran,
        scored=sum(bool(result.scores) for result in graded),
        share=len(graded) / len(kept) if kept else None,
        attempts=dict(sorted(attempts.items(), reverse=True)),
    )


def _rate(attempts: Attempts) -> Rate:
    means = task_means(attempts)
    n = len(means)
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
    value = mean_of(means.values())
    return Rate(
        value=value,
        interval=wilson_interval(value, n),
        tasks=n,
        runs=sum(len(of) - of.count(None) for of in attempts.values()),
        passed=float(sum(means.values(), Fraction())),
        teaching_error=wald_standard_error(value, n) if 0 < value < 1 else None,
    )


def _rate_bounds(attempts: Attempts) -> Interval | None:
    if not any(None in of_task for of_task in attempts.values()):
        return None
    low, high = (mean_of(task_means(attempts, missing=passed).values()) for passed in (False, True))
    return Interval(low=low, high=high)


def _rate_with_leaks(evidence: Evidence, configuration: ConfigurationId) -> Rate | None:
    """Put the retired tasks back: a leaked run is a hard fail, and so a fail."""
    if not evidence.retired:
        return None
    apart = frozenset(evidence.safety)
    found = evidence.outcomes[configuration]
    return _rate({task: of for task, of in found.items() if task not in apart})


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
        interval = mean_interval(values, low=LOWEST, high=HIGHEST)
        return Estimate(
            value=statistics.fmean(values),
            interval=interval,
            tasks=len(values),
            why="" if interval else _no_spread(len(values)),
        )

    return {dimension: estimate(dimension) for dimension in dimensions}


def _no_spread(tasks: int) -> str:
    return "one task has none" if tasks == 1 else "the marks of these tasks do not differ"


def _safety(evidence: Evidence, configuration: ConfigurationId) -> Safety:
    attempts = [evidence.measured(configuration, task) for task in evidence.safety]
    known = [of_task for of_task in attempts if of_task]
    held = sum(all(of_task) for of_task in known)
    apart = frozenset(evidence.safety)
    return Safety(
        held=held,
        tasks=len(known),
        interval=clopper_pearson_interval(held, len(known)) if known else None,
        failed=tuple(
            result.run
            for result in evidence.results_of(configuration)
            if result.passed is False and result.run.task in apart
        ),
    )


def _doubts(evidence: Evidence, configuration: ConfigurationId) -> Doubts:
    found = evidence.results[configuration]
    results: list[RunResult] = [
        result for task in evidence.counted for result in found.get(task, ()) if result is not None
    ]

    def flagged(flag: Flag) -> tuple[RunId, ...]:
        return tuple(result.run for result in results if flag in result.flags)

    return Doubts(
        tampered=flagged(Flag.TAMPERED),
        suspicious=flagged(Flag.SUSPICIOUS),
        weak=flagged(Flag.WEAK),
        unread=tuple(result.run for result in results if result.unread),
    )
