"""A started sidecar, as whoever uses it sees it, whatever it runs in."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field

from labkit.sandbox.lines import Lines
from labkit.sandbox.making import Tail

GRACE = 10
"""Seconds that a program may take to end once its standard input is closed."""
_COMPLAINT = 4000


@dataclass(slots=True, kw_only=True)
class Beside:
    """A sidecar: takes what it writes, and hands on what it is told."""

    channel: str
    folder: str
    send: Callable[[bytes], object] = len
    """Writes to its standard input; until it is started that is nowhere."""
    stdout: Lines = field(default_factory=Lines)
    _said: Tail = field(default_factory=Tail)

    def tell(self, data: bytes) -> None:
        """Write to its standard input; what an ended program does not take is lost."""
        with contextlib.suppress(OSError, ValueError):
            self.send(data)

    def complaint(self) -> str:
        """Return the end of what it has said on standard error."""
        return self._said.kept[-_COMPLAINT:].decode(errors="backslashreplace").strip()

    def out(self, data: bytes) -> None:
        """Take a piece of its standard output."""
        self.stdout.write(data)

    def err(self, data: bytes) -> None:
        """Take a piece of its standard error."""
        self._said.write(data)
