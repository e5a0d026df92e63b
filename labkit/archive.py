"""Tar archives in memory: writing our own, and reading ones that hostile code may have shaped.

Nothing is ever extracted to the host by name. Readers get members one by one, as values.
"""

import io
import os
import posixpath
import tarfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import PurePosixPath
from typing import IO

from labkit.errors import InfrastructureError, ReturnedTooLargeError

_TIME = 946_684_800
"""2000-01-01: programs that pack files of a tree into zips refuse times before 1980."""


class Kind(StrEnum):
    """What a member is. What git cannot store is SPECIAL; what was too large to read OVERSIZED."""

    FILE = "file"
    EXECUTABLE = "executable"
    SYMLINK = "symlink"
    FOLDER = "folder"
    SPECIAL = "special"
    OVERSIZED = "oversized"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One member: its path as bytes, without a leading `./` or `/`, and its content.

    A symlink's data is its target. `note` says why a special or oversized file has no data.
    """

    path: bytes
    kind: Kind
    data: bytes = b""
    note: str = ""


def write_tar(entries: Iterable[Entry], *, prefix: bytes = b"", uid: int = 1000) -> bytes:
    """Return a deterministic tar of `entries` (one time, one owner), parent folders included."""
    out = io.BytesIO()
    folders: set[bytes] = set()
    with tarfile.open(
        fileobj=out, mode="w", format=tarfile.PAX_FORMAT, encoding="utf-8", errors="surrogateescape"
    ) as tar:
        for entry in entries:
            path = prefix + entry.path
            for folder in _parents(path):
                if folder not in folders:
                    folders.add(folder)
                    tar.addfile(_header(folder, Kind.FOLDER, uid))
            if entry.kind is Kind.FOLDER:
                if path not in folders:
                    folders.add(path)
                    tar.addfile(_header(path, Kind.FOLDER, uid))
                continue
            header = _header(path, entry.kind, uid)
            if entry.kind is Kind.SYMLINK:
                header.linkname = os.fsdecode(entry.data)
                tar.addfile(header)
            else:
                header.size = len(entry.data)
                tar.addfile(header, io.BytesIO(entry.data))
    return out.getvalue()


def without_folders_above(tar: bytes, folder: str) -> bytes:
    """Return an archive of labkit's own without the entries of folders that `folder` lies in.

    Who unpacks it may not be allowed to set their owners and modes.
    """
    above = {str(path) for path in PurePosixPath(folder.strip("/")).parents}
    with tarfile.open(fileobj=io.BytesIO(tar), mode="r:", errors="surrogateescape") as archive:
        members = archive.getmembers()
        ends = [*(member.offset for member in members[1:]), archive.offset]
    kept = [
        tar[member.offset : end]
        for member, end in zip(members, ends, strict=False)
        if not (member.isdir() and member.name in above)
    ]
    return b"".join([*kept, bytes(2 * tarfile.BLOCKSIZE)])


def _parents(path: bytes) -> Iterator[bytes]:
    parts = path.split(b"/")[:-1]
    for count in range(1, len(parts) + 1):
        yield b"/".join(parts[:count])


def _header(path: bytes, kind: Kind, uid: int) -> tarfile.TarInfo:
    header = tarfile.TarInfo(os.fsdecode(path))
    header.uid = header.gid = uid
    header.mtime = _TIME
    match kind:
        case Kind.FOLDER:
            header.type, header.mode = tarfile.DIRTYPE, 0o755
        case Kind.SYMLINK:
            header.type, header.mode = tarfile.SYMTYPE, 0o777
        case Kind.EXECUTABLE:
            header.mode = 0o755
        case _:
            header.mode = 0o644
    return header


def read_tar(
    stream: IO[bytes],
    *,
    most_bytes: int,
    most_file_bytes: int,
    most_entries: int = 200_000,
    wanted: Callable[[bytes], bool] | None = None,
) -> Iterator[Entry]:
    """Yield the members of a tar stream, whatever shaped it; never touches the file system.

    Names come back without the folder that the whole archive lies in (its first component).
    Files larger than `most_file_bytes` come back as OVERSIZED with a note; an archive larger than
    `most_bytes`, or with more than `most_entries` members, raises ReturnedTooLargeError, and one
    that is not a whole tar InfrastructureError. What is not `wanted` is counted and passed over.
    """
    hard_links: dict[bytes, Entry] = {}
    total = 0
    try:
        with tarfile.open(
            fileobj=stream, mode="r|", encoding="utf-8", errors="surrogateescape"
        ) as tar:
            for count, member in enumerate(tar):
                total += _content_size(member, hard_links)
                if total > most_bytes:
                    raise ReturnedTooLargeError(f"the folder is larger than {most_bytes} bytes")
                if count > most_entries:
                    raise ReturnedTooLargeError(f"the folder holds more than {most_entries} files")
                if wanted is not None and not wanted(_inside(member.name) or b""):
                    continue
                entry = _entry(tar, member, hard_links, most_file_bytes)
                if entry is not None:
                    yield entry
    except (tarfile.TarError, ValueError, OverflowError) as error:  # ValueError: a damaged header
        raise InfrastructureError(f"the returned folder could not be read: {error}") from error


def _inside(name: str) -> bytes | None:
    """Return the path below the archive's own folder; None for that folder itself."""
    path = os.fsencode(posixpath.normpath(name)).lstrip(b"/")
    _, _, rest = path.partition(b"/")
    return rest or None


def _entry(
    tar: tarfile.TarFile, member: tarfile.TarInfo, hard_links: dict[bytes, Entry], most: int
) -> Entry | None:
    path = _inside(member.name)
    if path is None or b".." in path.split(b"/"):
        return None
    if member.islnk():
        first = _linked(member, hard_links)
        if first is None:
            return Entry(path=path, kind=Kind.SPECIAL, note="hard link to something unknown")
        return replace(first, path=path)
    entry = _first_entry(tar, member, path, most)
    hard_links[path] = entry
    return entry


def _linked(member: tarfile.TarInfo, hard_links: dict[bytes, Entry]) -> Entry | None:
    return hard_links.get(_inside(member.linkname) or b"")


def _content_size(member: tarfile.TarInfo, hard_links: dict[bytes, Entry]) -> int:
    """Return how much a member adds to a folder; a link adds all of its file, as in a diff."""
    first = _linked(member, hard_links) if member.islnk() else None
    return len(first.data) if first else member.size


def _first_entry(tar: tarfile.TarFile, member: tarfile.TarInfo, path: bytes, most: int) -> Entry:
    if member.isdir():
        return Entry(path=path, kind=Kind.FOLDER)
    if member.issym():
        return Entry(path=path, kind=Kind.SYMLINK, data=os.fsencode(member.linkname))
    if not member.isreg():
        return Entry(path=path, kind=Kind.SPECIAL, note="special file")
    if member.size > most:
        return Entry(path=path, kind=Kind.OVERSIZED, note=f"too large: {member.size} bytes")
    content = tar.extractfile(member)
    kind = Kind.EXECUTABLE if member.mode & 0o100 else Kind.FILE
    return Entry(path=path, kind=kind, data=content.read() if content else b"")
