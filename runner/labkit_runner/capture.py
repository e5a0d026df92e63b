"""What is kept of a run's own folder: sessions, and the transcript where it is a file there.

The folder comes as a tar that any process of the run may have filled: it is read member by member,
and nothing in it is opened by name on this machine.
"""

import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from labkit.archive import Entry, Kind, read_tar, write_tar
from labkit.errors import InfrastructureError, ReturnedTooLargeError
from labkit.globs import within
from labkit_runner.agents.interface import Launch
from labkit_runner.masking import Masker

MOST_BYTES = 256 * 1024 * 1024
"""How much of sessions is kept of one run."""
_MOST_FILE = 128 * 1024 * 1024
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """The files that were asked for."""

    transcript: bytes | None = None
    """The transcript, where the agent writes it into a file; None where it did not."""
    sessions: Mapping[str, bytes] = field(default_factory=dict)
    """By path below the folder."""
    note: str = ""
    """Why there is less than there was, for a person."""

    def masked(self, masker: Masker) -> "Captured":
        """Return the same without secrets."""
        transcript = None if self.transcript is None else masker.mask(self.transcript)[0]
        sessions = {path: masker.mask(data)[0] for path, data in self.sessions.items()}
        return replace(self, transcript=transcript, sessions=sessions)

    def sessions_tar(self) -> bytes:
        """Return the sessions as one archive, the same for the same files."""
        return write_tar(
            Entry(path=path.encode(errors="surrogateescape"), kind=Kind.FILE, data=data)
            for path, data in sorted(self.sessions.items())
        )


def capture(home: IO[bytes], launch: Launch, most_bytes: int) -> Captured:
    """Read what `launch` asks for out of the folder's tar; whatever is in it, it never raises.

    `most_bytes` bounds the whole folder; what nobody asked for is passed over, whatever its size.
    """
    taken = _Taken(launch)
    try:
        for entry in read_tar(
            home, most_bytes=most_bytes, most_file_bytes=_MOST_FILE, wanted=taken.wants
        ):
            taken.take(entry)
    except (ReturnedTooLargeError, InfrastructureError) as error:
        taken.notes.append(f"the agent's own folder was not read to its end: {error.message}")
    return Captured(
        transcript=taken.transcript, sessions=taken.sessions, note="; ".join(taken.notes[:5])
    )


class _Taken:
    """What was found so far."""

    def __init__(self, launch: Launch) -> None:
        self.sessions: dict[str, bytes] = {}
        self.transcript: bytes | None = None
        self.notes: list[str] = []
        self._launch = launch
        self._left = MOST_BYTES

    def wants(self, name: bytes) -> bool:
        """Whether a file was asked for."""
        path = name.decode(errors="surrogateescape")
        return path == self._launch.transcript_path or within(path, self._launch.sessions)

    def take(self, entry: Entry) -> None:
        """Keep a file, as long as there is room."""
        path = entry.path.decode(errors="surrogateescape")
        shown = ascii(path[:_LONGEST_NAME])
        if entry.kind is Kind.OVERSIZED:
            self.notes.append(f"{shown} was not kept: {entry.note}")
        if entry.kind not in (Kind.FILE, Kind.EXECUTABLE) or not self.wants(entry.path):
            return
        if path == self._launch.transcript_path:
            self.transcript = entry.data
        elif len(entry.data) > self._left:
            self.notes.append(f"{shown} was not kept: sessions of more than {MOST_BYTES} bytes")
        else:
            self._left -= len(entry.data)
            self.sessions[path] = entry.data


def read_sessions(path: Path) -> dict[str, bytes]:
    """Return the files of a `sessions.tar` by their path; none where there is no such file."""
    if not path.is_file():
        return {}
    found = {}
    with tarfile.open(path, encoding="utf-8", errors="surrogateescape") as tar:
        for member in tar:
            content = tar.extractfile(member) if member.isreg() else None
            if content is not None:
                found[member.name] = content.read()
    return found
