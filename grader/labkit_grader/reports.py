"""Makes a test run out of what came back from a sandbox: reports of lines, or JUnit XML."""

import io
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any

from labkit.archive import Entry, Kind, read_tar
from labkit.errors import InfrastructureError, ReturnedTooLargeError
from labkit.sandbox.interface import Outcome
from labkit_grader.junit import read_junit
from labkit_grader.testrun import NO_REPORT, OUTCOMES, PASSED, Runner, TestRun

_LINES, _PACKED = "report.jsonl", "results.tar"
_XML = b"junit.xml"
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
    if not data:
        return NO_REPORT
    return _unpacked(data) if runner is Runner.JUNIT else ((_LINES, data),)


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


def test_run(runner: Runner, outcome: Outcome, found: Found, log: str) -> TestRun:
    """Return what a run's outcome and reports tell."""
    if runner is Runner.JUNIT:
        return _of_junit(outcome, found, log)
    return _of_lines(runner, outcome, found, log)


def _of_junit(outcome: Outcome, found: Found, log: str) -> TestRun:
    results = read_junit(found if not isinstance(found, str) else ())
    return TestRun(
        runner=Runner.JUNIT,
        ended=outcome.ended,
        exit_code=outcome.exit_code,
        outcomes={_text(test): state for test, state in results.outcomes.items()},
        messages={_text(test): _text(said) for test, said in results.messages.items()},
        collected=tuple(map(_text, results.outcomes)),
        collect_errors={_text(name): _text(said) for name, said in results.suite_errors.items()},
        problem=found if isinstance(found, str) else results.problem,
        garbled=results.garbled,
        seconds=outcome.seconds,
        image_digest=outcome.image_digest,
        log=log,
    )


def _of_lines(runner: Runner, outcome: Outcome, found: Found, log: str) -> TestRun:
    problem, data = (found, b"") if isinstance(found, str) else ("", found[0][1])
    lines = tuple(_lines(data))
    ends = [line["exit"] for line in lines if line["kind"] == "end"]
    return TestRun(
        runner=runner,
        ended=outcome.ended,
        exit_code=outcome.exit_code,
        outcomes=_outcomes(lines),
        messages={
            _id(line): str(line["message"])
            for line in lines
            if line["kind"] == "test" and line.get("message")
        },
        collected=tuple(_id(line) for line in lines if line["kind"] == "collected"),
        collect_errors={
            _id(line): str(line.get("message", ""))
            for line in lines
            if line["kind"] == "collect_error"
        },
        reported_exit=ends[0] if len(ends) == 1 and lines[-1]["kind"] == "end" else None,
        problem=problem,
        seconds=outcome.seconds,
        image_digest=outcome.image_digest,
        log=log,
    )


def _lines(data: bytes) -> Iterator[dict[str, Any]]:
    """Yield the report's lines; one that is not ours ends the report."""
    for line in data.splitlines():
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return
        if not _is_ours(value):
            return
        yield value


def _is_ours(value: object) -> bool:
    match value:
        case {"kind": "end", "exit": int()}:
            return True
        case {"kind": "collected" | "collect_error", "id": str()}:
            return True
        case {"kind": "test", "id": str(), "outcome": str(outcome)}:
            return outcome in OUTCOMES
        case _:
            return False


def _outcomes(lines: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the outcomes by test; one that was told of twice passed only if it always did."""
    found: dict[str, str] = {}
    for line in lines:
        if line["kind"] == "test":
            test, outcome = _id(line), str(line["outcome"])
            found[test] = outcome if found.get(test, PASSED) == PASSED else found[test]
    return found


def _id(line: Mapping[str, Any]) -> str:
    """Return a test's id as text that can always be written to a file."""
    return _text(str(line["id"]))


def _text(text: str) -> str:
    """Return text that can always be written to a file."""
    return text.encode(errors="backslashreplace").decode()
