"""Limits on a whole sandbox without an engine, where this process may make control groups.

Usually only the superuser may. Elsewhere bubblewrap has the limits of `setrlimit` alone, which hold
for each process by itself; `labkit doctor` then names what is not limited.
"""

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from labkit.sandbox.container import MIB
from labkit.sandbox.interface import Limits

_ROOT = Path("/sys/fs/cgroup")
_TRIES = 50
_PAUSE = 0.02
_JOIN = 'while [ "$1" != -- ]; do echo 0 >"$1" || exit; shift; done; shift; exec "$@"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Cgroup:
    """One group: a folder, or with version 1 of the interface one for each controller."""

    folders: tuple[Path, ...]

    def join(self, argv: Sequence[str]) -> list[str]:
        """Return the command line that enters the group and then becomes `argv`."""
        doors = [str(folder / "cgroup.procs") for folder in self.folders]
        return ["/bin/sh", "-c", _JOIN, "sh", *doors, "--", *argv]

    def ran_out_of_memory(self) -> bool:
        """Whether the kernel has killed a process of the group for want of memory."""
        for name in ("memory.events", "memory.oom_control"):
            for folder in self.folders:
                with contextlib.suppress(OSError, ValueError):
                    lines = (folder / name).read_text(encoding="ascii").splitlines()
                    counts = dict(line.split(" ", 1) for line in lines)
                    return int(counts["oom_kill"]) > 0
        return False

    def remove(self) -> None:
        """Remove the group, which no process may be in any more.

        The kernel may take a moment to forget a process that has just ended.
        """
        for folder in self.folders:
            for _ in range(_TRIES):
                try:
                    folder.rmdir()
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(_PAUSE)
                else:
                    break


def make_cgroup(name: str, limits: Limits) -> Cgroup | None:
    """Make a group with the limits on memory and processes; None where that is not allowed."""
    group = find_cgroup(name)
    try:
        for folder in group.folders:
            folder.mkdir()
        if _is_unified():
            _set(group, {"memory.max": limits.memory * MIB, "pids.max": limits.processes})
            _try_to_set(group, {"memory.swap.max": 0})
        else:
            _set(
                group, {"memory.limit_in_bytes": limits.memory * MIB, "pids.max": limits.processes}
            )
            _try_to_set(group, {"memory.memsw.limit_in_bytes": limits.memory * MIB})
    except OSError:
        group.remove()
        return None
    return group


def find_cgroup(name: str) -> Cgroup:
    """Return the group of that name, whether it exists or not."""
    if _is_unified():
        return Cgroup(folders=(_ROOT / name,))
    own = _own_groups()
    controllers = ("memory", "pids")
    return Cgroup(folders=tuple(_ROOT / each / own.get(each, "") / name for each in controllers))


def _is_unified() -> bool:
    return (_ROOT / "cgroup.controllers").is_file()


def _own_groups() -> dict[str, str]:
    """Return the group of this process for each controller of version 1, relative to its root."""
    groups = {}
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
            _, controllers, path = line.split(":", 2)
            groups.update(dict.fromkeys(controllers.split(","), path.lstrip("/")))
    return groups


def _set(group: Cgroup, values: dict[str, int]) -> None:
    """Write each value to the folder whose controller has it; raises OSError when none has."""
    for name, value in values.items():
        places = [folder / name for folder in group.folders if (folder / name).exists()]
        if not places:
            raise FileNotFoundError(name)
        for place in places:
            place.write_text(str(value), encoding="ascii")


def _try_to_set(group: Cgroup, values: dict[str, int]) -> None:
    """Write values that exist only where the kernel accounts for swap."""
    with contextlib.suppress(OSError):
        _set(group, values)
