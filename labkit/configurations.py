"""Configurations: the agent and everything it is set to, and how two of them differ."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from labkit.agentfields import AGENTS, check_fields
from labkit.errors import InputError
from labkit.fields import Document, Fields
from labkit.model import ConfigurationId
from labkit.workspace import Workspace

SUBSCRIPTION = "subscription"
LOGINS = ("key", SUBSCRIPTION)
_EXPERIMENTAL = (
    "agent",
    "agent_version",
    "model",
    "effort",
    "provider",
    "login",
    "arguments",
    "instructions",
    "install",
    "command",
    "callable",
    "turn_cap",
)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """One arm of the comparison, as written in configs/<id>.yaml."""

    id: ConfigurationId
    agent: str
    agent_version: str
    model: str
    effort: str
    provider: str = ""
    """Where the model is asked, a name of `providers:` in labkit.yaml; empty: the agent's usual."""
    login: str = "key"
    """How it is paid for: with a key, which stays in the gateway, or with a subscription."""
    arguments: tuple[str, ...] = ()
    """Words added to the agent's command line."""
    instructions: str = ""
    """Folder below configs/ whose files are laid over the base: AGENTS.md, CLAUDE.md, rules."""
    install: tuple[str, ...] = ()
    """What the `command` and `callable` agents need in their image, as shell commands."""
    callable: str = ""
    """`file.py:function` below configs/, for the `callable` agent."""
    settings: Mapping[str, str]
    """Environment of the agent's process: names and values, never secrets."""
    command: tuple[str, ...]
    """What the `command` agent starts, as words; `{prompt}` stands for the prompt's text."""
    steps: str
    """Folder of the `scripted` agent's steps, below configs/."""
    turn_cap: int
    notes: str

    def describe(self) -> str:
        """Return the configuration as one line for people."""
        words = [self.agent, self.agent_version, self.model, self.effort]
        return " ".join(word for word in words if word)

    def compared(self) -> dict[str, object]:
        """Return the fields that a comparison may differ in, settings one by one."""
        values = {name: getattr(self, name) for name in _EXPERIMENTAL}
        return values | {f"settings.{name}": value for name, value in self.settings.items()}

    def facts(self) -> dict[str, object]:
        """Return everything that shapes a run, as plain values."""
        values = {name: _plain(value) for name, value in self.compared().items()}
        return {"id": str(self.id), "steps": self.steps, **values}


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def read_configuration(workspace: Workspace, configuration: ConfigurationId) -> Configuration:
    """Read and check one configuration; raises InputError with every problem of its file."""
    path = workspace.configuration(configuration)
    if not path.is_file():
        raise InputError(f"no configuration {configuration}", hint=f"write {path}")
    document = Document.read(path)
    document.named("id", str(configuration))
    found = Configuration(
        id=configuration,
        agent=document.word("agent", AGENTS, instead=""),
        agent_version=document.text("agent_version", default=""),
        model=document.text("model"),
        effort=document.text("effort", default=""),
        provider=document.text("provider", default=""),
        login=document.word("login", LOGINS, instead="key") if "login" in document else "key",
        arguments=document.texts("arguments"),
        instructions=document.text("instructions", default=""),
        install=document.texts("install"),
        callable=document.text("callable", default=""),
        settings=_settings(document.mapping("settings")),
        command=document.texts("command"),
        steps=document.text("steps", default=""),
        turn_cap=document.whole("turn_cap", default=50, low=1),
        notes=document.text("notes", default=""),
    )
    check_fields(document, found, workspace)
    document.finish(hint=f"mend {path}")
    return found


def _settings(fields: Fields) -> dict[str, str]:
    for name in fields.names():
        if not _VARIABLE.fullmatch(name):
            fields.problem(name, f"{name!r} is not the name of an environment variable")
    return {name: fields.text(name) for name in fields.names()}


def read_configurations(workspace: Workspace) -> tuple[Configuration, ...]:
    """Read every configuration, sorted; raises InputError when there are fewer than two."""
    found = tuple(read_configuration(workspace, name) for name in workspace.configuration_ids())
    if len(found) < 2:  # noqa: PLR2004 - a comparison has two sides
        raise InputError(
            "a comparison needs two configurations", hint="write evals/configs/A.yaml and B.yaml"
        )
    return found


def differing(first: Configuration, other: Configuration) -> tuple[str, ...]:
    """Return the names of the fields in which two configurations differ; `settings.X` is one."""
    left, right = first.compared(), other.compared()
    names = sorted(left.keys() | right.keys())
    return tuple(name for name in names if left.get(name) != right.get(name))


def differences(first: Configuration, other: Configuration) -> tuple[str, ...]:
    """Return what differs between two configurations, one sentence each."""
    left, right = first.compared(), other.compared()
    return tuple(
        f"{name}: {_shown(left.get(name))} against {_shown(right.get(name))}"
        for name in differing(first, other)
    )


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        value = shlex.join(value)
    return str(value) if value else "none"


def the_difference(configurations: tuple[Configuration, ...]) -> str:
    """Return the one thing that differs; raises InputError when it is not exactly one."""
    first = configurations[0]
    found = [differences(first, other) for other in configurations[1:]]
    for other, differing in zip(configurations[1:], found, strict=True):
        if len(differing) != 1:
            what = "; ".join(differing) if differing else "nothing"
            raise InputError(
                f"configurations {first.id} and {other.id} differ in "
                f"{len(differing)} things: {what}",
                hint="two configurations must differ in exactly one thing, "
                "or nobody can say what made the difference",
            )
    names = {differing[0].split(":")[0] for differing in found}
    if len(names) > 1:
        raise InputError(
            f"the configurations differ in different things: {', '.join(sorted(names))}"
        )
    for one, two in pairwise(configurations[1:]):
        if not differences(one, two):
            raise InputError(f"configurations {one.id} and {two.id} are the same")
    return "; ".join(differing[0] for differing in found)
