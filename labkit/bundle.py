"""The plaintext of a vault: a draft's files and their digests as one tar that is always the same.

Knows nothing of keys. The tar is plain, so that `age -d` and `tar -x` open a vault without labkit.
"""

import hashlib
import io
import json
import os
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labkit.archive import Entry, Kind, write_tar
from labkit.errors import InputError, IntegrityError, LabkitError, refuse
from labkit.fields import canonical_json
from labkit.model import TaskId

MANIFEST = "LABKIT-VAULT.json"
SCHEMA = 1
_PADDING = 64 * 1024
"""Sealed sizes are rounded up to this, so that they tell less of what is inside."""
_SALT_BYTES = 32

Files = Mapping[str, bytes]
"""Contents by path, relative and with forward slashes."""

DRAFT_FOLDERS = frozenset({"hidden", "mutations", "examples"})
LAYOUT = "hidden.yaml"
"""What the files below hidden/ cannot say themselves: executable ones, links, removed paths."""
DRAFT_FILES = frozenset({"oracle.yaml", "evidence.json", LAYOUT})
PROOF = "proof.json"
"""What the last validation said; it lies in a draft and is never part of a bundle."""
INSTANCE = "instance.json"
"""The tests that an imported instance names; the same holds for it."""
_RUBBISH_FOLDERS = frozenset({"__pycache__", ".pytest_cache", ".ruff_cache", ".mypy_cache"})
_RUBBISH = (".pyc", "~", ".swp", ".orig", ".DS_Store", "Thumbs.db")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """A task's hidden tests and oracle, opened."""

    task: TaskId
    salt: bytes
    files: Files


def pack(task: TaskId, files: Files, salt: bytes) -> bytes:
    """Return the tar of a task's bundle; `salt` (32 bytes) goes into its commitment."""
    if len(salt) != _SALT_BYTES:
        raise ValueError("a salt has 32 bytes")
    return pack_files({"kind": "task", "task": str(task), "salt": salt.hex()}, files)


def unpack(data: bytes) -> Bundle:
    """Read a bundle back; raises IntegrityError when anything is not as `pack` left it."""
    header, files = unpack_files(data)
    try:
        if header["kind"] != "task":
            raise _damage("it is not a task's")
        salt = bytes.fromhex(header["salt"])
        return Bundle(task=TaskId(header["task"]), salt=salt, files=files)
    except IntegrityError:
        raise
    except (KeyError, TypeError, ValueError, LabkitError) as error:
        raise _damage("its head is not labkit's") from error


def commitment(salt: bytes, tar: bytes) -> str:
    """Return SHA-256("labkit/vault-commit/v1" NUL salt SHA-256(tar)) in hex.

    The salt keeps others from confirming a guess of the hidden tests.
    """
    inner = hashlib.sha256(tar).digest()
    return hashlib.sha256(b"labkit/vault-commit/v1\0" + salt + inner).hexdigest()


def digests(files: Files) -> dict[str, str]:
    """Return the SHA-256 of every file, by path."""
    return {path: hashlib.sha256(files[path]).hexdigest() for path in sorted(files)}


def pack_files(header: Mapping[str, str], files: Files) -> bytes:
    """Return a deterministic tar: the manifest (`header` and digests) first, then the files."""
    refuse([f"{path!r} cannot be packed: {why}" for path in sorted(files) if (why := _why(path))])
    manifest = {**header, "schema": SCHEMA, "files": digests(files)}
    named = [(MANIFEST, canonical_json(manifest)), *sorted(files.items())]
    entries = [Entry(path=path.encode(), kind=Kind.FILE, data=data) for path, data in named]
    tar = write_tar(entries, uid=0)
    return tar + bytes(-len(tar) % _PADDING)


