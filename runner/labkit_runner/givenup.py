"""Sessions of runs by hand that have no record yet: what they took, and how one is given up."""

from contextlib import suppress
from datetime import datetime
from pathlib import Path

from labkit.errors import LabkitError
from labkit.records import load_run
from labkit.spending import Spent, spent
from labkit.workspace import Workspace
from labkit_runner.causes import Broken
from labkit_runner.gateway.wire import read_wire
from labkit_runner.manual import Begun, forget, session_of
from labkit_runner.tries import Shelf
from labkit_runner.voided import Took, Try, keep


def abandon(workspace: Workspace, begun: Begun, why: str, now: datetime) -> None:
    """Void a run that was begun by hand: what it left and took is kept, and so is the reason."""
    when = now.isoformat(timespec="seconds")
    session = session_of(workspace, begun.run)
    given_up = Try(
        when=when,
        why=f"abandoned by {begun.runner}: {why}",
        kind=Broken.ABANDONED,
        took=_took(session),
    )
    keep(workspace.voided, begun.run, given_up, session if session.is_dir() else None)
    Shelf.of(workspace).note(begun.run, begun.runner, lost=True)
    forget(workspace, begun.run)


def spent_in_sessions(workspace: Workspace) -> Spent:
    """Return what sessions have spent that no record of a run tells of yet."""
    folders = [path for path in workspace.by_hand.glob("*__*__*") if path.is_dir()]
    took = [_took(path) for path in folders if not (workspace.raw / path.name).exists()]
    return sum((spent(each.tokens, each.cost) for each in took), Spent())


def _took(session: Path) -> Took:
    """Return what a session took, as far as its own evidence tells."""
    seconds = None
    with suppress(LabkitError):  # one that is damaged can be given up all the same
        seconds = load_run(session / "run.json").seconds
    wire = session / "wire.jsonl"
    if wire.is_file():
        told = read_wire(wire.read_bytes().splitlines())
        if told.metered:
            return Took.of(told, seconds)
    return Took(seconds=seconds)
