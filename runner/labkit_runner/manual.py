"""Runs that a person does by hand: how they are begun, kept until they are finished, and told of.

Begun in `evals/manual/`: `<run>.json` says how; `<run>/` is what a session in a sandbox left. It
becomes a run like any other when its person has said what no program can see: how often they
stepped in, and where the transcript is.
"""

import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from labkit.archive import Entry, Kind, write_tar
from labkit.configurations import Configuration
from labkit.declarations import signed
from labkit.errors import InputError, IntegrityError, LabkitError
from labkit.fields import json_text, read_json
from labkit.model import RunId
from labkit.records import (
    SCHEMA,
    MissingRecord,
    RunRecord,
    load_missing,
    load_run,
    record_text,
)
from labkit.signing import SigningKey
from labkit.transcripts.detect import read_transcript
from labkit.workspace import Workspace
from labkit.workspace import replace as write_file
from labkit_runner.accounting import file_digest
from labkit_runner.agents import terminal
from labkit_runner.agents.interface import INPUTS, Account, Agent, Launch, Left, Request, Said
from labkit_runner.attempt import new_folder
from labkit_runner.causes import Broken
from labkit_runner.voided import Took, Try, keep, kept, united

TERMINAL = "terminal.txt"
"""What was shown in a session: a person's own evidence, whatever the agent wrote of itself."""
PROMPT = f"{INPUTS}/prompt.txt"
OWN_TRANSCRIPTS = ("transcript.*", "transcripts")
"""Where a person leaves transcripts of an agent that labkit does not know, below HOME."""
_SEAT = Entry(path=b"terminal.py", kind=Kind.FILE, data=Path(terminal.__file__).read_bytes())
_SHELL = "if command -v bash >/dev/null; then exec bash -i; else exec sh -i; fi"
_IGNORE = "# Not for scorers, and not finished.\n*\n"


class Way(StrEnum):
    """How a run is done by hand."""

    CONTAINER = "container"
    """In the sandbox of every run, at a terminal."""
    EXPORT = "export"
    """On a machine of the person's own, whose isolation they declare."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """evals/manual/<run>.json: a run that somebody has begun by hand."""

    run: RunId
    runner: str
    way: Way
    started: str
    """ISO time with zone."""
    suite_version: str
    folder: str = ""
    """Where it was exported to."""

    def text(self) -> str:
        """Return it as it stands in its file."""
        values = {item.name: str(getattr(self, item.name)) for item in fields(self)}
        return json_text({"schema": SCHEMA, **values})


def begin(workspace: Workspace, begun: Begun) -> None:
    """Write down that a run is begun."""
    ignore = workspace.by_hand / ".gitignore"
    if not ignore.is_file():
        write_file(ignore, _IGNORE)
    write_file(_note(workspace, begun.run), begun.text())


def begun_runs(workspace: Workspace) -> tuple[Begun, ...]:
    """Return the runs that are begun by hand here and not finished, sorted."""
    paths = sorted(workspace.by_hand.glob("*.json"))
    found = (read_begun(workspace, _named(path)) for path in paths)
    return tuple(each for each in found if each and not workspace.run(each.run).exists())


def _named(path: Path) -> RunId:
    try:
        return RunId.parse(path.stem)
    except InputError as error:
        raise IntegrityError(f"{path}: {error}", hint="move the file elsewhere") from error


def read_begun(workspace: Workspace, run: RunId) -> Begun | None:
    """Return how a run was begun by hand; None when it was not."""
    path = _note(workspace, run)
    if not path.is_file():
        return None
    values = read_json(path, schema=SCHEMA)
    del values["schema"]
    try:
        return Begun(**values | {"run": RunId.parse(values["run"]), "way": Way(values["way"])})
    except (KeyError, TypeError, ValueError, LabkitError) as error:
        raise IntegrityError(
            f"{path} is damaged: {error}", hint="labkit task run --abandon, then begin again"
        ) from error


def session_of(workspace: Workspace, run: RunId) -> Path:
    """Return the folder of what a session in a sandbox left."""
    return workspace.by_hand / str(run)


def forget(workspace: Workspace, run: RunId) -> None:
    """Remove what stands of a run below evals/manual/."""
    shutil.rmtree(session_of(workspace, run), ignore_errors=True)
    with suppress(FileNotFoundError):
        _note(workspace, run).unlink()


def _note(workspace: Workspace, run: RunId) -> Path:
    return workspace.by_hand / f"{run}.json"


@dataclass(frozen=True, slots=True)
class ByHand:
    """An agent that a person starts and speaks with, in a shell of its environment."""

    agent: Agent

    def __getattr__(self, name: str) -> Any:
        """Everything else is the agent's own: `apis`, `provider`, `memory`, `install`."""
        return getattr(self.agent, name)

    def launch(self, request: Request) -> Launch:
        """Return the agent's own environment, settings and sessions, around a shell."""
        launch = self.agent.launch(request)
        prompt = Entry(path=b"prompt.txt", kind=Kind.FILE, data=request.prompt.encode())
        inputs = {entry.path: entry for entry in (*launch.inputs, prompt, _SEAT)}
        told = {"TERM": "xterm-256color", "LABKIT_PROMPT": PROMPT}
        program = self.agent.program(request.configuration)
        return replace(
            launch,
            argv=("python3", f"{INPUTS}/terminal.py", "3", "/bin/sh", "-c", _SHELL),
            inputs=tuple(inputs.values()),
            environment={**launch.environment, **told, "LABKIT_AGENT": program},
            transcript=TERMINAL,
            transcript_path="",
            sessions=(*launch.sessions, *_transcripts(launch), *OWN_TRANSCRIPTS),
        )

    def account(self, left: Left) -> Account:  # noqa: ARG002 - the protocol's signature
        """Take leaving the shell as the end: the person decides when the run is over."""
        return Account(said=Said.COMPLETED)

    def program(self, configuration: Configuration) -> str:
        """Return the agent's program."""
        return self.agent.program(configuration)


