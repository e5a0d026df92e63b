"""The signed receipt of a sealing: digests only, so that everybody may see it.

It ties a vault to its author, its content and its time; the leak check and the run preflight take
the canaries' digests from it. Knows nothing of keys that open.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from labkit.errors import IntegrityError, LabkitError
from labkit.fields import canonical_json, json_text, read_json
from labkit.model import Member, TaskId
from labkit.signing import SigningKey, verify

SCHEMA = 1
_DOMAIN = b"labkit/seal/v1\0"


@dataclass(frozen=True, slots=True, kw_only=True)
class SealRecord:
    """evals/seals/<task>.json."""

    task: TaskId
    sealed_by: Member
    """The author, or the holder where the course hands plaintext to the holder."""
    commitment: str
    """Salted digest of the content; the same content sealed again by the same person keeps it."""
    ciphertext_sha256: str
    """What stops substitution: anybody who knows the public key could seal another file."""
    recipients: tuple[str, ...]
    canary_digests: tuple[str, ...]
    files: int
    files_without_canary: int
    """How many files are of a kind that has no place for one; their names stay hidden."""
    sealed_at: str
    """ISO time with zone."""
    signature: str = ""


def sign(record: SealRecord, key: SigningKey) -> SealRecord:
    """Return the record with its signature."""
    return replace(record, signature=key.sign(_signed(record)))


def check(record: SealRecord, public: str) -> None:
    """Raise IntegrityError when the record is not signed by its sealer's key."""
    if not verify(public, _signed(record), record.signature):
        raise IntegrityError(
            f"the seal record of {record.task} is not signed by {record.sealed_by}",
            hint="restore evals/seals from git, or let the author seal the task again",
        )


def text(record: SealRecord) -> str:
    """Return the record as it stands in its file."""
    return json_text(plain(record))


def load(path: Path) -> SealRecord:
    """Read a record back; raises IntegrityError when the file is damaged."""
    record = of_values(read_json(path, schema=SCHEMA), path)
    if str(record.task) != path.stem:
        raise IntegrityError(f"{path} is the seal record of {record.task}")
    return record


def of_values(values: Mapping[str, Any], path: Path) -> SealRecord:
    """Return the record that `plain` turned into these values; `path` is where they stand."""
    try:
        fields = {name: value for name, value in values.items() if name != "schema"}
        return SealRecord(
            **fields
            | {
                "task": TaskId(fields["task"]),
                "sealed_by": Member(fields["sealed_by"]),
                "recipients": tuple(fields["recipients"]),
                "canary_digests": tuple(fields["canary_digests"]),
            }
        )
    except (AttributeError, KeyError, TypeError, LabkitError) as error:
        raise IntegrityError(
            f"{path} is damaged: it is not a seal record", hint="restore it from git"
        ) from error


def plain(record: SealRecord) -> dict[str, Any]:
    """Return the record as plain values."""
    return {
        "schema": SCHEMA,
        **asdict(record),
        "task": str(record.task),
        "sealed_by": str(record.sealed_by),
        "recipients": list(record.recipients),
        "canary_digests": list(record.canary_digests),
    }


def _signed(record: SealRecord) -> bytes:
    values = plain(record)
    del values["signature"]
    return _DOMAIN + canonical_json(values)
