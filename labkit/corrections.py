"""Hidden tests that were corrected after the freeze: signed records beside the frozen suite.

suite.json stays as it is. A correction names the commitment that it replaces and the new one, so
that they are a chain that begins at the suite; the newest one is in force. It holds digests and a
reason that everybody may read. Knows nothing of keys that open.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from labkit import journal, sealrecord
from labkit.errors import IntegrityError, LabkitError
from labkit.fields import canonical_json, json_text, read_json
from labkit.model import Member, TaskId
from labkit.sealrecord import SealRecord
from labkit.settings import Role, read_person
from labkit.signing import SigningKey, verify
from labkit.suite import Suite, digest
from labkit.workspace import Workspace

SCHEMA = 1
LOGGED = "correct"
"""The action in its maker's log; the subject is the file's name."""
MADE = "correction"
"""The name under which the log holds the file's digest."""
_DOMAIN = b"labkit/correction/v1\0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """evals/corrections/<task>-<number>.json."""

    task: TaskId
    number: int
    """From 1, in the order in which they were made."""
    by: Member
    at: str
    """ISO time with zone."""
    because: str
    content: str
    """Digest of the task's facts and prompt: those of the frozen suite, or it is no correction."""
    replaces: str
    """The commitment that was in force before."""
    seal: SealRecord
    """Of the corrected bundle."""
    signature: str = ""

    def sign(self, key: SigningKey) -> "Correction":
        """Return the correction with its signature."""
        return replace(self, signature=key.sign(self._signed()))

    def check(self, public: str) -> None:
        """Raise IntegrityError when it is not signed by its maker's key."""
        if not verify(public, self._signed(), self.signature):
            raise IntegrityError(
                f"correction {self.number} of {self.task} is not signed by {self.by}",
                hint="restore evals/corrections from git",
            )
        sealrecord.check(self.seal, public)

    def text(self) -> str:
        """Return the correction as it stands in its file."""
        return json_text(self._values())

    def _values(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "task": str(self.task),
            "number": self.number,
            "by": str(self.by),
            "at": self.at,
            "because": self.because,
            "content": self.content,
            "replaces": self.replaces,
            "seal": sealrecord.plain(self.seal),
            "signature": self.signature,
        }

    def _signed(self) -> bytes:
        values = self._values()
        del values["signature"]
        return _DOMAIN + canonical_json(values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrections:
    """Every correction of a suite, checked."""

    made: Mapping[TaskId, tuple[Correction, ...]] = field(default_factory=dict)
    """Of each task that has one, the newest last."""

    def newest(self, task: TaskId) -> Correction | None:
        """Return the correction in force; None where the frozen tests are."""
        return self.made.get(task, (None,))[-1]

    def commitment(self, suite: Suite, task: TaskId) -> str:
        """Return the commitment of the hidden tests that are in force."""
        newest = self.newest(task)
        return newest.seal.commitment if newest else suite.tasks[task].commitment

    def canaries(self, suite: Suite) -> dict[str, TaskId]:
        """Return every canary digest, of the frozen and of the corrected hidden tests."""
        corrected = {
            sha: task
            for task, corrections in self.made.items()
            for correction in corrections
            for sha in correction.seal.canary_digests
        }
        return {**corrected, **suite.canaries}


def read_corrections(workspace: Workspace, suite: Suite) -> Corrections:
    """Read and check the suite's corrections.

    Raises IntegrityError when one is not by the task's author or a holder, not signed or logged by
    its maker, of another task than was frozen, or does not follow the one before.
    """
    made: dict[TaskId, tuple[Correction, ...]] = {}
    for task, number in workspace.correction_names():
        correction = _load(workspace.correction(task, number))
        if (correction.task, correction.number) != (task, number):
            raise _misfit(task, number, f"it is that of {correction.task}, {correction.number}")
        before = made.get(task, ())
        _check_place(suite, correction, before)
        _check_maker(workspace, suite, correction)
        made[task] = (*before, correction)
    return Corrections(made=made)


def _check_place(suite: Suite, correction: Correction, before: tuple[Correction, ...]) -> None:
    frozen = suite.tasks.get(correction.task)
    where = (correction.task, correction.number)
    if frozen is None:
        raise _misfit(*where, "the frozen suite has no such task")
    if correction.content != frozen.content:
        raise _misfit(*where, "it is of a task with another prompt or other fields than was frozen")
    in_force = before[-1].seal.commitment if before else frozen.commitment
    if correction.number != len(before) + 1 or correction.replaces != in_force:
        raise _misfit(*where, "it does not follow what was in force before it")


def _check_maker(workspace: Workspace, suite: Suite, correction: Correction) -> None:
    where = (correction.task, correction.number)
    person = read_person(workspace, correction.by)
    author = suite.tasks[correction.task].author
    if str(person.name) != author and person.role is not Role.HOLDER:
        raise _misfit(*where, f"{person.name} is neither its author, {author}, nor a holder")
    if correction.seal.sealed_by != person.name:
        raise _misfit(*where, f"its bundle was sealed by {correction.seal.sealed_by}")
    correction.check(person.signing_key)
    path = workspace.correction(*where)
    told = {
        entry.event.digests.get(MADE)
        for entry in journal.read(workspace.log(person.name), public=person.signing_key)
        if entry.event.action == LOGGED and entry.event.subject == path.name
    }
    if digest(path.read_bytes()) not in told:
        raise _misfit(*where, f"the log of {person.name} does not tell of it")


def _misfit(task: TaskId, number: int, why: str) -> IntegrityError:
    return IntegrityError(
        f"correction {number} of task {task} does not count: {why}",
        hint="restore evals/corrections and evals/log from git",
    )


def _load(path: Path) -> Correction:
    values = read_json(path, schema=SCHEMA)
    try:
        fields = {name: value for name, value in values.items() if name != "schema"}
        return Correction(
            **fields
            | {
                "task": TaskId(fields["task"]),
                "by": Member(fields["by"]),
                "seal": sealrecord.of_values(fields["seal"], path),
            }
        )
    except IntegrityError:
        raise
    except (KeyError, TypeError, LabkitError) as error:
        raise IntegrityError(
            f"{path} is damaged: it is not a correction", hint="restore it from git"
        ) from error
