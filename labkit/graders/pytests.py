"""`pytest_passes`: the author's test files pass on the candidate's folder. Always in a sandbox.

The candidate has no say in what is run: the author's files are laid over its folder last, and its
conftest.py and settings of pytest are out of force. Code under test still runs in the process of
its tests, so this is evidence for candidates that do not mean to deceive; `labkit grade` has more.
"""

import io
import posixpath
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import IO

from labkit.archive import Entry, Kind, read_tar, write_tar
from labkit.errors import InputError, ReturnedTooLargeError
from labkit.fields import Fields, counted
from labkit.graders.compose import never
from labkit.graders.execution import (
    MOST_OUTPUT,
    in_workspace,
    last_words,
    read_bounds,
    stopped_early,
)
from labkit.graders.folder import Unreadable, path_problem, runnable_entries
from labkit.graders.interface import Case, Grader, Output, Verdict, total
from labkit.graders.tools import COMMAND_LIMITS, Tools
from labkit.junit import PASSED, read_junit
from labkit.sandbox.interface import Limits, Outcome, Sandbox, Spec, Streams
from labkit.testpaths import TEST_FOLDERS

_NAME = "pytest_passes"
_REPORT = "junit.xml"
_MOST_REPORT = 16 * 1024 * 1024
# pytest is imported before the candidate's folder is on the path: nothing there stands in for it.
_START = b"import sys\n\nimport pytest\n\nsys.exit(pytest.main(sys.argv[1:]))\n"
_SETTINGS = b"[pytest]\npythonpath = /workspace /workspace/src\njunit_suite_name =\n"
_OPTIONS = (
    *("-c", "/labkit/pytest.ini", "--rootdir=/workspace", "-p", "no:cacheprovider", "-q"),
    *("--maxfail=0", f"--junitxml=/report/{_REPORT}"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PytestPasses:
    """`pytest_passes`: passes when every test of the author's files passes; score 1 or 0.

    A test that is skipped, or expected to fail, has not passed; no test at all is a fail. When the
    sandbox itself fails, the output is not graded. Raises InputError when `files` holds no test
    file of pytest's, or a path that leads out of the folder.
    """

    files: Mapping[str, str | bytes]
    """The author's files, by their path in the candidate's folder: tests, and what they need."""
    sandbox: Sandbox
    image: str = ""
    limits: Limits = COMMAND_LIMITS

    def __post_init__(self) -> None:
        if problem := next(files_problems(self.files), None):
            raise InputError(problem)

    @total
    def __call__(self, output: Output, case: Case) -> Verdict:
        """Return the verdict."""
        if output.folder is None:
            return Verdict.ungraded(f"case {case.id} has no folder that tests could run on")
        found = runnable_entries(output.folder)
        if isinstance(found, Unreadable):
            return Verdict.failing(found.why)
        log = io.BytesIO()
        outcome, report = self.sandbox.run(
            self._spec(found), Streams(stdout=log, stderr=log), _read_report
        )
        if stopped := stopped_early(outcome, self.limits):
            return stopped
        return _verdict(outcome, report, log.getvalue())

    def _spec(self, found: Iterable[Entry]) -> Spec:
        tree = laid_over(found, self.files)
        ours = {b"start.py": _START, b"pytest.ini": _SETTINGS}
        files = [
            *in_workspace(tree),
            *(Entry(path=b"labkit/" + n, kind=Kind.FILE, data=d) for n, d in ours.items()),
        ]
        targets = (f"/workspace/{path}" for path in self.files if _is_test_file(path))
        return Spec(
            argv=("python3", "/labkit/start.py", *_OPTIONS, *targets),
            image=self.image,
            returned="/report",
            returned_file=_REPORT,
            memory_folders=("/workspace", "/labkit"),
            streamed_tar=write_tar(files),
            workdir="/workspace",
            environment={
                "TZ": "UTC",
                "PYTHONDONTWRITEBYTECODE": "1",
                # Plugins would be found in the candidate's folder too.
                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            },
            limits=replace(self.limits, output_bytes=MOST_OUTPUT),
        )


def laid_over(found: Iterable[Entry], files: Mapping[str, str | bytes]) -> Iterator[Entry]:
    """Yield a candidate's files as far as they cannot steer the author's tests, then the author's.

    A test folder in which a file of the author's lies is the author's alone.
    """
    own = {path.encode(): data for path, data in files.items()}
    folders = {folder for path in own for folder in _test_folders(path)}
    names = {above for path in own for above in _leading(path)}
    stems = tuple(path.removesuffix(b".py") for path in own if path.endswith(b".py"))
    for entry in found:
        *_, name = entry.path.split(b"/")
        in_the_way = entry.path in names and entry.kind is not Kind.FOLDER
        if not (
            in_the_way
            or entry.path in own
            or name == b"conftest.py"
            or not folders.isdisjoint(_leading(entry.path))
            or any(entry.path.startswith((stem + b"/", stem + b".")) for stem in stems)
            or any(entry.path.startswith(path + b"/") for path in own)
        ):
            yield entry
    for path, data in own.items():
        content = data.encode() if isinstance(data, str) else data
        yield Entry(path=path, kind=Kind.FILE, data=content)


def _leading(path: bytes) -> Iterator[bytes]:
    """Yield a path and every folder that it lies in."""
    parts = path.split(b"/")
    return (b"/".join(parts[:count]) for count in range(1, len(parts) + 1))


def _test_folders(path: bytes) -> Iterator[bytes]:
    """Yield the folders for tests, by their names, that a path lies in."""
    *above, _ = _leading(path)
    return (folder for folder in above if posixpath.basename(folder) in TEST_FOLDERS)


def _is_test_file(path: str) -> bool:
    name = posixpath.basename(path)
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))


