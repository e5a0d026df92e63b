"""One digest for what decides a measurement: plain values, and the content of folders."""

import hashlib
import math
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from labkit.errors import InputError

_DEEPEST = 50
_LARGEST_INT = 10**4000
"""Python itself writes no number of more than 4300 digits."""
_SURROGATE = re.compile("[\ud800-\udfff]")


def plain(value: object, where: str, depth: int = 0) -> object:
    """Return a value as JSON has it: tuples are lists, bytes are marked; keys must be texts.

    Raises InputError that says `where` for anything that a file could not hold.
    """
    if depth > _DEEPEST:
        raise InputError(f"{where} is nested more than {_DEEPEST} deep")
    match value:
        case str() if _SURROGATE.search(value):
            raise InputError(f"{where} holds half a character", hint="write it as UTF-8")
        case None | bool() | str():
            return value
        case int() | float() if _is_writable(value):
            return value
        case bytes():
            return {"bytes": value.hex()}
        case Mapping() if all(isinstance(key, str) for key in value):
            return {key: plain(each, where, depth + 1) for key, each in value.items()}
        case list() | tuple():
            return [plain(each, where, depth + 1) for each in value]
        case _:
            raise InputError(
                f"{where} holds a {type(value).__name__}, which a suite cannot pin",
                hint="use texts, finite numbers (of at most 4000 digits), true, false, null, lists "
                "and mappings of names",
            )


def _is_writable(number: float) -> bool:
    return abs(number) < _LARGEST_INT if isinstance(number, int) else math.isfinite(number)


def folder_digest(folder: Path) -> str:
    """Return the SHA-256 of a folder's files: names, content, and whether they can be executed.

    Raises InputError when there is no such folder, or something in it is neither file nor folder.
    """
    return contents_digest(
        (name, path.read_bytes(), path.stat().st_mode) for name, path in files_of(folder)
    )


def contents_digest(files: Iterable[tuple[str, bytes, int]]) -> str:
    """Return the SHA-256 of names, contents and modes, in the order of the names."""
    found = hashlib.sha256()
    for name, data, mode in files:
        found.update(f"{len(name)}:{name}{int(bool(mode & 0o100))}{len(data)}:".encode())
        found.update(data)
    return found.hexdigest()


def files_of(folder: Path) -> list[tuple[str, Path]]:
    """Return the files below a folder with their names in it, `/` between parts, sorted.

    Raises InputError as `folder_digest` does.
    """
    if not folder.is_dir():
        raise InputError(f"no folder {folder}")
    found = []
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in (*folders, *files):
            path = Path(parent, name)
            if _SURROGATE.search(name):
                raise InputError(
                    f"{str(path)!a} is no name in UTF-8", hint="rename it: cases travel"
                )
            if path.is_symlink() or not (path.is_dir() or path.is_file()):
                raise InputError(
                    f"{path} is neither a file nor a folder",
                    hint="replace links by what they point to",
                )
        for name in files:
            path = Path(parent, name)
            found.append((path.relative_to(folder).as_posix(), path))
    return sorted(found)
