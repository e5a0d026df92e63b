"""What our runners inside a grading sandbox share: the report file, and the project's place.

A plain file that knows nothing of labkit: standard library only, Python 3.6 or newer.
"""

import json
import os
import sys
from pathlib import Path
from typing import List

LONGEST_MESSAGE = 2000


class Report:
    """A file of JSON lines, each written at once, so that a sudden end loses none before it."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def write(self, kind: str, **values: object) -> None:
        """Append one line."""
        os.write(self._file, (json.dumps({"kind": kind, **values}) + "\n").encode("ascii"))


def open_report() -> Report:
    """Open the report that the environment names; tests see nothing of its place there."""
    return Report(os.environ.pop("LABKIT_REPORT"))


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
