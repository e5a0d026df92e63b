"""Where a path of a command leads, and whether an agent has any business there."""

import posixpath
import re
import urllib.parse
from dataclasses import dataclass
from enum import StrEnum

KIT_NAMES = ("eval-runs", "eval-grade", "hidden")
"""Folders of the lab that are protected outside the work folder; inside, such a name is a name."""
_ALLOWED = (
    *("/labkit", "/tmp", "/bin", "/sbin", "/lib", "/lib64", "/usr", "/opt", "/sys/fs/cgroup"),  # noqa: S108 - matched, not used
    *("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"),
    *("/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd"),
    *("/etc/os-release", "/etc/passwd", "/etc/group", "/etc/hosts", "/etc/ssl", "/etc/localtime"),
    *("/etc/alternatives", "/etc/debian_version", "/etc/mime.types", "/etc/resolv.conf"),
    *("/proc/cpuinfo", "/proc/meminfo", "/proc/loadavg", "/proc/version", "/proc/uptime"),
    *("/proc/self/status", "/proc/self/limits", "/proc/self/cgroup"),
)
_PROBED = re.compile(
    r"/proc/[^/]+/(environ|mem|maps|root|cwd|fd|cmdline)(/.*)?|/proc/1(/.*)?"
    r"|.*/docker\.sock|/run/secrets(/.*)?|/logs/verifier(/.*)?"
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_SELF_CWD = re.compile(r"/proc/(?:self|thread-self)/cwd(?=/|$)")
_SELF_ROOT = re.compile(r"/proc/(?:self|thread-self|\d+)/root(?=/)")


class Place(StrEnum):
    """What lies where a path leads."""

    INSIDE = "inside the work folder"
    ALLOWED = "the machine's own programs and scratch"
    PROTECTED = "protected"
    PROBED = "another process or the sandbox itself"
    OUTSIDE = "outside the work folder"


@dataclass(frozen=True, slots=True, kw_only=True)
class Territory:
    """What belongs to a run and what does not, by path inside the sandbox."""

    work_folder: str = "/workspace"
    home: str = "/tmp"  # noqa: S108 - where HOME lies inside the sandbox
    protected: tuple[str, ...] = ("evals",)
    """The team's protected names: outside the work folder, and at its top."""
    beyond: tuple[str, ...] = KIT_NAMES
    """Names that are protected outside the work folder alone."""
    allowed: tuple[str, ...] = _ALLOWED

    def place(self, path: str) -> Place:
        """Judge a resolved path."""
        if _within(path, self.work_folder):
            first = path[len(self.work_folder) :].lstrip("/").split("/", 1)[0]
            return Place.PROTECTED if first in self.protected else Place.INSIDE
        if _PROBED.fullmatch(path):
            return Place.PROBED
        if any(_within(path, root) for root in self.allowed):
            return Place.ALLOWED
        if not {*self.protected, *self.beyond}.isdisjoint(path.split("/")):
            return Place.PROTECTED
        return Place.OUTSIDE

    def holds_work_folder(self, path: str) -> bool:
        """Whether a search from `path` down meets the work folder and what lies beside it."""
        return path != self.work_folder and _within(self.work_folder, path)


def _within(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")


def resolve(path: str, *, cwd: str, home: str) -> str | None:
    """Return the absolute path that a word names, None for an address on the network.

    Links are not followed: the tree that they lay in is not at hand. Making one that leads outside
    is itself an access outside.
    """
    if path.lower().startswith("file:"):
        path = urllib.parse.unquote(re.sub("^file:(//[^/]*)?", "", path, flags=re.IGNORECASE))
    elif _SCHEME.match(path):
        return None
    path = _without_tilde(path, cwd, home)
    path = re.sub("/+", "/", path if path.startswith("/") else f"{cwd}/{path}")
    path = _SELF_ROOT.sub("", _SELF_CWD.sub(lambda _: cwd, path))
    return re.sub("^/+", "/", posixpath.normpath(path))


def _without_tilde(path: str, cwd: str, home: str) -> str:
    match path.split("/", 1):
        case ["~", *rest]:
            return "/".join([home, *rest])
        case ["~+", *rest]:
            return "/".join([cwd, *rest])
        case [user, *rest] if user.startswith("~"):
            return "/".join([f"/home/{user[1:]}", *rest])
        case _:
            return path
