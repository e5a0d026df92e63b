"""One labkit at a time in a workspace: two phases must never run on one machine at once."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from labkit.errors import PhaseError
from labkit.workspace import Workspace

if sys.platform != "win32":
    import fcntl


@contextmanager
def only_one(workspace: Workspace, what: str) -> Iterator[None]:
    """Hold the workspace's lock; raises PhaseError when another labkit command holds it.

    The system frees the lock when the process ends, however it ends.
    """
    if sys.platform == "win32":
        yield  # no engine, no sandbox, so no phase that needs the lock
        return
    path = workspace.evals / ".lock"
    with path.open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.seek(0)
            raise PhaseError(
                f"another labkit is at work here: {file.read().strip() or 'unknown'}",
                hint="wait for it to end, or stop it",
            ) from error
        file.truncate(0)
        file.write(f"{what}\n")
        file.flush()
        yield
        file.truncate(0)
