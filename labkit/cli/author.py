"""Which drafts an author has."""

from collections.abc import Sequence

from labkit.cli.lab import Lab
from labkit.errors import PhaseError, did_you_mean, refuse
from labkit.model import TaskId
from labkit.tasks import Task, read_task


def chosen_drafts(lab: Lab, names: Sequence[str], *, what: str) -> tuple[Task, ...]:
    """Read the named tasks, or every task that has a draft."""
    ids = chosen_ids(lab, names, what=what)
    return tuple(read_task(lab.workspace, task, lab.repository) for task in ids)


def drafts_here(lab: Lab, names: Sequence[str] = ()) -> list[TaskId]:
    """Return the tasks that have a draft: all, or those that are named."""
    return [
        task
        for task in lab.workspace.task_ids()
        if lab.workspace.draft(task).is_dir() and (not names or str(task) in names)
    ]


def chosen_ids(lab: Lab, names: Sequence[str], *, what: str) -> list[TaskId]:
    """Return the named tasks, or every task that has a draft; refuses names without one."""
    ids = [TaskId(name) for name in names] or drafts_here(lab)
    if not ids:
        raise PhaseError(
            f"there is no draft to {what}",
            hint="labkit task new starts a task; sealed tasks have no draft any more",
        )
    known = [str(task) for task in lab.workspace.task_ids()]
    refuse(
        [f"no task {task}{did_you_mean(str(task), known)}" for task in ids
         if str(task) not in known],
        hint="labkit task list shows the tasks",
    )  # fmt: skip
    missing = [
        f"task {task} has no draft in {lab.workspace.draft(task)}"
        for task in ids
        if not lab.workspace.draft(task).is_dir()
    ]
    refuse(missing, hint="it is sealed already, or was written on another machine")
    return ids
