"""A program of this machine, started so that all of it can be ended: by a deadline, or by a crash.

It runs in a session of its own below a keeper (`labkit.evals.keeper`), who adopts whatever it
leaves behind. When it ends, when it is ended, and when labkit itself is killed, nothing is left.
"""

import contextlib
import json
import os
import select
import signal
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from labkit import process
from labkit.errors import InfrastructureError, ToolError
from labkit.evals.pipes import LateError, wait_for

_KEEPER = Path(__file__).with_name("keeper.py")
_LONGEST_ENDING = 15.0
_MIB = 1024 * 1024
_PIECE = 4096
_MOMENT = 0.001


class Closing(ABC):
    """Holds programs that have to be ended: by `close`, or by the end of a `with`."""

    @abstractmethod
    def close(self) -> None:
        """End what still runs."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """How a program ended."""

    code: int | None
    """Its exit code, negative for a signal; None when nobody saw it end."""
    killed: bool
    """Whether it was ended by labkit."""

    @property
    def words(self) -> str:
        """How it ended, for a message: "ended in 3", "was killed by SIGSEGV"."""
        if self.code is None:
            return "was lost: its keeper was killed"
        if self.code >= 0:
            return f"ended in {self.code}"
        with contextlib.suppress(ValueError):
            name = signal.Signals(-self.code).name
            why = ": the machine may be out of memory" if name == "SIGKILL" else ""
            return f"was killed by {name}{why}"
        return f"was killed by signal {-self.code}"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLimits:
    """What one process may use, in MiB; 0 is no limit. They are held by the kernel."""

    memory: int = 0
    """Memory that it writes to (RLIMIT_DATA): what it maps of files does not count."""
    file: int = 1024
    """The largest file that it can write."""

    def named(self) -> dict[str, int]:
        """Return them by the names that the kernel has for them."""
        wanted = {"RLIMIT_DATA": self.memory, "RLIMIT_FSIZE": self.file}
        return {name: most * _MIB for name, most in wanted.items() if most} | {"RLIMIT_CORE": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What is to run, and where what it says goes."""

    argv: Sequence[str]
    cwd: Path
    env: Mapping[str, str]
    stdout: int
    stderr: int
    """Ends of pipes, not this process's own standard streams."""
    passed: Sequence[int] = ()
    """Further descriptors that it is given, under the same numbers."""
    limits: HostLimits = field(default_factory=HostLimits)


class Kept:
    """A running program. Raises InfrastructureError, or ToolError when it cannot be started."""

    def __init__(self, program: Program) -> None:
        told = {
            "cwd": str(program.cwd),
            "stdout": program.stdout,
            "stderr": program.stderr,
            "passed": list(program.passed),
            "limits": program.limits.named(),
        }
        self._end: End | None = None
        self._said = b""
        self._lock = threading.Lock()
        self._keeper = process.start(
            [sys.executable, "-I", "-S", _KEEPER, json.dumps(told), *program.argv],
            env=program.env,
            stderr=program.stderr,
            pass_fds=[*{program.stdout, program.stderr, *program.passed}],
        )
        begun = self._line(_LONGEST_ENDING) or {}
        self._pid = begun.get("pid")
        if self._pid is None:
            self.end()
            if "problem" in begun:
                raise ToolError(f"{program.argv[0]} could not be started: {begun['problem']}")
            raise InfrastructureError("the keeper of a candidate's process did not start")

    def wait(self, seconds: float) -> End | None:
        """Return how it ended, nothing of it being left; None when it has not after `seconds`."""
        if self._end is None:
            said = self._line(seconds)
            if said is None:
                return None
            self._finish(said)
        return self._end

    def kill(self) -> None:
        """Have it killed with everything that it started; from any thread, and without waiting."""
        with self._lock:
            if self._end is None and self._keeper.stdin is not None:
                with contextlib.suppress(BrokenPipeError):
                    os.write(self._keeper.stdin.fileno(), b"\n")

    def end(self) -> End:
        """Kill it with everything that it started, and return how it ended."""
        if self._end is None:
            self.kill()
            self._finish(self._line(_LONGEST_ENDING) or {})
        assert self._end is not None  # noqa: S101 - `_finish` has set it
        return self._end

    def _finish(self, said: Mapping[str, Any]) -> None:
        with self._lock:
            self._end = End(code=said.get("code"), killed=said.get("killed", True))
        if not said and self._pid is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._pid, signal.SIGKILL)
        for pipe in (self._keeper.stdin, self._keeper.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        self._await_keeper()

    def _await_keeper(self) -> None:
        """Let the keeper, who has lost its tether, do its work; a stuck one is killed."""
        until = time.monotonic() + _LONGEST_ENDING
        while self._keeper.poll() is None and time.monotonic() < until:
            time.sleep(_MOMENT)
        self._keeper.kill()
        self._keeper.wait()

    def _line(self, seconds: float) -> dict[str, Any] | None:
        """Return the keeper's next line, an empty one when it is gone; None when none came."""
        pipe = self._keeper.stdout
        assert pipe is not None  # noqa: S101 - as `process.start` promises
        until = time.monotonic() + seconds
        while b"\n" not in self._said:
            try:
                wait_for(pipe.fileno(), select.POLLIN, until)
            except LateError:
                return None
            piece = os.read(pipe.fileno(), _PIECE)
            if not piece:
                return {}
            self._said += piece
        line, _, self._said = self._said.partition(b"\n")
        found = json.loads(line)
        return found if isinstance(found, dict) else {}
