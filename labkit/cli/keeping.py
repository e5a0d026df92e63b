"""What `labkit holder` does: making the keys, sealing on an author's behalf."""

import os
from pathlib import Path

from labkit.bundle import read_draft
from labkit.cli.console import data, say
from labkit.cli.identity import PASSPHRASE_FILE, ask_passphrase
from labkit.cli.lab import Lab, holder_key_path
from labkit.cli.sealing import seal_drafts
from labkit.errors import InputError
from labkit.fields import counted
from labkit.model import TaskId
from labkit.phases import require_authoring
from labkit.seal import new_identity, write_identity
from labkit.settings import Role
from labkit.tasks import read_task

_SHORTEST_PASSPHRASE = 8


def keygen(chosen: str) -> None:
    """Make a key pair and print its public half."""
    path = holder_key_path(chosen)
    if path.exists():
        raise InputError(f"{path} is already there", hint="--key PATH puts another one elsewhere")
    identity = new_identity()
    write_identity(path, identity, passphrase=_newask_passphrase())
    say(f"private key, under your passphrase: {path}")
    say("give the public key to the team; it goes into evals/labkit.yaml as holder:")
    data(identity.recipient)


def _newask_passphrase() -> str:
    first = ask_passphrase("new passphrase: ")
    if len(first) < _SHORTEST_PASSPHRASE:
        raise InputError(
            f"a passphrase has at least {_SHORTEST_PASSPHRASE} characters", hint="take a few words"
        )
    if not os.environ.get(PASSPHRASE_FILE) and ask_passphrase("once more: ") != first:
        raise InputError("the two passphrases differ", hint="try again")
    return first


def seal_handed_over(folder: Path, me: str, *, overwrite: bool) -> None:
    """Seal every draft below a folder in the holder's name; the drafts themselves stay."""
    lab = Lab.open()
    require_authoring(lab.workspace)
    person = lab.person(me, role=Role.HOLDER)
    folders = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    if not folders:
        raise InputError(f"no draft in {folder}", hint="it holds one folder per task, named by id")
    tasks = [read_task(lab.workspace, TaskId(path.name), lab.repository) for path in folders]
    drafts = {task.id: read_draft(path) for task, path in zip(tasks, folders, strict=True)}
    seal_drafts(lab, person, tasks, drafts, overwrite=overwrite)
    say(f"sealed {counted(len(tasks), 'task')}; delete {folder} once you have looked at them")
