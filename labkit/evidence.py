"""Whether the evidence of runs is what their runners recorded: files, digests, signed log."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from labkit import journal
from labkit.declarations import is_signed
from labkit.errors import IntegrityError, LabkitError
from labkit.missing import is_lost
from labkit.model import Member, RunId
from labkit.plan import PlannedRun, read_plan
from labkit.records import RunRecord, load_run
from labkit.settings import Role, read_people, read_person
from labkit.workspace import Workspace

LOGGED_RUN = "run"
LOGGED_GRADE = "grade"
LOGGED_VOID = "void run"
LOGGED_PLAN = "more attempts"
_MADE = {LOGGED_RUN: "run.json", LOGGED_GRADE: "grade.json", LOGGED_VOID: "run.json"}
"""The actions that logs tell of, and the file whose digest stands beside each."""
Told = tuple[tuple[Member, str], ...]
"""Who ran a run, and the digest of the run.json that came of it, each time."""


def load_intact(
    workspace: Workspace, runs: Iterable[RunId], *, suite_version: str
) -> dict[RunId, RunRecord]:
    """Return the records of runs whose evidence nobody has touched.

    Raises one IntegrityError with every problem: a file that is not what run.json says, a run.json
    that is not in its runner's signed log, a run of another suite or runner, one made twice or
    made and then recorded as missing.
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


def _unrecorded(workspace: Workspace, records: Mapping[RunId, RunRecord]) -> Iterator[str]:
    """Yield the runs that the plan and their runner's signed log do not tell of as they are."""
    everything = told_runs(workspace)
    folder = workspace.evals / "missing"
    for item in read_plan(workspace):
        told = everything.get(item.run, ())
        names = " and ".join(sorted({str(name) for name, _ in told}))
        if len(told) > 1:
            yield f"{item.run}: the log of {names} tells of {len(told)} runs of it" + (
                f"; one of them takes theirs back: labkit task void {item.run} --because WHY"
                if len({name for name, _ in told}) > 1
                else ""
            )
        elif told and not _is_here(workspace, item.run) and is_lost(folder, item.run):
            yield f"{item.run}: recorded missing, but the log of {names} tells of it"
        if item.run in records:
            yield from _misfits(workspace, item, records[item.run], told)


def _is_here(workspace: Workspace, run: RunId) -> bool:
    # A record beside it is another member's, or one that a killed labkit had no time to remove.
    return (workspace.run(run) / "run.json").is_file()


def _misfits(
    workspace: Workspace, item: PlannedRun, record: RunRecord, told: Told
) -> Iterator[str]:
    # Another member may have run it (labkit task run --all): that one's log tells of it then.
    if record.run != item.run:
        yield f"{item.run}: its run.json tells of {record.run} by {record.runner}"
    digest = _digest(workspace.run(item.run) / "run.json")
    if (record.runner, digest) not in [(str(name), made) for name, made in told]:
        yield f"{item.run}: the log of {record.runner} does not tell of this run.json"
    if record.manual and not is_signed(
        record, read_person(workspace, Member(record.runner)).signing_key
    ):
        yield f"{item.run}: what was declared of it is not signed by {record.runner}"


def told_runs(workspace: Workspace) -> dict[RunId, Told]:
    """Return, for each run that students' signed logs tell of, who ran it and what was made.

    What its runner took back, because another member had done the same run, is left out.
    """
    told: dict[RunId, Told] = {}
    for person in read_people(workspace):
        if person.role is Role.STUDENT:
            taken_back = _told(workspace, person.name, LOGGED_VOID)
            for subject, made in _told(workspace, person.name, LOGGED_RUN):
                if (subject, made) in taken_back:
                    continue
                run = RunId.parse(subject)
                told[run] = (*told.get(run, ()), (person.name, made))
    return told


def ran_by(workspace: Workspace, name: Member) -> frozenset[RunId]:
    """Return the runs that a member's own log tells of."""
    everything = told_runs(workspace).items()
    return frozenset(run for run, told in everything if name in [runner for runner, _ in told])


def ran_by_others(workspace: Workspace, name: Member) -> frozenset[RunId]:
    """Return the runs that another member's log tells of: their evidence lies with that one."""
    everything = told_runs(workspace).items()
    return frozenset(run for run, told in everything if any(who != name for who, _ in told))


def _told(workspace: Workspace, name: Member, action: str) -> list[tuple[str, str]]:
    """Return what a member's log tells of an action: subjects and the digest of the file made."""
    path = workspace.log(name)
    public = read_person(workspace, name).signing_key
    entries = journal.read(path, public=public) if path.is_file() else ()
    return [
        (entry.event.subject, entry.event.digests.get(_MADE[action], ""))
        for entry in entries
        if entry.event.action == action
    ]


def told_grades(workspace: Workspace) -> dict[RunId, tuple[str, ...]]:
    """Return the digest of every grade that holders' signed logs tell of, the newest one last."""
    told: dict[RunId, tuple[str, ...]] = {}
    for person in read_people(workspace):
        if person.role is Role.HOLDER:
            for subject, made in _told(workspace, person.name, LOGGED_GRADE):
                run = RunId.parse(subject)
                told[run] = (*told.get(run, ()), made)
    return told


def unvouched_grades(workspace: Workspace, runs: Iterable[RunId]) -> tuple[RunId, ...]:
    """Return the runs whose grade.json is not the last one that a holder's signed log tells of."""
    told = told_grades(workspace)
    return tuple(
        run
        for run in runs
        if told.get(run, ("",))[-1] != _digest(workspace.run(run) / "grade.json")
    )


def require_vouched_grades(workspace: Workspace, runs: Iterable[RunId]) -> None:
    """Raise IntegrityError when a grade is not the holder's own."""
    if odd := unvouched_grades(workspace, runs):
        raise IntegrityError(
            f"{odd[0]}: no holder's log tells of this grade.json",
            more=[f"{run}: no holder's log tells of this grade.json" for run in odd[1:]],
            hint="get the holder's log from git; the holder's labkit grade grades these again",
        )


def unvouched_plans(workspace: Workspace) -> tuple[str, ...]:
    """Return the names of further plans that nobody's signed log tells of as they are."""
    paths = workspace.further_plans()
    told = {
        (entry.event.subject, entry.event.digests.get(entry.event.subject))
        for person in (read_people(workspace) if paths else ())
        if workspace.log(person.name).is_file()
        for entry in journal.read(workspace.log(person.name), public=person.signing_key)
        if entry.event.action == LOGGED_PLAN
    }
    return tuple(path.name for path in paths if (path.name, _digest(path)) not in told)
