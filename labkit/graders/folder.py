"""Reading what a candidate left in a folder: never through a link, never waiting, never too much.

The folder is the candidate's: any name in it may be a link to a file of the host, a pipe that
nobody writes to, or ten gigabytes.
"""

import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from labkit.archive import Entry, Kind
from labkit.errors import InputError
from labkit.gitpaths import shown_path

MOST_FILE_BYTES = 64 * 1024 * 1024
_MOST_BYTES = 256 * 1024 * 1024
_MOST_ENTRIES = 50_000
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC
_ITS_DOING = {
    errno.ENOENT: "is missing",
    errno.ENOTDIR: "does not lie in a plain folder",
    errno.ELOOP: "is a link",
    errno.EACCES: "cannot be read",
    errno.ENXIO: "is not a file",
    errno.ENAMETOOLONG: "cannot have that name",
}
"""What a candidate can do to a path. Any other error is the machine's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """Why the candidate's file or folder is not what a grader can read: a fail, for this reason."""

    why: str


def path_problem(path: str) -> str | None:
    """Return what is wrong with a path that should lie inside a candidate's folder."""
    if not path or "\0" in path:
        return "must name a file"
    if path.startswith("/") or any(part in ("", ".", "..") for part in path.split("/")):
        return f"is {path!r}: write it relative to the folder, with no . or .. in it"
    return None


def require_inside(path: str) -> None:
    """Raise InputError for a path that could lead out of a candidate's folder; "" is none."""
    problem = path_problem(path) if path else None
    if problem is not None:
        raise InputError(f'"path" {problem}')


def read_inside(folder: Path, path: str) -> bytes | Unreadable:
    """Return a file's content. `path` is the author's, and has no `path_problem`.

    Raises OSError when the machine, and not the candidate, keeps it from being read.
    """
    try:
        return _read(folder, path)
    except OSError as error:
        if error.errno not in _ITS_DOING:
            raise
        return Unreadable(why=f"{shown_path(path)} {_ITS_DOING[error.errno]}")


def _read(folder: Path, path: str) -> bytes | Unreadable:
    *folders, name = path.split("/")
    at = os.open(folder, _FOLDER)
    try:
        for each in folders:
            below = os.open(each, _FOLDER, dir_fd=at)
            os.close(at)
            at = below
        handle = os.open(name, _FILE, dir_fd=at)
    finally:
        os.close(at)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        return Unreadable(why=f"{shown_path(path)} is not a file")
    with os.fdopen(handle, "rb") as file:
        data = file.read(MOST_FILE_BYTES + 1)
    if len(data) > MOST_FILE_BYTES:
        return Unreadable(why=f"{shown_path(path)} is larger than {MOST_FILE_BYTES:,} bytes")
    return data


def entries_of(folder: Path) -> tuple[Entry, ...] | Unreadable:
    """Return all of a folder, sorted, links as links; pipes, sockets and devices are left out.

    Raises OSError when the machine, and not the candidate, keeps it from being read.
    """
    if folder.is_symlink() or not folder.is_dir():
        return Unreadable(why="the folder is missing")
    entries: list[Entry] = []
    total = 0
    for path in _walk(folder):
        entry = _entry(folder, path)
        if isinstance(entry, Unreadable):
            return entry
        if entry is not None:
            entries.append(entry)
            total += len(entry.data)
        if len(entries) > _MOST_ENTRIES:
            return Unreadable(why=f"the folder holds more than {_MOST_ENTRIES:,} files")
        if total > _MOST_BYTES:
            return Unreadable(why=f"the folder is larger than {_MOST_BYTES:,} bytes")
    return tuple(entries)


def runnable_entries(folder: Path) -> tuple[Entry, ...] | Unreadable:
    """Return what a grader runs: all of a folder but Python's caches of compiled code.

    Those count as no edit, and Python would run them in place of a source that nobody changed.
    Raises OSError as `entries_of` does.
    """
    found = entries_of(folder)
    if isinstance(found, Unreadable):
        return found
    return tuple(entry for entry in found if b"__pycache__" not in entry.path.split(b"/"))


def _walk(folder: Path) -> Iterator[str]:
    """Yield the paths below a folder. One that cannot be opened is seen, and found to be closed."""
    for root, folders, names in os.walk(folder):
        folders.sort()
        below = os.path.relpath(root, folder)
        for name in sorted([*names, *folders]):
            yield name if below == "." else f"{below}/{name}"


def _entry(folder: Path, path: str) -> Entry | Unreadable | None:
    at = folder / path
    try:
        mode = at.lstat().st_mode
        if stat.S_ISDIR(mode):
            os.close(os.open(at, _FOLDER))
            return Entry(path=os.fsencode(path), kind=Kind.FOLDER)
        if stat.S_ISLNK(mode):
            target = os.fsencode(at.readlink())
            return Entry(path=os.fsencode(path), kind=Kind.SYMLINK, data=target)
    except OSError as error:
        if error.errno not in _ITS_DOING:
            raise
        return Unreadable(why=f"{shown_path(path)} {_ITS_DOING[error.errno]}")
    if not stat.S_ISREG(mode):
        return None
    data = read_inside(folder, path)
    if isinstance(data, Unreadable):
        return data
    kind = Kind.EXECUTABLE if mode & 0o100 else Kind.FILE
    return Entry(path=os.fsencode(path), kind=kind, data=data)
