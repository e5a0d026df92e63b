"""Build commands: run without a network on a whole tree, in a sandbox of their own.

What they made is known from outside, by comparing the returned tree with the one that went in: so
it can be laid into a run or a grading, and can be kept out of every difference.
"""

import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import IO, assert_never

from labkit.archive import Entry, Kind, read_tar, write_tar
from labkit.errors import InfrastructureError, ReturnedTooLargeError
from labkit.model import Ended
from labkit.sandbox.interface import Limits, Outcome, Sandbox, Spec, Streams

WORKSPACE = "/workspace"
_CACHES = frozenset({b"__pycache__", b".pytest_cache"})
_MOST_OUTPUT = 1024 * 1024
_SCRIPT = """\
for command in "$@"; do
    (exec /bin/sh -c "$command") >&2
    code=$?
    if [ $code != 0 ]; then printf 'the build command "%s" ended in %s' "$command" $code; exit 1; fi
done
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a task is run in, made and ready."""

    image: str
    """What `Spec.image` says."""
    key: str = ""
    """The environment's hash; empty where the image is used as it is."""
    build: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """What was done to a tree before an agent or a test sees it."""

    made: Mapping[bytes, Entry] = field(default_factory=dict)
    """New and changed files, and new folders, by path."""
    gone: frozenset[bytes] = frozenset()
    laid: frozenset[bytes] = frozenset()
    """Those of `made` that a configuration laid over it; the others are of build commands."""

    def over(self, files: Iterable[Entry]) -> dict[bytes, Entry]:
        """Return the tree of `files` as the commands left it."""
        kept = {entry.path: entry for entry in files if entry.path not in self.gone}
        return kept | dict(self.made)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotBuilt:
    """Why build commands failed, for a person."""

    reason: str


NOTHING_BUILT = Built()


@dataclass(frozen=True, slots=True, kw_only=True)
class Workbench:
    """Where trees are built."""

    sandbox: Sandbox
    surroundings: Surroundings
    limits: Limits
    labels: Mapping[str, str] = field(default_factory=dict)


def build_tree(bench: Workbench, files: Iterable[Entry]) -> Built | NotBuilt:
    """Run the build commands on a tree and return what they did to it.

    Raises InfrastructureError when the sandbox failed or something outside killed it.
    """
    before = {entry.path: entry for entry in files}
    spec = Spec(
        argv=("/bin/sh", "-c", _SCRIPT, "labkit-build", *bench.surroundings.build),
        image=bench.surroundings.image,
        returned=WORKSPACE,
        returned_tar=write_tar(before.values()),
        workdir=WORKSPACE,
        environment=bench.surroundings.variables,
        limits=replace(bench.limits, output_bytes=_MOST_OUTPUT),
        labels=bench.labels,
    )
    stdout, stderr = io.BytesIO(), io.BytesIO()

    def collect(stream: IO[bytes]) -> dict[bytes, Entry] | str:
        return _read(stream, bench.limits.returned_bytes)

    outcome, after = bench.sandbox.run(spec, Streams(stdout=stdout, stderr=stderr), collect)
    problem = _problem(outcome, stdout.getvalue(), stderr.getvalue())
    if problem or isinstance(after, str):
        return NotBuilt(reason=problem or str(after))
    return _compare(before, after)


def _read(stream: IO[bytes], most: int) -> dict[bytes, Entry] | str:
    try:
        entries = read_tar(stream, most_bytes=most, most_file_bytes=most)
        return {entry.path: entry for entry in entries}
    except ReturnedTooLargeError as error:
        return f"the build left too much: {error}"


def _problem(outcome: Outcome, stdout: bytes, stderr: bytes) -> str:
    match outcome.ended:
        case Ended.KILLED | Ended.STOPPED:
            raise InfrastructureError("the build was killed from outside its sandbox")
        case Ended.TIMEOUT:
            return "the build ran out of time"
        case Ended.OUT_OF_MEMORY:
            return "the build ran out of memory"
        case Ended.EXITED:
            if outcome.exit_code == 0:
                return ""
            said = stdout.decode(errors="backslashreplace").strip()[-500:]
            lines = stderr.decode(errors="backslashreplace").strip().splitlines()
            last = f": {lines[-1].strip()[:200]}" if lines else ""
            return f"{said or 'the build failed'}{last}"
        case _:
            assert_never(outcome.ended)


def _compare(before: Mapping[bytes, Entry], after: Mapping[bytes, Entry]) -> Built:
    folders = {
        b"/".join(parts[:count])
        for parts in (path.split(b"/") for path in before)
        for count in range(1, len(parts))
    }
    made = {
        path: entry
        for path, entry in after.items()
        if before.get(path) != entry
        and entry.kind not in (Kind.SPECIAL, Kind.OVERSIZED)
        and _CACHES.isdisjoint(path.split(b"/"))
        and not (entry.kind is Kind.FOLDER and path in folders)
    }
    return Built(made=made, gone=frozenset(before.keys() - after.keys()))
