"""Who ends a container before its own end: its deadline, or somebody with a reason to."""

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import docker
import requests
from docker.errors import DockerException

from labkit.model import Ended
from labkit.sandbox.interface import Halt


@dataclass(slots=True, kw_only=True)
class Killer:
    """Kills a started container once, and knows why it did."""

    api: docker.APIClient
    container: str
    why: Ended | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def kill(self, why: Ended) -> None:
        """Kill it; one that has just ended by itself cannot be killed, and was not."""
        with self._lock, contextlib.suppress(DockerException, requests.RequestException):
            if self.why is None:
                self.api.kill(self.container)
                self.why = why

    @contextlib.contextmanager
    def watching(self, seconds: float, halt: Halt | None) -> Iterator[None]:
        """Kill it after `seconds`, or when `halt` says so, unless it has ended before."""
        timer = threading.Timer(seconds, self.kill, [Ended.TIMEOUT])
        timer.daemon = True
        timer.start()
        if halt is not None:
            halt.arm(lambda: self.kill(Ended.STOPPED))
        try:
            yield
        finally:
            if halt is not None:
                halt.disarm()
            timer.cancel()
            timer.join()
