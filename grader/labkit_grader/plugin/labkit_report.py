"""Starts pytest inside a grading sandbox and writes what it sees to a report file, line by line.

A plain file that knows nothing of labkit: standard library only, Python 3.8 and pytest 6 or newer.
It is started as a script, so the work folder is on the import path only after pytest is loaded.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

_LONGEST_MESSAGE = 2000


class Report:
    """A file of JSON lines, each written at once, so that a sudden end loses none before it."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def write(self, kind: str, **values: object) -> None:
        """Append one line."""
        os.write(self._file, (json.dumps({"kind": kind, **values}) + "\n").encode("ascii"))


class Plugin:
    """The pytest plugin: collected ids, one line per finished test, collection errors."""

    def __init__(self, report: Report, roots: Sequence[str], order: Mapping[str, str]) -> None:
        self._report = report
        self._roots = roots
        self._left_out = frozenset(json.loads(order.get("LABKIT_LEAVE_OUT", "[]")))
        self._reversed = "LABKIT_REVERSED" in order
        self._seen: list[pytest.TestReport] = []

    def pytest_load_initial_conftests(self) -> None:
        """Make the project importable, now that pytest and its plugins are loaded."""
        sys.path[:0] = self._roots

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a file that could not be collected."""
        if report.failed:
            message = str(report.longrepr)[-_LONGEST_MESSAGE:]
            self._report.write("collect_error", id=report.nodeid, message=message)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out tests, or turn their order round, where validation asks for it."""
        items[:] = [item for item in items if item.nodeid not in self._left_out]
        if self._reversed:
            items.reverse()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note every test that is going to run."""
        for item in session.items:
            self._report.write("collected", id=item.nodeid)

    def pytest_runtest_logstart(self) -> None:
        """Begin a test."""
        self._seen = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep one phase of the test."""
        self._seen.append(report)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Write the test's one line."""
        message = "".join(str(each.longrepr) for each in self._seen if each.failed)
        outcome = fold(self._seen)
        self._report.write("test", id=nodeid, outcome=outcome, message=message[-_LONGEST_MESSAGE:])


def fold(reports: Sequence[pytest.TestReport]) -> str:
    """Return the one outcome of a test's phases: passed only if it was seen to pass."""
    if any(each.failed and each.when != "call" for each in reports):
        return "error"
    if any(each.failed for each in reports):
        return "failed"
    # Reports with a context are those of subtests; the test's own report tells of them too.
    own = [each for each in reports if not hasattr(each, "context")]
    expected_to_fail = any(hasattr(each, "wasxfail") for each in own)
    if any(each.skipped for each in own):
        return "xfail" if expected_to_fail else "skipped"
    if any(each.when == "call" and each.passed for each in own):
        return "xpass" if expected_to_fail else "passed"
    return "error"


def import_roots(folder: Path) -> list[str]:
    """Return the folders from which a project's packages are imported."""
    source = folder / "src"
    return [str(source), str(folder)] if source.is_dir() else [str(folder)]


def main(words: list[str]) -> int:
    """Run pytest with `words`, write the report's last line, and return pytest's exit code."""
    report = Report(os.environ.pop("LABKIT_REPORT"))
    asked = ("LABKIT_LEAVE_OUT", "LABKIT_REVERSED")
    order = {name: os.environ.pop(name) for name in asked if name in os.environ}
    roots = import_roots(Path.cwd())
    sys.path.pop(0)  # this file's own folder
    # Programs that tests start find the project as the tests do.
    known = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([known, *roots] if known else roots)
    code = int(pytest.main(words, plugins=[Plugin(report, roots, order)]))
    report.write("end", exit=code)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
