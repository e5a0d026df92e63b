"""Runs pytest on a tree in a fresh sandbox and says what was seen, whatever the code there did.

Nothing that the code prints counts. The report comes from our plugin, is read once every process
is gone, and has to be whole and agree with the exit code; even so, code in the same process can
forge it, which is what `tamper.py` looks for.
"""

import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import IO, Any

from labkit.archive import Entry, Kind, read_tar, write_tar
from labkit.building import NotBuilt
from labkit.errors import InfrastructureError, ReturnedTooLargeError
from labkit.model import Ended
from labkit.sandbox.interface import Limits, Outcome, Sandbox, Spec, Streams
from labkit_grader.builder import Builder
from labkit_grader.command import Command
from labkit_grader.place import Tree
from labkit_grader.testrun import OUTCOMES, PASSED, TestRun

_REPORT = "report.jsonl"
_MIB = 1024 * 1024
_MOST_REPORT = 32 * _MIB
_MOST_OUTPUT = _MIB
_TAIL = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """Where tests are run."""

    sandbox: Sandbox
    image: str
    limits: Limits
    labels: Mapping[str, str] = field(default_factory=dict)
    environment: str = ""
    """The hash of the environment that `image` names; empty for a plain image."""
    variables: Mapping[str, str] = field(default_factory=dict)
    builder: Builder | None = None
    """Runs a task's build commands on every tree before its tests."""


def run_tests(bench: Bench, tree: Tree, command: Command, targets: tuple[str, ...]) -> TestRun:
    """Run the test files `targets` of a tree, or with none the project's own suite.

    Raises InfrastructureError when the sandbox failed or something outside killed it: then
    nothing was measured. Raises SetupProblemError when the task's build commands do not work.
    """
    if bench.builder is not None:
        built = bench.builder.build(tree)
        if isinstance(built, NotBuilt):
            return _not_built(built)
        tree = built
    stdout, stderr = io.BytesIO(), io.BytesIO()
    spec = _spec(bench, tree, command.argv(targets), command.environment)
    outcome, report = bench.sandbox.run(spec, Streams(stdout=stdout, stderr=stderr), _read_report)
    if outcome.ended is Ended.KILLED:
        raise InfrastructureError("the grading sandbox was killed from outside")
    return _test_run(outcome, report, _tail(stdout) + _tail(stderr))


def _spec(bench: Bench, tree: Tree, argv: tuple[str, ...], environment: Mapping[str, str]) -> Spec:
    workspace = [replace(entry, path=b"workspace/" + path) for path, entry in tree.items()]
    plugin = files("labkit_grader") / "plugin" / "labkit_report.py"
    ours = Entry(path=b"labkit/labkit_report.py", kind=Kind.FILE, data=plugin.read_bytes())
    return Spec(
        argv=argv,
        image=bench.image,
        returned="/report",
        memory_folders=("/workspace", "/labkit"),
        streamed_tar=write_tar([*workspace, ours]),
        workdir="/workspace",
        environment={
            **bench.variables,
            **environment,
            "LABKIT_REPORT": f"/report/{_REPORT}",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        limits=replace(bench.limits, output_bytes=_MOST_OUTPUT),
        labels=bench.labels,
    )


def _not_built(built: NotBuilt) -> TestRun:
    return TestRun(
        ended=Ended.EXITED,
        exit_code=None,
        problem=f"the tree could not be built: {built.reason}",
        seconds=0.0,
        image_digest="",
    )


def _read_report(stream: IO[bytes]) -> bytes | str:
    """Return the report's content, or why there is none."""
    try:
        for entry in read_tar(
            stream, most_bytes=_MOST_REPORT, most_file_bytes=_MOST_REPORT, most_entries=100
        ):
            if entry.path == _REPORT.encode():
                return entry.data if entry.kind is Kind.FILE else "the report is not a plain file"
    except ReturnedTooLargeError as error:
        return f"the report could not be read: {error}"
    return "there is no report"


def _tail(stream: io.BytesIO) -> str:
    return stream.getvalue()[-_TAIL:].decode(errors="backslashreplace")


def _test_run(outcome: Outcome, report: bytes | str, log: str) -> TestRun:
    problem, data = (report, b"") if isinstance(report, str) else ("", report)
    lines = tuple(_lines(data))
    ends = [line["exit"] for line in lines if line["kind"] == "end"]
    return TestRun(
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
    return str(line["id"]).encode(errors="backslashreplace").decode()
