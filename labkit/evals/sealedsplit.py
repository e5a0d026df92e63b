"""The sealed test split of a suite: where it lies, what everybody may know of it, opening it.

The test cases and their folders are one deterministic tar, sealed with age into
`<suite>.test.age`; `<suite>.test.json` beside it has its salted commitment.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Self

from labkit.bundle import commitment, unpack_files
from labkit.errors import IntegrityError, PhaseError
from labkit.evals.case import EvalSuite
from labkit.evals.suitefile import SuiteFile, read_suite
from labkit.fields import json_text, read_bytes, read_json
from labkit.seal import Identity, open_sealed
from labkit.suite import digest

SCHEMA = 1
KIND = "suite-test"
TREE = "suite/"
"""Below it lies the split as a suite of its own."""
EXECUTABLE = "executable.json"
"""A list of the files that can be executed."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where what belongs to a suite lies."""

    suite: Path

    def _beside(self, ending: str) -> Path:
        if self.suite.is_dir():
            return self.suite / f"suite.{ending}"
        return self.suite.with_name(f"{self.suite.stem}.{ending}")

    @property
    def sealed(self) -> Path:
        """The sealed test split."""
        return self._beside("test.age")

    @property
    def record(self) -> Path:
        """What everybody may know of it."""
        return self._beside("test.json")

    @property
    def ledger(self) -> Path:
        """Who scored it, and when."""
        return self._beside("finalized.jsonl")


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedSplit:
    """What everybody may know of a sealed test split: digests and counts."""

    suite: str
    cases: int
    commitment: str
    """Salted: nobody can confirm a guess of the cases with it."""
    ciphertext_sha256: str
    recipients: tuple[str, ...]
    sealed_at: str
    """ISO time with zone."""
    taken_out: bool = False
    """Whether the plain cases are gone; False after an interruption."""

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a record back; raises IntegrityError when it is damaged."""
        values = read_json(path, schema=SCHEMA)
        del values["schema"]
        try:
            found = cls(**values | {"recipients": tuple(values["recipients"])})
            bytes.fromhex(found.commitment), int(found.cases)
        except (KeyError, TypeError, ValueError) as error:
            raise IntegrityError(
                f"{path} is damaged: it is no record of a sealed test split",
                hint="restore it from git",
            ) from error
        return found

    def text(self) -> str:
        """Return the record as it stands in its file."""
        return json_text({"schema": SCHEMA, **asdict(self)})


def sealed_split(suite: Path) -> SealedSplit | None:
    """Return what is known of a suite's sealed test split; None when there is none.

    Raises IntegrityError when only half of it is there, or it is not the file that was sealed.
    """
    places = Places(suite)
    if not places.record.exists():
        if places.sealed.exists():
            raise IntegrityError(
                f"{places.sealed} is there without {places.record.name}", hint="restore it from git"
            )
        return None
    record = SealedSplit.load(places.record)
    if record.taken_out:
        _read_sealed(places, record)
    return record


def _read_sealed(places: Places, record: SealedSplit) -> bytes:
    if not places.sealed.exists():
        raise IntegrityError(
            f"{places.sealed} is not there, and {places.record.name} says that it was sealed",
            hint="restore it from git or a backup",
        )
    data = read_bytes(places.sealed)
    if digest(data) != record.ciphertext_sha256:
        raise IntegrityError(
            f"{places.sealed} is not the file that was sealed on {record.sealed_at[:10]}",
            hint="restore it, and the record beside it, from git",
        )
    return data


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A test split in plain text. It is never written but by `lay_out`."""

    record: SealedSplit
    salt: bytes
    files: Mapping[str, bytes]

    def lay_out(self, folder: Path) -> SuiteFile:
        """Write the cases and their folders into a private folder and return them as a suite."""
        executable = set(json.loads(self.files[EXECUTABLE]))
        for name, content in self.files.items():
            if name != EXECUTABLE:
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
                path.chmod(0o700 if name in executable else 0o600)
        found = read_suite(folder / TREE)
        if found.problems or len(found.suite.cases) != self.record.cases:
            raise _damage(self.record.suite)
        return replace(found, suite=EvalSuite(found.suite.cases, self.record.suite))


def open_split(suite: Path, identity: Identity) -> Opened:
    """Open a suite's sealed test split, checked against its record.

    Raises PhaseError when there is none, IntegrityError when anything is not as it was sealed.
    """
    places = Places(suite)
    record = sealed_split(suite)
    if record is None or not record.taken_out:
        raise PhaseError(
            f"{suite} has no sealed test split", hint=f"seal it first: labkit suite seal {suite}"
        )
    return unpacked(open_sealed(_read_sealed(places, record), identity), record)


def unpacked(data: bytes, record: SealedSplit) -> Opened:
    """Return what a split's tar holds; raises IntegrityError when it is not the committed one."""
    header, files = unpack_files(data)
    try:
        salt = bytes.fromhex(header["salt"])
    except (KeyError, TypeError, ValueError) as error:
        raise _damage(record.suite) from error
    if header.get("kind") != KIND or commitment(salt, data) != record.commitment:
        raise _damage(record.suite)
    return Opened(record=record, salt=salt, files=files)


def _damage(suite: str) -> IntegrityError:
    return IntegrityError(
        f"the sealed test split of {suite} is not what was committed to",
        hint="restore the sealed file and its record from git",
    )
