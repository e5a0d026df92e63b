"""What each agent needs and takes of a configuration, and which APIs it speaks.

The agents themselves belong to the run phase; everybody reads configurations.
"""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

from labkit.errors import LabkitError
from labkit.fields import Document
from labkit.model import Api
from labkit.providers import USUAL, Provider, read_providers
from labkit.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What one agent has of the fields that not every agent has."""

    speaks: tuple[Api, ...] = ()
    """The APIs of models, the usual one first; empty: it asks no model."""
    needs: str = ""
    """The field without which it cannot start."""
    takes: tuple[str, ...] = ()
    """Further fields that mean something to it."""
    efforts: tuple[str, ...] = ()
    """The words that `effort:` may have; empty: it takes any, as its model may know others."""
    thinks: bool = False
    """Whether an effort may also be a number of tokens to think."""


_TOOL = ("arguments", "effort", "provider")
_OWN = ("effort", "install", "provider")
_ANY_API = (Api.CHAT, Api.ANTHROPIC, Api.RESPONSES, Api.GEMINI)
RULES: Mapping[str, Rule] = {
    "claude-code": Rule(
        speaks=(Api.ANTHROPIC,),
        takes=(*_TOOL, "login"),
        efforts=("low", "medium", "high", "xhigh", "max"),
    ),
    "codex": Rule(
        speaks=(Api.RESPONSES,),
        takes=_TOOL,
        efforts=("none", "minimal", "low", "medium", "high", "xhigh"),
    ),
    "mini-swe-agent": Rule(
        speaks=_ANY_API,
        takes=_TOOL,
        efforts=("none", "minimal", "low", "medium", "high", "xhigh"),
    ),
    "gemini-cli": Rule(
        speaks=(Api.GEMINI,),
        takes=_TOOL,
        efforts=("minimal", "low", "medium", "high"),
        thinks=True,
    ),
    "opencode": Rule(speaks=_ANY_API, takes=_TOOL),
    "command": Rule(speaks=tuple(Api), needs="command", takes=_OWN),
    "callable": Rule(speaks=tuple(Api), needs="callable", takes=_OWN),
    "scripted": Rule(needs="steps", takes=("effort",)),
}
AGENTS = tuple(RULES)
_FIELDS = ("arguments", "callable", "command", "effort", "install", "provider", "steps")
_LONGEST = 60
_NO_SUBSCRIPTION = {
    "codex": ": it has no turn limit of its own, and nobody can count turns in a tunnel",
}
_WHY = {
    "arguments": "it has no command line of labkit's: write them into its command or settings",
    "install": "labkit installs it: take it out",
    "provider": "it asks no model: take it out",
}


class Given(Protocol):
    """What a configuration says, as far as it is checked here."""

    @property
    def agent(self) -> str: ...  # noqa: D102 - see Configuration
    @property
    def effort(self) -> str: ...  # noqa: D102
    @property
    def login(self) -> str: ...  # noqa: D102
    @property
    def provider(self) -> str: ...  # noqa: D102
    @property
    def command(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def callable(self) -> str: ...  # noqa: D102
    @property
    def steps(self) -> str: ...  # noqa: D102


def check_fields(document: Document, given: Given, workspace: Workspace) -> None:
    """Note every field that the agent needs and has not, or has and does not take."""
    rule = RULES.get(given.agent)
    if rule is None:
        return  # the document has the problem already
    for name in _FIELDS:
        if name in document and name != rule.needs and name not in rule.takes:
            why = _WHY.get(name, "take it out")
            document.problem(name, f"the {given.agent} agent does not take {name}: {why}")
    if given.login == "subscription" and "login" not in rule.takes:
        able = " and ".join(name for name, each in RULES.items() if "login" in each.takes)
        why = _NO_SUBSCRIPTION.get(given.agent, "")
        document.problem(
            "login",
            f"{given.agent} cannot be run with a subscription{why} (there are subscriptions for "
            f"{able} only): write login: key",
        )
    if "effort" in rule.takes:
        _check_effort(document, given, rule)
    if given.provider and rule.speaks:
        _check_provider(document, given, rule, workspace)
    _check_need(document, given, workspace.evals / "configs")


def _check_effort(document: Document, given: Given, rule: Rule) -> None:
    effort = given.effort
    if not effort or not rule.efforts or effort in rule.efforts:
        return
    if rule.thinks and effort.isdecimal() and effort.isascii():
        return
    near = difflib.get_close_matches(effort, rule.efforts, n=1)
    known = ", ".join(rule.efforts) + (", or a number of tokens to think" if rule.thinks else "")
    mend = f'did you mean "{near[0]}"?' if near else f"use one of {known}"
    document.problem("effort", f"{given.agent} knows no effort {effort[:_LONGEST]!r}: {mend}")


def _check_need(document: Document, given: Given, configs: Path) -> None:
    match given.agent:
        case "command":
            if not given.command or not given.command[0]:
                document.problem("agent", 'the command agent needs "command: [...]"')
        case "callable":
            _check_callable(document, given.callable, configs)
        case "scripted":
            _check_steps(document, given.steps, configs)
        case _:
            pass


def _check_steps(document: Document, steps: str, configs: Path) -> None:
    path = PurePosixPath(steps)
    if not steps:
        document.problem("agent", 'the scripted agent needs "steps:", a folder')
    elif path.is_absolute() or ".." in path.parts:
        document.problem("steps", f"{steps!r} is not a folder below configs/")
    elif not (configs / path).is_dir():
        document.problem("steps", f"there is no folder configs/{path}")


def _check_callable(document: Document, target: str, configs: Path) -> None:
    name, _, function = target.rpartition(":")
    path = PurePosixPath(name)
    if not target:
        document.problem("agent", 'the callable agent needs "callable: agents/mine.py:solve"')
    elif not function.isidentifier() or path.suffix != ".py":
        document.problem("callable", f"{target!r} names no function: write agents/mine.py:solve")
    elif path.is_absolute() or ".." in path.parts:
        document.problem("callable", f"{name!r} is not a file below configs/")
    elif not (configs / path).is_file():
        document.problem("callable", f"there is no file configs/{path}")


def _check_provider(document: Document, given: Given, rule: Rule, workspace: Workspace) -> None:
    name = given.provider
    providers = _providers(workspace)
    found = providers.get(name)
    if found is None:
        known = ", ".join(sorted(providers))
        document.problem("provider", f"there is no provider {name!r}: labkit.yaml has {known}")
    elif found.api not in rule.speaks:
        spoken = ", ".join(rule.speaks)
        document.problem(
            "provider",
            f"the provider {name} speaks {found.api}, and {given.agent} speaks {spoken}: "
            "choose another",
        )


def _providers(workspace: Workspace) -> Mapping[str, Provider]:
    """Return the providers of labkit.yaml; whatever is wrong with that file is told elsewhere."""
    try:
        return read_providers(Document.read(workspace.settings).mapping("providers"))
    except LabkitError:
        return USUAL
