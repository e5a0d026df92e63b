"""Looks for hidden tests that can still be read on this machine: by canary, by copy, by draft.

The run phase asks before every session, so this module must know nothing of seals: it compares
digests and opens nothing.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from labkit.canary import PREFIX, digest, find

_PIECE_BYTES = 8 * 1024 * 1024
_OVERLAP = 64
_SKIPPED_FOLDERS = frozenset({".git"})
"""Objects in there are compressed; `labkit.git` asks git itself for them."""


class Why(StrEnum):
    """How a file was recognised."""

    CANARY = "holds a canary of a sealed task"
    COPY = "is a copy of a hidden file"
    DRAFT = "is a sealed task's draft"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remnant:
    """One file (or draft folder) that must go."""

    path: Path
    why: Why


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What hidden files can be recognised by."""

    canaries: frozenset[str] = frozenset()
    """SHA-256 of tokens, from the seal records."""
    files: frozenset[str] = frozenset()
    """SHA-256 of whole hidden files: known to their author while sealing, to nobody else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What a search found, and what it could not look into: an unread file is not a clean one."""

    remnants: tuple[Remnant, ...]
    unread: tuple[Path, ...]
    """Files and folders that could not be opened."""


def still_readable(roots: Iterable[Path], known: Known, *, drafts: Iterable[Path] = ()) -> Search:
    """Search `roots` for anything `known`, and `drafts` (folders of sealed tasks) for any file.

    Links are never followed and `.git` is left out. Files are searched as they are: a copy inside
    an archive is not seen. About a gigabyte a second, so that large data files need no exception.
    """
    unread: list[Path] = []
    remnants = [
        Remnant(path=folder, why=Why.DRAFT)
        for folder in drafts
        if next(_files(folder, unread), None)
    ]
    for root in roots:
        for path in _files(root, unread):
            try:
                if (why := _recognise(path, known)) is not None:
                    remnants.append(Remnant(path=path, why=why))
            except OSError:
                unread.append(path)
    return Search(remnants=tuple(remnants), unread=tuple(unread))


def _files(root: Path, unread: list[Path]) -> Iterator[Path]:
    """Yield the regular files below a folder (or the file itself), sorted; note closed folders."""
    if root.is_symlink():
        return
    if root.is_file():
        yield root
    if not root.is_dir():
        return
    for folder, folders, names in os.walk(root, onerror=lambda e: unread.append(Path(e.filename))):
        folders[:] = sorted(set(folders) - _SKIPPED_FOLDERS)
        for name in sorted(names):
            path = Path(folder, name)
            if not path.is_symlink() and path.is_file():
                yield path


def _recognise(path: Path, known: Known) -> Why | None:
    whole = hashlib.sha256()
    tail = b""
    with path.open("rb") as file:
        while piece := file.read(_PIECE_BYTES):
            if any(digest(token) in known.canaries for token in _tokens(tail + piece)):
                return Why.CANARY
            if known.files:
                whole.update(piece)
            tail = piece[-_OVERLAP:]
    return Why.COPY if whole.hexdigest() in known.files else None


def _tokens(data: bytes) -> tuple[str, ...]:
    # A plain search first: it is ten times faster than the pattern, and nearly always fails.
    return find(data) if PREFIX.encode() in data else ()
