"""Sealing the test split: taken out of a suite file, nothing lost on the way.

Nothing is deleted before it lies sealed on the disk, and nothing is deleted that is not in the seal
byte for byte. A private copy in the user's own folder lasts until the sealed file was read back
with the key.
"""

import json
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from labkit.bundle import Files, commitment, pack_files, unpack_files
from labkit.errors import InputError, PhaseError, refuse
from labkit.evals.case import EvalCase, Split
from labkit.evals.digests import CACHES, files_of, is_editors, is_systems
from labkit.evals.sealedsplit import (
    EXECUTABLE,
    KIND,
    TREE,
    Opened,
    Places,
    SealedSplit,
    sealed_split,
    unpacked,
)
from labkit.evals.suitefile import Form, SuiteFile
from labkit.evals.suitewriting import case_values, suite_values, without_cases
from labkit.evals.taskfolders import TASK_FILES
from labkit.fields import canonical_json, json_text, read_bytes
from labkit.privatefile import read_private, write_private
from labkit.seal import Identity, open_sealed, seal
from labkit.suite import digest
from labkit.workspace import replace as rewrite

_CASES = f"{TREE}suite.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealer:
    """To whom a test split is sealed, and what is at hand."""

    recipients: tuple[str, ...]
    """age public keys."""
    backups: Path
    """A private folder of the user's."""
    identity: Identity | None = None
    """The private half of one of the recipients, where it is at hand: then it is read back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealing:
    """What sealing has done."""

    record: SealedSplit
    backup: Path | None
    """The private copy, kept when nobody could read the sealed file back."""
    kept: tuple[Path, ...]
    """Plain files that are not as they were sealed, or not in the seal: they were not deleted."""
    commented: bool = True
    """Whether the suite file still has its comments."""


def seal_split(found: SuiteFile, sealer: Sealer, *, now: str) -> Sealing:
    """Seal the test cases of a suite and take them out; goes on where it was interrupted.

    Raises InputError when there is no test case or one is malformed, PhaseError when the split
    is already sealed. Until the sealed file is whole, the suite is as it was.
    """
    places = Places(found.path)
    record = sealed_split(found.path)
    if record and record.taken_out:
        raise PhaseError(
            f"the test split of {found.suite.name} is already sealed, since "
            f"{record.sealed_at[:10]}",
            hint="new cases go into train or val; a new test split wants a suite of its own",
        )
    data = _interrupted(found, record, sealer) if record else _packed(found)
    sealed = seal(data, sealer.recipients)
    record = _record(found, data, sealed, sealer, now)
    backup = _backup(sealer, found.path, record.commitment)
    rewrite(places.record, record.text())
    if not backup.exists():
        write_private(backup, data)
    rewrite(places.sealed, sealed)
    checked = sealer.identity is not None and (
        open_sealed(read_bytes(places.sealed), sealer.identity) == data
    )
    commented, kept = _take_out(found, unpacked(data, record))
    record = replace(record, taken_out=True)
    rewrite(places.record, record.text())
    if checked:
        backup.unlink(missing_ok=True)
    return Sealing(
        record=record, backup=None if checked else backup, kept=kept, commented=commented
    )


def _record(found: SuiteFile, data: bytes, sealed: bytes, sealer: Sealer, now: str) -> SealedSplit:
    header, _ = unpack_files(data)
    return SealedSplit(
        suite=found.suite.name,
        cases=int(header["cases"]),
        commitment=commitment(bytes.fromhex(header["salt"]), data),
        ciphertext_sha256=digest(sealed),
        recipients=sealer.recipients,
        sealed_at=now,
    )


def _packed(found: SuiteFile) -> bytes:
    """Return the test split as a tar."""
    cases = found.suite.only(Split.TEST).cases
    if not cases:
        raise InputError(f"{found.path} has no test case", hint="give cases the field split: test")
    refuse([case.problem for case in cases if case.problem], hint="mend these cases, then seal")
    if len(cases) == len(found.suite.cases):
        raise InputError(
            f"every case of {found.path} is a test case",
            hint="keep some in split val: the loop measures on those",
        )
    if found.form is not Form.FIXTURES:
        without_cases(found, {case.id for case in cases})
    salt = secrets.token_bytes(32)
    header = {"kind": KIND, "suite": found.suite.name, "salt": salt.hex(), "cases": str(len(cases))}
    return pack_files(header, _files(found, cases))


def _files(found: SuiteFile, cases: tuple[EvalCase, ...]) -> dict[str, bytes]:
    """Return what lies in the tar: the split as a suite of its own, in the form that it has."""
    files: dict[str, bytes] = {}
    if found.form is not Form.FIXTURES:
        values = suite_values(found.suite.name, cases, found.root)
        files[_CASES] = json_text(values).encode()
    executable = []
    for folder in sorted(set(_folders(found, cases))):
        for name, path in files_of(folder):
            inside = f"{TREE}{folder.relative_to(found.root.absolute()).as_posix()}/{name}"
            files[inside] = path.read_bytes()
            if path.stat().st_mode & 0o100:
                executable.append(inside)
    files[EXECUTABLE] = canonical_json(sorted(executable))
    return files


def _folders(found: SuiteFile, cases: Sequence[EvalCase]) -> Iterator[Path]:
    """Yield the folders that belong to some cases, absolute; several may share one."""
    whole = {task.id: task.folder for task in found.tasks}
    for case in cases:
        folder = whole.get(case.id, case.folder)
        if folder is not None:
            yield folder.absolute()


def _backup(sealer: Sealer, suite: Path, committed: str) -> Path:
    return sealer.backups / f"{suite.stem}-test-{committed[:16]}.tar"


def _interrupted(found: SuiteFile, record: SealedSplit, sealer: Sealer) -> bytes:
    """Return the tar of a sealing that was interrupted.

    Raises InputError when a test case is in the suite that is not in it as it is now.
    """
    backup = _backup(sealer, found.path, record.commitment)
    sealed = Places(found.path).sealed
    if backup.exists():
        data = read_private(backup)
    elif sealer.identity and sealed.exists():
        data = open_sealed(read_bytes(sealed), sealer.identity)
    elif not sealed.exists():
        return _packed(found)  # nothing is taken out before the sealed file is there
    else:
        raise PhaseError(
            f"an earlier sealing of {found.path} was interrupted, and its copy {backup} is gone",
            hint="name the private key with --key",
        )
    known = unpacked(data, record).files
    refuse(
        [
            f"{case.id} is not as it was when an earlier sealing was interrupted"
            for case in found.suite.only(Split.TEST).cases
            if case.problem or not _is_in(found, case, known)
        ],
        hint=f"put these cases into split val; the sealing then goes on from {backup}",
    )
    return data


def _is_in(found: SuiteFile, case: EvalCase, sealed: Files) -> bool:
    """Return whether a case lies in a tar just as it is now."""
    now = _files(found, (case,))
    for name in (_CASES, EXECUTABLE):
        now.pop(name, None)
    whole = all(sealed.get(name) == content for name, content in now.items())
    if found.form is Form.FIXTURES:
        return whole
    cases = json.loads(sealed[_CASES])["cases"]
    return whole and case_values(case, found.root) in cases


def _take_out(found: SuiteFile, opened: Opened) -> tuple[bool, tuple[Path, ...]]:
    """Delete what is in the seal; return whether comments are kept, and which files are."""
    gone = {case.id for case in found.suite.only(Split.TEST).cases}
    commented = True
    if gone and found.form is not Form.FIXTURES:
        rest, commented = without_cases(found, gone)
        rewrite(found.path, rest)
    needed = list(_folders(found, [case for case in found.suite.cases if case.id not in gone]))
    kept = []
    # A task's own file goes first: what is left without it after an interruption is no task.
    for name in sorted(opened.files, key=lambda name: (Path(name).name not in TASK_FILES, name)):
        path = found.root.absolute() / name.removeprefix(TREE)
        if name in (_CASES, EXECUTABLE) or any(map(path.is_relative_to, needed)):
            continue
        if path.is_file() and path.read_bytes() == opened.files[name]:
            path.unlink()
        elif path.exists():
            kept.append(path)
    for folder in _sealed_folders(opened):
        kept += _prune(found.root.absolute() / folder, needed)
    return commented, tuple(kept)


def _sealed_folders(opened: Opened) -> set[str]:
    """Return the folders of the sealed cases, relative."""
    if _CASES in opened.files:
        cases = json.loads(opened.files[_CASES])["cases"]
        return {case["folder"] for case in cases if "folder" in case}
    inside = (name.removeprefix(TREE) for name in opened.files if name.startswith(TREE))
    return {name.partition("/")[0] for name in inside}


def _prune(folder: Path, needed: Sequence[Path]) -> list[Path]:
    """Remove what is left of a folder whose files are gone: caches and empty folders.

    Returns the copies that editors left: they are in no seal, and may hold what is.
    """
    if any(other.is_relative_to(folder) or folder.is_relative_to(other) for other in needed):
        return []
    kept: list[Path] = []
    for parent, _, files in os.walk(folder, topdown=False):
        if Path(parent).name in CACHES:
            shutil.rmtree(parent)
            continue
        for name in filter(is_systems, files):
            Path(parent, name).unlink()
        kept += [Path(parent, name) for name in files if is_editors(name)]
        if not any(Path(parent).iterdir()):
            Path(parent).rmdir()
    return kept
