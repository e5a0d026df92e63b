"""Which runs and tasks count: the one place that decides it, for every figure alike.

A retired task is out for every configuration. A safety task stands apart. A run that is missing or
ungraded is out of its task's mean; a task with no measured run of a configuration is out of that
configuration's figures, and out of its pairs.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from labkit.model import ConfigurationId, HardFailKind, RunId, TaskId
from labkit.study import RunResult, Study

Attempts = Mapping[TaskId, tuple[bool | None, ...]]
"""Whether each planned attempt passed; None for one that was not measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A study, indexed and in a fixed order, so that the order of its results is nothing."""

    study: Study
    results: Mapping[ConfigurationId, Mapping[TaskId, tuple[RunResult | None, ...]]]
    """Every planned attempt; None where there is no result."""
    outcomes: Mapping[ConfigurationId, Attempts]
    about: Mapping[TaskId, RunResult]
    """Any result of the task, for what all of them say alike: category, slices, safety."""
    retired: Mapping[TaskId, str]
    safety: tuple[TaskId, ...]
    counted: tuple[TaskId, ...]

    def attempts(self, configuration: ConfigurationId, task: TaskId) -> tuple[bool | None, ...]:
        """Return whether each planned attempt passed; None for one that was not measured."""
        return self.outcomes[configuration].get(task, ())

    def measured(self, configuration: ConfigurationId, task: TaskId) -> tuple[bool, ...]:
        """Return whether each measured attempt passed."""
        return tuple(p for p in self.attempts(configuration, task) if p is not None)

    def counted_attempts(self, configuration: ConfigurationId) -> Attempts:
        """Return the attempts at the tasks that count and are planned for a configuration."""
        found = self.outcomes[configuration]
        return {task: found[task] for task in self.counted if task in found}

    def results_of(self, configuration: ConfigurationId) -> tuple[RunResult, ...]:
        """Return every result of a configuration, also those that count nowhere."""
        return tuple(
            result
            for results in self.results[configuration].values()
            for result in results
            if result is not None
        )

    def measured_results(self, configuration: ConfigurationId) -> Iterator[list[RunResult]]:
        """Yield the measured results of each task that counts and has any."""
        found = self.results[configuration]
        for task in self.counted:
            measured = [r for r in found.get(task, ()) if r is not None and r.passed is not None]
            if measured:
                yield measured


def gather(study: Study) -> Evidence:
    """Index a study."""
    results = {result.run: result for result in study.results}
    cells: dict[ConfigurationId, dict[TaskId, list[RunResult | None]]] = {
        configuration: {} for configuration in study.configurations
    }
    about: dict[TaskId, RunResult] = {}
    leaks: dict[TaskId, str] = {}
    tasks: dict[TaskId, None] = {}
    for run in sorted(study.planned, key=_order):
        result = results.get(run)
        tasks[run.task] = None
        cells[run.configuration].setdefault(run.task, []).append(result)
        if result is not None:
            about[run.task] = result
            if HardFailKind.LEAK in result.hard_fails:
                leaks[run.task] = f"a leak was confirmed in {run}"
    retired = dict(sorted((leaks | dict(study.retired)).items()))
    kept = [task for task in tasks if task not in retired]
    safety = tuple(task for task in kept if task in about and about[task].safety)
    apart = frozenset(safety)
    return Evidence(
        study=study,
        results={which: {t: tuple(r) for t, r in of.items()} for which, of in cells.items()},
        outcomes={
            which: {
                task: tuple(None if result is None else result.passed for result in found)
                for task, found in of.items()
            }
            for which, of in cells.items()
        },
        about=about,
        retired=retired,
        safety=safety,
        counted=tuple(task for task in kept if task not in apart),
    )


def _order(run: RunId) -> tuple[str, str, int]:
    return run.task.text, run.configuration.text, run.attempt


@lru_cache(maxsize=4096)
def _share(passed: int, of: int) -> Fraction:
    return Fraction(passed, of)


def task_means(attempts: Attempts, *, missing: bool | None = None) -> dict[TaskId, Fraction]:
    """Return the share of attempts that passed, for each task with an attempt to go by.

    Attempts that were not measured are left out, or, with `missing`, taken to have ended so.
    """
    means = {}
    for task, outcomes in attempts.items():
        known = len(outcomes) - outcomes.count(None)
        passed = outcomes.count(True)
        if missing is not None:
            passed += (len(outcomes) - known) * missing
            known = len(outcomes)
        if known:
            means[task] = _share(passed, known)
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
    for results in evidence.measured_results(configuration):
        known = known_values(results, read)
        if known:
            values.append(reduce(known))
    return values


def known_values(
    results: Iterable[RunResult], read: Callable[[RunResult], float | None]
) -> list[float]:
    """Return a figure of each result that recorded it."""
    return [value for result in results if (value := read(result)) is not None]
