"""Makes a test run out of what came back from a sandbox: reports of lines, or JUnit XML."""

import hashlib
import hmac
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import IO, Any

from labkit.archive import Entry, Kind, read_tar
from labkit.errors import InfrastructureError, ReturnedTooLargeError
from labkit.sandbox.interface import Outcome
from labkit_grader.command import Command
from labkit_grader.junit import read_junit
from labkit_grader.sentinel import Sentinel
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


def test_run(runner: Runner, outcome: Outcome, found: Found, key: bytes, log: str) -> TestRun:
    """Return what a run's outcome and reports tell; `key` is the one that our plugin had."""
    if runner is Runner.JUNIT:
        return _of_junit(outcome, found, log)
    problem, data = (found, b"") if isinstance(found, str) else ("", found[0][1])
    lines, forged = read_lines(data, key)
    return replace(_of_lines(runner, outcome, lines, log), problem=problem, forged=forged)


def apart(
    run: TestRun, command: Command, sentinel: Sentinel | None, laid: Mapping[str, Entry]
) -> TestRun:
    """Take the sentinel's tests out of a run, and say which of the files `laid` were changed."""
    altered = [
        name
        for name, entry in laid.items()
        if name in run.digests and run.digests[name] != hashlib.sha256(entry.data).hexdigest()
    ]
    own = [t for t in run.collected if sentinel and command.is_of(t, (sentinel.path,))]
    if sentinel is None:
        return replace(run, altered=tuple(altered))
    named = {f"{sentinel.kind(test)} {n}": run.outcome(test) for n, test in enumerate(own, 1)}
    return replace(
        run,
        altered=tuple(altered),
        sentinel=named,
        collected=tuple(test for test in run.collected if test not in own),
        outcomes={test: said for test, said in run.outcomes.items() if test not in own},
        messages={test: said for test, said in run.messages.items() if test not in own},
    )


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


def _of_lines(
    runner: Runner, outcome: Outcome, lines: tuple[dict[str, Any], ...], log: str
) -> TestRun:
    ends = [line for line in lines if line["kind"] == "end"]
    end = ends[0] if len(ends) == 1 and lines[-1]["kind"] == "end" else {}
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
        sites=_sites(lines),
        digests={
            _id(line).removeprefix("/workspace/"): str(line["digest"])
            for line in lines
            if line["kind"] == "file"
        },
        counted=_counted(end),
        reported_exit=end.get("exit"),
        seconds=outcome.seconds,
        image_digest=outcome.image_digest,
        log=log,
    )


def _counted(end: Mapping[str, Any]) -> tuple[int, int] | None:
    match end:
        case {"collected": int(collected), "failed": int(failed)}:
            return collected, failed
        case _:
            return None


def read_lines(data: bytes, key: bytes) -> tuple[tuple[dict[str, Any], ...], bool]:
    """Return the report's lines up to one that is not ours, and whether somebody wrote that one.

    Behind each line stands the HMAC-SHA256 (RFC 2104) of all lines so far. A last line that was cut
    off in the middle is nobody's forgery.
    """
    mark = hmac.new(key, digestmod=hashlib.sha256)
    lines: list[dict[str, Any]] = []
    for whole in data.splitlines(keepends=True):
        line, _, written = whole.rstrip(b"\n").rpartition(b" ")
        mark.update(line)
        if not hmac.compare_digest(mark.hexdigest().encode(), written):
            return tuple(lines), whole.endswith(b"\n")
        value = _value(line)
        if value is None:
            break
        lines.append(value)
    return tuple(lines), False


def _value(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if _is_ours(value) else None


def _sites(lines: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], dict[int, bool]]:
    """Return which wrong expectations were noticed, each time, by test and file."""
    found: dict[tuple[str, str], dict[int, bool]] = {}
    for line in lines:
        if line["kind"] == "site":
            known = found.setdefault((_id(line), str(line["file"])), {})
            known[line["site"]] = known.get(line["site"], True) and line["noticed"]
    return found


def _is_ours(value: object) -> bool:
    match value:
        case {"kind": "end", "exit": int()} | {"kind": "collected" | "collect_error", "id": str()}:
            return True
        case {"kind": "test", "id": str(), "outcome": str(outcome)}:
            return outcome in OUTCOMES
        case {"kind": "file", "id": str(), "digest": str()}:
            return True
        case {"kind": "site", "id": str(), "file": str(), "site": int(), "noticed": bool()}:
            return True
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
