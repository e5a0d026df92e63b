"""What the run phase asks of a coding agent: how to install, start and understand it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from labkit.archive import Entry
from labkit.configurations import Configuration
from labkit.model import Api, RunId
from labkit_runner.rehearsal.script import Turn

INPUTS = "/labkit"
"""Where an agent's inputs lie inside the sandbox, in memory."""
WORKSPACE = "/workspace"
"""Where the work folder lies inside the sandbox."""
HOME = "/home/agent"
"""The agent's own folder: new for every run, handed over with its sessions at the end."""
PROGRAMS = "/opt/labkit/env/agent"
"""Where `Agent.install` puts the agent, in the environment of its runs."""
GATEWAY_PORT = 8790
GATEWAY = f"http://127.0.0.1:{GATEWAY_PORT}"
"""Where the agent finds the gateway: the forwarder listens there."""
DUMMY_KEY = "labkit-gateway-holds-the-key"
"""What the agent has for a key. The gateway takes it away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One run, as an agent is told of it."""

    run: RunId
    configuration: Configuration
    prompt: str
    seed: int
    api: Api | None = None
    """What the gateway of this run speaks; None: there is no gateway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How to start an agent for one run."""

    argv: tuple[str, ...]
    inputs: tuple[Entry, ...] = ()
    """Files below /labkit."""
    home: tuple[Entry, ...] = ()
    """Files below HOME, which the agent may change."""
    fixed: Mapping[str, tuple[Entry, ...]] = field(default_factory=dict)
    """Absolute folders with managed settings: nothing in the sandbox can change them."""
    environment: Mapping[str, str] = field(default_factory=dict)
    version: str
    """As declared; the program is asked for its own, see `Agent.version_command`."""
    transcript: str
    """File name under which the transcript is kept: `transcript.jsonl`, `.json` or `.txt`."""
    transcript_path: str = ""
    """Below HOME, where the transcript is a file there; empty: it is standard output."""
    sessions: tuple[str, ...] = ()
    """Patterns (`labkit.globs`) of files below HOME that are kept beside the transcript."""


class Said(StrEnum):
    """What an agent's own end record says."""

    COMPLETED = "completed"
    TURN_CAP = "turn_cap"
    REFUSED = "refused"
    AGENT_ERROR = "agent_error"
    """Its own fault: a crash, a context that is full, arguments that it does not take."""
    BROKEN = "broken"
    """The model could not be reached, paid or understood."""
    NOTHING = "nothing"
    """There is no end record: it was ended, or ended oddly."""


class Ends(StrEnum):
    """What the last answer of a session that came to its end does."""

    WORDS = "words"
    """It asks for no tool."""
    TOOL = "tool"
    """It calls the tool that ends the session."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """An agent's own account of a run; any program of the sandbox may have written it."""

    said: Said
    reason: str = ""
    """In its words, for people."""
    version: str = ""
    model: str = ""
    turns: int | None = None
    tokens: int | None = None
    cost: float | None = None
    final_message: str = ""
    broken_tools: str = ""
    """Why its tools could not work at all. Believed where the wire shows that none was called."""
    inner_sandbox: bool = False
    """Whether that is a sandbox of its own, left on by labkit: then tools are called in vain."""
    ends: Ends = Ends.UNKNOWN
    remarks: tuple[str, ...] = ()
    """What people should know of the account itself: that a part of it is lost, say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What a run left of itself."""

    transcript: bytes
    stderr: bytes
    sessions: Mapping[str, bytes]
    """The files that `Launch.sessions` asked for, by path below HOME."""
    exit_code: int | None
    argv: tuple[str, ...] = ()
    """How it was started, see `Launch.argv`."""


class Agent(Protocol):
    """A coding agent."""

    name: str
    apis: tuple[Api, ...]
    """What it can speak with a model, the usual one first; empty: it never asks one."""
    provider: str
    """The provider that is asked where the configuration names none; empty: then nobody is."""
    usual_version: str
    """The version that labkit was tried with, for configurations that name none."""
    main: str
    """Which of its requests are its conversation: `any`, or those with `tools` where it asks its
    model for more beside that, names of sessions say."""
    memory: tuple[str, ...]
    """Patterns of files of the workspace that instruct or set it: `CLAUDE.md`, `.claude/**`."""

    def install(self, configuration: Configuration) -> tuple[str, ...]:
        """Return the shell commands that put it below PROGRAMS, pinned; none: it is there.

        They run once, with a network and the machine's package indexes, as `setup` does.
        """
        ...

    def program(self, configuration: Configuration) -> str:
        """Return the absolute path of its program in the sandbox; empty: there is none to name."""
        ...

    def version_command(self, configuration: Configuration) -> tuple[str, ...]:
        """Return the command that prints its version; empty: it has none."""
        ...

    def launch(self, request: Request) -> Launch:
        """Return how to start it; raises InputError when its settings are wrong."""
        ...

    def rehearsed(self, command: str) -> tuple[Turn, ...]:
        """Return a session in which a model has it run a shell command and end; none: unknown."""
        ...

    def account(self, left: Left) -> Account:
        """Read its end record. Whatever the bytes are, it never raises."""
        ...
