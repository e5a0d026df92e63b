"""The command lines of bubblewrap: what a sandbox sees, and what it may use."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from labkit.sandbox.container import MIB, OPEN_FILES, TEMPORARY
from labkit.sandbox.environment import Environment
from labkit.sandbox.interface import CHANNEL, SANDBOX_UID, Limits, Spec
from labkit.sandbox.making import KIT, VENV
from labkit.sandbox.place import Place

_OURS = "/opt/labkit"
_NETWORK = ("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/ssl", "/etc/services")
_PLAIN = ("PATH", "LANG")
_TOP = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")
_ISOLATED = (
    "--unshare-all",
    "--die-with-parent",
    "--new-session",
    "--clearenv",
    "--cap-drop",
    "ALL",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Writable:
    """The folders of this machine that setup writes to."""

    root: Path
    tree: Path
    temporary: Path


def command_view(environment: Environment, spec: Spec, place: Place) -> list[str]:
    """Return the arguments under which the command of `spec` runs, with the folders of `place`."""
    home = {"HOME": spec.home} if spec.home else {}
    variables = _variables(environment) | home | dict(spec.environment)
    return [
        *_ISOLATED,
        *("--uid", str(SANDBOX_UID), "--gid", str(SANDBOX_UID), "--hostname", "sandbox"),
        *_system(),
        *_kit(environment),
        *_memory_folders(spec),
        *_own_folders(spec, place),
        *(word for folder, target in place.fixed for word in ("--ro-bind", str(folder), target)),
        *(("--ro-bind", spec.channel, CHANNEL) if spec.channel else ()),
        *("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", spec.workdir),
        *(word for name, value in variables.items() for word in ("--setenv", name, value)),
    ]


def setup_view(environment: Environment, writable: Writable, folders: Sequence[Path]) -> list[str]:
    """Return the arguments under which setup runs: with a network, nothing of the system writable.

    `folders` of this machine are shown at their own place.
    """
    variables = {name: value for name, value in _variables(environment).items() if name in _PLAIN}
    return [
        *_ISOLATED,
        *("--share-net", "--uid", str(SANDBOX_UID), "--gid", str(SANDBOX_UID)),
        *_system(),
        *_kit(environment),
        *(word for file in _NETWORK for word in ("--ro-bind-try", file, file)),
        *("--perms", "0755", "--tmpfs", KIT),
        *("--bind", str(writable.temporary), TEMPORARY),
        *("--bind", str(writable.tree), "/workspace"),
        *("--bind", str(writable.root), VENV),
        *(word for path in folders for word in ("--ro-bind", str(path), str(path))),
        *("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/workspace"),
        *(word for name, value in variables.items() for word in ("--setenv", name, value)),
    ]


def reader_view(tree: Path, place: str) -> list[str]:
    """Return the arguments under which nothing but `tree` can be read, locked folders included."""
    return [
        *_ISOLATED,
        *("--uid", "0", "--gid", "0", "--cap-add", "CAP_DAC_READ_SEARCH"),
        *_system(),
        *("--ro-bind", str(tree), place),
        *("--setenv", "PATH", "/usr/bin:/bin", "--setenv", "LC_ALL", "C.UTF-8"),
    ]


def limited(limits: Limits, command: Sequence[str], *, memory: bool) -> list[str]:
    """Return `command` under the resource limits that every process inherits.

    With `memory`, that of the address space too: it is for where nothing better limits memory.
    Processes are counted per user inside the new user namespace, so those that this user has
    elsewhere do not matter; the kernel does not apply that limit to the superuser.
    """
    return [
        "prlimit",
        f"--fsize={limits.returned_bytes}",
        f"--nofile={OPEN_FILES}",
        "--core=0",
        *([f"--as={limits.memory * MIB}"] if memory else []),
        f"--nproc={limits.processes}",
        *command,
    ]


def _system() -> list[str]:
    words = ["--ro-bind", "/usr", "/usr"]
    for name in _TOP:
        path = Path("/", name)
        if path.is_symlink():
            words += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            words += ["--ro-bind", str(path), str(path)]
    for shared in ("/etc/ld.so.cache", "/etc/alternatives"):
        words += ["--ro-bind-try", shared, shared]
    return [*words, "--proc", "/proc", "--dev", "/dev"]


def _kit(environment: Environment) -> list[str]:
    prepared = environment.prepared
    words = ["--ro-bind", str(prepared / "bin"), f"{_OURS}/bin"]
    words += ["--ro-bind", str(prepared / "site"), f"{_OURS}/site"]
    for name in ("passwd", "group"):
        words += ["--ro-bind", str(prepared / "etc" / name), f"/etc/{name}"]
    if environment.interpreter is not None:
        words += ["--ro-bind", str(environment.interpreter), str(environment.interpreter)]
    if environment.site is not None:
        words += ["--ro-bind", str(environment.site), f"{_OURS}/packages"]
    if environment.root is not None:
        words += ["--ro-bind", str(environment.root), VENV]
    return words


def _own_folders(spec: Spec, place: Place) -> list[str]:
    name = spec.returned_file
    words = ["--bind", str(place.tree / name), str(Path(spec.returned, name))]
    return [*words, "--bind", str(place.home), spec.home] if spec.home else words


def _memory_folders(spec: Spec) -> list[str]:
    size = str(spec.limits.scratch * MIB)
    words = ["--perms", "1777", "--size", size, "--tmpfs", TEMPORARY]
    # Bubblewrap's own /dev would hold as much as half of the machine's memory.
    words += ["--perms", "1777", "--size", size, "--tmpfs", "/dev/shm"]  # noqa: S108 - its own
    for folder in spec.memory_folders:
        words += ["--perms", "0755", "--size", size, "--tmpfs", folder]
    return words


def _variables(environment: Environment) -> dict[str, str]:
    """Return what every command is told.

    What setup made has the kit's packages behind its own, or its own test runner instead.
    """
    sites = [] if environment.site is None else [f"{_OURS}/packages"]
    programs = f"{_OURS}/bin:/usr/local/bin:/usr/bin:/bin"
    if environment.root is None:
        sites.append(f"{_OURS}/site")
    else:
        programs = f"{VENV}/bin:{programs}"
    return {
        "PATH": programs,
        "PYTHONPATH": ":".join(sites),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": TEMPORARY,
        "LANG": "C.UTF-8",
    }
