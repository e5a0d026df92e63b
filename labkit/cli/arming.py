"""Making the arms of a comparison ready: keys, environments with their agents, versions."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from labkit.cli.console import say
from labkit.cli.lab import Lab, now
from labkit.configurations import SUBSCRIPTION, read_configurations
from labkit.errors import InputError, refuse
from labkit.model import ConfigurationId
from labkit.plan import PlannedRun
from labkit.sandbox.interface import SidecarSandbox
from labkit.settings import Person
from labkit.supply import Supplied
from labkit_runner.arms import Arm, arm_of, with_route
from labkit_runner.logins import read_login, require_allowed, warning


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

    Raises InputError when a key is not set, or a program is not the one that is written down.
    """
    arms = written_arms(lab, {item.run.configuration for item in planned})
    return {name: _ready(lab, sandbox, arm, supplied) for name, arm in arms.items()}


def require_subscriptions_allowed(lab: Lab, planned: Iterable[PlannedRun], person: Person) -> None:
    """Refuse subscriptions in automation, and for runs that are planned for somebody else."""
    subscribed = {
        found.id for found in read_configurations(lab.workspace) if found.login == SUBSCRIPTION
    }
    runs = [item for item in planned if item.run.configuration in subscribed]
    which = sorted({str(item.run.configuration) for item in runs})
    require_allowed(which, os.environ, others=any(item.runner != person.name for item in runs))


def _ready(lab: Lab, sandbox: SidecarSandbox, arm: Arm, supplied: Supplied) -> Arm:
    login = None
    if arm.configuration.login == SUBSCRIPTION:
        login = read_login(arm.configuration.agent, home=Path.home(), now=now())
        say(warning(login))
    arm = with_route(arm, sandbox, lab.settings, login)
    return replace(arm, surroundings=supplied.ready)
