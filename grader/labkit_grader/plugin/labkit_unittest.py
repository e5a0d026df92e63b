"""Runs unittest inside a grading sandbox and writes what it sees to a report file, line by line.

A plain file that knows nothing of labkit: standard library only, Python 3.6 or newer. A test's name
is its id (module.Class.method), never its docstring. Ends in 1 when anything failed, in 5 when
there was no test, in 0 otherwise.
"""

import argparse
import contextlib
import sys
import traceback
import unittest
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Set, Tuple

if TYPE_CHECKING:
    from labkit_grader.plugin.labkit_lines import (
        LONGEST_MESSAGE,
        Order,
        Report,
        enter,
        import_roots,
        open_report,
        read_order,
    )
    from labkit_grader.plugin.labkit_loader import Loader, failed_name, imported, last_words, leaves
    from labkit_grader.plugin.labkit_trial import open_trial
else:  # beside this file, in the sandbox
    sys.path.insert(0, str(Path(__file__).parent))
    from labkit_lines import (
        LONGEST_MESSAGE,
        Order,
        Report,
        enter,
        import_roots,
        open_report,
        read_order,
    )
    from labkit_loader import Loader, failed_name, imported, last_words, leaves
    from labkit_trial import open_trial

_WORST_FIRST = ("error", "failed", "xfail", "skipped", "passed")
_FAILED, _USAGE, _NO_TESTS = 1, 4, 5


class Result(unittest.TestResult):
    """Writes one line for each test; failed subtests and broken fixtures count for their test."""

    def __init__(self, report: Report) -> None:
        super().__init__()
        self.broken = False
        self._report = report
        self._trial = open_trial(report)
        self._out = sys.stderr  # tests may leave another one, or none, behind
        self._running: Any = None
        self._notes: List[Tuple[str, str]] = []
        self._last: Dict[str, str] = {}
        """The test that ran last, by its class and by its module."""
        self._fixtures: Dict[str, Tuple[str, str]] = {}
        """Outcome and message of a fixture that did not let tests begin, by class or module."""
        self._seen: Set[str] = set()

    def startTest(self, test: Any) -> None:
        super().startTest(test)
        self._running, self._notes = test, []
        self._trial.begin(str(test.id()))

    def stopTest(self, test: Any) -> None:
        super().stopTest(test)
        if self._running is not test:
            return  # Python 3.12.1 ends skipped tests that it never began
        self._running = None
        for place in _places(test):
            self._last[place] = test.id()
        self._write(str(test.id()), self._notes)

    def addSuccess(self, test: Any) -> None:
        self._note(test, "passed")

    def addError(self, test: Any, err: Any) -> None:
        self._note(test, "error", self._told(test, err))

    def addFailure(self, test: Any, err: Any) -> None:
        self._note(test, "failed", self._told(test, err))

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        if err is not None:
            failed = issubclass(err[0], test.failureException)
            name = f"{subtest}\n"
            self._note(test, "failed" if failed else "error", name + self._told(test, err))

    def addSkip(self, test: Any, reason: str) -> None:
        self._note(test, "skipped", str(reason))

    def addExpectedFailure(self, test: Any, err: Any) -> None:  # noqa: ARG002
        self._note(test, "xfail")

    def addUnexpectedSuccess(self, test: Any) -> None:
        self._note(test, "failed", "it passed, but was expected to fail")

    def finish(self, collected: List[Any]) -> None:
        """Write the outcome of tests that a fixture of their class or module kept from running."""
        for test in collected:
            name = str(test.id())
            for place in _places(test):
                if name not in self._seen and place in self._fixtures:
                    self._write(name, [self._fixtures[place]])

    def _told(self, test: Any, err: Any) -> str:
        try:
            return str(self._exc_info_to_string(err, test))  # type: ignore[attr-defined] # typeshed
        except Exception:  # noqa: BLE001 - an exception that cannot be shown is one all the same
            return f"{err[0].__name__} (it cannot be shown)"

    def _note(self, test: Any, outcome: str, message: str = "") -> None:
        owner = getattr(test, "test_case", test)  # of a subtest: the test that it is part of
        if owner is self._running:
            self._notes.append((outcome, message))
        elif isinstance(owner, unittest.TestCase):
            self._write(str(owner.id()), [(outcome, message)])
        else:
            self._note_fixture(str(owner), outcome, message)

    def _note_fixture(self, name: str, outcome: str, message: str) -> None:
        """Note what setUpClass, setUpModule or their counterparts said: `what (place)`."""
        what, _, rest = name.partition(" (")
        place = rest.rstrip(")")
        if what.startswith("tearDown") and place in self._last:
            self._write(self._last[place], [(outcome, message)])
        else:
            self._fixtures[place] = (outcome, message)
            self.broken = self.broken or outcome != "skipped"

    def _write(self, name: str, notes: List[Tuple[str, str]]) -> None:
        outcomes = {outcome for outcome, _ in notes}
        outcome = next((each for each in _WORST_FIRST if each in outcomes), "error")
        message = "".join(text for _, text in notes)[-LONGEST_MESSAGE:]
        self.broken = self.broken or outcome in ("error", "failed")
        self._seen.add(name)
        self._report.write("test", id=name, outcome=outcome, message=message)
        with contextlib.suppress(OSError, ValueError):
            self._out.write(f"{outcome} {name!a}\n")


