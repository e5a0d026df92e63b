"""What every sandbox does: run one command, isolated, and hand back what it left.

A sandbox is given a `Spec` (files in, a command, limits) and returns an `Outcome` (how it ended)
together with whatever the caller's `collect` made of the returned folder. It never shows the
command the host's files, and never gives it a network.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import IO, Protocol, TypeVar

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
    limits: Limits = Limits()
    labels: Mapping[str, str] = field(default_factory=dict)
    """Written on whatever the engine keeps, so that `labkit clean` can find what a crash left."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Streams:
    """Where the command's output goes while it runs."""

    stdout: IO[bytes]
    stderr: IO[bytes]


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
