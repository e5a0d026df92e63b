"""What `labkit task run` does for runs by hand: --manual, --export, --finish, --abandon."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from labkit.cli.byhandend import Answers, Desk, finish_session, take_in
from labkit.cli.byhandopen import void_sessions
from labkit.cli.console import say
from labkit.cli.lab import Lab, now
from labkit.cli.purse import Purse
from labkit.cli.runchoice import require_own_logins
from labkit.cli.running import catch_up
from labkit.cli.sessions import open_session, runner
from labkit.configurations import read_configuration, read_configurations
from labkit.errors import InfrastructureError, InputError, PhaseError, ToolError
from labkit.lock import only_one
from labkit.model import RunId
from labkit.phases import progress
from labkit.plan import PlannedRun
from labkit.settings import Person
from labkit_runner import manual
from labkit_runner import manualexport as export
from labkit_runner.attempt import perform
from labkit_runner.givenup import abandon
from labkit_runner.manual import Begun, ByHand, Way
from labkit_runner.ownterminal import OwnTerminal
from labkit_runner.session import Session
from labkit_runner.voided import void

BEGAN, ABANDONED = "begin by hand", "abandon by hand"
"""What a member's log says of runs by hand, before it tells of the finished run."""
_MOST_SHOWN = 1 << 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which step of a run by hand is asked for: the run's name stands at one of the first three."""

    manual: str = ""
    finish: str = ""
    abandon: str = ""
    export: Path | None = None
    because: str = ""


def by_hand(me: str, runs: Sequence[str], asked: Asked, answers: Answers, sandbox_name: str) -> int:
    """Do the step that is asked for; refuses options that do not go together."""
    if runs or sum(map(bool, (asked.manual, asked.finish, asked.abandon))) != 1:
        raise InputError(
            "one run is done by hand at a time",
            hint="--manual RUN, --finish RUN or --abandon RUN, and no other run beside it",
        )
    if asked.manual:
        return _do(me, asked.manual, asked.export, sandbox_name)
    if asked.finish:
        return _complete(me, asked.finish, answers)
    return _give_up(me, asked.abandon, asked.because)


def _do(me: str, run: str, out: Path | None, sandbox_name: str) -> int:
    """Begin a run by hand: in a session here, or in a folder for another machine."""
    with _desk(me, run) as desk:
        before = manual.read_begun(desk.lab.workspace, desk.run)
        if before is not None and manual.can_finish(desk.lab.workspace, before):
            raise PhaseError(
                f"{desk.run} is begun by hand already ({before.way}, {before.started})",
                hint=f"labkit task run --finish {desk.run}, "
                f'or --abandon {desk.run} --because "why"',
            )
        _require_allowed(desk, is_here=out is None)
        if out is not None:
            _write_out(desk, out)
            return 0
        return _sit(desk, sandbox_name)


def _require_allowed(desk: Desk, *, is_here: bool) -> None:
    """Refuse what scripted runs are refused: a login in CI, and here, what the budget bears not."""
    arms = {found.id: found for found in read_configurations(desk.lab.workspace)}
    require_own_logins((desk.planned,), (), arms)
    purse = Purse.of(desk.lab, None, ignores_unpriced=False)
    why = purse.gate((desk.planned,), ()) if is_here else ""
    if why:
        raise PhaseError(
            f"{desk.run} is not begun: {why}", hint="budget: in evals/labkit.yaml is the team's own"
        )


def _complete(me: str, run: str, answers: Answers) -> int:
    """Make a run of what was begun by hand."""
    with _desk(me, run) as desk:
        begun = desk.begun()
        if begun.way is Way.EXPORT:
            take_in(desk, begun, answers)
        elif manual.session_of(desk.lab.workspace, desk.run).is_dir():
            finish_session(desk, begun, answers)
        else:
            raise PhaseError(
                f"the session of {desk.run} left nothing: it was interrupted",
                hint=f"labkit task run --manual {desk.run} begins it anew",
            )
    return 0


def _give_up(me: str, run: str, why: str) -> int:
    """Void a run that was begun by hand; the records keep that, and the reason."""
    if not why.strip():
        raise InputError("a run is not given up without a reason", hint='--because "why"')
    with _desk(me, run) as desk:
        abandon(desk.lab.workspace, desk.begun(), why.strip(), now())
        desk.lab.log(desk.person, ABANDONED, subject=str(desk.run))
        say(f"{desk.run} is abandoned and counts as missing: {why.strip()}")
        say("the next labkit task run does it again, and tells of this in its record")
    return 0


