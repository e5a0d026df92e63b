"""One labkit at a time in a workspace: two phases must never run on one machine at once."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import IO

from labkit.errors import PhaseError, not_written
from labkit.workspace import Workspace

if sys.platform != "win32":
    import fcntl


@contextmanager
def only_one(workspace: Workspace, what: str) -> Iterator[None]:
    """Hold the workspace's lock; raises PhaseError when another labkit command holds it."""
    with holding(workspace.evals / ".lock", what):
        yield


@contextmanager
def holding(path: Path, what: str) -> Iterator[None]:
    """Hold a lock; raises PhaseError when another labkit command holds it.

    The system frees the lock when the process ends, however it ends.
    """
    if sys.platform == "win32":
        yield  # no engine, no sandbox, so no phase that needs the lock
        return
    with _opened(path) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.seek(0)
            raise PhaseError(
                f"another labkit is at work here: {file.read().decode().strip() or 'unknown'}",
                hint="wait for it to end, or stop it",
            ) from error
        try:
            file.truncate(0)
            file.write(f"{what}\n".encode())
        except OSError as error:
            raise not_written(path, error) from error
        yield
        file.truncate(0)


def is_free(file: IO[bytes]) -> bool:
    """Lock an open file until it is closed; return whether nobody else had locked it."""
    if sys.platform != "win32":
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


@contextmanager
def in_turn(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold a lock of this machine; another process that holds it is waited for, after `waiting`."""
    if sys.platform == "win32":
        yield
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise not_written(path, error) from error
    with _opened(path) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _opened(path: Path) -> FileIO:
    try:
        return FileIO(path, "a+")
    except OSError as error:
        raise not_written(path, error) from error
