"""Which agents a lab's environments need on top of what its tasks need."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from labkit.agentfields import AGENTS
from labkit.cli.lab import Lab
from labkit.configurations import Configuration, read_configuration
from labkit.errors import InputError, LabkitError
from labkit.fields import first_words
from labkit.model import ConfigurationId, TaskId
from labkit.supply import Need, Supply, Wanted
from labkit.tasks import Task
from labkit_runner.agents.registry import agent_named


def wanted_by(
    lab: Lab, configuration: Configuration, tasks: Sequence[TaskId]
) -> tuple[Wanted, ...]:
    """Return a configuration's agent on top of what each task has, or of nothing where none is.

    Raises InputError when the agent cannot be installed as the configuration says.
    """
    agent = agent_named(configuration.agent, lab.workspace)
    version = configuration.agent_version or agent.usual_version
    name = f"{configuration.agent} {version}".strip()
    install = agent.install(configuration)
    return tuple(Wanted(agent=name, install=install, task=task) for task in tasks or (None,))


def configurations_called(lab: Lab, name: str) -> tuple[Configuration, ...]:
    """Return the configurations that a letter or an agent's name means.

    An agent that no configuration of the lab has stands for itself, in its usual version.
    """
    letters = lab.workspace.configuration_ids()
    if name in map(str, letters):
        return (read_configuration(lab.workspace, ConfigurationId(name)),)
    if name not in AGENTS:
        known = ", ".join([*map(str, letters), *AGENTS])
        raise InputError(f"no agent or configuration is called {name!r}", hint=f"one of: {known}")
    every = (read_configuration(lab.workspace, letter) for letter in letters)
    return tuple(each for each in every if each.agent == name) or (_usual(name),)


def _usual(agent: str) -> Configuration:
    return Configuration(
        id=ConfigurationId("A"),
        agent=agent,
        agent_version="",
        model="",
        effort="",
        settings={},
        command=(),
        steps="",
        turn_cap=1,
        notes="",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Users:
    """Whose each environment is, by its key, and what could not be told."""

    whose: dict[str, str]
    command: dict[str, str]
    """What makes it."""
    failed: tuple[LabkitError, ...]

    @classmethod
    def of(cls, lab: Lab, supply: Supply) -> Self:
        """Look at every task and configuration of a lab; nothing is made."""
        tasks = lab.tasks()
        needs, failures = supply.needs(list(tasks.values()))
        whose = {need.key: first_words([str(task) for task in need.tasks]) for need in needs}
        command = {need.key: f"labkit env build {need.tasks[0]}" for need in needs}
        agents, broken = _agents(lab, supply, tasks, needs)
        for key, (letters, wanted) in agents.items():
            words = first_words([str(each.task) for each in wanted if each.task is not None])
            whose[key] = f"{wanted[0].agent} for {words}" if words else wanted[0].agent
            command[key] = f"labkit env build --agent {letters[0]}"
        return cls(whose=whose, command=command, failed=(*failures.values(), *broken))


def _agents(
    lab: Lab, supply: Supply, tasks: dict[TaskId, Task], needs: Iterable[Need]
) -> tuple[dict[str, tuple[list[str], list[Wanted]]], list[LabkitError]]:
    """Return which agents share an environment, by its key, and the letters that have them.

    What lies on an environment that is not there is not there either.
    """
    found: dict[str, tuple[list[str], list[Wanted]]] = {}
    failed: list[LabkitError] = []
    for letter in lab.workspace.configuration_ids():
        try:
            configuration = read_configuration(lab.workspace, letter)
            wanted = wanted_by(lab, configuration, list(tasks))
        except LabkitError as error:
            failed.append(error)
            continue
        for each in wanted:
            key = _key(supply, each, tasks, needs)
            if key:
                letters, alike = found.setdefault(key, ([], []))
                letters.append(str(letter))
                alike.extend([] if each in alike else [each])
    return found, failed


def _key(supply: Supply, wanted: Wanted, tasks: dict[TaskId, Task], needs: Iterable[Need]) -> str:
    task = tasks[wanted.task] if wanted.task is not None else None
    if not wanted.install:
        return ""
    try:
        return supply.agents_key(supply.image_below(task, needs), wanted.install)
    except LabkitError:
        return ""
