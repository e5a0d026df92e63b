"""What `labkit task run` does: a member's own runs, with progress, resumable."""

import hashlib
from collections.abc import Sequence

from labkit.cli.console import Pace, say
from labkit.cli.lab import Lab, now
from labkit.cli.seen import seen
from labkit.cli.sessions import open_session, runner
from labkit.errors import InputError
from labkit.evidence import LOGGED_RUN, unlogged_runs
from labkit.fields import counted
from labkit.lock import only_one
from labkit.model import RunId
from labkit.phases import progress
from labkit.plan import PlannedRun
from labkit.records import RunRecord
from labkit.settings import Person
from labkit_runner.tries import Progress
from labkit_runner.voided import void_partial


def run_mine(me: str, runs: Sequence[str], sandbox_name: str) -> int:
    """Run what is planned for this member and not done; return 1 when runs stay missing."""
    lab = Lab.open()
    person = runner(lab, me)
    with only_one(lab.workspace, f"labkit task run of {person.name}"):
        when = now().isoformat(timespec="seconds")
        for run in void_partial(lab.workspace.raw, lab.workspace.voided, when):
            say(f"{run} was interrupted earlier: it starts again")
        catch_up(lab, person)
        planned = _mine(lab, person, runs)
        if not planned:
            say(f"{person.name} has no run left to do")
            return 0
        _perform(lab, person, planned, sandbox_name)
    left = [
        item
        for item in _mine(lab, person, runs)
        if item.run not in progress(lab.workspace).finished
    ]
    for sentence in seen(lab):
        say(f"so far, {sentence}")
    for item in left:
        say(f"missing: {item.run}: {lab.workspace.missing(item.run)}")
    return 1 if left else 0


def catch_up(lab: Lab, person: Person) -> None:
    """Record the finished runs that a killed session kept but did not come to record."""
    done = progress(lab.workspace)
    mine = [item.run for item in done.planned if item.runner == person.name]
    for run in unlogged_runs(lab.workspace, person.name, sorted(done.finished.intersection(mine))):
        record(lab, person, run)


def record(lab: Lab, person: Person, run: RunId) -> None:
    """Record a finished run in the member's log."""
    path = lab.workspace.run(run) / "run.json"
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    lab.log(person, LOGGED_RUN, subject=str(run), digests={"run.json": digest})


def _mine(lab: Lab, person: Person, runs: Sequence[str]) -> tuple[PlannedRun, ...]:
    """Return this member's runs that are not finished, in their order; missing ones are retried."""
    done = progress(lab.workspace)
    chosen = {RunId.parse(run) for run in runs}
    known = {item.run for item in done.planned if item.runner == person.name}
    if unknown := sorted(chosen - known):
        raise InputError(
            f"{unknown[0]} is not a run of {person.name}",
            hint=f"{person.name} has {counted(len(known), 'run')} in evals/plan.csv",
        )
    return tuple(
        item
        for item in done.planned
        if item.run in (chosen or known) and item.run not in done.finished
    )


def _perform(lab: Lab, person: Person, planned: tuple[PlannedRun, ...], sandbox_name: str) -> None:
    pace = Pace(len(planned))
    session, planned = open_session(
        lab, person, planned, sandbox_name, lambda event: _tell(lab, person, event, pace)
    )
    session.rehearse(planned, lambda arm: say(f"rehearsing configuration {arm.configuration.id}"))
    say(f"{person.name}: {counted(len(planned), 'run')} in {session.bench.sandbox.name}")
    session.run_all(planned)


def _tell(lab: Lab, person: Person, event: Progress, pace: Pace) -> None:
    """Record a finished run in the member's log, and say how it went."""
    place = f"[{event.place}/{event.of}] {event.run}"
    if event.record is None:
        rest = f"trying again ({event.tries_left} left)" if event.tries_left else "recorded missing"
        say(f"{place}: broken by the infrastructure, {rest}: {event.failure}")
        return
    record(lab, person, event.run)
    say(f"{place}: {_ending(event.record)}{pace.left(event.place)}")


def _ending(record: RunRecord) -> str:
    how = f"exit {record.exit_code}" if record.exit_code is not None else str(record.ended)
    return f"{how} after {record.seconds:.1f} s"
