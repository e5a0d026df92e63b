"""What agents make of configurations, found out without starting any: as plain values.

A launch is asked for with a placeholder in place of the prompt. What a launch says only changes
with a field that the agent passes on, so seeds and turn caps are found out by asking twice.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from labkit.archive import Entry
from labkit.cli.lab import Lab
from labkit.configurations import Configuration
from labkit.errors import InputError, LabkitError
from labkit.instructions import read_instructions
from labkit.model import RunId, TaskId
from labkit.providers import Provider
from labkit_runner.agents.interface import HOME, INPUTS, WORKSPACE, Launch, Request
from labkit_runner.agents.registry import agent_named
from labkit_runner.arms import Arm, arm_of
from labkit_runner.gateway.keys import key_of

PROMPT = "{prompt}"
_OWN_FILES = ("prompt.txt",)
"""Inputs that hold the prompt, which is not the configuration's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A configuration with what its agent makes of it."""

    configuration: Configuration
    values: Mapping[str, object]
    """As `labkit config show --json` prints it; without what needs a launch where there is none."""
    environment: Mapping[str, str]
    """Variables with their values: compared, never shown."""
    problems: tuple[str, ...]
    """Why it could not be started."""


def make(lab: Lab, configuration: Configuration) -> Made:
    """Find out what an agent makes of a configuration; whatever is wrong is told, not raised."""
    agent, problems = agent_named(configuration.agent, lab.workspace), dict[str, None]()
    arm = Arm(configuration=configuration, agent=agent)
    with _noting(problems):
        arm = arm_of(configuration, lab.workspace, lab.settings)
    values: dict[str, object] = {
        "version": configuration.agent_version or agent.usual_version,
        "program": agent.program(configuration),
        "reads": list(agent.memory),
        "model": _asked(configuration, arm.provider),
    }
    environment: Mapping[str, str] = {}
    with _noting(problems):
        values["install"] = list(agent.install(configuration))
    with _noting(problems):
        files = read_instructions(lab.workspace, configuration.instructions)
        values["instructions"] = dict(_digests(WORKSPACE, files))
    with _noting(problems):
        arm = _launchable(lab, arm, problems)
        launch = _launched(lab, arm, arm.configuration)
        values |= {**_started(launch), **_passed_on(lab, arm, launch)}
        environment = launch.environment
    return Made(
        configuration=configuration,
        values=values,
        environment=environment,
        problems=tuple(problems),
    )


@contextmanager
def _noting(problems: dict[str, None]) -> Iterator[None]:
    """Note what is wrong, each thing once, and go on: the rest can be known all the same."""
    try:
        yield
    except InputError as error:
        problems.update(dict.fromkeys(error.problems))


def _launchable(lab: Lab, arm: Arm, problems: dict[str, None]) -> Arm:
    """Return an arm whose launch can be asked for: a version that is none is no word of it."""
    try:
        _launched(lab, arm, arm.configuration)
    except InputError as error:
        problems.update(dict.fromkeys(error.problems))
        return replace(arm, configuration=replace(arm.configuration, agent_version=""))
    return arm


def _launched(lab: Lab, arm: Arm, configuration: Configuration, *, seed: int = 1) -> Launch:
    """Ask for a launch; some agents know only the runs of real tasks, so these are tried too."""
    tasks = lab.workspace.task_ids() or (TaskId("task"),)
    problem: InputError | None = None
    for task in tasks:
        run = RunId(task, configuration.id, 1)
        request = Request(
            run=run, configuration=configuration, prompt=PROMPT, seed=seed, api=arm.api
        )
        try:
            return arm.agent.launch(request)
        except InputError as error:
            problem = problem or error
    raise problem or InputError("there is no task")


def _started(launch: Launch) -> dict[str, object]:
    files = {
        **dict(_digests(INPUTS, (e for e in launch.inputs if e.path.decode() not in _OWN_FILES))),
        **dict(_digests(HOME, launch.home)),
        **{
            path: digest
            for folder, entries in launch.fixed.items()
            for path, digest in _digests(folder, entries)
        },
    }
    return {
        "argv": list(launch.argv),
        "variables": sorted(launch.environment),
        "files": files,
        "fixed": sorted(launch.fixed),
        "transcript": launch.transcript,
        "sessions": list(launch.sessions),
    }


def _digests(folder: str, entries: Iterable[Entry]) -> Iterator[tuple[str, str]]:
    for entry in sorted(entries, key=lambda entry: entry.path):
        path = f"{folder}/{entry.path.decode(errors='backslashreplace')}"
        yield path, hashlib.sha256(entry.data).hexdigest()


def _passed_on(lab: Lab, arm: Arm, launch: Launch) -> dict[str, object]:
    """Return whether the agent is told of its seed and of its turn cap, and who enforces that.

    None where launches differ by themselves, so that nothing can be told.
    """
    configuration = arm.configuration
    steady = _launched(lab, arm, configuration) == launch
    seeded = _launched(lab, arm, configuration, seed=2) != launch
    capped = replace(configuration, turn_cap=configuration.turn_cap + 1)
    return {
        "seed": {"forwarded": seeded if steady else None},
        "turn_cap": {
            "turns": configuration.turn_cap,
            "told": _launched(lab, arm, capped) != launch if steady else None,
            "enforced": arm.provider is not None and configuration.login == "key",
        },
    }


def _asked(configuration: Configuration, provider: Provider | None) -> dict[str, object]:
    """Return where the model is asked, whether that has a price, and whether it can be paid."""
    if provider is None:
        return {"name": configuration.model, "provider": None}
    price = provider.prices.get(configuration.model)
    key, why = "", ""
    if configuration.login == "key":
        try:
            key = "set" if key_of(provider) else "not needed"
        except LabkitError as error:
            key, why = "not set", error.message
    return {
        "name": configuration.model,
        "provider": provider.name,
        "api": str(provider.api),
        "url": provider.url,
        "price": "known" if price is not None else "unknown",
        "login": configuration.login,
        "key_variable": provider.key,
        "key": key,
        "key_problem": why,
    }
