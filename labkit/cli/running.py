"""What `labkit task run` does: planned runs, with progress, resumable, within a budget."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from labkit.cli import dryrun, smoking
from labkit.cli.byhandopen import void_sessions, waiting
from labkit.cli.console import Pace, ask, say
from labkit.cli.interrupts import heeding
from labkit.cli.lab import Lab, now
from labkit.cli.purse import Purse, shelf_of
from labkit.cli.rehearsals import rehearse
from labkit.cli.runchoice import Asked, Scope, foreign_runs, require_own_logins, to_do
from labkit.cli.runtold import Told, open_pairs, what_is_left
from labkit.cli.seen import identities, unsaid
from labkit.cli.sessions import open_session, runner
from labkit.configurations import SUBSCRIPTION, read_configurations
from labkit.errors import PhaseError
from labkit.evidence import LOGGED_RUN, told_runs
from labkit.fields import counted
from labkit.lock import only_one
from labkit.model import RunId
from labkit.phases import progress
from labkit.plan import PlannedRun
from labkit.records import load_run
from labkit.settings import Person
from labkit_runner.crew import pair_of
from labkit_runner.stopping import Stop
from labkit_runner.tries import Progress, Shelf
from labkit_runner.voided import void_partial

LOGGED_SMOKE = "smoke"


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What one call of the command is about."""

    lab: Lab
    person: Person
    asked: Asked
    shelf: Shelf
    meant: tuple[PlannedRun, ...]
    """Every run that is meant and was not finished when it began."""
    by_hand: tuple[PlannedRun, ...] = ()
    """Runs that would be meant, but somebody has begun them by hand."""

    @property
    def is_smoke(self) -> bool:
        """Whether it is a rerun, which is no part of the study."""
        return self.asked.scope is Scope.SMOKE

    @property
    def left(self) -> tuple[PlannedRun, ...]:
        """What of it is not finished now."""
        return tuple(item for item in self.meant if not self.is_done(item.run))

    def is_done(self, run: RunId) -> bool:
        """Tell whether a run's evidence lies here."""
        return (self.shelf.raw / str(run) / "run.json").is_file()


def run_planned(me: str, asked: Asked) -> int:
    """Run what is meant and not done; return 1 when some of it stays undone."""
    lab = Lab.open()
    smoke = asked.scope is Scope.SMOKE
    person = runner(lab, me, adds=not (smoke or asked.dry_run), logs=not asked.dry_run)
    purse = Purse.of(lab, asked.budget_cost, ignores_unpriced=asked.yes)
    if asked.dry_run:
        work = _work(lab, person, asked)
        arms = {found.id: found for found in read_configurations(lab.workspace)}
        dryrun.show(purse, work.meant, lab.tasks(), arms)
        return 0
    with only_one(lab.workspace, f"labkit task run of {person.name}"):
        _recover(lab, person)
        work = _work(lab, person, asked)
        if not work.meant:
            say(f"{person.name} has no {'other ' if work.by_hand else ''}run left to do")
            return 1 if work.by_hand else 0
        _require_allowed(work)
        if work.is_smoke:
            smoking.pin(lab, work.shelf.raw)
        known = identities(lab)
        stop = _perform(work, purse)
    _tell_end(work, stop, known)
    if stop.by_person:
        raise KeyboardInterrupt
    return 1 if work.left or work.by_hand else 0


def _work(lab: Lab, person: Person, asked: Asked) -> Work:
    """Return what is to be done, and where it is put."""
    begun: tuple[PlannedRun, ...] = ()
    if asked.scope is not Scope.SMOKE:
        every, shelf = to_do(lab, person, asked), Shelf.of(lab.workspace)
        begun = waiting(lab, every)
        meant = tuple(item for item in every if item not in begun)
    else:
        runs = smoking.smoke_runs(lab, person, asked.words)
        folder = smoking.round_of(lab, runs)
        meant, shelf = smoking.left_of(folder, runs), shelf_of(folder)
    return Work(lab=lab, person=person, asked=asked, shelf=shelf, meant=meant, by_hand=begun)


def _require_allowed(work: Work) -> None:
    """Refuse what a login's terms forbid; ask before others' runs are taken over."""
    foreign = () if work.is_smoke else foreign_runs(work.lab, work.meant)
    arms = {found.id: found for found in read_configurations(work.lab.workspace)}
    require_own_logins(work.meant, foreign, arms)
    if foreign and not work.asked.yes:
        names = " and ".join(sorted({str(item.runner) for item in foreign}))
        ask(
            f"{counted(len(foreign), 'run')} of {names} will be recorded as run by "
            f"{work.person.name}; their runners must not run them too. Go on (yes, no)?",
            _agreed,
        )


