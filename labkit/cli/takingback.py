"""`labkit task void`: one of two members who did the same run takes theirs back."""

from labkit.cli.console import say
from labkit.cli.lab import Lab, now
from labkit.cli.running import digest_of
from labkit.cli.sessions import runner
from labkit.errors import InputError, PhaseError
from labkit.evidence import LOGGED_VOID, ran_by, ran_by_others, told_grades
from labkit.lock import only_one
from labkit.missing import united
from labkit.model import RunId
from labkit.records import load_run
from labkit.settings import Person
from labkit_runner.causes import Broken
from labkit_runner.tries import Shelf
from labkit_runner.voided import Took, Try, keep


def take_back(me: str, name: str, because: str) -> None:
    """Move a run's evidence to the voided tries, and log that; what it cost stays.

    Refused unless another member's log tells of the run too, and once it is graded: nobody takes
    back a run because of what came of it.
    """
    if not because.strip():
        raise InputError("a run is not taken back without a reason", hint='--because "why"')
    lab = Lab.open()
    person = runner(lab, me)
    run = RunId.parse(name)
    with only_one(lab.workspace, f"labkit task void of {person.name}"):
        _require_double(lab, person, run)
        path = lab.workspace.run(run) / "run.json"
        record, digest = load_run(path), digest_of(path)
        if record.runner != str(person.name):
            raise PhaseError(
                f"the evidence of {run} that is here is {record.runner}'s",
                hint="take yours back on the machine where you ran it",
            )
        each = Try(
            when=now().isoformat(timespec="seconds"),
            why=f"taken back by {person.name}, as another member has done it: {because.strip()}",
            kind=Broken.TAKEN_BACK,
            took=Took(seconds=record.seconds, tokens=record.tokens, cost=record.cost),
        )
        shelf = Shelf.of(lab.workspace)
        lab.log(person, LOGGED_VOID, subject=str(run), digests={"run.json": digest})
        keep(shelf.voided, run, each, path.parent)
        shelf.note(run, str(person.name), more=united(record.voided, (each.facts(),)))
    say(f"{run} of {person.name} is taken back: the other member's counts; what it cost stays")


def _require_double(lab: Lab, person: Person, run: RunId) -> None:
    space = lab.workspace
    if run not in ran_by(space, person.name):
        raise PhaseError(
            f"the log of {person.name} tells of no run {run}", hint="see labkit status"
        )
    if run not in ran_by_others(space, person.name):
        raise PhaseError(
            f"nobody but {person.name} has done {run}: it counts, whatever came of it",
            hint="git pull in evals/ first, if another member has done it too",
        )
    if run in told_grades(space) or (space.run(run) / "grade.json").exists():
        raise PhaseError(
            f"{run} is graded already: none of its runs can be taken back",
            hint="say it in the report",
        )
    if not (space.run(run) / "run.json").is_file():
        raise PhaseError(
            f"the evidence of {run} is not here",
            hint="take it back on the machine where you ran it",
        )
