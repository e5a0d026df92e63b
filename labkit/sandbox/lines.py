"""Lines out of the pieces that a program writes, from the thread that reads to one that takes."""

import threading
from collections import deque
from collections.abc import Iterator

_MOST = 32 * 1024 * 1024
"""How many bytes wait to be taken before the program has to."""
_MOST_LINE = 64 * 1024 * 1024


class Lines(Iterator[bytes]):
    """An iterator of lines, each there as soon as its end has been written.

    What nobody takes holds the writer back, so that memory is bounded. Of a line that is longer
    than `most_line` the rest is lost.
    """

    def __init__(self, *, most: int = _MOST, most_line: int = _MOST_LINE) -> None:
        self._most = most
        self._most_line = most_line
        self._whole: deque[bytes] = deque()
        self._held = 0
        self._begun = bytearray()
        self._over = False
        self._given_up = False
        self._changed = threading.Condition()

    def write(self, data: bytes) -> None:
        """Take a piece; wait while too much of what was written before has not been taken."""
        *ended, rest = data.split(b"\n")
        for piece in ended:
            self._begin(piece)
            self._end_line()
        self._begin(rest)

    def close(self) -> None:
        """Say that nothing more comes; what was begun is the last line."""
        if self._begun:
            self._end_line()
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def give_up(self) -> None:
        """Lose what is written from now on, for when nobody takes it."""
        with self._changed:
            self._given_up = True
            self._changed.notify_all()

    def __next__(self) -> bytes:
        """Wait for the next line and return it, without its end."""
        with self._changed:
            self._changed.wait_for(lambda: self._whole or self._over)
            if not self._whole:
                raise StopIteration
            line = self._whole.popleft()
            self._held -= len(line)
            self._changed.notify_all()
            return line

    def _begin(self, piece: bytes) -> None:
        self._begun += piece[: self._most_line - len(self._begun)]

    def _end_line(self) -> None:
        line = bytes(self._begun)
        self._begun.clear()
        with self._changed:
            self._changed.wait_for(lambda: self._held < self._most or self._given_up)
            if not self._given_up:
                self._whole.append(line)
                self._held += len(line)
                self._changed.notify_all()
