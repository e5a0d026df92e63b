"""Finds candidates that write outside their scratch folder, by Python's own audit events.

It finds mistakes, not malice: what a child process does, or C code, raises no event. For
candidates that are not trusted there is `labkit.evals.command.Command`.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from labkit.evals.arguments import paths_of, require_callable
from labkit.evals.case import EvalCase
from labkit.evals.sample import Candidate, Escaped, Trial

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CACHE = "__pycache__"
_HERE = -1
"""The descriptor that means "the current folder"."""
_MEMORY = "/dev/shm"  # noqa: S108 - where /dev holds files after all
Place = tuple[str, bool]
"""A path, and whether a link there is followed."""


class _Watch:
    """One sample that is watched: where it may write, and where it first tried to write else."""

    def __init__(self, scratch: Path, allowed: Iterable[Path]) -> None:
        self.roots = tuple(f"{os.path.realpath(each)}{os.sep}" for each in (scratch, *allowed))
        self.temporary = f"{os.path.realpath(tempfile.gettempdir())}{os.sep}"
        self.own: set[str] = set()
        self.found: str | None = None

    def check(self, path: str, *, follow: bool) -> None:
        """Raise Escaped for a path that is not the sample's to change."""
        path = os.path.abspath(path)  # noqa: PTH100 - texts: this is called for every event
        if follow:
            path = os.path.realpath(path)
        else:
            path = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))  # noqa: PTH118, PTH119, PTH120
        if path.startswith(self.roots) or _harmless(path) or self._is_own(path):
            return
        self.found = self.found or path
        raise Escaped(words(path))

    def _is_own(self, path: str) -> bool:
        """Return whether a path lies in what this sample itself made in the temporary folder."""
        if not path.startswith(self.temporary):
            return path + os.sep == self.temporary  # a file there without a name
        first = path[len(self.temporary) :].split(os.sep, 1)[0]
        if first not in self.own and not os.path.lexists(self.temporary + first):
            self.own.add(first)
        return first in self.own


_WATCHED: ContextVar[_Watch | None] = ContextVar("labkit_watched", default=None)


class _Process:
    """What is watched in every thread: the one sample of a process that has one at a time."""

    watch: _Watch | None = None
    hooked = False


def words(path: str) -> str:
    """Return what is said of an escape."""
    return f"{path} lies outside the scratch folder"


def _harmless(path: str) -> bool:
    if path.startswith("/dev/"):
        return not path.startswith(_MEMORY)
    return _CACHE in Path(path).parts


def _at(path: Any, folder: Any = _HERE) -> Iterable[str]:
    """Return the path that an event names; nothing for an open file."""
    if isinstance(path, int):
        return
    text = os.fsdecode(path)
    if folder not in (_HERE, None) and not text.startswith(os.sep):
        text = os.path.join(os.path.realpath(f"/proc/self/fd/{folder}"), text)  # noqa: PTH118
    yield text


def _opened(path: Any, _mode: Any, flags: Any) -> Iterable[Place]:
    if isinstance(flags, int) and flags & _WRITING:
        follow = not flags & os.O_EXCL
        return [(text, follow) for text in _at(path)]
    return ()


def _renamed(old: Any, new: Any, old_folder: Any, new_folder: Any) -> Iterable[Place]:
    return [(text, False) for text in (*_at(old, old_folder), *_at(new, new_folder))]


def _linked(old: Any, new: Any, old_folder: Any, new_folder: Any) -> Iterable[Place]:
    # What is written to the new name is written to the old one's file.
    return [(text, False) for text in (*_at(old, old_folder), *_at(new, new_folder))]


def _symlinked(_target: Any, new: Any, folder: Any) -> Iterable[Place]:
    return [(text, False) for text in _at(new, folder)]


def _removed(path: Any, folder: Any) -> Iterable[Place]:
    return [(text, False) for text in _at(path, folder)]


def _made(path: Any, _mode: Any, folder: Any) -> Iterable[Place]:
    # Making what is there once more is a habit, and does nothing.
    return [(text, False) for text in _at(path, folder) if not os.path.lexists(text)]


def _changed(path: Any, *rest: Any) -> Iterable[Place]:
    folder = rest[-1] if len(rest) > 1 else _HERE
    return [(text, True) for text in _at(path, folder)]


def _connected(database: Any) -> Iterable[Place]:
    text = os.fsdecode(database) if isinstance(database, str | bytes | os.PathLike) else ""
    if text in ("", ":memory:") or text.startswith("file:"):
        return ()
    return [(text, True)]


_EVENTS: dict[str, Callable[..., Iterable[Place]]] = {
    "open": _opened,
    "os.rename": _renamed,
    "os.link": _linked,
    "os.symlink": _symlinked,
    "os.remove": _removed,
    "os.rmdir": _removed,
    "os.mkdir": _made,
    "os.truncate": _changed,
    "os.chmod": _changed,
    "os.chown": _changed,
    "os.utime": _changed,
    "sqlite3.connect": _connected,
}


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    places = _EVENTS.get(event)
    if places is None:
        return
    watch = _Process.watch or _WATCHED.get()
    if watch is None:
        return
    for path, follow in places(*arguments):
        watch.check(path, follow=follow)


def watched(
    candidate: Candidate, *, allow: Iterable[Path | str] = (), everywhere: bool = False
) -> Candidate:
    """Return a candidate that is stopped, and fails, where it writes outside its scratch folder.

    What lies in `allow` may be written too, and so may /dev/null and its like, `__pycache__`, and
    whatever a sample itself makes in the system's temporary folder. Only the thread that the
    candidate is called in is watched; `everywhere`, for a process that has one sample at a time,
    watches all of its threads.
    """
    require_callable(candidate)
    allowed = paths_of(allow, "allow")
    if not _Process.hooked:
        _Process.hooked = True
        sys.addaudithook(_hook)

    def call(case: EvalCase, trial: Trial) -> object:
        watch = _Watch(trial.scratch, allowed)
        token = _WATCHED.set(watch)
        if everywhere:
            _Process.watch = watch
        try:
            answer = candidate(case, trial)
        except Exception:
            if watch.found is not None:
                raise Escaped(words(watch.found)) from None
            raise
        finally:
            _Process.watch = None
            _WATCHED.reset(token)
        if watch.found is not None:  # it went on as if nothing had been
            raise Escaped(words(watch.found))
        return answer

    return call
