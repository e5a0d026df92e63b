"""Runs tests on a tree in a fresh sandbox and says what was seen, whatever the code there did.

Nothing that the code prints counts. The report comes from our plugin, or is JUnit XML that the
project's own runner wrote, is read once every process is gone, and has to be whole and agree with
the exit code; even so, code in the same process can forge it, which is what `tamper.py` looks for.
"""

import io
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.resources import files

from labkit.archive import Entry, Kind, write_tar
from labkit.building import NotBuilt
from labkit.errors import InfrastructureError
from labkit.model import Ended
from labkit.patch.place import Tree
from labkit.sandbox.interface import Limits, Sandbox, Spec, Streams
from labkit_grader.builder import Builder
from labkit_grader.command import RESULTS, Command
from labkit_grader.reports import apart, collect_reports, report_file, test_run
from labkit_grader.sentinel import Sentinel
from labkit_grader.testrun import OURS, Runner, TestRun

_MOST_OUTPUT = 1024 * 1024
_TAIL = 4000
_PACKED = f"""\
"$@"
code=$?
tar -C / -cf "$0" {RESULTS.removeprefix("/")}
exit $code
"""


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


def run_tests(
    bench: Bench,
    tree: Tree,
    command: Command,
    targets: tuple[str, ...],
    *,
    sentinel: Sentinel | None = None,
) -> TestRun:
    """Run the test files `targets` of a tree, or with none the project's own suite.

    The sentinel's tests are run last, and told of apart from the others.

    Raises InfrastructureError when the sandbox failed or something outside killed it: then
    nothing was measured. Raises SetupProblemError when the task's build commands do not work.
    """
    if bench.builder is not None:
        built = bench.builder.build(tree)
        if isinstance(built, NotBuilt):
            return _not_built(built)
        tree = built
    if sentinel is not None:
        tree = {**tree, sentinel.entry.path: sentinel.entry}
        targets = (*targets, sentinel.path)
    key = secrets.token_hex(32).encode()
    stdout, stderr = io.BytesIO(), io.BytesIO()
    outcome, found = bench.sandbox.run(
        _spec(bench, tree, command, targets, key),
        Streams(stdout=stdout, stderr=stderr),
        partial(collect_reports, command.runner),
    )
    if outcome.ended is Ended.KILLED:
        raise InfrastructureError("the grading sandbox was killed from outside")
    run = test_run(command.runner, outcome, found, key, _tail(stdout) + _tail(stderr))
    laid = {name: tree[path] for name in targets if (path := name.encode()) in tree}
    return apart(run, command, sentinel, laid)


def _spec(bench: Bench, tree: Tree, command: Command, targets: tuple[str, ...], key: bytes) -> Spec:
    workspace = [replace(entry, path=b"workspace/" + path) for path, entry in tree.items()]
    environment = {"PYTHONDONTWRITEBYTECODE": "1"}
    if command.runner in OURS:
        environment["LABKIT_REPORT"] = f"/report/{report_file(command.runner)}"
        # Plugins of the environment are loaded by name, with -p, never by being there.
        environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    return Spec(
        argv=_argv(command, targets),
        image=bench.image,
        returned="/report",
        returned_file=report_file(command.runner),
        memory_folders=("/workspace", "/labkit", RESULTS),
        streamed_tar=write_tar([*workspace, *_our_files(), _key_file(key)]),
        workdir="/workspace",
        environment={"TZ": "UTC", **bench.variables, **command.environment, **environment},
        limits=replace(bench.limits, output_bytes=_MOST_OUTPUT),
        labels=bench.labels,
    )


def _argv(command: Command, targets: tuple[str, ...]) -> tuple[str, ...]:
    """Return the command line; what a project's own runner writes is packed into the one file.

    On the disk nothing else can be written, or a submission could fill it.
    """
    argv = command.argv(targets)
    if command.runner is not Runner.JUNIT:
        return argv
    return ("sh", "-c", _PACKED, f"/report/{report_file(command.runner)}", *argv)


def _our_files() -> Iterator[Entry]:
    """Yield what runs inside the sandbox: plain files that know nothing of labkit."""
    for file in (files("labkit_grader") / "plugin").iterdir():
        if file.name.startswith("labkit_"):
            yield Entry(path=f"labkit/{file.name}".encode(), kind=Kind.FILE, data=file.read_bytes())


def _key_file(key: bytes) -> Entry:
    return Entry(path=b"labkit/labkit_key", kind=Kind.FILE, data=key)


def _not_built(built: NotBuilt) -> TestRun:
    return TestRun(
        ended=Ended.EXITED,
        exit_code=None,
        problem=f"the tree could not be built: {built.reason}",
        seconds=0.0,
        image_digest="",
    )


def _tail(stream: io.BytesIO) -> str:
    return stream.getvalue()[-_TAIL:].decode(errors="backslashreplace")
