"""Whether the evidence of runs is what their runners recorded: files, digests, signed log."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from labkit import journal
from labkit.errors import IntegrityError, LabkitError
from labkit.model import Member, RunId
from labkit.records import RunRecord, load_run
from labkit.settings import read_person
from labkit.workspace import Workspace

LOGGED_RUN = "run"
"""The action under which a runner's log tells of a run, with the digest of its run.json."""


def load_intact(
    workspace: Workspace, runs: Iterable[RunId], *, suite_version: str
) -> dict[RunId, RunRecord]:
    """Return the records of runs whose evidence nobody has touched.

    Raises one IntegrityError with every problem: a file that is not what run.json says, a run.json
    that is not in its runner's signed log, a run of another suite.
    """
    records: dict[RunId, RunRecord] = {}
    problems: list[str] = []
    for run in runs:
        path = workspace.run(run) / "run.json"
        try:
            records[run] = load_run(path)
        except LabkitError as error:
            problems.extend(error.problems)
            continue
        if records[run].suite_version != suite_version:
            problems.append(f"{run} was made with suite {records[run].suite_version}")
        problems += [f"{run}: {what}" for what in _altered(path.parent, records[run])]
    problems += _unrecorded(workspace, records)
    if problems:
        raise IntegrityError(
            problems[0],
            more=problems[1:],
            hint="get the runner's own evidence and log again: evals/log from git, raw/ from the "
            "hand-in",
        )
    return records


def _altered(folder: Path, record: RunRecord) -> Iterable[str]:
    for name, recorded in record.digests.items():
        path = folder / name
        if not path.is_file():
            yield f"{name} is missing"
        elif _digest(path) != recorded:
            yield f"{name} is not what the run left"


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _unrecorded(workspace: Workspace, records: dict[RunId, RunRecord]) -> Iterable[str]:
    """Yield the runs that their runner's log does not tell of as they are."""
    for runner in sorted({record.runner for record in records.values()}):
        person = read_person(workspace, Member(runner))
        log = workspace.log(person.name)
        entries = journal.read(log, public=person.signing_key) if log.is_file() else ()
        told = {
            (entry.event.subject, entry.event.digests.get("run.json"))
            for entry in entries
            if entry.event.action == LOGGED_RUN
        }
        for run, record in records.items():
            found = (str(run), _digest(workspace.run(run) / "run.json"))
            if record.runner == runner and found not in told:
                yield f"{run}: the log of {runner} does not tell of this run.json"
