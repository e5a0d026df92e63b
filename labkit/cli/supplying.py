"""What `labkit env` does: environments made, listed and removed by hand."""

from collections.abc import Sequence

from labkit.cli.console import data, say
from labkit.cli.lab import Lab
from labkit.cli.sandboxes import open_sandbox, supply_of, tell_failures
from labkit.errors import InputError, LabkitError
from labkit.fields import first_words
from labkit.model import TaskId
from labkit.supply import Supply
from labkit.tasks import Task

_MIB = 1024 * 1024


def build(names: Sequence[str], sandbox_name: str, *, again: bool) -> int:
    """Make what is missing for the named tasks, or for all; return 1 when one cannot be made."""
    lab = Lab.open()
    tasks = _chosen(lab, names)
    supply = supply_of(lab, open_sandbox(sandbox_name, lab.settings))
    supplied = supply.provide(tasks, again=again)
    tell_failures(supplied.failed)
    for task in tasks:
        if task.id in supplied.ready:
            place = supplied.ready[task.id]
            say(f"{task.id}: {place.key or f'{place.image}, as it is'}")
    return 1 if supplied.failed else 0


def show(sandbox_name: str) -> None:
    """Print a line for each environment: key, size, when it was made, whose it is."""
    lab = Lab.open()
    supply = supply_of(lab, open_sandbox(sandbox_name, lab.settings))
    users, failed = _users(lab, supply)
    tell_failures(failed)
    made = {each.key: each for each in supply.workshop.made()}
    for key, each in made.items():
        size = f"{max(1, round(each.bytes / _MIB))} MiB"
        whose = first_words(users[key]) if key in users else "no task of this lab"
        data(f"{key}  {size:>9}  {each.created}  {whose}")
    for key, tasks in users.items():
        if key not in made:
            data(f"{key}    not made  {'':19}  {first_words(tasks)}")
            say(f"labkit env build {tasks[0]} makes it")
    if not made and not users:
        say("no task has an environment of its own, and none is kept here")


def prune(sandbox_name: str, *, everything: bool) -> None:
    """Remove what no task of this lab uses, or everything."""
    lab = Lab.open()
    supply = supply_of(lab, open_sandbox(sandbox_name, lab.settings))
    users, failed = ({}, {}) if everything else _users(lab, supply)
    if failed:
        tell_failures(failed)
        raise InputError(
            "what these tasks use is not known, so nothing is removed",
            hint="mend them first, or remove everything with --all",
        )
    removed = 0
    for each in supply.workshop.made():
        if each.key not in users:
            supply.workshop.remove(each.key)
            say(f"removed {each.key}")
            removed += 1
    if not removed:
        say("there is nothing to remove")


def _users(lab: Lab, supply: Supply) -> tuple[dict[str, list[str]], dict[TaskId, LabkitError]]:
    needs, failed = supply.needs(list(lab.tasks().values()))
    return {need.key: [str(task) for task in need.tasks] for need in needs}, failed


def _chosen(lab: Lab, names: Sequence[str]) -> tuple[Task, ...]:
    tasks = lab.tasks()
    wanted = [TaskId(name) for name in names]
    for name in wanted:
        if name not in tasks:
            raise InputError(f"no task {name}", hint="labkit status lists the tasks")
    if not tasks:
        raise InputError("there is no task yet", hint="labkit task new starts one")
    return tuple(tasks[name] for name in wanted or tasks)
