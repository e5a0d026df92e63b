"""Runs one program and sees to it that nothing of it outlives it. Started by `labkit.evals.kept`.

A plain file that knows nothing of labkit: standard library only. Its standard input is a tether: a
byte on it, or its end (labkit is gone, in whatever way), kills the program and all that it started,
also what left its process group or closed everything. It answers on standard output, in lines of
JSON: the program's id once it runs, and how it ended once nothing of it is left.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import sys
import time
from pathlib import Path
from typing import Any

_DEATH_SIGNAL, _SUBREAPER = 1, 36
_LONGEST_ENDING = 10.0
_FAILED = 127


def _control(option: int, value: int) -> None:
    """Call prctl where there is one: elsewhere only the process group holds things together."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def adopt_orphans() -> None:
    """Become the parent of every descendant that loses its own."""
    _control(_SUBREAPER, 1)


def say(**words: object) -> None:
    """Write one line for labkit, which may be gone."""
    with contextlib.suppress(OSError):
        os.write(1, json.dumps(words).encode() + b"\n")


def start(argv: list[str], told: dict[str, Any]) -> tuple[int, str]:
    """Return the id of the started program, and what kept it from starting."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            _become(argv, told)
        except (OSError, ValueError) as error:
            os.write(writing, str(error).encode())
        finally:
            os._exit(_FAILED)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        return child, pipe.read().decode(errors="replace")


def _become(argv: list[str], told: dict[str, Any]) -> None:
    os.setsid()
    _control(_DEATH_SIGNAL, signal.SIGKILL)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    _limit(told)
    os.chdir(told["cwd"])
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(told["stdout"], 1)
    os.dup2(told["stderr"], 2)
    for end in {told["stdout"], told["stderr"]}:
        os.set_inheritable(end, False)  # noqa: FBT003 - its only argument
    os.execvp(argv[0], argv)  # noqa: S606 - labkit.process starts programs; this one is asked to


def _limit(told: dict[str, Any]) -> None:
    for name, most in told["limits"].items():
        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        new = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (new, new))
    # Where memory runs out, the kernel shall choose the candidate and not labkit.
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def watch(child: int, bell: int) -> int | None:
    """Wait for the program, and return how it ended; None when the tether asks for its end."""
    while True:
        ready, _, _ = select.select([0, bell], [], [])
        if bell in ready:
            os.read(bell, 4096)
        ended = _reap().get(child)
        if ended is not None:
            return ended
        if 0 in ready:
            return None


def _reap() -> dict[int, int]:
    found = {}
    with contextlib.suppress(ChildProcessError):
        while True:
            process, status = os.waitpid(-1, os.WNOHANG)
            if not process:
                break
            found[process] = status
    return found


def end_all(child: int) -> int | None:
    """Kill until no descendant is left, and return how the program itself ended."""
    ended = None
    limit = time.monotonic() + _LONGEST_ENDING
    while time.monotonic() < limit:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
        for process in descendants():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        ended = _reap().get(child, ended)
        if not has_children():
            return ended
        time.sleep(0.002)
    return ended


def has_children() -> bool:
    """Return whether any child is left, alive or not yet reaped."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def descendants() -> list[int]:
    """Return every process below this one, nearest first; none where there is no /proc."""
    children: dict[int, list[int]] = {}
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):  # noqa: PTH208 - thousands of paths are slow to make
            if name.isdigit():
                with contextlib.suppress(OSError, ValueError):
                    text = Path("/proc", name, "stat").read_bytes()
                    parent = int(text[text.rindex(b")") :].split()[2])
                    children.setdefault(parent, []).append(int(name))
    found = list(children.get(os.getpid(), ()))
    for process in found:  # grows while it is walked
        found += children.get(process, ())
    return found


def main(told: dict[str, Any], argv: list[str]) -> None:
    """Run the program to its end, or to that of the tether."""
    with contextlib.suppress(OSError):
        os.setsid()  # so that Ctrl-C in a terminal is for labkit alone
    adopt_orphans()
    bell, rope = os.pipe()
    os.set_blocking(rope, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(rope)
    child, problem = start(argv, told)
    if problem:
        say(problem=problem)
        return
    for end in {told["stdout"], told["stderr"], *told["passed"]}:
        os.close(end)
    say(pid=child)
    status = watch(child, bell)
    ended = end_all(child)
    found = ended if status is None else status
    say(code=None if found is None else os.waitstatus_to_exitcode(found), killed=status is None)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), sys.argv[2:])
