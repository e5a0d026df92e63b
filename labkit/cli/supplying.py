"""What `labkit env` does: environments made, listed and removed by hand."""

from collections.abc import Sequence

from labkit.building import Surroundings
from labkit.cli.console import data, say
from labkit.cli.equipping import Users, configurations_called, wanted_by
from labkit.cli.lab import Lab
from labkit.cli.sandboxes import open_sandbox, supply_of, tell_failures
from labkit.errors import InputError
from labkit.model import TaskId
from labkit.tasks import Task

_MIB = 1024 * 1024


def build(
    names: Sequence[str], sandbox_name: str, *, agents: Sequence[str] = (), again: bool
) -> int:
    """Make what is missing for the named tasks, or for all; return 1 when one cannot be made.

    With `agents`, also what lies on top of these, or of the base image where there is no task yet.
    """
    lab = Lab.open()
    configurations = [each for name in agents for each in configurations_called(lab, name)]
    tasks = _chosen(lab, names) if names or not agents else tuple(lab.tasks().values())
    supply = supply_of(lab, open_sandbox(sandbox_name, lab.settings))
    supplied = supply.provide(tasks, again=again and not agents)
    tell_failures(supplied.failed.values())
    if not agents:
        for task in tasks:
            if task.id in supplied.ready:
                _tell(str(task.id), supplied.ready[task.id])
        return 1 if supplied.failed else 0
    ids = [task.id for task in tasks]
    wanted = [one for each in configurations for one in wanted_by(lab, each, ids)]
    equipped = supply.equip(supplied, wanted, again=again)
    tell_failures(
        error for each, error in equipped.failed.items() if each.task not in supplied.failed
    )
    for each, place in equipped.ready.items():
        _tell(f"{each.agent} for {each.task}" if each.task else each.agent, place)
    return 1 if equipped.failed else 0


def _tell(whose: str, place: Surroundings) -> None:
    say(f"{whose}: {place.key or f'{place.image}, as it is'}")


def show(sandbox_name: str) -> None:
    """Print a line for each environment: key, size, when it was made, whose it is."""
    lab = Lab.open()
    supply = supply_of(lab, open_sandbox(sandbox_name, lab.settings))
    users = Users.of(lab, supply)
    tell_failures(users.failed)
    made = {each.key: each for each in supply.workshop.made()}
    for key, each in made.items():
        size = f"{max(1, round(each.bytes / _MIB))} MiB"
        whose = users.whose.get(key, "no task of this lab")
        data(f"{key}  {size:>9}  {each.created}  {whose}")
    for key, whose in users.whose.items():
        if key not in made:
            data(f"{key}    not made  {'':19}  {whose}")
            say(f"{users.command[key]} makes it")
    if not made and not users.whose:
        say("no task has an environment of its own, and none is kept here")


def prune(sandbox_name: str, *, everything: bool) -> None:
    """Remove what no task or configuration of this lab uses, or everything; never what runs now."""
    lab = Lab.open()
    supply = supply_of(lab, open_sandbox(sandbox_name, lab.settings))
    users = None if everything else Users.of(lab, supply)
    if users is not None and users.failed:
        tell_failures(users.failed)
        raise InputError(
            "what these tasks and configurations use is not known, so nothing is removed",
            hint="mend them first, or remove everything with --all",
        )
    removed = 0
    for each in supply.workshop.made():
        if users is None or each.key not in users.whose:
            if supply.workshop.in_use(each.key):
                say(f"kept {each.key}: a sandbox is running in it, of this lab or of another one")
                continue
            supply.workshop.remove(each.key)
            say(f"removed {each.key}")
            removed += 1
    if not removed:
        say("there is nothing to remove")


def _chosen(lab: Lab, names: Sequence[str]) -> tuple[Task, ...]:
    tasks = lab.tasks()
    wanted = [TaskId(name) for name in names]
    for name in wanted:
        if name not in tasks:
            raise InputError(f"no task {name}", hint="labkit status lists the tasks")
    if not tasks:
        raise InputError("there is no task yet", hint="labkit task new starts one")
    return tuple(tasks[name] for name in wanted or tasks)
