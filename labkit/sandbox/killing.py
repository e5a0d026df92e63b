"""Who ends a container before its own end: its deadline, or somebody with a reason to."""

import contextlib
import threading
from dataclasses import dataclass, field

import docker
import requests
from docker.errors import DockerException

from labkit.model import Ended


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