def _transcripts(launch: Launch) -> tuple[str, ...]:
    return (launch.transcript_path,) if launch.transcript_path else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a person says at the end of a run by hand."""

    transcripts: Mapping[str, bytes]
    """By the name that they had; the first one is the transcript."""
    count: int
    """How often they stepped in."""
    interventions: tuple[str, ...] = ()
    """What they did, a line each."""
    notes: str = ""

    def facts(self) -> dict[str, object]:
        """Return it as it stands in run.json."""
        return {
            "transcript": next(iter(self.transcripts), "unread: there is none"),
            "interventions": list(self.interventions),
            "notes": self.notes,
        }


def finish_session(workspace: Workspace, begun: Begun, told: Told, key: SigningKey) -> RunRecord:
    """Make a run of what a session in a sandbox left; nothing of it is lost when that fails."""
    session = session_of(workspace, begun.run)
    record = load_run(session / "run.json")
    with new_folder(workspace.run(begun.run)) as folder:
        for path in session.iterdir():
            if path.name != "run.json":
                shutil.copyfile(path, folder / path.name)
        told_by = {"way": str(begun.way), "by": begun.runner, **told.facts()}
        record = replace(record, manual=told_by)
        record = write_told(folder, record, told, key)
    forget(workspace, begun.run)
    return record


def write_told(folder: Path, record: RunRecord, told: Told, key: SigningKey) -> RunRecord:
    """Write the transcripts and run.json of a run by hand into its new folder."""
    turns = _write_transcripts(folder, told.transcripts)
    digests = {path.name: file_digest(path) for path in sorted(folder.iterdir())}
    record = replace(
        record,
        interventions=told.count,
        turns=turns if record.turns is None else record.turns,
        digests=digests,
    )
    record = signed(record, key)
    (folder / "run.json").write_text(record_text(record), encoding="utf-8")
    return record


def _write_transcripts(folder: Path, transcripts: Mapping[str, bytes]) -> int | None:
    """Keep the transcripts, and return how many turns the first one tells of."""
    for number, (name, data) in enumerate(transcripts.items()):
        if number == 0:
            (folder / f"transcript{_ending(name)}").write_bytes(data)
    more = list(transcripts.items())[1:]
    if more and not (folder / "sessions.tar").exists():
        entries = (_entry(name, data) for name, data in more)
        (folder / "sessions.tar").write_bytes(write_tar(entries))
    if not transcripts:
        shown = folder / TERMINAL
        (folder / "transcript.txt").write_bytes(shown.read_bytes() if shown.exists() else b"")
        return None
    read = read_transcript(next(iter(transcripts.values())))
    return read.turns if read.ended else None


def _entry(name: str, data: bytes) -> Entry:
    return Entry(path=name.encode(errors="surrogateescape"), kind=Kind.FILE, data=data)


def _ending(name: str) -> str:
    ending = Path(name).suffix
    return ending if ending in (".jsonl", ".json") else ".txt"


def abandon(workspace: Workspace, begun: Begun, why: str, now: datetime) -> None:
    """Void a run that was begun by hand: what it left is kept, and so is the reason."""
    when = now.isoformat(timespec="seconds")
    seconds = (now - datetime.fromisoformat(begun.started)).total_seconds()
    session = session_of(workspace, begun.run)
    given_up = Try(
        when=when,
        why=f"abandoned by {begun.runner}: {why}",
        kind=Broken.ABANDONED,
        took=Took(seconds=round(seconds, 3)),
    )
    keep(workspace.voided, begun.run, given_up, session if session.is_dir() else None)
    path = workspace.missing(begun.run)
    before = load_missing(path) if path.is_file() else None
    lost = MissingRecord(
        run=begun.run,
        runner=begun.runner,
        reasons=(*(before.reasons if before else ()), f"{when} {given_up.why}"),
        voided=united(before.voided if before else (), kept(workspace.voided, begun.run)),
    )
    write_file(path, record_text(lost))
    forget(workspace, begun.run)


def require_lines(count: int, lines: Sequence[str]) -> None:
    """Refuse more descriptions than there were interventions."""
    if len(lines) > count:
        raise InputError(
            f"{len(lines)} interventions are described, but {count} were counted",
            hint="--interventions is how often you stepped in",
        )
