"""From a study to its summary: a pure function, whatever order the results come in."""

from collections.abc import Iterator

from labkit.model import TaskId
from labkit.study import Study
from labkit.summary.comparison import compare
from labkit.summary.configuration import configuration_summary
from labkit.summary.evidence import Evidence, gather, task_means
from labkit.summary.limits import limitations
from labkit.summary.model import Group, Grouping, Summary, Tally, TaskRow


def summarise(study: Study) -> Summary:
    """Work out everything that the study can say; units are tasks, never runs.

    Every configuration is compared with the first one of `study.configurations`.
    """
    evidence = gather(study)
    dimensions = tuple(
        dict.fromkeys(name for result in evidence.results.values() for name in result.scores)
    )
    first, *others = configurations = tuple(
        configuration_summary(evidence, configuration, dimensions=dimensions)
        for configuration in study.configurations
    )
    return Summary(
        team=study.team,
        suite_version=study.suite_version,
        difference=study.difference,
        configurations=configurations,
        comparisons=tuple(compare(evidence, first, other) for other in others),
        tasks=tuple(_row(evidence, task) for task in evidence.counted),
        groups=tuple(_groups(evidence)),
        retired=evidence.retired,
        safety_tasks=evidence.safety,
        limitations=limitations(evidence, configurations),
    )


def _row(evidence: Evidence, task: TaskId) -> TaskRow:
    about = evidence.about.get(task)
    return TaskRow(
        task=task,
        category=about.category if about else None,
        slices=about.slices if about else (),
        attempts={
            configuration: evidence.attempts(configuration, task)
            for configuration in evidence.study.configurations
        },
    )


def _groups(evidence: Evidence) -> Iterator[Group]:
    def names(grouping: Grouping, task: TaskId) -> tuple[str, ...]:
        about = evidence.about.get(task)
        if about is None:
            return ()
        match grouping:
            case Grouping.CATEGORY:
                return (about.category.value,)
            case Grouping.SLICE:
                return about.slices

    for grouping in Grouping:
        found = {task: names(grouping, task) for task in evidence.counted}
        for name in sorted({name for of_task in found.values() for name in of_task}):
            tasks = tuple(task for task, of_task in found.items() if name in of_task)
            yield _group(evidence, grouping, name=name, tasks=tasks)


def _group(
    evidence: Evidence, grouping: Grouping, *, name: str, tasks: tuple[TaskId, ...]
) -> Group:
    means = {
        configuration: task_means(evidence, configuration, tasks=tasks)
        for configuration in evidence.study.configurations
    }
    return Group(
        grouping=grouping,
        name=name,
        tasks=len(tasks),
        tallies={
            configuration: Tally(passed=float(sum(of_tasks.values())), tasks=len(of_tasks))
            for configuration, of_tasks in means.items()
        },
    )