def _read_report(stream: IO[bytes]) -> bytes:
    """Return the one file that came back; nothing of one that is too large."""
    try:
        entries = read_tar(stream, most_bytes=_MOST_REPORT, most_file_bytes=_MOST_REPORT)
        return b"".join(entry.data for entry in entries)
    except ReturnedTooLargeError:
        return b""


def _verdict(outcome: Outcome, report: bytes, log: bytes) -> Verdict:
    """Return what report and exit code say together: a pass only where both do."""
    code = outcome.exit_code
    if not report.strip():
        return Verdict.failing(f"pytest left no report (exit {code})\n{last_words(log)}".strip())
    results = read_junit([(_REPORT, report)])
    if results.problem:
        return Verdict.failing(results.problem)
    bad = [test for test, outcome in results.outcomes.items() if outcome != PASSED]
    total_count = counted(len(results.outcomes), "test")
    if bad:
        first = bad[0]
        said = results.messages.get(first, "").strip()
        which = f"{first}: {results.outcomes[first]}"
        told = f"{len(bad)} of {total_count} did not pass; {which}"
        return Verdict.failing(f"{told}\n{said}" if said else told)
    if not results.outcomes or results.suite_errors:
        return Verdict.failing(f"no test was found (exit {code})\n{last_words(log)}".strip())
    if code != 0:
        return Verdict.failing(f"{total_count} passed, but pytest ended in {code}")
    return Verdict.passing(f"{total_count} passed")


def files_problems(files: Mapping[str, object]) -> Iterator[str]:
    """Yield what is wrong with the files of a `pytest_passes`, a sentence each."""
    for path in files:
        if problem := path_problem(path):
            yield f'a path in "files" {problem}'
    if not any(map(_is_test_file, files)):
        yield f"{_NAME} needs a test file, called test_*.py or *_test.py"


def pytest_passes(fields: Fields, tools: Tools) -> Grader:
    """Build `pytest_passes` from its mapping."""
    limits, sandbox = read_bounds(fields, tools, _NAME)
    if "tests" in fields:
        fields.texts("tests")
        fields.problem("tests", '"tests" can only stand in a task of a folder; here, write "files"')
        return never
    listed = fields.mapping("files")
    files = {path: listed.text(path) for path in listed.names()}
    problems = tuple(files_problems(files))
    for problem in problems:
        fields.problem("files", problem)
    if problems:
        return never
    return PytestPasses(files=files, sandbox=sandbox, image=tools.image, limits=limits)
