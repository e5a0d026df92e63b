"""Opening the holder's private key, with its passphrase."""

import getpass
import os
import stat
from pathlib import Path

from labkit.cli.lab import Lab, holder_key_path
from labkit.errors import InputError, PhaseError
from labkit.fields import read_bytes
from labkit.seal import Identity, read_identity

PASSPHRASE_FILE = "LABKIT_PASSPHRASE_FILE"


def open_identity(lab: Lab, chosen: str) -> Identity:
    """Return the holder's private key; raises InputError when it is not this team's holder's."""
    path = holder_key_path(chosen)
    if not path.is_file():
        raise PhaseError(
            f"no holder's key in {path}",
            hint="this step is the holder's; --key PATH names a key that lies elsewhere",
        )
    identity = read_identity(path, passphrase=ask_passphrase("passphrase of the holder's key: "))
    if identity.recipient not in lab.settings.recipients:
        raise InputError(
            f"{path} is not the key that the team seals to",
            hint="compare its public half with holder: and backup: in evals/labkit.yaml",
        )
    return identity


def ask_passphrase(question: str) -> str:
    """Return the passphrase: from a private file that a variable names, else from the terminal."""
    named = os.environ.get(PASSPHRASE_FILE)
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
