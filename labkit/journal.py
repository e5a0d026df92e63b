"""Who did what when: one append-only file a person, each line signed and chained to the last.

A line also names the newest line that was seen in everybody else's file, so that a history
rewritten later contradicts the others' files. A clone may lag behind; that is no contradiction.
"""

import errno
import hashlib
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from labkit.errors import InputError, IntegrityError, LabkitError, not_written
from labkit.fields import canonical_json
from labkit.model import Member
from labkit.signing import SigningKey, verify

if sys.platform != "win32":
    import fcntl

SCHEMA = 1
_DOMAIN = b"labkit/journal/v1\0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What is to be recorded: an action on something, and the digests of what it made."""

    action: str
    subject: str = ""
    digests: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line as it was read back."""

    seq: int
    at: datetime
    member: Member
    event: Event
    seen: Mapping[str, str]
    """The digest of the newest line in each other member's file, as it was here then."""
    prev: str
    """The digest of the line before; empty for the first."""
    digest: str
    """SHA-256 of this line without its line end."""


def append(path: Path, event: Event, *, member: Member, key: SigningKey, now: datetime) -> Entry:
    """Add a line to `path` and return it; the other members' files are its neighbours.

    Raises InputError when `now` has no zone, IntegrityError when the file's last line is damaged.
    """
    if now.tzinfo is None:
        raise InputError("a time without a zone cannot be recorded")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(path) as handle:
            last = _last(path)
            values: dict[str, Any] = {
                "schema": SCHEMA,
                "seq": last.seq + 1 if last else 1,
                "at": now.isoformat(),
                "member": str(member),
                "action": event.action,
                "subject": event.subject,
                "digests": dict(event.digests),
                "seen": newest(path.parent, but=member),
                "prev": last.digest if last else "",
            }
            values["signature"] = key.sign(_DOMAIN + canonical_json(values))
            line = canonical_json(values)
            _write_line(handle, line + b"\n")
    except OSError as error:
        raise not_written(path, error) from error
    return _entry(line, f"{path.name}, line {values['seq']}")


def read(path: Path, *, public: str) -> tuple[Entry, ...]:
    """Return every line of a member's file; a missing file has none.

    Raises IntegrityError that names the line when one is damaged, not signed by `public`, of
    another member, or does not follow the one before.
    """
    entries: list[Entry] = []
    prev = ""
    for count, line in enumerate(_lines(path), 1):
        place = f"{path.name}, line {count}"
        entry = _entry(line, place)
        if not _signed(line, public):
            raise _damage(place, "the signature is not that of its member")
        if str(entry.member) != path.stem:
            raise _damage(place, f"it is an entry of {entry.member}")
        if (entry.seq, entry.prev) != (count, prev):
            raise _damage(place, "it does not follow the line before")
        entries.append(entry)
        prev = entry.digest
    return tuple(entries)


def newest(folder: Path, *, but: Member | None = None) -> dict[str, str]:
    """Return the digest of the newest line of each member's file in `folder`, `but` one's own."""
    found = {}
    for path in sorted(folder.glob("*.jsonl")):
        lines = _lines(path)
        if lines and path.stem != str(but):
            found[path.stem] = _digest(lines[-1])
    return found


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """Open a file for appending, alone among the labkits of this machine."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        if sys.platform != "win32":
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield handle
    finally:
        os.close(handle)


def _write_line(handle: int, line: bytes) -> None:
    """Write a line durably; on a full disk, leave the file as it was."""
    before = os.fstat(handle).st_size
    written = os.write(handle, line)
    if written != len(line):
        os.ftruncate(handle, before)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    os.fsync(handle)


def _last(path: Path) -> Entry | None:
    lines = _lines(path)
    return _entry(lines[-1], f"{path.name}, line {len(lines)}") if lines else None


def _lines(path: Path) -> list[bytes]:
    """Return a file's lines; one that a crash or an editor cut short is refused."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    lines = data.split(b"\n")
    if lines.pop():
        raise _damage(f"{path.name}, line {len(lines) + 1}", "the line is cut short")
    return lines


def _entry(line: bytes, place: str) -> Entry:
    try:
        values = json.loads(line)
        if values["schema"] != SCHEMA or canonical_json(values) != line:
            raise _damage(place, "it is not as labkit wrote it")
        at = datetime.fromisoformat(values["at"])
        if at.tzinfo is None:
            raise _damage(place, "its time has no zone")
        return Entry(
            seq=values["seq"],
            at=at,
            member=Member(values["member"]),
            event=Event(
                action=values["action"], subject=values["subject"], digests=values["digests"]
            ),
            seen=values["seen"],
            prev=values["prev"],
            digest=_digest(line),
        )
    except IntegrityError:
        raise
    except (ValueError, TypeError, KeyError, RecursionError, LabkitError) as error:
        raise _damage(place, "it is not an entry of the log") from error


def _signed(line: bytes, public: str) -> bool:
    values = json.loads(line)
    signature = values.pop("signature", None)
    return isinstance(signature, str) and verify(
        public, _DOMAIN + canonical_json(values), signature
    )


def _digest(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()


def _damage(place: str, what: str) -> IntegrityError:
    return IntegrityError(
        f"the log was changed or damaged: {place}: {what}",
        hint="restore the file from git: git -C evals log -- log",
    )
