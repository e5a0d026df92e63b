"""Runs a structural command in the sandbox: in the tree with the hidden files laid on it."""

import io
from dataclasses import replace

from labkit.archive import write_tar
from labkit.building import NotBuilt
from labkit.errors import InfrastructureError
from labkit.model import Ended
from labkit.patch.place import Tree
from labkit.sandbox.interface import Spec, Streams
from labkit_grader.execute import Bench

_MOST_OUTPUT = 64 * 1024


def command_fails(bench: Bench, tree: Tree, command: str) -> str:
    """Return why a command does not hold in a tree; empty when it ended in 0.

    Raises InfrastructureError when the sandbox failed: then nothing is known.
    """
    if bench.builder is not None:
        built = bench.builder.build(tree)
        if isinstance(built, NotBuilt):
            return f"the tree could not be built: {built.reason}"
        tree = built
    workspace = [replace(entry, path=b"workspace/" + path) for path, entry in tree.items()]
    spec = Spec(
        argv=("sh", "-c", command),
        image=bench.image,
        returned="/report",
        returned_file="nothing",
        memory_folders=("/workspace",),
        streamed_tar=write_tar(workspace),
        workdir="/workspace",
        environment={"TZ": "UTC", **bench.variables, "PYTHONDONTWRITEBYTECODE": "1"},
        limits=replace(bench.limits, output_bytes=_MOST_OUTPUT),
        labels=bench.labels,
    )
    output = io.BytesIO()
    outcome, _ = bench.sandbox.run(spec, Streams(stdout=output, stderr=output), lambda _: None)
    match outcome.ended:
        case Ended.EXITED:
            return "" if outcome.exit_code == 0 else _told(outcome.exit_code, output)
        case Ended.TIMEOUT:
            return "it ran out of time"
        case Ended.OUT_OF_MEMORY:
            return "it ran out of memory"
        case Ended.KILLED | Ended.STOPPED:
            raise InfrastructureError("the grading sandbox was killed from outside")


def _told(code: int | None, output: io.BytesIO) -> str:
    lines = output.getvalue().decode(errors="backslashreplace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "it printed nothing")
    return f"it ended in {code}: {last[:200]}"
