"""Making the arms of a comparison ready: keys, environments with their agents, versions."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from labkit.building import Surroundings
from labkit.cli.console import say
from labkit.cli.equipping import wanted_by
from labkit.cli.lab import Lab, now
from labkit.cli.sandboxes import supply_of
from labkit.configurations import SUBSCRIPTION, read_configurations
from labkit.errors import InputError, refuse
from labkit.model import ConfigurationId, TaskId
from labkit.plan import PlannedRun
from labkit.sandbox.interface import Sandbox, SidecarSandbox
from labkit.settings import Person
from labkit.supply import Supplied, Wanted
from labkit_runner.arms import Arm, arm_of, with_route
from labkit_runner.logins import read_login, require_allowed, warning
from labkit_runner.readback import read_back


def written_arms(lab: Lab, wanted: Iterable[ConfigurationId]) -> dict[ConfigurationId, Arm]:
    """Return the arms as they are written down; raises one InputError with every problem."""
    arms, problems = {}, list[str]()
    for configuration in read_configurations(lab.workspace):
        if configuration.id in wanted:
            try:
                arms[configuration.id] = arm_of(configuration, lab.workspace, lab.settings)
            except InputError as error:
                problems += error.problems
    refuse(problems, hint="labkit config show says what each configuration needs")
    return arms


def ready_arms(
    lab: Lab, sandbox: SidecarSandbox, planned: Sequence[PlannedRun], supplied: Supplied
) -> dict[ConfigurationId, Arm]:
    """Return the arms of planned runs with all that they need, made where it is missing.

    Raises InputError when a key is not set, or a program is not the one that is written down, and
    the first error of an agent that cannot be installed.
    """
    written = written_arms(lab, {item.run.configuration for item in planned})
    arms = {name: _routed(lab, sandbox, arm) for name, arm in written.items()}
    wanted = {
        name: wanted_by(lab, arm.configuration, _tasks(planned, name)) for name, arm in arms.items()
    }
    every = [each for some in wanted.values() for each in some]
    equipped = supply_of(lab, sandbox).equip(supplied, every)
    for error in equipped.failed.values():
        raise error
    return {
        name: _read_back(sandbox, arm, {each: equipped.ready[each] for each in wanted[name]})
        for name, arm in arms.items()
    }


def _tasks(planned: Sequence[PlannedRun], name: ConfigurationId) -> list[TaskId]:
    return list(dict.fromkeys(item.run.task for item in planned if item.run.configuration == name))


def _read_back(sandbox: Sandbox, arm: Arm, places: Mapping[Wanted, Surroundings]) -> Arm:
    """Ask the agent's program in each of its environments what it is."""
    images = {place.image: place for place in places.values()}
    return replace(
        arm,
        surroundings={each.task: place for each, place in places.items() if each.task is not None},
        readback={
            image: read_back(sandbox, place, arm.agent, arm.configuration)
            for image, place in images.items()
        },
    )


def require_subscriptions_allowed(lab: Lab, planned: Iterable[PlannedRun], person: Person) -> None:
    """Refuse subscriptions in automation, and for runs that are planned for somebody else."""
    subscribed = {
        found.id for found in read_configurations(lab.workspace) if found.login == SUBSCRIPTION
    }
    runs = [item for item in planned if item.run.configuration in subscribed]
    which = sorted({str(item.run.configuration) for item in runs})
    require_allowed(which, os.environ, others=any(item.runner != person.name for item in runs))


def _routed(lab: Lab, sandbox: SidecarSandbox, arm: Arm) -> Arm:
    login = None
    if arm.configuration.login == SUBSCRIPTION:
        login = read_login(arm.configuration.agent, home=Path.home(), now=now())
        say(warning(login))
    return with_route(arm, sandbox, lab.settings, login)
