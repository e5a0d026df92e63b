"""A started bubblewrap: its pipes, its deadline, and certainty that all its processes are gone."""

import contextlib
import json
import os
import select
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Protocol

from labkit import process
from labkit.errors import InfrastructureError
from labkit.model import Ended
from labkit.sandbox.cgroup import Cgroup
from labkit.sandbox.streams import pump

_GRACE = 10.0
"""Seconds after which killed processes that are still there mean that the machine is stuck."""


class _Process(Protocol):
    """What is used of the process that `labkit.process` starts."""

    pid: int
    stdin: IO[bytes] | None
    stdout: IO[bytes] | None
    stderr: IO[bytes] | None

    def wait(self) -> int: ...

    def kill(self) -> None: ...


@dataclass(slots=True, kw_only=True)
class Running:
    """Bubblewrap outside, and the leader of the process namespace inside."""

    outer: _Process
    stdin: IO[bytes]
    stdout: int
    stderr: int
    """The reading ends of the two output pipes."""
    leader: int | None
    """A descriptor of the leader; all processes of the namespace end with it."""
    why: Ended | None = None
    """Why it was ended from here; None when it was not."""
    over: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def feed(self, *archives: bytes) -> None:
        """Write the archives and leave standard input open: it is the tether."""
        with contextlib.suppress(BrokenPipeError):
            for archive in archives:
                self.stdin.write(archive)
            self.stdin.flush()

    @contextlib.contextmanager
    def drained(self, *takers: tuple[int, Callable[[bytes], None]]) -> Iterator[None]:
        """Take what pipes bring, each in a thread, until all who could write to them are gone."""
        threads = [
            threading.Thread(target=pump, args=(partial(os.read, end), take), daemon=True)
            for end, take in takers
        ]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._kill()
            for thread in threads:
                thread.join()

    def wait(self) -> int:
        """Return the exit code of bubblewrap once every process of the namespace is gone.

        The kernel reports the end of a namespace's leader only after all others have ended.
        """
        code = self.outer.wait()
        # Killed early enough, bubblewrap leaves a leader that waits for it for ever.
        self._kill()
        if self.leader is not None and not _is_over(self.leader, _GRACE):
            raise InfrastructureError("processes of the sandbox could not be ended")
        return code

    def end(self) -> None:
        """Kill whatever is left and close everything."""
        self._kill()
        self.outer.wait()
        for pipe in (self.outer.stdin, self.outer.stdout, self.outer.stderr):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        with self._lock:
            self.over = True
            if self.leader is not None:
                _is_over(self.leader, _GRACE)
                os.close(self.leader)
                self.leader = None

    def stop(self, why: Ended) -> None:
        """Kill it, once; somebody who stops it may be late, when its descriptor is closed."""
        with self._lock:
            ended = self.leader is not None and _is_over(self.leader, 0)
            if self.why is None and not self.over and not ended:
                self.why = why
                self._kill()

    def _kill(self) -> None:
        if self.leader is None:
            self.outer.kill()
            return
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.leader, signal.SIGKILL)


@contextlib.contextmanager
def started(
    bwrap: Path, arguments: Sequence[str], *, group: Cgroup | None = None
) -> Iterator[Running]:
    """Start bubblewrap and wait for its word which process leads the new namespace.

    With `group`, bubblewrap and everything in it belongs to that control group.
    """
    reading, writing = os.pipe()
    try:
        argv = [str(bwrap), "--json-status-fd", str(writing), *arguments]
        outer = process.start(
            argv if group is None else group.join(argv),
            env=process.plain_environment(),
            pass_fds=[writing],
        )
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    with os.fdopen(reading, "rb") as status:
        running = Running(
            outer=outer,
            stdin=_end(outer.stdin),
            stdout=_end(outer.stdout).fileno(),
            stderr=_end(outer.stderr).fileno(),
            leader=_leader(status.readline()),
        )
        try:
            yield running
        finally:
            running.end()


def _end(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise InfrastructureError("bubblewrap was started without its pipes")
    return pipe


def _leader(line: bytes) -> int | None:
    """Open the process that bubblewrap named; None when it named none, or has ended already."""
    if line:
        with contextlib.suppress(ProcessLookupError):
            return os.pidfd_open(int(json.loads(line)["child-pid"]))
    return None


def _is_over(descriptor: int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(seconds * 1000))
