"""What our runners inside a grading sandbox share: the report file, and the project's place.

A plain file that knows nothing of labkit: standard library only, Python 3.6 or newer.
"""

import fcntl
import hashlib
import hmac
import json
import os
import sys
from pathlib import Path
from typing import Iterable, List

LONGEST_MESSAGE = 2000
_KEY = "labkit_key"


class Report:
    """A file of JSON lines, each written at once, so that a sudden end loses none before it.

    Behind each line stands a mark that only who holds the key can make: an HMAC of all lines so
    far. The key itself is gone when the first test is imported.
    """

    def __init__(self, path: str, key: bytes) -> None:
        self._file = _moved(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644))
        self._mark = hmac.new(key, digestmod=hashlib.sha256)
        self._owner = os.getpid()

    def write(self, kind: str, **values: object) -> None:
        """Append one line; a copy of this process that a test forked appends nothing."""
        if os.getpid() != self._owner:
            return
        line = json.dumps({"kind": kind, **values}).encode("ascii")
        self._mark.update(line)
        os.write(self._file, line + b" " + self._mark.hexdigest().encode("ascii") + b"\n")

    def write_files(self, names: Iterable[str]) -> None:
        """Append the digest of each file as it is now, empty where it cannot be read."""
        for name in names:
            try:
                digest = hashlib.sha256(Path(name).read_bytes()).hexdigest()
            except OSError:
                digest = ""
            self.write("file", id=name, digest=digest)


def open_report() -> Report:
    """Open the report that the environment names; tests see nothing of it or of its key."""
    place = Path(__file__).parent / _KEY
    key = place.read_bytes()
    place.unlink()
    return Report(os.environ.pop("LABKIT_REPORT"), key)


def _moved(file: int) -> int:
    """Return a file under a number that cannot be guessed."""
    try:
        moved = fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, 64 + os.urandom(1)[0] // 2)
    except OSError:
        return file
    os.close(file)
    return moved


class Order:
    """Which tests validation leaves out, and whether it turns their order round."""

    def __init__(self, left_out: List[str], *, turned: bool) -> None:
        self.left_out = frozenset(left_out)
        self.reversed = turned


def read_order() -> Order:
    """Take what validation asks for out of the environment; tests see nothing of it."""
    left_out = json.loads(os.environ.pop("LABKIT_LEAVE_OUT", "[]"))
    return Order(left_out, turned="1" in os.environ.pop("LABKIT_REVERSED", ""))


def import_roots(folder: Path) -> List[str]:
    """Return the folders from which a project's packages are imported."""
    source = folder / "src"
    return [str(source), str(folder)] if source.is_dir() else [str(folder)]


def enter(roots: List[str]) -> None:
    """Leave our own folder, and let programs that tests start find the project as they do."""
    ours = str(Path(__file__).parent)
    sys.path[:] = [place for place in sys.path if place != ours]
    known = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([known, *roots] if known else roots)
