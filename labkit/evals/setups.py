"""Setups of fixture tasks: commands that are run once, in the sandbox, before any sample."""

import io
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO

from labkit.archive import Entry, Kind, read_tar, write_tar
from labkit.errors import InputError, LabkitError, ReturnedTooLargeError
from labkit.evals.case import EvalCase
from labkit.evals.digests import files_of
from labkit.evals.fixtures import FixtureTask
from labkit.graders import Tools
from labkit.graders.execution import MOST_OUTPUT, last_words, stopped_early
from labkit.sandbox.interface import Spec, Streams

_EACH = """\
n=0
for command; do
    n=$((n + 1))
    sh -c "$command" || { code=$?; echo "command $n ended in $code" >&2; exit "$code"; }
done
"""
_MOST_BYTES = 256 * 1024 * 1024
_LEFT_OUT = frozenset({b"__pycache__", b".git"})


def prepared(tasks: Iterable[FixtureTask], tools: Tools, folder: Path) -> tuple[EvalCase, ...]:
    """Run the setups of some tasks, and return all of them as cases.

    What a setup leaves lies in `folder` under the task's id. One that fails, or cannot be run, is
    the case's problem.
    """
    return tuple(_prepared(task, tools, folder / task.id) for task in tasks)


def _prepared(task: FixtureTask, tools: Tools, target: Path) -> EvalCase:
    if not task.setup:
        return task.case()
    try:
        left = _run(task, tools)
        _write(left, target)
    except LabkitError as error:
        return task.case(problem=f"its setup failed: {error.message}")
    return task.case(target)


def _run(task: FixtureTask, tools: Tools) -> Sequence[Entry]:
    """Return the files that the setup left; raises LabkitError when it did not work."""
    if tools.sandbox is None:
        raise InputError("it needs a sandbox, and none is given")
    log = io.BytesIO()
    outcome, left = tools.sandbox.run(
        Spec(
            argv=("sh", "-c", _EACH, "setup", *task.setup),
            image=tools.image,
            returned="/workspace",
            returned_tar=write_tar(_entries(task.buggy)),
            workdir="/workspace",
            environment={"TZ": "UTC", "PYTHONDONTWRITEBYTECODE": "1"},
            limits=replace(tools.limits, output_bytes=MOST_OUTPUT, returned_bytes=_MOST_BYTES),
        ),
        Streams(stdout=log, stderr=log),
        _collect,
    )
    if stopped := stopped_early(outcome, tools.limits):
        raise InputError(stopped.detail)
    if outcome.exit_code != 0:
        raise InputError(last_words(log.getvalue()) or f"exit {outcome.exit_code}")
    if isinstance(left, str):
        raise InputError(left)
    return left


def _entries(folder: Path) -> Iterable[Entry]:
    for name, path in files_of(folder):
        kind = Kind.EXECUTABLE if path.stat().st_mode & 0o100 else Kind.FILE
        yield Entry(path=os.fsencode(name), kind=kind, data=path.read_bytes())


def _collect(stream: IO[bytes]) -> Sequence[Entry] | str:
    """Return the files that came back, or why they cannot be a start."""
    found = []
    try:
        for entry in read_tar(stream, most_bytes=_MOST_BYTES, most_file_bytes=_MOST_BYTES):
            if entry.kind is Kind.FOLDER or not _LEFT_OUT.isdisjoint(entry.path.split(b"/")):
                continue
            if entry.kind not in (Kind.FILE, Kind.EXECUTABLE):
                return f"it left {os.fsdecode(entry.path)}, which is neither a file nor a folder"
            found.append(entry)
    except ReturnedTooLargeError as error:
        return error.message
    return found


def _write(entries: Sequence[Entry], target: Path) -> None:
    target.mkdir(parents=True)
    for entry in entries:
        path = target / os.fsdecode(entry.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(entry.data)
        path.chmod(0o755 if entry.kind is Kind.EXECUTABLE else 0o644)