def unpack_files(data: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the manifest and the files of such a tar, every digest checked.

    Raises IntegrityError for a missing or altered file and for any member that `pack_files` does
    not write: links, devices, paths that climb, names met twice, data behind the end.
    """
    files: dict[str, bytes] = {}
    for name, content in _members(data):
        if name in files or (why := _why(name) if name != MANIFEST else ""):
            raise _damage(f"{name!r} {'is there twice' if name in files else why}")
        files[name] = content
    if next(iter(files), None) != MANIFEST:
        raise _damage(f"{MANIFEST} is not its first file")
    try:
        manifest = json.loads(files.pop(MANIFEST))
    except (ValueError, RecursionError) as error:
        raise _damage("its manifest is not JSON") from error
    if not isinstance(manifest, dict) or manifest.get("schema") != SCHEMA:
        raise _damage(f"its manifest is not of schema {SCHEMA}")
    if manifest.get("files") != digests(files):
        raise _damage("its files are not those of its manifest")
    return manifest, files


def _members(data: bytes) -> Iterator[tuple[str, bytes]]:
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:", encoding="utf-8") as tar:
            for member in tar:
                content = tar.extractfile(member) if member.type == tarfile.REGTYPE else None
                if content is not None:
                    yield member.name, content.read()
                elif not member.isdir():
                    raise _damage(f"{member.name!r} is not an ordinary file")
            if data[tar.offset :].strip(b"\0"):
                raise _damage("there is something behind its end")
    except (tarfile.TarError, ValueError, OverflowError) as error:
        raise _damage("it is not a whole tar") from error


def why_not_drafted(path: str) -> str:
    """Return why a hidden file of this path could not be part of a draft; empty when it can."""
    *folders, name = path.split("/")
    if not _RUBBISH_FOLDERS.isdisjoint(folders) or name.endswith(_RUBBISH):
        return "it is named like a cache or an editor's backup, and those are left out"
    return _why(path)


def _why(path: str) -> str:
    """Return why a path is not one of ours; empty when it is."""
    if path == MANIFEST:
        return "that name is taken"
    if not path or path.startswith("/") or "\\" in path or not path.isprintable():
        return "the path is not a plain relative one"
    if any(part in ("", ".", "..") for part in path.split("/")):
        return "the path leaves its folder"
    return ""


def _damage(what: str) -> IntegrityError:
    return IntegrityError(
        f"the bundle is damaged: {what}", hint="seal it again from the author's draft"
    )


def read_draft(folder: Path) -> dict[str, bytes]:
    """Return an author's draft: hidden/, mutations/, examples/, oracle.yaml, evidence.json.

    Compiled caches, editors' backups, proof.json and instance.json are left out: no part of a
    bundle. Raises InputError that names everything else that is there, and links.
    """
    if not folder.is_dir():
        raise InputError(f"no draft {folder}", hint="labkit task new makes one")
    problems: list[str] = []
    files: dict[str, bytes] = {}
    for path in read_paths(folder):
        name = path.relative_to(folder).as_posix()
        top, _, below = name.partition("/")
        if path.is_symlink() or not path.is_file():
            problems.append(f"{path} is a link or a special file, not an ordinary one")
        elif name in (PROOF, INSTANCE):
            continue
        elif not (top in DRAFT_FOLDERS and below) and name not in DRAFT_FILES:
            problems.append(f"{path} has no place in a draft")
        else:
            files[name] = path.read_bytes()
    places = ", ".join(sorted(DRAFT_FOLDERS | DRAFT_FILES))
    refuse(problems, hint=f"a draft holds nothing but {places}")
    return files


def read_paths(folder: Path) -> Iterator[Path]:
    """Yield every file below a folder, sorted, without following links; caches are left out."""
    for root, folders, names in os.walk(folder):
        links = [name for name in folders if Path(root, name).is_symlink()]
        folders[:] = sorted(set(folders) - set(links) - _RUBBISH_FOLDERS)
        for name in sorted([*names, *links]):
            if not name.endswith(_RUBBISH):
                yield Path(root, name)
