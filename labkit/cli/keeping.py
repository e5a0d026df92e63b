"""The holder's keys: making them, and opening what was sealed to them."""

import getpass
import os
import stat
from pathlib import Path

from labkit.bundle import read_draft
from labkit.cli.console import data, say
from labkit.cli.lab import Lab, holder_key_path
from labkit.cli.sealing import seal_drafts
from labkit.errors import InputError, PhaseError
from labkit.fields import read_bytes
from labkit.model import TaskId
from labkit.phases import require_authoring
from labkit.seal import Identity, new_identity, read_identity, write_identity
from labkit.settings import Role
from labkit.tasks import read_task

_PASSPHRASE_FILE = "LABKIT_PASSPHRASE_FILE"
_SHORTEST_PASSPHRASE = 8


def keygen(chosen: str) -> None:
    """Make a key pair and print its public half."""
    path = holder_key_path(chosen)
    if path.exists():
        raise InputError(f"{path} is already there", hint="--key PATH puts another one elsewhere")
    identity = new_identity()
    write_identity(path, identity, passphrase=_new_passphrase())
    say(f"private key, under your passphrase: {path}")
    say("give the public key to the team; it goes into evals/labkit.yaml as holder:")
    data(identity.recipient)


def open_identity(lab: Lab, chosen: str) -> Identity:
    """Return the holder's private key; raises InputError when it is not this team's holder's."""
    path = holder_key_path(chosen)
    if not path.is_file():
        raise PhaseError(
            f"no holder's key in {path}",
            hint="this step is the holder's; --key PATH names a key that lies elsewhere",
        )
    identity = read_identity(path, passphrase=_passphrase("passphrase of the holder's key: "))
    if identity.recipient not in lab.settings.recipients:
        raise InputError(
            f"{path} is not the key that the team seals to",
            hint="compare its public half with holder: and backup: in evals/labkit.yaml",
        )
    return identity


def _passphrase(question: str) -> str:
    """Return the passphrase: from a private file that a variable names, else from the terminal."""
    named = os.environ.get(_PASSPHRASE_FILE)
    if not named:
        return getpass.getpass(question)
    path = Path(named)
    if (
        path.is_file()
        and os.name == "posix"
        and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    ):
        raise InputError(f"{path} can be read by others", hint=f"chmod 600 {path}")
    return read_bytes(path).decode().rstrip("\r\n")


def _new_passphrase() -> str:
    first = _passphrase("new passphrase: ")
    if len(first) < _SHORTEST_PASSPHRASE:
        raise InputError(f"a passphrase has at least {_SHORTEST_PASSPHRASE} characters")
    if not os.environ.get(_PASSPHRASE_FILE) and _passphrase("once more: ") != first:
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
    say(f"sealed {len(tasks)} tasks; delete {folder} once you have looked at them")
