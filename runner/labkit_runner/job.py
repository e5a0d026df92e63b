"""What a run is made of: where it runs, what it is given, how it reaches its model."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import IO, Protocol

from labkit.building import NOTHING_BUILT, Built, Surroundings
from labkit.configurations import Configuration
from labkit.export import Base
from labkit.git import Repository
from labkit.model import Api
from labkit.plan import PlannedRun
from labkit.sandbox.interface import Halt, Keyboard, Limits, Sandbox, Taker
from labkit.tasks import Task
from labkit_runner.agents.interface import Agent
from labkit_runner.gateway.wire import Wire
from labkit_runner.masking import NOTHING_SECRET, Masker
from labkit_runner.readback import NOTHING_READ, ReadBack


class Seat(Keyboard, Protocol):
    """A person's terminal: what is written to it is shown there."""

    def write(self, data: bytes, /) -> int:
        """Show something, and keep it."""
        ...

    def flush(self) -> None:
        """Make sure that it is kept."""
        ...


class Way(Protocol):
    """An open way to the model."""

    channel: str
    """What `Spec.channel` says."""

    @property
    def wire(self) -> Wire:
        """What went over it; all of it once its context is left."""
        ...


class Route(Protocol):
    """How agents reach their model: what there is to know before a way is opened."""

    def opened(self, wire: IO[bytes], halt: Halt) -> AbstractContextManager[Way]:
        """Open a way for one run: its lines go to `wire` as they come, and it may stop the run.

        Raises InfrastructureError when it cannot be opened.
        """
        ...

    def to(self, url: str) -> "Route":
        """Return the way to a model at another place on this machine, which needs no key."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What all runs of a session share: where they run, and what the suite is."""

    sandbox: Sandbox
    image: str
    limits: Limits
    repository: Repository
    suite_version: str
    workspace_id: str
    """Written on every container, so that `labkit clean` finds this lab's own."""
    now: Callable[[], datetime]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One run, with everything it needs."""

    planned: PlannedRun
    task: Task
    configuration: Configuration
    agent: Agent
    base: Base
    base_tar: bytes
    surroundings: Surroundings | None = None
    """What the task is run in; None: the bench's own image, as it is."""
    route: Route | None = None
    """How the agent reaches its model; None: it reaches nobody."""
    api: Api | None = None
    """What is spoken there."""
    readback: ReadBack = NOTHING_READ
    memory: Mapping[str, str] = field(default_factory=dict)
    """Digests of the files that instruct or set the agent, by path."""
    masker: Masker = NOTHING_SECRET
    """Takes the secrets that lie in the sandbox out of all that is kept."""
    seat: Callable[[Taker], Seat] | None = None
    """The terminal of a person who does the run by hand, given the file that keeps what it shows.

    None: the agent works alone.
    """
    built: Built = NOTHING_BUILT
    """What build commands did to the base; it is in `base_tar` already."""
    earlier_failures: tuple[str, ...] = ()
    voided: tuple[Mapping[str, object], ...] = ()
