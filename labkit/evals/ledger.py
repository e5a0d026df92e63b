"""The ledger of a sealed test split: one look, by whom, with what, and what came out.

It is created before the first sample runs, and only where there is none. An interrupted look that
goes on has a line for that, with how many samples it found. Each line carries a code that only who
can open the split can make, so a changed line is noticed. A ledger that is deleted whole shows in
git alone.
"""

import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from labkit.errors import InputError, IntegrityError, PhaseError
from labkit.fields import canonical_json, counted, read_bytes
from labkit.workspace import replace as rewrite
from labkit.workspace import write_new

_DOMAIN = b"labkit/finalized/v1\0"
BEGUN = "begun"
RESUMED = "resumed"
COMPLETED = "completed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What is looked at, with what: an interrupted look goes on only as the same one."""

    suite: str
    suite_version: str
    commitment: str
    """Of the sealed split."""
    candidate: str
    settings: Mapping[str, object] = field(default_factory=dict)
    """Samples, seed, policy and whatever else decides the figures."""

    def differs(self, other: "Look") -> tuple[str, ...]:
        """Return the names of what differs."""
        ours, theirs = asdict(self), asdict(other)
        return tuple(name for name in ours if ours[name] != theirs[name])


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line."""

    event: str
    look: Look
    by: str
    """Who was logged in."""
    at: str
    """ISO time with zone."""
    labkit: str
    report: str = ""
    """The folder of the report, as seen from the ledger's."""
    digest: str = ""
    """SHA-256 of report.json, once there is one."""
    samples: int = 0
    """How many samples lay there when the look was resumed."""
    previous: str = ""
    """The code of the line before."""
    code: str = ""

    def sealed_with(self, salt: bytes) -> Self:
        """Return the entry with its code."""
        return replace(self, code=self._code(salt))

    def is_genuine(self, salt: bytes) -> bool:
        """Return whether the code is this entry's."""
        return self.code == self._code(salt)

    def _code(self, salt: bytes) -> str:
        values = asdict(self)
        del values["code"]
        return hmac.digest(salt, _DOMAIN + canonical_json(values), "sha256").hex()

    def line(self) -> str:
        """Return the entry as it stands in its file."""
        return json.dumps(asdict(self), ensure_ascii=False) + "\n"

    @classmethod
    def of(cls, line: str) -> Self:
        """Return the entry of a line; raises KeyError, TypeError or ValueError."""
        values: dict[str, Any] = json.loads(line)
        return cls(**values | {"look": Look(**values["look"])})


def _is_one_look(events: Sequence[str]) -> bool:
    """Return whether these are the events of a look, however often it was resumed."""
    if not events or events[0] != BEGUN:
        return False
    rest = events[1:-1] if events[-1] == COMPLETED else events[1:]
    return all(event == RESUMED for event in rest)


@dataclass(frozen=True, slots=True)
class Ledger:
    """The file, and the salt that lies inside the sealed split."""

    path: Path
    salt: bytes = field(repr=False)

    def entries(self) -> tuple[Entry, ...]:
        """Return what stands in it: nothing, or one look, begun, resumed or completed.

        Raises IntegrityError when it is not as labkit left it.
        """
        if not self.path.exists():
            return ()
        try:
            found = tuple(map(Entry.of, read_bytes(self.path).decode().splitlines()))
            genuine = [entry.is_genuine(self.salt) for entry in found]
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise self._damaged("it cannot be read") from error
        if not _is_one_look([entry.event for entry in found]):
            raise self._damaged("it is not one look")
        before = ""
        for number, entry in enumerate(found):
            if not genuine[number] or entry.previous != before:
                raise self._damaged(f"line {number + 1} was changed")
            before = entry.code
        return found

    def begin(self, entry: Entry) -> None:
        """Record that a look begins; raises PhaseError when somebody else's has just begun."""
        try:
            write_new(self.path, entry.sealed_with(self.salt).line())
        except InputError as error:
            raise PhaseError(
                f"somebody has just begun to finalize: {self.path}", hint="run it again to see who"
            ) from error

    def complete(self, *, at: str, digest: str) -> None:
        """Record what came out; raises IntegrityError as `entries` does."""
        last = self.entries()[-1]
        self._add(replace(last, event=COMPLETED, at=at, digest=digest, samples=0))

    def resume(self, *, by: str, at: str, samples: int) -> None:
        """Record that the look goes on; raises IntegrityError when samples are gone since."""
        last = self.entries()[-1]
        if samples < last.samples:
            raise IntegrityError(
                f"{counted(last.samples, 'sample')} of this look lay there on {last.at[:10]}, and "
                f"now {samples}",
                hint="restore samples.jsonl: a sample is not taken twice",
            )
        self._add(replace(last, event=RESUMED, by=by, at=at, samples=samples))

    def _add(self, entry: Entry) -> None:
        there = self.entries()
        new = replace(entry, previous=there[-1].code).sealed_with(self.salt)
        rewrite(self.path, "".join(each.line() for each in (*there, new)))

    def _damaged(self, why: str) -> IntegrityError:
        return IntegrityError(
            f"{self.path} is not as labkit left it: {why}", hint="restore it from git"
        )
