"""Members' signatures: what age does not authenticate, a person's Ed25519 key does.

A seal record, a hand-in and every line of the log carry one. This module knows nothing of sealing,
so the run phase may use it.
"""

import base64
import binascii
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from labkit.errors import InputError
from labkit.privatefile import read_private, write_private

_DERIVED_BYTES = 32


@dataclass(frozen=True, slots=True)
class SigningKey:
    """One member's private key. It never shows in a message or a traceback."""

    _key: Ed25519PrivateKey = field(repr=False)

    @classmethod
    def generate(cls, path: Path) -> Self:
        """Make a key and write it to `path` (PKCS 8, mode 0600); never overwrites one."""
        key = Ed25519PrivateKey.generate()
        pem = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        write_private(path, pem)
        return cls(key)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a key back; raises InputError when the file is missing, open to others or no key."""
        try:
            key = serialization.load_pem_private_key(read_private(path), password=None)
        except (ValueError, TypeError) as error:
            raise InputError(
                f"{path} is not a signing key", hint="labkit init --me makes one"
            ) from error
        if not isinstance(key, Ed25519PrivateKey):
            raise InputError(f"{path} holds another kind of key than Ed25519")
        return cls(key)

    @property
    def public(self) -> str:
        """The public half as base64, as it stands in the member's file."""
        return _text(self._key.public_key().public_bytes_raw())

    def sign(self, data: bytes) -> str:
        """Return the signature of `data` as base64; the same data gives the same signature."""
        return _text(self._key.sign(data))

    def derive(self, purpose: bytes) -> bytes:
        """Return 32 secret bytes that only this key can make, the same ones for one purpose.

        HKDF-SHA256 (RFC 5869) of the private key. Salts and canaries come from here, so that
        sealing the same content again gives the same commitment.
        """
        return HKDF(
            algorithm=hashes.SHA256(),
            length=_DERIVED_BYTES,
            salt=None,
            info=b"labkit/derive/v1\0" + purpose,
        ).derive(self._key.private_bytes_raw())


def verify(public: str, data: bytes, signature: str) -> bool:
    """Tell whether `signature` is that key's signature of `data`; a broken one is False."""
    key = _public(public)
    try:
        if key is None:
            return False
        key.verify(base64.b64decode(signature, validate=True), data)
    except (InvalidSignature, binascii.Error, ValueError):
        return False
    return True


def _public(text: str) -> Ed25519PublicKey | None:
    try:
        return Ed25519PublicKey.from_public_bytes(base64.b64decode(text, validate=True))
    except ValueError:  # binascii.Error is one
        return None


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
