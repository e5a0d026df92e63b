"""A candidate's own files: what a command needs beside the files of the case it works on.

In the sandbox they lie in /candidate, on this machine in a private folder; LABKIT_CANDIDATE says
where. Each sample has a fresh copy, outside its scratch folder: nothing of them is an edit.
"""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from labkit.archive import Entry, Kind
from labkit.errors import InputError, refuse
from labkit.evals.digests import contents_digest, files_of
from labkit.fields import canonical_json, first_words, read_bytes

PLACE = "/candidate"
VARIABLE = "LABKIT_CANDIDATE"
_MOST_BYTES = 256 * 1024 * 1024
_MODES = {Kind.FILE: 0o644, Kind.EXECUTABLE: 0o755}
_WORD = re.compile(r"[^\s'\"`;|&()<>$=]+")
_HINT = "name a file, or a folder; each is laid under its own name"


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateFiles:
    """Files that are laid for every sample of a command."""

    entries: tuple[Entry, ...] = ()
    """By their path below the candidate's folder."""
    digest: str = ""
    """Of names, contents and whether they can be executed; empty: there are none."""
    beside: Path | None = None
    """Where somebody who wrote the command may think that it is run."""

    @classmethod
    def read(cls, paths: Iterable[Path], *, beside: Path | None = None) -> "CandidateFiles":
        """Read files and folders, each under its own name; raises InputError for all problems."""
        found: dict[str, Path] = {}
        problems: list[str] = []
        for path in paths:
            try:
                for name, file in _files(path):
                    if name in found:
                        problems.append(f"{path}: there is another {name}")
                    found[name] = file
            except InputError as error:
                problems.extend(f"--files: {what}" for what in error.problems)
        size = sum(file.stat().st_size for file in found.values())
        if size > _MOST_BYTES:
            problems.append(f"--files: {size:,} bytes are more than {_MOST_BYTES:,}")
        refuse(problems, hint=_HINT)
        entries = tuple(_entry(name, file) for name, file in sorted(found.items()))
        content = [
            (os.fsdecode(each.path), each.data, _MODES.get(each.kind, 0)) for each in entries
        ]
        return cls(
            entries=entries, digest=contents_digest(content) if content else "", beside=beside
        )

    def code(self, words: Sequence[str]) -> str:
        """Return the digest of a command and these files."""
        return hashlib.sha256(canonical_json([*words, self.digest])).hexdigest()

    def lay(self, folder: Path) -> None:
        """Write them into a folder that is made."""
        folder.mkdir()
        for entry in self.entries:
            path = folder / os.fsdecode(entry.path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(entry.data)
            path.chmod(_MODES[entry.kind])

    def below(self, folder: str) -> list[Entry]:
        """Return them with their paths below an absolute folder, for a tar of the root."""
        place = os.fsencode(folder.lstrip("/"))
        return [replace(entry, path=place + b"/" + entry.path) for entry in self.entries]

    def missed(self, words: Sequence[str], said: str) -> str:
        """Say which files beside a command that failed were meant, and how to lay them; or nothing.

        A file counts when a word of the command names it, the command's last words do so too, and
        it is not laid.
        """
        if self.beside is None:
            return ""
        laid = {os.fsdecode(entry.path) for entry in self.entries}
        named = dict.fromkeys(word for text in words for word in _WORD.findall(text))
        meant = [
            word
            for word in named
            if not word.startswith(("/", "-")) and ".." not in Path(word).parts
            if Path(word).name in said and (self.beside / word).is_file()
        ]
        if not meant:
            return ""
        first = Path(meant[0]).as_posix()
        if first in laid:
            return f'{first} is laid outside the scratch folder: write "${VARIABLE}/{first}"'
        name = Path(first).name
        return (
            f"the command sees no file of the folder that labkit was started in, such as "
            f"{first_words(meant)}: --files {first} lays it, and "
            f'"${VARIABLE}/{name}" is its place then'
        )


def _files(path: Path) -> Iterator[tuple[str, Path]]:
    if path.is_symlink() or not path.exists():
        raise InputError(f"{path} is a link" if path.is_symlink() else f"no file or folder {path}")
    name = path.resolve().name
    if path.is_file():
        yield name, path
        return
    for below, file in files_of(path):
        if ".git" not in below.split("/"):
            yield f"{name}/{below}", file


def _entry(name: str, path: Path) -> Entry:
    kind = Kind.EXECUTABLE if path.stat().st_mode & 0o100 else Kind.FILE
    return Entry(path=os.fsencode(name), kind=kind, data=read_bytes(path))


NO_FILES = CandidateFiles()