def _agreed(answer: str) -> None:
    if answer not in ("y", "yes"):
        raise PhaseError("nothing was begun", hint="without --all only your own runs are begun")


def _recover(lab: Lab, person: Person) -> None:
    """Void what killed sessions left half-written, and record what they did not come to record."""
    void_sessions(lab)
    when = now().isoformat(timespec="seconds")
    for shelf in (Shelf.of(lab.workspace), *map(shelf_of, lab.workspace.smokes())):
        for name in void_partial(shelf.raw, shelf.voided, when):
            shelf.note(RunId.parse(name), str(person.name))
            say(f"{name} was interrupted earlier: it starts again")
    catch_up(lab, person)


def catch_up(lab: Lab, person: Person) -> None:
    """Record the finished runs that a killed session kept but did not come to record.

    What it had written down of such a run as lacking goes, as it does when nothing is killed.
    """
    told = told_runs(lab.workspace)
    shelf = Shelf.of(lab.workspace)
    for run in sorted(progress(lab.workspace).finished):
        found = load_run(lab.workspace.run(run) / "run.json")
        if found.runner == person.name.text:
            if run not in told:
                record(lab, person, run)
            shelf.done(found)


def record(lab: Lab, person: Person, run: RunId) -> None:
    """Record a finished run in the member's log."""
    _log(lab, person, LOGGED_RUN, str(run), lab.workspace.run(run) / "run.json")


def _log(lab: Lab, person: Person, action: str, subject: str, path: Path) -> None:
    lab.log(person, action, subject=subject, digests={"run.json": digest_of(path)})


def digest_of(path: Path) -> str:
    """Return the digest of a run.json, as logs tell it."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _perform(work: Work, purse: Purse) -> Stop:
    """Perform the runs; return whether and why nothing more was begun."""
    told = Told(Pace(len(work.meant)))
    say(f"{counted(len(work.meant), 'run')} to do; looking at the sandbox and its environments")
    opened, ready = open_session(
        work.lab,
        work.meant,
        work.asked.sandbox,
        lambda event: _tell(work, event, told),
        frozen_arms=not work.is_smoke,
    )
    session = replace(opened, shelf=work.shelf, jobs=work.asked.jobs, gate=purse.gate)
    told.pace, told.stop = Pace(len(ready)), session.stop
    told.keys = {
        name: arm.provider.key
        for name, arm in session.arms.items()
        if arm.provider is not None and arm.configuration.login != SUBSCRIPTION
    }
    if not _stands_still(purse, ready) and (known := rehearse(session, ready, _say_rehearsed)):
        say(known)
    say(f"{work.person.name}: {counted(len(ready), 'run')} in {session.bench.sandbox.name}")
    with heeding(session.stop):
        session.run_all(ready)
    if totals := told.totals():
        say(totals)
    return session.stop


def _stands_still(purse: Purse, ready: Sequence[PlannedRun]) -> bool:
    """Tell whether the budget lets nothing be begun: then nothing is rehearsed either."""
    pair = [item for item in ready if pair_of(item) == pair_of(ready[0])]
    return not pair or bool(purse.gate(pair, ()))


def _say_rehearsed(letter: str) -> None:
    say(f"rehearsing configuration {letter}, with a scripted model: nothing is paid")


def _tell(work: Work, event: Progress, told: Told) -> None:
    """Record a finished run in the member's log, and say how it went."""
    if event.record is not None and not work.is_smoke:
        record(work.lab, work.person, event.run)
    elif event.record is not None:
        folder = work.shelf.raw / str(event.run)
        subject = f"{work.shelf.raw.name}/{event.run}"
        _log(work.lab, work.person, LOGGED_SMOKE, subject, folder / "run.json")
    for line in told.lines(event):
        say(line)


def _tell_end(work: Work, stop: Stop, known: frozenset[tuple[object, ...]]) -> None:
    """Say what is left, why, and how to go on; of what runs show, only what was not `known`."""
    left = work.left
    if stop.why and left:
        say(f"stopped: {stop.why}")
    for line in what_is_left(work.shelf, left):
        say(line)
    if work.is_smoke:
        say(f"compared with the study's own runs ({work.shelf.raw} is no part of its figures):")
        runs = smoking.smoke_runs(work.lab, work.person, work.asked.words)
        for line in smoking.compared(work.lab, work.shelf.raw, runs):
            say(f"  {line}")
        return
    for sentence in unsaid(work.lab, known):
        say(f"so far, {sentence}")
    for line in open_pairs(progress(work.lab.workspace).planned, work.is_done):
        say(line)
    if left:
        say(f"{counted(len(left), 'run')} left: the same command goes on, with open pairs first")
