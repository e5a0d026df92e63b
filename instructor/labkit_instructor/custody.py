"""Custody of what must not be read during the run phase: hidden tests, and raw runs before scoring.

The author's side seals; the holder's side opens, and believes nothing that is not signed by the
right person and pinned by digest.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from labkit import sealrecord
from labkit.bundle import (
    Bundle,
    Files,
    commitment,
    digests,
    pack,
    pack_files,
    read_paths,
    unpack,
    unpack_files,
)
from labkit.canary import Mint, digest, plant, token
from labkit.errors import InputError, IntegrityError
from labkit.fields import canonical_json
from labkit.model import Member, RunId, TaskId
from labkit.records import EVIDENCE_FILES
from labkit.seal import Identity, open_sealed, seal
from labkit.sealrecord import SealRecord
from labkit.signing import SigningKey, verify
from labkit.workspace import replace, write_new

_RUNS_DOMAIN = b"labkit/handin/v1\0"
_TELLING_BYTES = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealer:
    """Who seals, and for whom."""

    member: Member
    key: SigningKey
    recipients: tuple[str, ...]
    """Public keys of the holder and, where there is one, of the backup."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SealPaths:
    """Where a task's vault and its record lie."""

    vault: Path
    record: Path


def seal_task(
    task: TaskId,
    draft: Files,
    *,
    sealer: Sealer,
    paths: SealPaths,
    now: datetime,
    overwrite: bool = False,
) -> SealRecord:
    """Plant canaries in a draft, pack it, seal it, write vault and record, return the record.

    Sealing the same content again keeps its commitment, and changes nothing where the vault is
    still there. Other content, or a vault that no record tells of, needs `overwrite`.
    """
    content = _prepare(task, draft, sealer)
    earlier = sealrecord.load(paths.record) if paths.record.exists() else None
    same = earlier is not None and earlier.commitment == content.commitment
    intact = earlier is not None and _sha256_of(paths.vault) == earlier.ciphertext_sha256
    if earlier and same and intact and earlier.recipients == sealer.recipients:
        return earlier
    if not overwrite:
        _refuse_loss(task, paths.vault, changed=earlier is not None and not same, intact=intact)
    sealed, record = _seal_content(content, sealer, now)
    replace(paths.vault, sealed)
    replace(paths.record, sealrecord.text(record))
    return record


def seal_correction(
    task: TaskId, draft: Files, *, sealer: Sealer, now: datetime
) -> tuple[bytes, SealRecord]:
    """Return a corrected draft as a vault with canaries, and its record; nothing is written."""
    return _seal_content(_prepare(task, draft, sealer), sealer, now)


def _seal_content(content: "_Content", sealer: Sealer, now: datetime) -> tuple[bytes, SealRecord]:
    sealed = seal(content.tar, sealer.recipients)
    record = SealRecord(
        task=content.task,
        sealed_by=sealer.member,
        commitment=content.commitment,
        ciphertext_sha256=hashlib.sha256(sealed).hexdigest(),
        recipients=sealer.recipients,
        canary_digests=content.canary_digests,
        files=content.files,
        files_without_canary=content.files_without_canary,
        sealed_at=now.isoformat(),
    )
    return sealed, sealrecord.sign(record, sealer.key)


def _refuse_loss(task: TaskId, vault: Path, *, changed: bool, intact: bool) -> None:
    hint = "--replace seals it anew; a frozen suite must then be frozen again"
    if changed:
        raise InputError(f"task {task} was sealed with other content", hint=hint)
    if vault.exists() and not intact:
        raise InputError(f"{vault} is there, and no seal record tells of it", hint=hint)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Content:
    task: TaskId
    files: int
    tar: bytes
    commitment: str
    canary_digests: tuple[str, ...]
    files_without_canary: int


def _prepare(task: TaskId, draft: Files, sealer: Sealer) -> _Content:
    if not draft:
        raise InputError(f"task {task}: the draft is empty", hint="write hidden/ and oracle.yaml")
    planted = {
        path: plant(path, draft[path], _mint(sealer.key, task, path)) for path in sorted(draft)
    }
    salt = sealer.key.derive(b"salt\0" + str(task).encode())
    tar = pack(task, {path: file.data for path, file in planted.items()}, salt)
    return _Content(
        task=task,
        files=len(draft),
        tar=tar,
        commitment=commitment(salt, tar),
        canary_digests=tuple(digest(word) for file in planted.values() for word in file.tokens),
        files_without_canary=sum(not file.tokens for file in planted.values()),
    )


