"""What a transcript says, whatever agent wrote it: steps, tool calls, results, the end.

The shape is a small relative of Harbor's ATIF. Whatever a reader does not understand it names in
`gaps`: an unread line is never a clean line.
"""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One tool call with its result."""

    tool: str
    command: str | None = None
    """The shell command, where the tool is a shell."""
    reads: tuple[str, ...] = ()
    """Paths that the arguments ask to read or list."""
    writes: tuple[str, ...] = ()
    """Paths that the arguments ask to write."""
    cwd: str | None = None
    output: str = ""
    failed: bool = False
    complete: bool = True
    """False when the transcript holds no result for the call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One entry of the transcript, in its order. `line` counts from 1 in the stored file."""

    line: int
    text: str = ""
    """What the agent said to people."""
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """A whole transcript."""

    format: str
    steps: tuple[Step, ...]
    final_message: str
    """The agent's last words to people; empty when it said nothing."""
    turns: int
    ended: bool
    """Whether the transcript holds its own end mark."""
    gaps: tuple[str, ...] = ()
    """What could not be read, one sentence each; empty means that all of it was understood."""


class Reader(Protocol):
    """Reads the transcripts of one agent."""

    name: str

    def claims(self, first_lines: bytes) -> bool:
        """Whether this looks like the reader's own format."""
        ...

    def read(self, data: bytes) -> Transcript:
        """Read a whole transcript; never raises, names what it could not read in `gaps`."""
        ...