@contextmanager
def _desk(me: str, run: str) -> Iterator[Desk]:
    """Give a member's own planned run that is not done, with nobody else at work in the lab."""
    lab = Lab.open()
    person = runner(lab, me)
    wanted = RunId.parse(run)
    with only_one(lab.workspace, f"labkit task run by hand of {person.name}"):
        void_sessions(lab)
        catch_up(lab, person)
        yield Desk(lab=lab, person=person, planned=_own(lab, person, wanted))


def _own(lab: Lab, person: Person, run: RunId) -> PlannedRun:
    done = progress(lab.workspace)
    found = [item for item in done.planned if item.run == run]
    if not found or found[0].runner != person.name:
        raise InputError(
            f"{run} is not a run of {person.name}",
            hint="evals/plan.csv says which runs are whose",
        )
    if run in done.finished:
        raise InputError(f"{run} is done already", hint="labkit never overwrites a run")
    return found[0]


def _begin(desk: Desk, way: Way, suite_version: str, folder: str = "") -> Begun:
    begun = Begun(
        run=desk.run,
        runner=str(desk.person.name),
        way=way,
        started=now().isoformat(timespec="seconds"),
        suite_version=suite_version,
        folder=folder,
    )
    manual.begin(desk.lab.workspace, begun)
    desk.lab.log(desk.person, BEGAN, subject=str(desk.run))
    return begun


def _sit(desk: Desk, sandbox_name: str) -> int:
    """Open a session in the sandbox, and ask about it when it is over."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InputError(
            "a run by hand needs a terminal, and there is none here",
            hint="run it in a terminal window, without pipes; or: --export FOLDER",
        )
    session, ready = _opened(desk, sandbox_name)
    if not ready:
        raise ToolError(f"{desk.run} has no environment here", hint="labkit env build says why")
    bench = replace(session.bench, limits=replace(session.bench.limits, output_bytes=_MOST_SHOWN))
    job = session.job(desk.planned)
    job = replace(
        job,
        agent=ByHand(job.agent),
        seat=lambda kept: OwnTerminal(
            keys=sys.stdin.fileno(), screen=sys.stdout.fileno(), record=kept
        ),
    )
    begun = _begin(desk, Way.CONTAINER, bench.suite_version)
    _greet(desk, job.task.prompt, bench.limits.seconds)
    try:
        found = perform(bench, job, manual.session_of(desk.lab.workspace, desk.run))
    except InfrastructureError as error:
        void(desk.lab.workspace.voided, desk.run, error, now().isoformat(timespec="seconds"))
        manual.forget(desk.lab.workspace, desk.run)
        raise
    say(f"{desk.run}: {found.ending} after {found.seconds / 60:.1f} min")
    try:
        finish_session(desk, begun, Answers())
    except InputError:
        say(f"the session is kept; tell the rest later: labkit task run --finish {desk.run}")
        raise
    return 0


def _opened(desk: Desk, sandbox_name: str) -> tuple[Session, tuple[PlannedRun, ...]]:
    try:
        return open_session(desk.lab, (desk.planned,), sandbox_name, lambda _: None)
    except ToolError as error:
        raise type(error)(
            error.message,
            hint=f"{error.hint or 'labkit doctor says more'}; without any isolation no run can "
            "be done here: --export FOLDER writes it out for a machine of its own",
            more=error.problems[1:],
        ) from error


def _greet(desk: Desk, prompt: str, seconds: float) -> None:
    say(f"{desk.run}: the clock runs, for at most {seconds / 60:g} min")
    say("----- the prompt, also in /labkit/prompt.txt: give it to the agent as it is")
    say(prompt.rstrip())
    say("----- answer only what the agent asks, and count how often; exit ends the run")


def _write_out(desk: Desk, folder: Path) -> None:
    lab = desk.lab
    tasks = lab.tasks()
    suite = lab.frozen_suite(tasks)
    folder = folder.expanduser().absolute()
    if folder.resolve().is_relative_to(lab.workspace.project.resolve()):
        raise InputError(f"{folder} lies in the project", hint="export to a folder outside of it")
    task = tasks[desk.run.task]
    configuration = read_configuration(lab.workspace, desk.run.configuration)
    start = export.start_of(lab.repository, lab.workspace, task, configuration)
    minutes = lab.settings.run_limits.seconds / 60
    about = f"Agent: {configuration.describe()}. Time: at most {minutes:g} minutes."
    begun = Begun(
        run=desk.run,
        runner=str(desk.person.name),
        way=Way.EXPORT,
        started=now().isoformat(timespec="seconds"),
        suite_version=suite.version,
        folder=str(folder),
    )
    export.write_export(folder, begun, start, task.prompt, about)
    _begin(desk, Way.EXPORT, suite.version, str(folder))
    say(f"{desk.run} is in {folder}: go on with its {export.README}")
