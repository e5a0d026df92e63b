"""Two sets of attempts at the same tasks: differences, test, interval, and what they could show."""

import statistics
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fractions import Fraction

from labkit.forecast import MORE_TASKS, SIGNIFICANCE
from labkit.model import TaskId
from labkit.stats import (
    expected_spread,
    minimum_detectable_effect,
    paired_interval,
    rule_of_thumb_power,
    sign_flip_test,
)
from labkit.summary.evidence import Attempts, task_means
from labkit.summary.model import Estimate
from labkit.summary.pair import Chance, Outlook, Paired, Reach, Strict

FEWEST_MOVED = 5
"""With fewer tasks that differ, the mid-p of the sign-flip test cannot reach .05."""
_FEWEST_FOR_A_SPREAD = 2
_TASKS = (6, 9, 12, 18, 24, 36, 50, 75, 100, 150, 200)
_EFFECTS = tuple(step / 20 for step in range(1, 21))

Differences = dict[TaskId, Fraction]
Missing = tuple[bool | None, bool | None]
"""What unmeasured attempts of the first and of the second are taken for; None leaves them out."""


def differences(first: Attempts, second: Attempts, missing: Missing = (None, None)) -> Differences:
    """Return second less first for each task known for both."""
    of_first, of_second = missing
    before = task_means(first, missing=of_first)
    after = task_means(second, missing=of_second)
    return {task: after[task] - before[task] for task in before if task in after}


def mean_of(values: Collection[Fraction]) -> float:
    """Return the mean of at least one task's figure, exact until the end."""
    return float(sum(values, Fraction()) / len(values))


def pair(first: Attempts, second: Attempts) -> Paired:
    """Compare attempts on the tasks measured for both."""
    found = differences(first, second)
    values = list(found.values())
    test = sign_flip_test(values)
    return Paired(
        differences={task: float(value) for task, value in found.items()},
        difference=Estimate(
            value=mean_of(values), interval=paired_interval(values), tasks=len(values)
        )
        if values
        else Estimate(value=None, interval=None, tasks=0, why="no task was measured for both"),
        p_exact=test.p_exact if values else None,
        p_mid=test.p_mid if values else None,
        gained=tuple(task for task, value in found.items() if value > 0),
        lost=tuple(task for task, value in found.items() if value < 0),
        strict=_strict(first, second, found),
    )


def _strict(first: Attempts, second: Attempts, tasks: Iterable[TaskId]) -> Strict:
    passed = {task: (False not in first[task], False not in second[task]) for task in tasks}

    def pick(*, first: bool, second: bool) -> tuple[TaskId, ...]:
        return tuple(task for task, both in passed.items() if both == (first, second))

    return Strict(
        first_only=pick(first=True, second=False),
        second_only=pick(first=False, second=True),
        both=pick(first=True, second=True),
        neither=pick(first=False, second=False),
    )


def explain(found: Paired) -> str:
    """Say why a difference is not detectable, where it is more than the test; else nothing."""
    if found.p_mid is None or found.p_mid <= SIGNIFICANCE:
        return ""
    moved = len(found.gained) + len(found.lost)
    if moved < FEWEST_MOVED:
        tasks = {0: "no task", 1: "only one task"}.get(moved, f"only {moved} tasks")
        return (
            f"{tasks} came out differently, and with fewer than {FEWEST_MOVED} "
            "no difference could be detected"
        )
    if found.difference.interval and 0 not in found.difference.interval:
        return "a borderline case: the interval leaves out 0, but the test decides"
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The standard deviation of differences to plan with."""

    attempts: float
    """How many measured attempts a task has on average, over both sides."""
    value: float
    observed: bool
    """Whether it is that of the differences."""


def spread_of(found: Paired, first: Attempts, second: Attempts) -> Spread | None:
    """Return the spread of the differences; None for fewer than two.

    Few tasks that happen to agree would promise an eye for any difference: the observed one is
    not believed below half of what is usual for as many attempts.
    """
    if len(found.differences) < _FEWEST_FOR_A_SPREAD:
        return None
    attempts = statistics.fmean(
        len(side[task]) - side[task].count(None)
        for task in found.differences
        for side in (first, second)
    )
    observed = statistics.stdev(found.differences.values())
    floor = expected_spread(attempts) / 2
    return Spread(attempts=attempts, value=max(observed, floor), observed=observed >= floor)


def outlook(tasks: int, known: Spread) -> Outlook:
    """Return what these tasks could have detected, and what more would buy."""
    spread, repeats = known.value, round(known.attempts)
    usual = expected_spread(known.attempts)
    cheaper = spread * expected_spread(known.attempts + 1) / usual

    def reach(n: int) -> Reach:
        return Reach(tasks=n, attempts=repeats, smallest=minimum_detectable_effect(n, spread))

    counts = sorted({*_TASKS, tasks, tasks + MORE_TASKS, 2 * tasks})
    return Outlook(
        here=reach(tasks),
        more_tasks=tuple(map(reach, counts)),
        more_attempts=Reach(
            tasks=tasks,
            attempts=repeats + 1,
            smallest=minimum_detectable_effect(tasks, cheaper),
        ),
        powers=tuple(
            Chance(effect=effect, power=chance)
            for effect in _EFFECTS
            if (chance := rule_of_thumb_power(tasks, spread, effect)) is not None
        ),
    )
