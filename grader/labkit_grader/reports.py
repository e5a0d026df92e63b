"""Makes a test run out of what came back from a sandbox: reports of lines, or JUnit XML."""

import hashlib
import io
import signal
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import IO, assert_never

from labkit.archive import Entry, Kind, read_tar
from labkit.errors import InfrastructureError, ReturnedTooLargeError
from labkit.junit import read_junit
from labkit.sandbox.interface import Outcome
from labkit_grader.command import Command
from labkit_grader.lines import of_lines, read_lines, writable
from labkit_grader.sentinel import Sentinel
from labkit_grader.testrun import (
    ENDS_IN_0,
    NO_REPORT,
    PASSED,
    Runner,
    TestRun,
)

_LINES, _PACKED = "report.jsonl", "results.tar"
_XML = b"junit.xml"
_NOT_STARTED = (126, 127)
"""The codes of a shell for what is no program, or not there."""
_BY_SIGNAL = 128
_MOST_BYTES = 32 * 1024 * 1024
_MOST_FILES = 2000
_UNREADABLE = "the report could not be read"

Found = tuple[tuple[str, bytes], ...] | str
"""The report's files by name, or why there is none that can be read."""


def report_file(runner: Runner) -> str:
    """Return the name of the one file that a run of tests leaves."""
    return _PACKED if runner is Runner.JUNIT else _LINES


def collect_reports(runner: Runner, stream: IO[bytes]) -> Found:
    """Read the one file that was returned, and keep the files that are a runner's report."""
    try:
        data = b"".join(entry.data for entry in _entries(stream))
    except ReturnedTooLargeError as error:
        return f"{_UNREADABLE}: {error}"
    if runner is not Runner.JUNIT:
        return ((_LINES, data),)  # the file was made beforehand; an empty one tells of an early end
    return _unpacked(data) if data else NO_REPORT


def _unpacked(data: bytes) -> Found:
    """Take the report out of what a project's own runner left; hostile code may have shaped it."""
    try:
        found = [entry for entry in _entries(io.BytesIO(data)) if _is_report(entry)]
    except ReturnedTooLargeError as error:
        return f"{_UNREADABLE}: {error}"
    except InfrastructureError:
        return f"{_UNREADABLE}: it is damaged"
    if any(entry.kind not in (Kind.FILE, Kind.EXECUTABLE) for entry in found):
        return "the report is not a plain file"
    if not found:
        return NO_REPORT
    return tuple((entry.path.decode(errors="backslashreplace"), entry.data) for entry in found)


def _entries(stream: IO[bytes]) -> Iterator[Entry]:
    return read_tar(
        stream, most_bytes=_MOST_BYTES, most_file_bytes=_MOST_BYTES, most_entries=_MOST_FILES
    )


def _is_report(entry: Entry) -> bool:
    """Return whether a returned entry belongs to the report, be it a file or something else."""
    if entry.path == _XML:
        return entry.kind is not Kind.FOLDER
    in_folder = entry.path.startswith(_XML + b"/") and entry.path.endswith(b".xml")
    return in_folder and entry.kind is not Kind.FOLDER


def test_run(runner: Runner, outcome: Outcome, found: Found, key: bytes, log: str) -> TestRun:
    """Return what a run's outcome and reports tell; `key` is the one that our plugin had."""
    match runner:
        case Runner.JUNIT:
            return _of_junit(outcome, found, log)
        case Runner.EXIT_CODE:
            return _of_exit_code(outcome, log)
        case Runner.PYTEST | Runner.UNITTEST:
            problem, data = (found, b"") if isinstance(found, str) else ("", found[0][1])
            lines, forged = read_lines(data, key)
            run = of_lines(runner, outcome, lines, log)
            return replace(run, problem=problem, forged=forged)
        case _:
            assert_never(runner)


def apart(
    run: TestRun, command: Command, sentinel: Sentinel | None, laid: Mapping[str, Entry]
) -> TestRun:
    """Take the sentinel's tests out of a run, and say which of the files `laid` were changed."""
    altered = [
        name if sentinel is None or name != sentinel.path else "labkit's own"
        for name, entry in laid.items()
        if name in run.digests and run.digests[name] != hashlib.sha256(entry.data).hexdigest()
    ]
    if sentinel is None:
        return replace(run, altered=tuple(altered))
    own: dict[str, str] = {}
    for test in run.collected:
        if command.is_of(test, (sentinel.path,)):
            own[test] = sentinel.kind(test)
    by_kind = {
        kind: tuple(run.outcome(test) for test in own if own[test] == kind)
        for kind in sorted(set(own.values()))
    }
    return replace(
        run,
        altered=tuple(altered),
        sentinel=by_kind,
        collected=tuple(test for test in run.collected if test not in own),
        outcomes={test: said for test, said in run.outcomes.items() if test not in own},
        messages={test: said for test, said in run.messages.items() if test not in own},
    )


def _of_exit_code(outcome: Outcome, log: str) -> TestRun:
    """Return what the end of a command tells; one that was cut off tells of no test."""
    code = outcome.exit_code
    run = TestRun(
        runner=Runner.EXIT_CODE,
        ended=outcome.ended,
        exit_code=code,
        seconds=outcome.seconds,
        image_digest=outcome.image_digest,
        log=log,
    )
    if code in _NOT_STARTED:
        problem = f"a command could not be started (code {code}): {run.last_words}"
        return replace(run, problem=problem)
    if code is None:
        return run
    if code == 0:
        return replace(run, outcomes={ENDS_IN_0: PASSED}, collected=(ENDS_IN_0,))
    said = f"{log}\nthe command ended in {code}{_signal(code)}: {run.last_words}"
    return replace(
        run,
        outcomes={ENDS_IN_0: "failed"},
        messages={ENDS_IN_0: said},
        collected=(ENDS_IN_0,),
    )


def _signal(code: int) -> str:
    """Return the signal that a code of a shell or of an engine stands for, in brackets."""
    try:
        return f" ({signal.Signals(code - _BY_SIGNAL).name})"
    except ValueError:
        return ""


def _of_junit(outcome: Outcome, found: Found, log: str) -> TestRun:
    results = read_junit(found if not isinstance(found, str) else ())
    return TestRun(
        runner=Runner.JUNIT,
        ended=outcome.ended,
        exit_code=outcome.exit_code,
        outcomes={writable(test): state for test, state in results.outcomes.items()},
        messages={writable(test): writable(said) for test, said in results.messages.items()},
        collected=tuple(map(writable, results.outcomes)),
        collect_errors={
            writable(name): writable(said) for name, said in results.suite_errors.items()
        },
        problem=found if isinstance(found, str) else results.problem,
        garbled=results.garbled,
        seconds=outcome.seconds,
        image_digest=outcome.image_digest,
        log=log,
    )
