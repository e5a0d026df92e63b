"""A person at a terminal: types, and sees what is shown there."""

import os
import pty
import struct
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

if sys.platform != "win32":
    import fcntl
    import termios


@dataclass(slots=True)
class Person:
    """Sits at one end of a terminal; programs have the other, `own`."""

    own: int
    _end: int
    _seen: bytearray = field(default_factory=bytearray)

    def watch(self) -> None:
        """Take what is shown, until the terminal is gone."""
        try:
            while data := os.read(self._end, 65536):
                self._seen += data
        except OSError:
            return

    def resize(self, rows: int, columns: int) -> None:
        """Give the window another size."""
        fcntl.ioctl(self.own, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def types(self, text: str) -> None:
        """Press keys."""
        os.write(self._end, text.encode())

    def waits_for(self, text: str, *, seconds: float = 25) -> None:
        """Wait until something is shown that was not there when the last one was."""
        end = time.monotonic() + seconds
        while text.encode() not in self._seen:
            assert time.monotonic() < end, f"no {text!r} in:\n{self.seen}"
            time.sleep(0.01)
        del self._seen[: self._seen.index(text.encode()) + len(text)]

    @property
    def seen(self) -> str:
        """What is shown and was not waited for."""
        return self._seen.decode(errors="replace")


@contextmanager
def at_a_terminal() -> Iterator[Person]:
    """Give a person with a terminal of 24 rows and 80 columns."""
    end, own = pty.openpty()
    person = Person(own, end)
    person.resize(24, 80)
    watcher = threading.Thread(target=person.watch, daemon=True)
    watcher.start()
    try:
        yield person
    finally:
        os.close(own)
        watcher.join(5)
        os.close(end)
