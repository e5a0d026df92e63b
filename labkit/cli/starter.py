"""What `labkit task starter` does: the kit's own tasks, for teams whose history is too thin."""

import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from labkit.cli.console import data, say
from labkit.cli.fixturefolder import Folder, read_folder
from labkit.cli.fixtures import Paths, add_task
from labkit.cli.lab import Lab
from labkit.errors import InputError, did_you_mean, refuse
from labkit.model import TaskId
from labkit.phases import require_authoring
from labkit.scaffold import copy_out, require_free, template

_FOLDER = "starter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Starter:
    """One of the kit's own tasks."""

    id: TaskId
    folder: Folder


def starter_ids() -> tuple[TaskId, ...]:
    """Return the ids of the kit's own tasks, sorted."""
    found = template(_FOLDER).iterdir()
    return tuple(sorted(TaskId(item.name) for item in found if item.is_dir()))


def read_starter(task: TaskId) -> Starter:
    """Read one of the kit's own tasks."""
    with tempfile.TemporaryDirectory(prefix="labkit-starter-") as folder:
        copy_out(template(_FOLDER, str(task)), Path(folder) / str(task))
        return Starter(id=task, folder=read_folder(Path(folder) / str(task)))


def tell_starters() -> None:
    """Write a line for each of the kit's own tasks: id, category and title."""
    for task in starter_ids():
        read = read_starter(task).folder
        data(f"{task!s:<20} {read.category:<10} {read.spec.title}")


def add_starters(names: Sequence[str], me: str) -> None:
    """Make tasks of the starter's: the named ones, or all; all of them, or none."""
    lab = Lab.open()
    require_authoring(lab.workspace)
    person = lab.person(me)
    chosen = _chosen(names)
    _require_all_free(lab, chosen)
    starters = [read_starter(task) for task in chosen]
    made: list[TaskId] = []
    try:
        for starter in starters:
            task = add_task(lab, starter.id, starter.folder, person)
            made.append(task.id)
            say(f"made task {task.id} ({task.category}): {task.title}")
    except BaseException:
        for each in made:
            Paths.of(lab.workspace, each).remove()
        raise
    say(f"{len(made)} task{'' if len(made) == 1 else 's'} of {person.name}: read the prompts and "
        "the hidden tests, change what you like, then: labkit task validate")  # fmt: skip


def copy_starters(names: Sequence[str], target: Path) -> None:
    """Copy the starter's folders as they are, as patterns for folders of your own."""
    chosen = _chosen(names)
    taken = [f"{target / str(task)} is already there" for task in chosen
             if os.path.lexists(target / str(task))]  # fmt: skip
    refuse(taken, hint="choose another folder, or name the tasks that you want")
    try:
        for task in chosen:
            copy_out(template(_FOLDER, str(task)), target / str(task))
    except BaseException:
        for task in chosen:
            shutil.rmtree(target / str(task), ignore_errors=True)
        raise
    say(f"copied {len(chosen)} to {target}; labkit task new ID --fixture makes a task of one")


def _chosen(names: Sequence[str]) -> tuple[TaskId, ...]:
    known = [str(task) for task in starter_ids()]
    unknown = [f"the starter has no task {name}{did_you_mean(name, known)}"
               for name in names if name not in known]  # fmt: skip
    refuse(unknown, hint="labkit task starter --list shows them")
    return tuple(TaskId(name) for name in dict.fromkeys(names)) or starter_ids()


def _require_all_free(lab: Lab, chosen: Sequence[TaskId]) -> None:
    problems: list[str] = []
    free: list[str] = []
    for task in chosen:
        try:
            require_free(lab.workspace, task)
            free.append(str(task))
        except InputError as error:
            problems.append(error.message)
    others = f"the others: labkit task starter {' '.join(free)}" if free else ""
    refuse(problems, hint=others or "labkit task list shows the tasks that are there")
