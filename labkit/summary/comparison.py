"""Two configurations, paired by task: how far apart they are, and whether that can be told."""

import statistics
from fractions import Fraction

from labkit.model import ConfigurationId, TaskId
from labkit.stats import (
    Interval,
    SignFlip,
    expected_spread,
    minimum_detectable_effect,
    paired_interval,
    sign_flip_test,
)
from labkit.summary.evidence import Evidence, task_means
from labkit.summary.model import (
    Comparison,
    ConfigurationSummary,
    Estimate,
    Outcome,
    Strict,
)

SIGNIFICANCE = 0.05
FEWEST_MOVED = 5
"""With fewer tasks that differ, the mid-p of the sign-flip test cannot reach .05."""
LEAST_COVERAGE = 0.6
_FEWEST_FOR_A_SPREAD = 2

Differences = dict[TaskId, Fraction]
Pair = tuple[ConfigurationId, ConfigurationId]


def compare(
    evidence: Evidence, first: ConfigurationSummary, second: ConfigurationSummary
) -> Comparison:
    """Compare the second configuration with the first."""
    pair = (first.id, second.id)
    differences = _differences(evidence, pair)
    test = sign_flip_test(list(differences.values()))
    ahead = _detectably_ahead(differences, pair)
    difference = _difference(differences)
    obstacle = _obstacle(first, second, tasks=len(differences))
    spread, observed = _spread(evidence, pair, differences=differences)
    return Comparison(
        first=first.id,
        second=second.id,
        outcome=_outcome(ahead, obstacle=obstacle),
        ahead=None if obstacle else ahead,
        why=obstacle or _explain(test, difference.interval),
        differences={task: float(value) for task, value in differences.items()},
        difference=difference,
        p_exact=test.p_exact if differences else None,
        p_mid=test.p_mid if differences else None,
        strict=_strict(evidence, pair, tasks=differences),
        smallest_detectable=minimum_detectable_effect(len(differences), spread or 0.0),
        spread=spread,
        spread_observed=observed,
        survives_missing=_survives_missing(evidence, pair, ahead=ahead),
    )


def _differences(
    evidence: Evidence,
    pair: Pair,
    *,
    missing: tuple[bool | None, bool | None] = (None, None),
) -> Differences:
    """Return second less first for each task known for both; `missing` as in `task_means`."""
    first, second = (
        task_means(evidence, configuration, tasks=evidence.counted, missing=filled)
        for configuration, filled in zip(pair, missing, strict=True)
    )
    return {task: second[task] - first[task] for task in first if task in second}


def _detectably_ahead(differences: Differences, pair: Pair) -> ConfigurationId | None:
    if sign_flip_test(list(differences.values())).p_mid > SIGNIFICANCE:
        return None
    first, second = pair
    return second if sum(differences.values()) > 0 else first


def _difference(differences: Differences) -> Estimate:
    if not differences:
        return Estimate(value=None, interval=None, tasks=0, why="no task was measured for both")
    values = list(differences.values())
    return Estimate(
        value=float(sum(values, Fraction()) / len(values)),
        interval=paired_interval(values),
        tasks=len(values),
    )


def _obstacle(first: ConfigurationSummary, second: ConfigurationSummary, *, tasks: int) -> str:
    """Say what forbids any verdict; empty when nothing does."""
    if not tasks:
        return "no task was measured for both"
    for side in (first, second):
        share = side.coverage.share
        if share is not None and share < LEAST_COVERAGE:
            return (
                f"only {side.coverage.graded} of the "
                f"{side.coverage.planned - side.coverage.retired} planned runs of {side.id} were "
                f"measured, and below {LEAST_COVERAGE:.0%} nothing is decided"
            )
    return ""


def _outcome(ahead: ConfigurationId | None, *, obstacle: str) -> Outcome:
    if obstacle:
        return Outcome.INDECISIVE
    return Outcome.DETECTABLE if ahead else Outcome.NOT_DETECTABLE


def _explain(test: SignFlip, interval: Interval | None) -> str:
    if test.p_mid <= SIGNIFICANCE:
        return ""
    if test.moved < FEWEST_MOVED:
        moved = {0: "no task", 1: "only one task"}.get(test.moved, f"only {test.moved} tasks")
        return (
            f"{moved} came out differently, and with fewer than {FEWEST_MOVED} "
            "no difference could be detected"
        )
    if interval and 0 not in interval:
        return "a borderline case: the interval leaves out 0, but the test decides"
    return ""


def _strict(
    evidence: Evidence,
    pair: Pair,
    *,
    tasks: Differences,
) -> Strict:
    passed = {
        task: tuple(all(evidence.measured(configuration, task)) for configuration in pair)
        for task in tasks
    }

    def pick(*, first: bool, second: bool) -> tuple[TaskId, ...]:
        return tuple(task for task, both in passed.items() if both == (first, second))

    return Strict(
        first_only=pick(first=True, second=False),
        second_only=pick(first=False, second=True),
        both=pick(first=True, second=True),
        neither=pick(first=False, second=False),
    )


def _spread(
    evidence: Evidence,
    pair: Pair,
    *,
    differences: Differences,
) -> tuple[float | None, bool]:
    """Return the standard deviation to plan with, and whether it is the observed one.

    Few tasks that happen to agree would promise an eye for any difference: the observed one is
    not believed below half of what is usual for as many attempts.
    """
    if len(differences) < _FEWEST_FOR_A_SPREAD:
        return None, False
    observed = statistics.stdev(map(float, differences.values()))
    attempts = statistics.fmean(
        len(evidence.measured(configuration, task))
        for configuration in pair
        for task in differences
    )
    floor = expected_spread(attempts) / 2
    return max(observed, floor), observed >= floor


def _survives_missing(
    evidence: Evidence,
    pair: Pair,
    *,
    ahead: ConfigurationId | None,
) -> bool | None:
    complete = all(
        None not in evidence.attempts(configuration, task)
        for configuration in pair
        for task in evidence.counted
    )
    if complete:
        return None
    return all(
        _detectably_ahead(_differences(evidence, pair, missing=missing), pair) == ahead
        for missing in ((False, True), (True, False))
    )
