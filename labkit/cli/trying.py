"""What `labkit grade try` does: any diff gets the verdict that a run with it would get."""

import json
import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import assert_never

from labkit.bundle import Files, read_draft
from labkit.cli.bundles import Oracles, open_bundle, open_sealed
from labkit.cli.console import data, say
from labkit.cli.grading import open_bench
from labkit.cli.identity import open_identity
from labkit.cli.lab import Lab
from labkit.cli.sandboxes import provide
from labkit.cli.sealing import require_proven
from labkit.errors import InputError, PhaseError, did_you_mean
from labkit.export import read_base
from labkit.fields import json_text, read_bytes
from labkit.model import ConfigurationId, RunId, TaskId, Verdict
from labkit.records import GradeRecord, record_text
from labkit.sandbox.container import RUN_LABEL
from labkit.suite import content_digest, read_suite
from labkit.tasks import Task, read_task
from labkit_grader.execute import Bench
from labkit_grader.grade import RETRIES, Patience, RunEvidence, grade_run
from labkit_grader.material import read_material
from labkit_grader.oracles.interface import Case
from labkit_grader.report import grade_text
from labkit_grader.surroundings import bench_of_task

_OF_NO_RUN = ("run", "supersedes", "because")
"""Fields of a grade that a diff which is no run has no values for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What to try, as typed."""

    task: str
    diff: Path
    message: Path | None = None
    as_json: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tests:
    """The hidden tests that are used, and where they are from."""

    files: Files
    source: str
    suite_version: str = ""
    commitment: str = ""


def try_diff(asked: Asked, key: str, sandbox_name: str) -> int:
    """Grade a diff, print the verdict, write nothing; return 0, 1 or 3 for pass, fail, ungraded."""
    lab = Lab.open()
    diff = _read(asked.diff)
    message = _read(asked.message) if asked.message else b""
    task = _task(lab, asked.task)
    tests = _tests(lab, task, key)
    case = Case(
        task=task,
        repository=lab.repository,
        base=read_base(lab.repository, task.base),
        material=read_material(tests.files, task.category),
    )
    evidence = RunEvidence(
        run=RunId(task.id, ConfigurationId("A"), 1),  # only its task is ever shown
        suite_version=tests.suite_version,
        commitment=tests.commitment,
        diff=diff,
        transcript=message,
        agent="none",  # a message is text, whatever it looks like
    )
    bench = _bench(lab, case, sandbox_name)
    say(f"{task.id}: trying {_shown(asked.diff)} with the hidden tests of {tests.source}")
    record = grade_run(bench, case, evidence, Patience(pauses=RETRIES))
    data(_json(record) if asked.as_json else grade_text(record, subject=f"none, for {task.id}"))
    return _code(record.verdict)


def _code(verdict: Verdict) -> int:
    match verdict:
        case Verdict.PASS:
            return 0
        case Verdict.FAIL:
            return 1
        case Verdict.UNGRADED:
            return 3
        case _:
            assert_never(verdict)


def _shown(path: Path) -> str:
    return "standard input" if str(path) == "-" else str(path)


def _read(path: Path) -> bytes:
    if str(path) == "-":
        return sys.stdin.buffer.read()
    try:
        return read_bytes(path)
    except InputError as error:
        hint = "DIFF is a file that git diff wrote, or - for standard input"
        raise InputError(error.message, hint=hint) from error


def _task(lab: Lab, name: str) -> Task:
    known = lab.workspace.task_ids()
    task = TaskId(name)
    if task not in known:
        raise InputError(
            f"no task {task}{did_you_mean(name, list(map(str, known)))}",
            hint="labkit task list shows the tasks",
        )
    return read_task(lab.workspace, task, lab.repository)


def _tests(lab: Lab, task: Task, key: str) -> _Tests:
    """Return the draft where there is one, else what the holder's key opens."""
    workspace = lab.workspace
    if workspace.draft(task.id).is_dir():
        draft = read_draft(workspace.draft(task.id))
        require_proven([task], {task.id: draft})
        return _Tests(files=draft, source="the draft")
    if not workspace.seal(task.id).is_file():
        raise PhaseError(
            f"task {task.id} has neither a draft nor a seal here",
            hint="its author tries diffs before sealing, the holder after it",
        )
    identity = open_identity(lab, key)
    if not workspace.suite.is_file():
        bundle = open_sealed(lab, task.id, identity)
        return _Tests(files=bundle.files, source="the sealed bundle")
    suite = read_suite(workspace.suite)
    if task.id not in suite.tasks:
        raise PhaseError(
            f"the frozen suite has no task {task.id}", hint="labkit task check says what changed"
        )
    if suite.tasks[task.id].content != content_digest(task.facts(), task.prompt):
        say(f"note: task {task.id} is not as it was frozen: labkit task check")
    oracles = Oracles.of(lab, suite)
    newest = oracles.corrections.newest(task.id)
    return _Tests(
        files=open_bundle(lab, oracles, task.id, identity).files,
        source=f"correction {newest.number}" if newest else "the frozen suite",
        suite_version=suite.version,
        commitment=oracles.commitment(task.id),
    )


def _bench(lab: Lab, case: Case, sandbox_name: str) -> Bench:
    bench = replace(open_bench(lab, sandbox_name), labels={RUN_LABEL: f"try-{os.getpid()}"})
    supplied = provide(lab, bench.sandbox, [case.task])
    return bench_of_task(bench, case, supplied.ready[case.task.id])


def _json(record: GradeRecord) -> str:
    """Return the record without what only a run has."""
    values = json.loads(record_text(record))
    kept = {name: value for name, value in values.items() if name not in _OF_NO_RUN}
    return json_text({"schema": kept.pop("schema"), "task": str(record.run.task), **kept})
