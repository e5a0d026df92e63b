"""Reads the report of our own runners: JSON lines, each with a mark behind it."""

import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping
from typing import Any

from labkit.sandbox.interface import Outcome
from labkit_grader.testrun import OUTCOMES, PASSED, Runner, TestRun


def of_lines(
    runner: Runner, outcome: Outcome, lines: tuple[dict[str, Any], ...], log: str
) -> TestRun:
    """Return what the lines of a report tell, with how the process ended."""
    ends = [line for line in lines if line["kind"] == "end"]
    end = ends[0] if len(ends) == 1 and lines[-1]["kind"] == "end" else {}
    return TestRun(
        runner=runner,
        ended=outcome.ended,
        exit_code=outcome.exit_code,
        outcomes=_outcomes(lines),
        messages={
            _id(line): writable(str(line["message"]))
            for line in lines
            if line["kind"] == "test" and line.get("message")
        },
        collected=tuple(_id(line) for line in lines if line["kind"] == "collected"),
        collect_errors={
            _id(line): writable(str(line.get("message", "")))
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
    return writable(str(line["id"]))


def writable(text: str) -> str:
    """Return text that can always be written to a file."""
    return text.encode(errors="backslashreplace").decode()
