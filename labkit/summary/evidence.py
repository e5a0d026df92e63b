"""Which runs and tasks count: the one place that decides it, for every figure alike.

A retired task is out for every configuration. A safety task stands apart. A run that is missing or
ungraded is out of its task's mean; a task with no measured run of a configuration is out of that
configuration's figures, and out of its pairs.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from labkit.model import ConfigurationId, HardFailKind, RunId, TaskId
from labkit.study import RunResult, Study


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A study, indexed and in a fixed order, so that the order of its results is nothing."""

    study: Study
    planned: Mapping[tuple[ConfigurationId, TaskId], tuple[RunId, ...]]
    results: Mapping[RunId, RunResult]
    about: Mapping[TaskId, RunResult]
    """Any result of the task, for what all of them say alike: category, slices, safety."""
    retired: Mapping[TaskId, str]
    safety: tuple[TaskId, ...]
    counted: tuple[TaskId, ...]

    def attempts(self, configuration: ConfigurationId, task: TaskId) -> tuple[bool | None, ...]:
        """Return whether each planned attempt passed; None for one that was not measured."""
        runs = self.planned.get((configuration, task), ())
        return tuple(self.results[run].passed if run in self.results else None for run in runs)

    def measured(self, configuration: ConfigurationId, task: TaskId) -> tuple[bool, ...]:
        """Return whether each measured attempt passed."""
        return tuple(p for p in self.attempts(configuration, task) if p is not None)

    def results_of(self, configuration: ConfigurationId) -> tuple[RunResult, ...]:
        """Return every result of a configuration, also those that count nowhere."""
        return tuple(r for run, r in self.results.items() if run.configuration == configuration)


def gather(study: Study) -> Evidence:
    """Index a study."""
    results = {result.run: result for result in sorted(study.results, key=lambda r: r.run)}
    about = {run.task: result for run, result in results.items()}
    leaks = {
        run.task: f"a leak was confirmed in {run}"
        for run, result in results.items()
        if HardFailKind.LEAK in result.hard_fails
    }
    retired = dict(sorted((leaks | dict(study.retired)).items()))
    planned: dict[tuple[ConfigurationId, TaskId], tuple[RunId, ...]] = {}
    for run in sorted(study.planned):
        key = (run.configuration, run.task)
        planned[key] = (*planned.get(key, ()), run)
    kept = [task for task in sorted({task for _, task in planned}) if task not in retired]
    safety = tuple(task for task in kept if task in about and about[task].safety)
    return Evidence(
        study=study,
        planned=planned,
        results=results,
        about=about,
        retired=retired,
        safety=safety,
        counted=tuple(task for task in kept if task not in safety),
    )


def task_means(
    evidence: Evidence,
    configuration: ConfigurationId,
    *,
    tasks: Iterable[TaskId],
    missing: bool | None = None,
) -> dict[TaskId, Fraction]:
    """Return the share of attempts that passed, for each task with an attempt to go by.

    Attempts that were not measured are left out, or, with `missing`, taken to have ended so.
    """
    means = {}
    for task in tasks:
        attempts = evidence.attempts(configuration, task)
        known = [missing if passed is None else passed for passed in attempts]
        valid = [passed for passed in known if passed is not None]
        if valid:
            means[task] = Fraction(sum(valid), len(valid))
    return means


def task_values(
    evidence: Evidence,
    configuration: ConfigurationId,
    *,
    read: Callable[[RunResult], float | None],
    reduce: Callable[[list[float]], float],
) -> list[float]:
    """Return one number for each counted task: what `reduce` makes of its measured attempts."""
    values = []
    for task in evidence.counted:
        runs = evidence.planned.get((configuration, task), ())
        results = [evidence.results[run] for run in runs if run in evidence.results]
        found = [read(result) for result in results if result.passed is not None]
        known = [value for value in found if value is not None]
        if known:
            values.append(reduce(known))
    return values
