"""Folders of this machine that one process works in, and that name it: a crash leaves them."""

import contextlib
import json
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from labkit import process
from labkit.errors import InfrastructureError
from labkit.sandbox.owner import Owner

PREFIX = "labkit-"
_OWNER = "owner.json"
_RUNNING = "running.json"
"""The process to kill from outside, and the labels of its run."""
_NAMELESS_SECONDS = 60.0


@contextlib.contextmanager
def scratch_folder(root: Path) -> Iterator[Path]:
    """Give a new private folder below `root`, and remove it afterwards if it is still there."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=PREFIX, dir=root))
    except OSError as error:
        raise InfrastructureError(
            f"no scratch folder could be made: {error.strerror}",
            hint="free some disk space, or name another folder for scratch",
        ) from error
    try:
        (scratch / _OWNER).write_text(Owner.current().text(), encoding="utf-8")
        yield scratch
    finally:
        remove_folder(scratch)


def orphans(root: Path) -> list[Path]:
    """Return the folders below `root` whose labkit process is gone."""
    return [folder for folder in sorted(root.glob(f"{PREFIX}*")) if _is_orphan(folder)]


def remove_folder(scratch: Path) -> None:
    """Remove a folder, folders that a command locked included; nothing follows links."""
    if process.run(["rm", "-rf", "--", scratch], check=False).code != 0:
        process.run(["chmod", "-R", "u+rwX", "--", scratch], check=False)
        process.run(["rm", "-rf", "--", scratch], check=False)


def note_running(scratch: Path, pid: int, labels: Mapping[str, str]) -> None:
    """Write down which process works in a folder, and what it is called."""
    text = json.dumps({"pid": pid, "labels": dict(labels)})
    (scratch / _RUNNING).write_text(text, encoding="utf-8")


def read_running(scratch: Path) -> tuple[int, dict[str, str]]:
    """Return what was written down; raises OSError, ValueError or LookupError where nothing was."""
    running = json.loads((scratch / _RUNNING).read_text(encoding="utf-8"))
    return int(running["pid"]), dict(running["labels"])


def _is_orphan(scratch: Path) -> bool:
    owner = None
    with contextlib.suppress(OSError):
        owner = Owner.parse((scratch / _OWNER).read_text(encoding="utf-8"))
    if owner is not None:
        return owner.is_gone()
    # Its labkit was killed between making the folder and naming itself, or is just doing so.
    with contextlib.suppress(OSError):
        return time.time() - scratch.stat().st_mtime > _NAMELESS_SECONDS
    return False
