"""What the run phase asks of a coding agent: how to start it, and what its transcript is called."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from labkit.archive import Entry
from labkit.configurations import Configuration
from labkit.model import RunId

INPUTS = "/labkit"
"""Where an agent's inputs lie inside the sandbox, in memory."""
WORKSPACE = "/workspace"
"""Where the work folder lies inside the sandbox."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One run, as an agent is told of it."""

    run: RunId
    configuration: Configuration
    prompt: str
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How to start an agent for one run."""

    argv: tuple[str, ...]
    inputs: tuple[Entry, ...] = ()
    """Files below /labkit."""
    environment: Mapping[str, str] = field(default_factory=dict)
    version: str
    transcript: str
    """File name under which standard output is kept: `transcript.jsonl` or `transcript.txt`."""


class Agent(Protocol):
    """A coding agent."""

    def launch(self, request: Request) -> Launch:
        """Return how to start the agent; raises InputError when its settings are wrong."""
        ...
