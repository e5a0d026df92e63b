"""Sealing to the holder's and a backup's age keys, and opening again.

The format is age v1, so the stock `age` program opens what this module seals. Opening says one
thing whatever went wrong inside: a message that told a wrong key from an altered file would help
only those who alter files.
"""

import codecs
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyrage  # type: ignore[import-untyped]  # it ships without type information

from labkit.errors import InputError, IntegrityError
from labkit.privatefile import read_private, refuse_existing, write_private

_SECRET_PREFIX = "AGE-SECRET-KEY-"
_PUBLIC_PREFIX = "age1"
_MOST_KEY_BYTES = 64 * 1024
_ARMOR = "-----BEGIN AGE ENCRYPTED FILE-----"


@dataclass(frozen=True, slots=True)
class Identity:
    """A private age key. Its secret never shows in a message or a traceback."""

    secret: str = field(repr=False)

    @property
    def recipient(self) -> str:
        """The public half, `age1...`, which others seal to."""
        return str(_parse(self.secret).to_public())


def new_identity() -> Identity:
    """Make a fresh key pair from the system's randomness."""
    return Identity(str(pyrage.x25519.Identity.generate()))


def write_identity(path: Path, identity: Identity, *, passphrase: str) -> None:
    """Write a private key under a passphrase, armored, mode 0600; never overwrites one.

    The work factor of scrypt is the one age's library measures to cost about a second here.
    """
    if not passphrase:
        raise InputError("the passphrase is empty", hint="choose several words")
    refuse_existing(path)
    text = f"# public key: {identity.recipient}\n{identity.secret}\n"
    write_private(path, pyrage.passphrase.encrypt(text.encode(), passphrase, armored=True))


def read_identity(path: Path, *, passphrase: str) -> Identity:
    """Read a private key file, with or without a passphrase on it.

    Raises InputError when the file is no private key, IntegrityError when the passphrase does not
    open it.
    """
    text = key_text(read_private(path), path.name)
    if text.startswith(_ARMOR):
        try:
            text = pyrage.passphrase.decrypt(text.encode(), passphrase).decode()
        except (pyrage.DecryptError, UnicodeDecodeError) as error:
            raise IntegrityError(
                f"{path} does not open with this passphrase",
                hint="check the passphrase and the keyboard layout; the backup key opens the rest",
            ) from error
    return identity_from(text, path.name)


def identity_from(text: str, place: str) -> Identity:
    """Return the private key in a key file's text; raises InputError when there is not just one."""
    lines = _key_lines(text)
    secrets = [line for line in lines if line.startswith(_SECRET_PREFIX)]
    if not secrets and any(line.startswith(_PUBLIC_PREFIX) for line in lines):
        raise InputError(
            f"{place} holds a public key, and the private one is meant",
            hint=f"the private key is the line that begins with {_SECRET_PREFIX}",
        )
    if len(secrets) != 1:
        raise InputError(
            f"{place} holds {len(secrets)} private keys, and one is meant",
            hint="labkit holder keygen makes a key file",
        )
    _parse(secrets[0])
    return Identity(secrets[0])


def check_recipient(text: str) -> str:
    """Return a public key, tidied; raises InputError that says what was given instead."""
    lines = _key_lines(text)
    if not lines:
        raise InputError(
            "the holder's public key is empty",
            hint="put the holder's age1... into evals/labkit.yaml",
        )
    if any(line.upper().startswith(_SECRET_PREFIX) for line in lines):
        raise InputError(
            "a private key was given where a public one is meant",
            hint="the public key begins with age1; whoever saw the private one can open everything,"
            " so make a new key",
        )
    if len(lines) > 1 or not lines[0].startswith(_PUBLIC_PREFIX):
        raise InputError(
            f"{lines[0][:40]!r} is not an age public key",
            hint="it is one line that begins with age1, made by labkit holder keygen or age-keygen",
        )
    try:
        pyrage.x25519.Recipient.from_str(lines[0])
    except pyrage.RecipientError as error:
        raise InputError(
            f"{lines[0][:40]!r} is not an age public key: {error}",
            hint="copy the whole line; a key for a newer kind of age cannot be used here",
        ) from error
    return lines[0]


def key_text(data: bytes, place: str) -> str:
    """Return the text of a key file that an editor may have saved as UTF-16 or with a mark."""
    if len(data) > _MOST_KEY_BYTES:
        raise InputError(f"{place} is too large for a key file")
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{place} is not a key file: it is not text", hint="save it as UTF-8"
        ) from error
    if not text.strip():
        raise InputError(f"{place} is empty", hint="labkit holder keygen makes a key file")
    return text


def seal(data: bytes, recipients: Sequence[str]) -> bytes:
    """Seal bytes so that each of the recipients alone can open them."""
    keys = [pyrage.x25519.Recipient.from_str(check_recipient(text)) for text in recipients]
    if not keys:
        raise InputError("there is nobody to seal to", hint="set holder: in evals/labkit.yaml")
    return bytes(pyrage.encrypt(data, keys))


def open_sealed(data: bytes, identity: Identity) -> bytes:
    """Open sealed bytes; raises IntegrityError, one for every cause, with nothing released."""
    try:
        return bytes(pyrage.decrypt(data, [_parse(identity.secret)]))
    except pyrage.DecryptError as error:
        raise IntegrityError(
            "the sealed file does not open with this key",
            hint="check that it is this team's file and key, that the copy is complete, and that"
            " nothing turned it into text on its way (mail, PowerShell's >); the backup key may"
            " open it",
        ) from error


def _key_lines(text: str) -> list[str]:
    lines = (line.replace("\ufeff", "").strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def _parse(secret: str) -> pyrage.x25519.Identity:
    try:
        return pyrage.x25519.Identity.from_str(secret)
    except pyrage.IdentityError as error:
        raise InputError(
            "the private key is damaged", hint="restore the key file, or use the backup key"
        ) from error
