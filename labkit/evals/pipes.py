"""Pipes to and from a candidate's process: bounded, with deadlines, and never waiting for ever."""

import contextlib
import io
import os
import select
import threading
import time
from functools import partial

from labkit.sandbox.streams import pump

MOST_LINE = 16 * 1024 * 1024
"""How long one message can be. A longer one is refused by whoever would send it."""
_PIECE = 1 << 16
_LAST = 4096
"""How much is kept of the end of what a program says."""
_SHOWN_LINES = 5
_SHOWN = 500
_LONGEST_POLL = 3600.0


class LateError(Exception):
    """Nothing came, or could be sent, in time."""


class ClosedError(Exception):
    """The other end is gone."""


class LongError(Exception):
    """The other end sends a line that never ends."""


class Heard:
    """Takes all that a program says on one pipe; keeps its beginning and its end.

    `end` is the writing end, for the program; `started` closes this process's own copy of it.
    """

    def __init__(self, *, first: int = 0) -> None:
        self._reading, self.end = os.pipe()
        self._head = io.BytesIO()
        self._room = first
        self._tail = b""
        self._open = True
        self.cut = 0
        """How many bytes came after the first ones that were to be kept."""
        self._thread = threading.Thread(target=self._take_all, daemon=True)

    def started(self) -> None:
        """Take what comes from now on: the program has its end."""
        self._close()
        self._thread.start()

    def _close(self) -> None:
        if self._open:
            self._open = False
            os.close(self.end)

    def _take_all(self) -> None:
        with contextlib.suppress(OSError):
            pump(partial(os.read, self._reading), self._take)

    def _take(self, data: bytes) -> None:
        kept = data[: self._room]
        self._room -= len(kept)
        self.cut += len(data) - len(kept)
        self._head.write(kept)
        self._tail = (self._tail + data)[-_LAST:]

    def finish(self) -> None:
        """Wait until everybody who could say something is gone, and close the pipe."""
        self._close()
        if self._thread.ident is not None:
            self._thread.join(timeout=10)
        if self._reading >= 0:
            os.close(self._reading)
            self._reading = -1

    @property
    def first(self) -> bytes:
        """What was kept of the beginning."""
        return self._head.getvalue()

    @property
    def last_words(self) -> str:
        """The last lines, for a message; empty when nothing was said."""
        return self.last_words_after(b"")

    def last_words_after(self, mark: bytes) -> str:
        """Return the last lines of what was said after a mark, or of all where it is not found."""
        said = self._tail.rpartition(mark)[2] if mark else self._tail
        lines = said.decode(errors="replace").strip().splitlines()[-_SHOWN_LINES:]
        text = "\n".join(lines)[-_SHOWN:]
        return "".join(each if each.isprintable() or each == "\n" else "?" for each in text)


class Channel:
    """Lines to a process and lines from it, over two pipes that nobody else writes to.

    `theirs` are the ends for the process: what it reads, and what it writes to.
    """

    def __init__(self) -> None:
        read, self._writing = os.pipe()
        self._reading, written = os.pipe()
        self.theirs = (read, written)
        self._rest = b""
        self._mine = [self._writing, self._reading]
        for end in self._mine:
            os.set_blocking(end, False)

    def started(self) -> None:
        """Close this process's copies of the other's ends: it has them."""
        for end in self.theirs:
            os.close(end)
        self.theirs = (-1, -1)

    def send(self, line: bytes, until: float) -> None:
        """Send one line; raises LateError after `until` (monotonic), ClosedError."""
        rest = memoryview(line + b"\n")
        while rest:
            wait_for(self._writing, select.POLLOUT, until)
            try:
                rest = rest[os.write(self._writing, rest[:_PIECE]) :]
            except BlockingIOError:
                continue
            except BrokenPipeError as error:
                raise ClosedError from error

    def receive(self, until: float) -> bytes:
        """Return one line; raises LateError, ClosedError at the end, LongError."""
        taken = [self._rest]
        size = len(self._rest)
        while b"\n" not in taken[-1]:
            wait_for(self._reading, select.POLLIN, until)
            try:
                piece = os.read(self._reading, _PIECE)
            except BlockingIOError:
                continue
            if not piece:
                raise ClosedError
            taken.append(piece)
            size += len(piece)
            if size > MOST_LINE + _PIECE:
                raise LongError
        line, _, self._rest = b"".join(taken).partition(b"\n")
        return line

    def close(self) -> None:
        """Close every end that is open here."""
        for end in (*self._mine, *self.theirs):
            if end >= 0:
                os.close(end)
        self._mine, self.theirs = [], (-1, -1)


def wait_for(end: int, event: int, until: float) -> None:
    """Wait until something can be done with a pipe; raises LateError after `until` (monotonic)."""
    poll = select.poll()
    poll.register(end, event)
    while (left := until - time.monotonic()) > 0:
        if poll.poll(min(left, _LONGEST_POLL) * 1000):
            return
    raise LateError
