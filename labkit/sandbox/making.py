"""Environments that tasks run in, made once for everything that their content depends on.

A `Making` says what an environment is made of; its key is a digest of all of it, and names the
image (Docker) or the folder (bubblewrap). A `Workshop` makes, lists and removes them.
"""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from typing import Protocol

from labkit.archive import Entry, write_tar
from labkit.errors import InfrastructureError, ToolError
from labkit.fields import canonical_json

Progress = Callable[[str], None]

NAME = "labkit-env"
"""Environments are called by this and their key: also what `Spec.image` says."""
KIT = "/labkit"
"""Where setup finds what labkit brings; in memory, so nothing of it stays."""
VENV = "/opt/labkit/env"
LEFT = f"{VENV}/labkit-left"
"""Holds what setup wrote among the project's own files; see `finish.py`."""
_LAYOUT = 2
"""Changes whenever environments are made differently, so that old ones are not used."""
_LAST = 12
_MOST_SHOWN = 100
_MARKS = re.compile(r"(begin|failed|finish|venv|broken|left|done)(?: (\d+))?(?: (\d+))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Making:
    """Everything that decides what an environment holds."""

    image: str
    """Docker: the image that it starts from; empty with a Dockerfile.

    Where it names an environment, this one has all of that, in every sandbox.
    """
    dockerfile: bytes = b""
    setup: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    files: tuple[Entry, ...] = ()
    """What setup gets of the base, at /workspace."""
    keeps: bool = True
    """Whether every tree gets the new files that setup leaves at /workspace."""

    def key(self, kind: str, foundation: str) -> str:
        """Return the digest of all this in one kind of sandbox, on what it is made on."""
        parts: dict[str, object] = {
            "layout": _LAYOUT,
            "kind": kind,
            "foundation": foundation,
            "dockerfile": _digest(self.dockerfile),
            "setup": list(self.setup),
            "variables": sorted(self.variables),
            "files": sorted(
                [entry.path.hex(), str(entry.kind), _digest(entry.data)] for entry in self.files
            ),
        }
        if not self.keeps:
            parts["keeps"] = False
        return _digest(canonical_json(parts))[:16]

    @property
    def tree(self) -> bytes:
        """The files as a tar, for whoever runs setup."""
        return write_tar(self.files, uid=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """An environment that is there."""

    key: str
    bytes: int
    created: str
    """ISO time."""


class Workshop(Protocol):
    """Where the environments of one sandbox are made and kept."""

    kind: str
    """The sandbox's name."""

    def foundation(self, making: Making) -> str:
        """Return what names the thing that this would be made on.

        Raises a LabkitError when it could not be made here at all.
        """
        ...

    def has(self, key: str) -> bool:
        """Whether the environment is there, whole."""
        ...

    def make(self, key: str, making: Making, progress: Progress) -> None:
        """Make it; nothing half-made is left when that fails. Raises SetupError or ToolError."""
        ...

    def left(self, key: str) -> bool:
        """Whether it holds files, at LEFT, that setup wrote among the project's own."""
        ...

    def made(self) -> tuple[Made, ...]:
        """Return every environment that is there, by key."""
        ...

    def in_use(self, key: str) -> bool:
        """Tell whether a sandbox of any labkit on this machine is running in it now."""
        ...

    def remove(self, key: str) -> None:
        """Remove one; a key that is not there is no error."""
        ...


class SetupError(ToolError):
    """A setup command failed: the environment is not there, and its tasks cannot be run."""


def not_there(image: str) -> InfrastructureError:
    """Return the error of whoever names an environment that is not there."""
    key = image.partition(":")[2]
    return InfrastructureError(
        f"the environment {key} is not there",
        hint="make it: labkit env build, with --agent for a configuration's",
    )


def shown(command: str) -> str:
    """Return a command as one line for people: of a script, what its first comment says."""
    first, _, rest = command.strip().partition("\n")
    if first.startswith("#") and rest:
        return first.lstrip("# ")
    line = " ".join(command.split())
    return line if len(line) <= _MOST_SHOWN else f"{line[:_MOST_SHOWN]} ..."


class Told:
    """Takes the marks of setup.sh from standard output, and tells of them as they come."""

    def __init__(self, commands: tuple[str, ...], progress: Progress) -> None:
        self.done = False
        self.left = 0
        """How many files setup left among the project's own."""
        self._commands = commands
        self._progress = progress
        self._rest = b""
        self._failure = ""

    def write(self, data: bytes) -> int:
        """Take a piece of standard output, as a file does."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._take(line.decode(errors="replace"))
        return len(data)

    def flush(self) -> None:
        """Do nothing: lines are told as they come."""

    def _take(self, line: str) -> None:
        match = _MARKS.fullmatch(line)
        if match is None:
            return
        mark, number, code = match.groups()
        if mark == "left":
            self.left = int(number)
            self._progress(
                f"  files that setup wrote into the project, kept for every tree: {number}"
            )
            return
        command = self._commands[int(number) - 1] if number else ""
        if mark == "begin":
            self._progress(f"  setup {number} of {len(self._commands)}: {shown(command)}")
        elif mark == "failed":
            self._failure = f"the setup command {shown(command)!r} ended in {code}"
        elif mark == "venv":
            self._failure = "no virtual environment could be made: has this Python the module venv"
        elif mark == "broken":
            self._failure = "the environment could not be finished"
        self.done = self.done or mark == "done"

    def check(self, output: bytes) -> None:
        """Raise SetupError, with the end of what was printed, when setup did not get to its end."""
        if self.done:
            return
        said = output.decode(errors="replace").replace("\r", "\n").splitlines()
        last = [f"\n    {line.rstrip()}" for line in said if line.strip()][-_LAST:]
        raise SetupError(
            self._failure or "setup was ended from outside",
            hint="mend environment: in the task file or in labkit.yaml; "
            "setup needs a network and runs in a copy of the base commit; "
            "labkit env build tries again",
            more=[f"the last it said:{''.join(last)}"] if last else [],
        )


class Tail:
    """A file that keeps the end of what is written to it."""

    def __init__(self, most: int = 64 * 1024) -> None:
        self.kept = b""
        self._most = most

    def write(self, data: bytes) -> int:
        """Take a piece."""
        self.kept = (self.kept + data)[-self._most :]
        return len(data)

    def flush(self) -> None:
        """Do nothing: it is all in memory."""


def script(name: str) -> bytes:
    """Return one of the programs that run inside what is being made."""
    return files("labkit.sandbox").joinpath(name).read_bytes()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
