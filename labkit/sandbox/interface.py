"""What every sandbox does: run one command, isolated, and hand back what it left.

A sandbox is given a `Spec` (files in, a command, limits) and returns an `Outcome` (how it ended)
together with whatever the caller's `collect` made of the returned folder. It never shows the
command the host's files, and never gives it a network: its only way out is the folder that it may
share with a `Sidecar`, a program of labkit's own that runs beside it.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Protocol, TypeVar

from labkit.archive import Entry, without_folders_above
from labkit.model import Ended

T = TypeVar("T")

SANDBOX_UID = 1000
"""The user id of every sandboxed process; files put in belong to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a sandboxed command may use. Sizes are in MiB unless the name says otherwise."""

    seconds: float = 600.0
    memory: int = 2048
    processes: int = 256
    cpus: float = 2.0
    scratch: int = 512
    """Size of each folder in memory (`Spec.memory_folders` and /tmp)."""
    output_bytes: int = 64 * 1024 * 1024
    """How much of standard output, and of standard error, is kept; the rest is counted."""
    returned_bytes: int = 512 * 1024 * 1024
    """How much of the returned folder is read before the run is given up as too large."""


CHANNEL = "/run/labkit"
"""Where a command finds the folder that it shares with a sidecar: it can read and connect there."""


class Halt:
    """Stops a running command from another thread, once, for the first reason that is given."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._end: Callable[[], None] | None = None
        self.why = ""
        """Why it was stopped; empty when it was not."""

    def stop(self, why: str) -> None:
        """Stop the command, at once or as soon as it is started."""
        with self._lock:
            if self.why:
                return
            self.why = why
            end = self._end
        if end is not None:
            end()

    def arm(self, end: Callable[[], None]) -> None:
        """Say how the command is ended; for sandboxes."""
        with self._lock:
            self._end = end
            stopped = bool(self.why)
        if stopped:
            end()

    def disarm(self) -> None:
        """Say that the command has ended; for sandboxes."""
        with self._lock:
            self._end = None


class Keyboard(Protocol):
    """Somebody who types while a command runs."""

    def typing(self, send: Callable[[bytes], None]) -> AbstractContextManager[None]:
        """Hand on to `send`, while the context lasts, what is typed; nothing once it is over."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """One sandboxed command."""

    argv: tuple[str, ...]
    image: str
    """Docker: the image to run. Bubblewrap has no images and ignores it."""
    returned: str
    """Absolute folder, filled from `returned_tar` before the start and read back at the end."""
    returned_tar: bytes = b""
    """Tar whose names are relative to `returned`."""
    returned_file: str = ""
    """The one file in `returned` that can be written, made empty; nothing else can be put there.

    So what the command can fill of a disk is `limits.returned_bytes`. Not with `returned_tar`.
    """
    memory_folders: tuple[str, ...] = ()
    """Absolute folders in memory, gone at the end, filled from `streamed_tar` at the start."""
    streamed_tar: bytes = b""
    """Tar whose names are relative to `/` and lie below the memory folders."""
    workdir: str = "/"
    environment: Mapping[str, str] = field(default_factory=dict)
    home: str = ""
    """Absolute folder that is handed to `Streams.home` at the end, whatever the end was.

    Its files come with `streamed_tar`; what the command leaves there is limited like `returned`.
    """
    fixed: Mapping[str, tuple[Entry, ...]] = field(default_factory=dict)
    """Absolute folders with files of the superuser, which the command can read and not change."""
    channel: str = ""
    """A sidecar's `channel`, shown at CHANNEL; empty: the command can reach nobody."""
    halt: Halt | None = None
    """Who may stop it early: `Ended.STOPPED`."""
    keyboard: Keyboard | None = None
    """Whose typing the command finds on descriptor 3, whose end is labkit's: it has to end then.

    Without one, labkit's end is seen to for it.
    """
    limits: Limits = Limits()
    labels: Mapping[str, str] = field(default_factory=dict)
    """Written on whatever the engine keeps, so that `labkit clean` can find what a crash left."""

    def __post_init__(self) -> None:
        if self.home and self.streamed_tar:
            laid = without_folders_above(self.streamed_tar, self.home)
            object.__setattr__(self, "streamed_tar", laid)
        for folder in map(PurePosixPath, self.fixed):
            for other in map(PurePosixPath, self._written()):
                if folder.is_relative_to(other) or other.is_relative_to(folder):
                    raise ValueError(f"{folder} cannot be fixed: the command may write to {other}")

    def _written(self) -> tuple[str, ...]:
        own = (self.returned, *self.memory_folders, CHANNEL, "/tmp")  # noqa: S108 - the sandbox has its own
        return (*own, self.home) if self.home else own


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a sandboxed command ended, as seen from outside it."""

    ended: Ended
    exit_code: int | None
    """The command's exit code; None when it did not end by itself."""
    seconds: float
    """Wall-clock time from start to end, from a monotonic clock of the host."""
    cut_bytes: int
    """How many bytes of output were over the limit and not kept."""
    image_digest: str
    """What it ran in: the image's id, or for bubblewrap a description of the environment."""


