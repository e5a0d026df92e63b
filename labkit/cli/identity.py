"""Opening the holder's private key, with its passphrase."""

import getpass
import os
import stat
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from labkit.cli.lab import Lab, holder_key_path
from labkit.errors import InputError, IntegrityError, PhaseError
from labkit.fields import read_bytes
from labkit.seal import Identity, read_identity

PASSPHRASE_FILE = "LABKIT_PASSPHRASE_FILE"


def open_identity(lab: Lab, chosen: str) -> Identity:
    """Return the holder's private key; raises InputError when it is not this team's holder's."""
    identity = own_identity(chosen)
    if identity.recipient not in lab.settings.recipients:
        raise InputError(
            f"{holder_key_path(chosen)} is not the key that the team seals to",
            hint="compare its public half with holder: and backup: in evals/labkit.yaml",
        )
    return identity


ALONE = (
    f"alone, make one: labkit holder keygen (without a terminal {PASSPHRASE_FILE} names a private "
    "file with its passphrase)"
)
"""What somebody without a holder can do."""


def own_identity(chosen: str, *, hint: str = "") -> Identity:
    """Return the private key in a file, or the user's own; raises PhaseError without one.

    `hint` says what to do then, where the step is not a team's holder's.
    """
    path = holder_key_path(chosen)
    if not path.is_file():
        raise PhaseError(
            f"no holder's key in {path}",
            hint=hint or "this step is the holder's; --key PATH names a key that lies elsewhere",
        )
    return read_identity(path, passphrase=ask_passphrase("passphrase of the holder's key: "))


def ask_passphrase(question: str) -> str:
    """Return the passphrase: from a private file that a variable names, else from the terminal."""
    named = os.environ.get(PASSPHRASE_FILE)
    if not named:
        return _ask_terminal(question)
    path = Path(named)
    if not path.is_file():
        raise InputError(
            f"no file {path} with a passphrase", hint=f"{PASSPHRASE_FILE} names one line of text"
        )
    if os.name == "posix" and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InputError(f"{path} can be read by others", hint=f"run: chmod 600 {path}")
    try:
        return read_bytes(path).decode().rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8", hint="save the passphrase as UTF-8") from error


def _ask_terminal(question: str) -> str:
    try:
        with warnings.catch_warnings():
            # Without a terminal getpass would show what is typed: then it is not asked for.
            warnings.simplefilter("error", getpass.GetPassWarning)
            return getpass.getpass(question)
    except (getpass.GetPassWarning, EOFError) as error:
        raise InputError(
            "there is no terminal to ask for the passphrase",
            hint=f"{PASSPHRASE_FILE} may name a private file that holds it",
        ) from error


@contextmanager
def opening(path: Path) -> Iterator[None]:
    """Name the file in the error of a sealed file that does not open."""
    if not path.is_file():
        raise InputError(
            f"no sealed file {path}", hint="get it from whoever made it, or from a backup"
        )
    try:
        yield
    except IntegrityError as error:
        raise IntegrityError(f"{path}: {error.message}", hint=error.hint) from error
