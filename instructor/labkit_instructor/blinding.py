"""Random names for runs, and what scorers get to see of one.

The key that joins names and runs is sealed to the holder; a commitment to it is published before
anybody scores, so that nobody can choose another joining afterwards.
"""

import hashlib
import hmac
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from labkit.bundle import Files, pack_files, unpack_files
from labkit.errors import InputError, IntegrityError, LabkitError, PhaseError
from labkit.fields import canonical_json, read_bytes
from labkit.model import BlindId, Member, RunId
from labkit.seal import Identity, identity_from, key_text, new_identity, open_sealed, seal
from labkit.workspace import replace, write_new

_KEY_BYTES = 32
_MANY_RUNS = 4000
"""From so many runs on, a blind id has five digits: four would be half used up."""
_SCHEMA = 1

Randomness = Callable[[int], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Blinding:
    """The key and the runs it names. The key never shows in a message or a traceback."""

    key: bytes = field(repr=False)
    runs: tuple[RunId, ...]

    @property
    def commitment(self) -> str:
        """SHA-256("labkit/blind-commit/v1" NUL key) in hex: binding, and tells nothing."""
        return hashlib.sha256(b"labkit/blind-commit/v1\0" + self.key).hexdigest()

    @property
    def names(self) -> dict[RunId, BlindId]:
        """The blind id of every run: the first numbers of a permutation that the key chooses."""
        digits = 4 if len(self.runs) < _MANY_RUNS else 5
        numbers = sorted(
            range(10**digits), key=lambda number: self._digest("blind-id", str(number))
        )
        return {
            run: BlindId(f"B{number:0{digits}}")
            for run, number in zip(sorted(self.runs), numbers, strict=False)
        }

    def order(self, scorer: Member, blinds: Iterable[BlindId]) -> tuple[BlindId, ...]:
        """Return the order in which a scorer sees runs: random, another one for each scorer."""
        return tuple(sorted(blinds, key=lambda blind: self._digest("order", f"{scorer}/{blind}")))

    def _digest(self, purpose: str, text: str) -> bytes:
        message = f"labkit/{purpose}/v1\0{text}".encode()
        return hmac.digest(self.key, message, "sha256")


def new_blinding(runs: Sequence[RunId], *, randomness: Randomness = os.urandom) -> Blinding:
    """Make a blinding of `runs` with a fresh 32-byte key."""
    if not runs:
        raise InputError("there are no runs to blind", hint="labkit grade comes first")
    return Blinding(key=randomness(_KEY_BYTES), runs=tuple(sorted(set(runs))))


def write_blinding(path: Path, blinding: Blinding, *, recipients: Sequence[str]) -> None:
    """Seal a blinding to holder and backup; raises PhaseError when there is an earlier one."""
    if path.exists():
        raise PhaseError(
            f"this lab was blinded already: {path} is there",
            hint="scores under the earlier names would be lost; move it away only before scoring",
        )
    values = {
        "schema": _SCHEMA,
        "key": blinding.key.hex(),
        "runs": [str(run) for run in blinding.runs],
    }
    write_new(path, seal(canonical_json(values), recipients))


def open_blinding(sealed: bytes, *, identity: Identity, commitment: str | None) -> Blinding:
    """Open a sealed blinding; raises IntegrityError when it is not the one committed to.

    A commitment of None means that none was published: labkit blind was interrupted just before.
    """
    try:
        values = json.loads(open_sealed(sealed, identity))
        blinding = Blinding(
            key=bytes.fromhex(values["key"]),
            runs=tuple(RunId.parse(text) for text in values["runs"]),
        )
    except IntegrityError:
        raise
    except (ValueError, TypeError, KeyError, LabkitError) as error:
        raise IntegrityError("the blinding key is damaged", hint="use the backup's copy") from error
    if commitment is not None and not hmac.compare_digest(blinding.commitment, commitment):
        raise IntegrityError(
            "the blinding key is not the one whose commitment was published",
            hint="look for the key file that labkit blind wrote",
        )
    return blinding


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """What a scorer sees of one run, redacted already."""

    blind: BlindId
    shown: Files
    """Open from the start: diff.patch, message.txt, prompt.txt, a trap's rubric."""
    results: Files
    """Shown once the other marks are in: grade.txt, test-diff-stat.txt, leak notes."""


def write_packs(folder: Path, packs: Sequence[Pack], key_file: Path) -> None:
    """Write every pack below `folder`, sorted by blind id, and the key to the results.

    That key lies beside the packs in plain text. It is no protection against malice: it only keeps
    results from being read by accident before the other marks are in. The key file comes last:
    while it is not there, packs that an interrupted call left are written anew; once it is,
    PhaseError.
    """
    if key_file.exists():
        raise PhaseError(f"there are blind packs in {folder} already", hint="see: labkit status")
    identity = new_identity()
    for pack in sorted(packs, key=lambda item: item.blind):
        for name, data in sorted(pack.shown.items()):
            replace(folder / str(pack.blind) / name, data)
        sealed = seal(
            pack_files({"kind": "results", "blind": str(pack.blind)}, pack.results),
            [identity.recipient],
        )
        replace(folder / str(pack.blind) / "results.age", sealed)
    write_new(
        key_file,
        "# Opens the results of every blind pack. Not secret, only out of sight:\n"
        "# labkit score shows them once a run's other marks are in.\n"
        f"{identity.secret}\n",
    )


def open_results(folder: Path, blind: BlindId, key_file: Path) -> Mapping[str, bytes]:
    """Return the results of one pack; raises IntegrityError when they are another run's."""
    identity = identity_from(key_text(read_bytes(key_file), key_file.name), key_file.name)
    sealed = read_bytes(folder / str(blind) / "results.age")
    header, files = unpack_files(open_sealed(sealed, identity))
    if (header.get("kind"), header.get("blind")) != ("results", str(blind)):
        raise IntegrityError(f"the results in the pack of {blind} are another run's")
    return files