def _mint(key: SigningKey, task: TaskId, path: str) -> Mint:
    return lambda number: token(key.derive(f"canary\0{task}\0{path}\0{number}".encode()))


def _sha256_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""


def hidden_digests(draft: Files) -> frozenset[str]:
    """Return the digests by which copies of a draft's files are known while it is being sealed.

    Very short files (an empty `__init__.py`) stand everywhere and tell nothing.
    """
    hidden = {path: data for path, data in draft.items() if len(data) >= _TELLING_BYTES}
    return frozenset(digests(hidden).values())


def open_task(sealed: bytes, record: SealRecord, *, identity: Identity, public: str) -> Bundle:
    """Open a vault and return its content.

    Raises IntegrityError when the record is not signed by `public`, the file is another than was
    sealed, the key does not open it, or the content is not what was committed to.
    """
    sealrecord.check(record, public)
    if hashlib.sha256(sealed).hexdigest() != record.ciphertext_sha256:
        raise IntegrityError(
            f"the vault of {record.task} is not the file that was sealed",
            hint="it was altered, cut or replaced: get it again from its author",
        )
    tar = open_sealed(sealed, identity)
    bundle = unpack(tar)
    if bundle.task != record.task or commitment(bundle.salt, tar) != record.commitment:
        raise IntegrityError(
            f"the vault of {record.task} does not hold what was committed to",
            hint="let its author seal the draft again",
        )
    return bundle


def seal_runs(
    folders: Sequence[Path], *, sealer: Sealer, target: Path, overwrite: bool = False
) -> str:
    """Seal what a member's runs left for the holder and return the file's SHA-256.

    Raises InputError when there are none, when a folder's name is no run, or when an earlier
    hand-in lies there and `overwrite` is not set.
    """
    if not folders:
        raise InputError("there are no runs to hand in", hint="labkit task run makes them")
    files = {
        f"{RunId.parse(folder.name)}/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for folder in folders
        for path in read_paths(folder)
        if path.name in EVIDENCE_FILES and path.is_file() and not path.is_symlink()
    }
    header = {
        "kind": "runs",
        "member": str(sealer.member),
        "signature": sealer.key.sign(_runs_signed(sealer.member, files)),
    }
    sealed = seal(pack_files(header, files), sealer.recipients)
    (replace if overwrite else write_new)(target, sealed)
    return hashlib.sha256(sealed).hexdigest()


def open_runs(
    sealed: bytes, *, identity: Identity, member: Member, public: str
) -> Mapping[RunId, Files]:
    """Open a member's hand-in; raises IntegrityError when it is damaged or not signed by them."""
    header, files = unpack_files(open_sealed(sealed, identity))
    if header.get("kind") != "runs" or header.get("member") != str(member):
        raise IntegrityError(f"the file is not the hand-in of {member}")
    if not verify(public, _runs_signed(member, files), str(header.get("signature"))):
        raise IntegrityError(f"the hand-in is not signed by {member}")
    runs: dict[RunId, dict[str, bytes]] = {}
    for path, data in files.items():
        run, _, name = path.partition("/")
        runs.setdefault(RunId.parse(run), {})[name] = data
    return runs


def write_runs(runs: Mapping[RunId, Files], raw: Path) -> tuple[RunId, ...]:
    """Write opened runs below `raw` and return those that were not there yet.

    Raises IntegrityError when a file of a run is there with other content; nothing is overwritten.
    """
    fresh = []
    for run, files in sorted(runs.items()):
        for name, data in files.items():
            path = raw / str(run) / name
            if path.exists() and path.read_bytes() != data:
                raise IntegrityError(
                    f"{path} is there already, with other content",
                    hint="compare both; move one of them away",
                )
        if not (raw / str(run)).exists():
            fresh.append(run)
        for name, data in files.items():
            path = raw / str(run) / name
            if not path.exists():
                write_new(path, data)
    return tuple(fresh)


def _runs_signed(member: Member, files: Files) -> bytes:
    return _RUNS_DOMAIN + canonical_json({"member": str(member), "files": digests(files)})
