"""From a study to its summary: a pure function, whatever order the results come in."""

import statistics
from collections.abc import Iterator, Mapping
from fractions import Fraction

from labkit.effects import attributable
from labkit.model import ConfigurationId, TaskId
from labkit.study import RunResult, Study
from labkit.summary.agreement import agreement, blinding
from labkit.summary.comparison import compare_all
from labkit.summary.configuration import configuration_summary
from labkit.summary.evidence import Evidence, gather, known_values, task_means
from labkit.summary.limits import limitations
from labkit.summary.whole import Group, Grouping, Summary, Tally, TaskRow

_Means = Mapping[ConfigurationId, Mapping[TaskId, Fraction]]


def summarise(study: Study) -> Summary:
    """Work out everything that the study can say; units are tasks, never runs.

    Every two configurations are compared, the later one of `study.configurations` with the earlier.
    """
    evidence = gather(study)
    dimensions = tuple(dict.fromkeys(name for r in study.results for name in r.scores))
    configurations = tuple(
        configuration_summary(evidence, configuration, dimensions=sorted(dimensions))
        for configuration in study.configurations
    )
    means = {
        configuration: task_means(evidence.counted_attempts(configuration))
        for configuration in study.configurations
    }
    guessed = blinding(study)
    return Summary(
        team=study.team,
        suite_version=study.suite_version,
        difference=study.difference,
        pilot=study.pilot,
        configurations=configurations,
        comparisons=compare_all(evidence, configurations),
        tasks=tuple(_row(evidence, task, means) for task in evidence.counted),
        groups=tuple(_groups(evidence, means)),
        agreement=agreement(evidence, dimensions),
        blinding=guessed,
        retired=evidence.retired,
        safety_tasks=evidence.safety,
        limitations=limitations(evidence, configurations, guessed),
        attributable=attributable(study.effects),
    )


def _row(evidence: Evidence, task: TaskId, means: _Means) -> TaskRow:
    about = evidence.about.get(task)
    measured: dict[ConfigurationId, list[RunResult]] = {
        configuration: [r for r in found.get(task, ()) if r is not None and r.passed is not None]
        for configuration, found in evidence.results.items()
    }
    minutes = {which: known_values(of, lambda r: r.minutes) for which, of in measured.items()}
    costs = {which: known_values(of, lambda r: r.cost) for which, of in measured.items()}
    return TaskRow(
        task=task,
        category=about.category if about else None,
        slices=about.slices if about else (),
        attempts={which: found.get(task, ()) for which, found in evidence.outcomes.items()},
        means={which: float(of[task]) if task in of else None for which, of in means.items()},
        minutes={which: statistics.median(of) if of else None for which, of in minutes.items()},
        cost={which: sum(of) / len(of) if of else None for which, of in costs.items()},
        digest=evidence.study.digests.get(task, ""),
    )


def _groups(evidence: Evidence, means: _Means) -> Iterator[Group]:
    found: dict[tuple[Grouping, str], list[TaskId]] = {}
    for task in evidence.counted:
        about = evidence.about.get(task)
        if about is None:
            continue
        found.setdefault((Grouping.CATEGORY, about.category.value), []).append(task)
        for name in about.slices:
            found.setdefault((Grouping.SLICE, name), []).append(task)
    order = list(Grouping)
    for grouping, name in sorted(found, key=lambda key: (order.index(key[0]), key[1])):
        tasks = found[grouping, name]
        yield Group(
            grouping=grouping,
            name=name,
            tasks=len(tasks),
            tallies={which: _tally(of, tasks) for which, of in means.items()},
        )


def _tally(means: Mapping[TaskId, Fraction], tasks: list[TaskId]) -> Tally:
    known = [means[task] for task in tasks if task in means]
    return Tally(passed=float(sum(known, Fraction())), tasks=len(known))
