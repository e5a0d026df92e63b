"""The end of a run by hand: what is asked, what came back, and the record that is made of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from labkit.cli.console import ask, say
from labkit.cli.lab import Lab, now
from labkit.cli.running import record
from labkit.configurations import read_configuration
from labkit.errors import InputError, PhaseError
from labkit.fields import counted
from labkit.graders.folder import Unreadable, read_inside
from labkit.model import RunId
from labkit.plan import PlannedRun
from labkit.records import RunRecord
from labkit.settings import Person
from labkit_runner import manual
from labkit_runner import manualexport as export
from labkit_runner.capture import read_sessions
from labkit_runner.manual import Begun, Told
from labkit_runner.manualform import read_declaration
from labkit_runner.preflight import require_nothing_readable
from labkit_runner.veil import veil_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """One person's one run, while the lab is theirs alone."""

    lab: Lab
    person: Person
    planned: PlannedRun

    @property
    def run(self) -> RunId:
        """The run's name."""
        return self.planned.run

    def begun(self) -> Begun:
        """Return how the run was begun; refuses one that was not."""
        found = manual.read_begun(self.lab.workspace, self.run)
        if found is None:
            raise PhaseError(
                f"{self.run} is not begun by hand", hint=f"labkit task run --manual {self.run}"
            )
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What options said already of the end of a run; what they did not say is asked."""

    folder: Path | None = None
    transcripts: tuple[Path, ...] = ()
    minutes: float | None = None
    count: int | None = None
    lines: tuple[str, ...] = ()
    notes: str = ""


def finish_session(desk: Desk, begun: Begun, answers: Answers) -> None:
    """Ask what is not known, and make the run of a session here."""
    if answers.folder is not None or answers.minutes is not None:
        raise InputError(
            f"{desk.run} was done in the sandbox here: its folder and its time are known",
            hint="leave out --workspace and --minutes, which are for exported runs",
        )
    session = manual.session_of(desk.lab.workspace, desk.run)
    transcripts = _read_all(answers.transcripts) or _sessions(session)
    if transcripts:
        say(f"transcript: {next(iter(transcripts))}")
    elif not answers.transcripts:
        say("the agent left no transcript that labkit knows of in its own folder")
        path = ask("transcript file of this machine (empty: there is none)", _existing)
        transcripts = _read_all((path,)) if path else {}
    configuration = read_configuration(desk.lab.workspace, desk.run.configuration)
    told = veil_of(configuration, Path.home()).told(_told(answers, transcripts))
    found = manual.finish_session(
        desk.lab.workspace, begun, desk.planned, told, desk.lab.key(desk.person)
    )
    _done(desk, found)


def _sessions(session: Path) -> dict[str, bytes]:
    """Return the transcripts that the agent's own folder held, the longest first."""
    found = read_sessions(session / "sessions.tar")
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def _existing(answer: str) -> Path | None:
    if not answer:
        return None
    path = Path(answer).expanduser()
    if not path.is_file():
        raise InputError(f"there is no file {path}", hint="write its whole path")
    return path


def _read_all(paths: Sequence[Path]) -> dict[str, bytes]:
    """Read transcripts; they may lie where an agent worked, so none is read through a link."""
    found: dict[str, bytes] = {}
    for path in paths:
        data = read_inside(path.parent, path.name)
        if isinstance(data, Unreadable):
            raise InputError(f"--transcript {path}: {data.why}", hint="name the file itself")
        if path.name in found:
            raise InputError(f"two transcripts are called {path.name}", hint="rename one")
        found[path.name] = data
    return found


def _told(answers: Answers, transcripts: Mapping[str, bytes]) -> Told:
    count = answers.count
    lines = list(answers.lines)
    if count is None:
        count = ask("interventions: how often did you step in", _whole)
        while len(lines) < count:
            lines.append(ask(f"intervention {len(lines) + 1} of {count}, in a line", _filled))
        notes = answers.notes or ask("notes (empty: none)", str)
    else:
        notes = answers.notes
    manual.require_lines(count, lines)
    return Told(transcripts=transcripts, count=count, interventions=tuple(lines), notes=notes)


def _whole(answer: str) -> int:
    if not answer.isdecimal():
        raise InputError(f"{answer!r} is not a number", hint="0 when you only gave the prompt")
    return int(answer)


def _filled(answer: str) -> str:
    if not answer:
        raise InputError("say in a few words what you did", hint='"told it to run the tests"')
    return answer


def _done(desk: Desk, found: RunRecord) -> None:
    record(desk.lab, desk.person, desk.run)
    say(
        f"{desk.run} is done: {found.seconds / 60:.1f} min, "
        f"{counted(found.interventions, 'intervention')}"
    )
    for what in (*found.left_out, *found.remarks):
        say(f"  {what}")


def take_in(desk: Desk, begun: Begun, answers: Answers) -> None:
    """Make the run of an exported folder that came back."""
    lab = desk.lab
    if answers.minutes is None:
        raise InputError("how long it took is not said", hint="--minutes M")
    tasks = lab.tasks()
    suite = lab.frozen_suite(tasks)
    require_nothing_readable(lab.workspace, suite)
    if begun.suite_version != suite.version:
        raise PhaseError(
            f"{desk.run} was exported from suite {begun.suite_version}, this is {suite.version}",
            hint=f'labkit task run --abandon {desk.run} --because "another suite"',
        )
    folder = (answers.folder or Path(begun.folder)).expanduser()
    configuration = read_configuration(lab.workspace, desk.run.configuration)
    veil = veil_of(configuration, Path.home())
    declaration = read_declaration(folder, begun, now(), veil)
    start = export.start_of(lab.repository, lab.workspace, tasks[desk.run.task], configuration)
    difference = export.read_workspace(folder, lab.repository, start, veil)
    brought = export.Brought(
        declaration=declaration,
        base_tree=start.base.tree,
        difference=difference,
        minutes=answers.minutes,
        told=veil.told(_told(answers, _read_all(answers.transcripts))),
    )
    facts = export.Facts(
        planned=desk.planned,
        configuration=configuration,
        suite_version=suite.version,
        deadline=lab.settings.run_limits.seconds,
    )
    _done(desk, export.finish_export(lab.workspace, begun, brought, facts, lab.key(desk.person)))
