"""Ctrl-C while runs are at work: the first one lets them end, the second one does not."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from labkit_runner.stopping import Stop

_FIRST = (
    b"\nnothing new is begun; what runs comes to its end (Ctrl-C again stops it: it starts anew)\n"
)
_SECOND = b"\nstopping what runs\n"


@contextmanager
def heeding(stop: Stop) -> Iterator[None]:
    """Hand Ctrl-C to `stop` instead of raising KeyboardInterrupt."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def heed(_signal: int, _frame: FrameType | None) -> None:
        # Straight to the terminal: the stream may be in the middle of a line of its own.
        os.write(2, _SECOND if stop.by_person else _FIRST)
        stop.interrupt()

    before = signal.signal(signal.SIGINT, heed)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
