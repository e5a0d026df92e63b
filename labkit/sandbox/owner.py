"""Which labkit process owns a container or a scratch folder, and whether it is still alive."""

import json
import os
import socket
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """One process, told apart from a later one with the same number by when it was started."""

    pid: int
    place: str
    """Host name and, on Linux, process namespace: where `pid` means something."""
    boot: str
    started: str

    @classmethod
    def current(cls) -> Self:
        """Return the process that is running this."""
        pid = os.getpid()
        return cls(pid=pid, place=_place(), boot=_boot(), started=_started(pid))

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Read what `text()` wrote; None when it is something else."""
        try:
            data = json.loads(text)
            return cls(
                pid=int(data["pid"]),
                place=str(data["place"]),
                boot=str(data["boot"]),
                started=str(data["started"]),
            )
        except (ValueError, KeyError, TypeError):
            return None

    def text(self) -> str:
        """Return the owner as one line, for a label or a file."""
        return json.dumps(asdict(self), sort_keys=True)

    def is_gone(self) -> bool:
        """Whether the process certainly is no more; False when this machine cannot tell."""
        if self.place != _place():
            return False
        if self.boot != _boot():
            return True
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            pass
        return _started(self.pid) != self.started


def _place() -> str:
    try:
        return f"{socket.gethostname()} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return socket.gethostname()


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _started(pid: int) -> str:
    """Return the start time of a process in clock ticks since boot, empty where none is told."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return ""
    # The program's name stands in brackets and may hold anything; field 22 counts from behind it.
    return stat.rpartition(b")")[2].split()[19].decode("ascii")