class Taker(Protocol):
    """What a command's output is written to: a file, or what hands it on."""

    def write(self, data: bytes, /) -> object:
        """Take a piece whole."""
        ...

    def flush(self) -> object:
        """Make sure that it is kept."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Streams:
    """Where the command's output goes while it runs."""

    stdout: Taker
    stderr: Taker
    home: IO[bytes] | None = None
    """Where `Spec.home` goes, as a tar whose names start with the folder's last component.

    At most `limits.returned_bytes`; beyond that nothing of it is kept, and this is as empty as it
    was: a folder that is read has at least its own entry. It has to be seekable.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class SidecarSpec:
    """A program of labkit's own beside a command, with a network and without its files."""

    module: str
    """What `python3 -m` starts; it imports nothing but `packages` and the standard library."""
    packages: tuple[str, ...]
    """Names of the installed distributions that it needs."""
    folders: Mapping[str, Path]
    """Packages of labkit's own, by the name that they are imported by."""
    labels: Mapping[str, str] = field(default_factory=dict)


class Sidecar(Protocol):
    """A started program beside a command. It ends when its standard input is closed."""

    @property
    def channel(self) -> str:
        """What `Spec.channel` says: the folder that it shares with a command."""
        ...

    @property
    def folder(self) -> str:
        """Where the program itself finds that folder: CHANNEL, or its current one."""
        ...

    @property
    def stdout(self) -> Iterator[bytes]:
        """Its lines, as they come, without their ends; it is over when the program is.

        Take them in a thread: a program whose lines nobody takes is held back.
        """
        ...

    def tell(self, data: bytes) -> None:
        """Write to its standard input; what an ended program does not take is lost."""
        ...

    def complaint(self) -> str:
        """Return the end of what it has said on standard error."""
        ...


Collect = Callable[[IO[bytes]], T]
"""Reads the returned folder: a tar stream whose names start with the folder's last component."""


class Sandbox(Protocol):
    """A place to run untrusted commands in."""

    name: str
    """`docker` or `bubblewrap`."""

    def run(self, spec: Spec, streams: Streams, collect: Collect[T]) -> tuple[Outcome, T]:
        """Run the command and collect the returned folder after every process of it is gone.

        Raises InfrastructureError when the sandbox itself failed (engine gone, disk full, image
        missing): then there is no result, and nothing of the run is left behind. Reading the
        returned folder beyond `limits.returned_bytes` raises ReturnedTooLargeError in `collect`.
        """
        ...

    def kill(self, labels: Mapping[str, str]) -> int:
        """Kill, from outside, what runs with all of these labels; return how many that were."""
        ...

    def leftovers(self) -> tuple[str, ...]:
        """What earlier, killed labkit processes left here: one line each, for a person."""
        ...

    def clean(self) -> tuple[str, ...]:
        """Remove the leftovers and return them."""
        ...


class SidecarSandbox(Sandbox, Protocol):
    """A sandbox that can have programs of labkit's own beside its commands."""

    def sidecar(self, spec: SidecarSpec) -> AbstractContextManager[Sidecar]:
        """Start a program beside whatever runs in the context, and end it with that.

        Raises InfrastructureError when it cannot be started. It is gone when labkit is, in whatever
        way that ends, and `clean` removes what it shared.
        """
        ...
