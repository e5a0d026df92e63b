"""Starts pytest inside a grading sandbox and writes what it sees to a report file, line by line.

A plain file that knows nothing of labkit: standard library only, Python 3.6 and pytest 5.0 or
newer. It is started as a script, so the work folder is on the import path only after pytest and the
plugins that were asked for are loaded.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Sequence

import pytest

if TYPE_CHECKING:
    from labkit_grader.plugin.labkit_absent import accept_absent
    from labkit_grader.plugin.labkit_lines import (
        LONGEST_MESSAGE,
        Order,
        Report,
        enter,
        import_roots,
        open_report,
        read_order,
    )
    from labkit_grader.plugin.labkit_trial import open_trial
else:  # beside this file, in the sandbox
    sys.path.insert(0, str(Path(__file__).parent))
    from labkit_absent import accept_absent
    from labkit_lines import (
        LONGEST_MESSAGE,
        Order,
        Report,
        enter,
        import_roots,
        open_report,
        read_order,
    )
    from labkit_trial import open_trial


class Plugin:
    """The pytest plugin: collected ids, one line per finished test, collection errors."""

    def __init__(self, report: Report, roots: List[str], order: Order) -> None:
        self._report = report
        self._trial = open_trial(report)
        self._roots = roots
        self._order = order
        self._seen: Dict[str, List["pytest.TestReport"]] = {}
        self.counts = {"collected": 0, "failed": 0}
        """What pytest itself has counted."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(
        self, early_config: "pytest.Config", parser: Any, args: List[str]
    ) -> None:
        """Make the project importable, now that pytest and its plugins are loaded."""
        sys.path[:0] = self._roots
        accept_absent(early_config, parser)
        if early_config.pluginmanager.hasplugin("xdist"):
            args.append("-n0")  # tests that run in other processes could not be told of
        if early_config.pluginmanager.hasplugin("pytest_cov"):
            # Too little coverage is no failed test, and must not look like one.
            early_config.known_args_namespace.cov_fail_under = 0
            args.append("--cov-fail-under=0")

    def pytest_collectreport(self, report: "pytest.CollectReport") -> None:
        """Note a file that could not be collected."""
        if report.failed:
            message = str(report.longrepr)[-LONGEST_MESSAGE:]
            self._report.write("collect_error", id=report.nodeid, message=message)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: "List[pytest.Item]") -> None:
        """Leave out tests, or turn their order round, where validation asks for it."""
        items[:] = [item for item in items if item.nodeid not in self._order.left_out]
        if self._order.reversed:
            items.reverse()

    def pytest_collection_finish(self, session: "pytest.Session") -> None:
        """Note every test that is going to run."""
        for item in session.items:
            self._report.write("collected", id=item.nodeid)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Begin a test, or begin it again."""
        self._seen[nodeid] = []
        self._trial.begin(nodeid)

    def pytest_runtest_logreport(self, report: "pytest.TestReport") -> None:
        """Keep one phase of the test."""
        self._seen.setdefault(report.nodeid, []).append(report)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Write the test's one line."""
        seen = self._seen.pop(nodeid, [])
        message = "".join(str(each.longrepr) for each in seen if each.failed)
        self._report.write(
            "test", id=nodeid, outcome=fold(seen), message=message[-LONGEST_MESSAGE:]
        )

    def pytest_sessionfinish(self, session: "pytest.Session") -> None:
        """Keep pytest's own account of the run."""
        self.counts = {"collected": session.testscollected, "failed": session.testsfailed}


def fold(reports: "Sequence[pytest.TestReport]") -> str:
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


def main(words: List[str]) -> int:
    """Run pytest with `words`, write the report's last line, and return pytest's exit code."""
    report, order = open_report(), read_order()
    roots = import_roots(Path.cwd())
    enter(roots)
    plugin = Plugin(report, roots, order)
    try:
        code = int(pytest.main(words, plugins=[plugin]))
    except ImportError as error:  # before pytest 9, a plugin that is not there
        sys.stderr.write(f"ERROR: {error}\n")
        code = int(pytest.ExitCode.USAGE_ERROR)
    here = f"{Path.cwd()}/"
    report.write_files([word for word in words if word.startswith(here)])
    report.write("end", exit=code, **plugin.counts)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