def _places(test: Any) -> Tuple[str, str]:
    """Return the names by which a test's class and module are known to fixtures."""
    kind = type(test)
    return f"{kind.__module__}.{kind.__qualname__}", kind.__module__


class Files:
    """Finds the tests in files or folders; what cannot be loaded becomes a line of the report."""

    def __init__(
        self, report: Report, order: Order, options: argparse.Namespace, roots: List[str]
    ) -> None:
        self._left_out = order.left_out
        self._report = report
        self._options = options
        self._roots = roots
        self._loader = Loader(self._not_loaded)
        if options.k:
            patterns = [one if "*" in one else f"*{one}*" for one in options.k]
            self._loader.testNamePatterns = patterns
        self.broken = False

    def suite(self) -> unittest.TestSuite:
        """Return the tests of the files that were named, or else of the whole project."""
        if self._options.files:
            return unittest.TestSuite([self._of_file(name) for name in self._options.files])
        options = self._options
        try:
            found = self._loader.discover(options.start, options.pattern, options.top)
        except (SystemExit, Exception) as error:  # noqa: BLE001
            self._not_loaded(options.start, last_words(error))
            return unittest.TestSuite()
        return self._loaded(found)

    def _of_file(self, name: str) -> unittest.TestSuite:
        path = Path.cwd() / name
        try:
            module = self._module(path)
            loaded = imported(module, path)
        except unittest.SkipTest:
            return unittest.TestSuite()
        except BaseException as error:  # noqa: BLE001 - sys.exit in a module is no end of the run
            self._not_loaded(name, last_words(error))
            return unittest.TestSuite()
        return self._loaded(self._loader.loadTestsFromModule(loaded))

    def _module(self, path: Path) -> str:
        """Return a file's name as a module, below the first import root that holds it."""
        for root in self._roots:
            if Path(root) in path.parents:
                parts = path.relative_to(root).with_suffix("").parts
                for part in parts:
                    if not part.isidentifier():
                        raise ImportError(
                            f"unittest imports its files as modules, and {part!r} cannot be part "
                            "of a module's name: rename it"
                        )
                return ".".join(parts)
        raise ImportError("it lies outside of the project")

    def _loaded(self, suite: Any) -> unittest.TestSuite:
        """Return a suite without the stand-ins for what could not be loaded; they are told of."""
        kept = []
        for test in suite:
            kind = type(test)
            if isinstance(test, unittest.TestSuite):
                inner = self._loaded(test)
                # A suite of a class of its own keeps it: it may run its tests in its own way.
                kept.append(inner if type(test) is self._loader.suiteClass else test)
            elif kind.__name__ == "_FailedTest" and kind.__module__ == "unittest.loader":
                error = getattr(test, "_exception", ImportError("it cannot be imported"))
                told = "".join(traceback.format_exception_only(type(error), error))
                self._not_loaded(failed_name(test), told)
            elif not (kind.__name__ == "ModuleSkipped" and kind.__module__ == "unittest.loader"):
                kept.extend([test] * (str(test.id()) not in self._left_out))
        return unittest.TestSuite(kept)

    def _not_loaded(self, name: str, message: str) -> None:
        self.broken = True
        self._report.write("collect_error", id=name, message=message[-LONGEST_MESSAGE:])
        sys.stderr.write(f"cannot be loaded: {name!a}\n{message[-LONGEST_MESSAGE:]!a}\n")


def read_options(words: List[str]) -> argparse.Namespace:
    """Read our own command line, which labkit has written."""
    parser = argparse.ArgumentParser(prog="unittest")
    parser.add_argument("--start", default=".")
    parser.add_argument("--pattern", default="test*.py")
    parser.add_argument("--top")
    parser.add_argument("-k", action="append", default=[])
    parser.add_argument("--buffer", action="store_true")
    parser.add_argument("--locals", action="store_true")
    parser.add_argument("files", nargs="*")
    return parser.parse_args(words)


def run(report: Report, options: argparse.Namespace, roots: List[str]) -> int:
    """Run the tests and return the exit code that goes with them."""
    files = Files(report, read_order(), options, roots)
    suite = files.suite()
    tests = list(leaves(suite))
    for test in tests:
        report.write("collected", id=str(test.id()))
    result = Result(report)
    result.buffer, result.tb_locals = options.buffer, options.locals
    result.startTestRun()
    with warnings.catch_warnings():
        if not sys.warnoptions:
            warnings.simplefilter("default")
        suite(result)
    result.stopTestRun()
    result.finish(tests)
    if files.broken or result.broken:
        return _FAILED
    return 0 if tests else _NO_TESTS


def main(words: List[str]) -> int:
    """Run unittest, write the report's last line, and return the exit code."""
    report = open_report()
    options = read_options(words)
    sys.argv[1:] = []
    roots = import_roots(Path.cwd())
    top = options.top or (options.start if options.start != "." else None)
    if top is not None:  # its modules are named from there, as unittest does it
        roots.insert(0, str(Path.cwd() / top))
    enter(roots)
    sys.path[:0] = roots
    code = run(report, options, roots)
    report.write_files(options.files)
    report.write("end", exit=code)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
