"""Whatever ends a running command early: its deadline, and whoever holds its `Halt`."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from labkit.model import Ended
from labkit.sandbox.interface import Halt


@contextmanager
def watching(seconds: float, halt: Halt | None, kill: Callable[[Ended], None]) -> Iterator[None]:
    """Have `kill` called after `seconds`, or when `halt` says so, while the context lasts."""
    timer = threading.Timer(seconds, kill, [Ended.TIMEOUT])
    timer.daemon = True
    timer.start()
    if halt is not None:
        halt.arm(lambda: kill(Ended.STOPPED))
    try:
        yield
    finally:
        if halt is not None:
            halt.disarm()
        timer.cancel()
        timer.join()
