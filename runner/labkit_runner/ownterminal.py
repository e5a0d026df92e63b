"""The terminal of the person who runs labkit, handed to a program in a sandbox for a while."""

import os
import select
import signal
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from labkit.sandbox.interface import Taker

if sys.platform != "win32":
    import termios
    import tty

_PIECE = 4096
_RESET = b"\x1b[?1049l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?25h\x1b[0m\r\n"
"""Leaves what a program that was killed may have set: other screen, mouse, paste, no cursor."""


def frame(kind: bytes, content: bytes) -> bytes:
    """Return a frame as `labkit_runner.agents.terminal` reads it."""
    return struct.pack(">cH", kind, len(content)) + content


@dataclass(slots=True)
class OwnTerminal:
    """A keyboard and a screen, given by their descriptors; `record` keeps what was shown."""

    keys: int
    screen: int
    record: Taker
    most: int = 64 * 1024 * 1024
    """How many bytes of what was shown are kept; the rest is counted."""
    cut: int = 0
    _kept: int = field(default=0, repr=False)

    @contextmanager
    def typing(self, send: Callable[[bytes], None]) -> Iterator[None]:
        """Hand on every key as it is pressed, Ctrl-C too, and the size of the screen."""
        waking, wake = os.pipe()
        before = termios.tcgetattr(self.keys)
        heard = signal.signal(signal.SIGWINCH, lambda *_: os.write(wake, b"s"))
        hand = threading.Thread(target=self._type, args=(waking, send), daemon=True)
        try:
            tty.setraw(self.keys, termios.TCSADRAIN)  # what was typed too early is not lost
            os.write(wake, b"s")
            hand.start()
            yield
        finally:
            os.write(wake, b"e")
            hand.join()
            signal.signal(signal.SIGWINCH, heard)
            termios.tcsetattr(self.keys, termios.TCSADRAIN, before)
            os.write(self.screen, _RESET)
            os.close(waking)
            os.close(wake)

    def _type(self, waking: int, send: Callable[[bytes], None]) -> None:
        watched = [self.keys, waking]
        while True:
            ready, _, _ = select.select(watched, [], [])
            if waking in ready:
                if b"e" in os.read(waking, _PIECE):
                    return
                send(frame(b"s", self._size()))
            if self.keys in ready:
                data = os.read(self.keys, _PIECE)
                if not data:  # the window was closed: the program is told of it as of Ctrl-D
                    watched = [waking]
                send(frame(b"k", data or b"\x04"))

    def _size(self) -> bytes:
        size = os.get_terminal_size(self.screen)
        return struct.pack(">HH", size.lines, size.columns)

    def write(self, data: bytes) -> int:
        """Show something, and keep it."""
        left = memoryview(data)
        while left:
            left = left[os.write(self.screen, left) :]
        kept = data[: self.most - self._kept]
        self._kept += len(kept)
        self.cut += len(data) - len(kept)
        self.record.write(kept)
        return len(data)

    def flush(self) -> None:
        """Flush the record."""
        self.record.flush()
