"""Opening the sealed hidden tests that are in force: frozen, corrected, or not frozen yet."""

from dataclasses import dataclass
from pathlib import Path

from labkit import sealrecord
from labkit.bundle import Bundle
from labkit.cli.lab import Lab
from labkit.corrections import Corrections, read_corrections
from labkit.errors import PhaseError
from labkit.fields import read_bytes
from labkit.model import TaskId
from labkit.seal import Identity
from labkit.sealrecord import SealRecord
from labkit.settings import read_person
from labkit.suite import Suite
from labkit_instructor.custody import open_task


@dataclass(frozen=True, slots=True, kw_only=True)
class Oracles:
    """Which hidden tests count of each task: those of the suite, or the newest correction."""

    suite: Suite
    corrections: Corrections

    @classmethod
    def of(cls, lab: Lab, suite: Suite) -> "Oracles":
        """Read a lab's corrections; raises IntegrityError when one does not count."""
        return cls(suite=suite, corrections=read_corrections(lab.workspace, suite))

    def commitment(self, task: TaskId) -> str:
        """Return the commitment of a task's hidden tests."""
        return self.corrections.commitment(self.suite, task)


def open_bundle(lab: Lab, oracles: Oracles, task: TaskId, identity: Identity) -> Bundle:
    """Open one task's bundle; raises IntegrityError when it is not the one that is in force."""
    team = lab.settings.team
    if newest := oracles.corrections.newest(task):
        vault = lab.workspace.corrected_bundle(team, task, newest.number)
        return _open(lab, vault, newest.seal, identity)
    record = sealrecord.load(lab.workspace.seal(task))
    if record.commitment != oracles.suite.tasks[task].commitment:
        raise PhaseError(
            f"task {task} was sealed again after the suite was frozen",
            hint="the runs belong to the frozen suite: restore its seal and bundle; hidden tests "
            f"are corrected with labkit task seal {task} --correct",
        )
    return _open(lab, lab.workspace.bundle(team, task), record, identity)


def open_sealed(lab: Lab, task: TaskId, identity: Identity) -> Bundle:
    """Open the bundle of a task that is sealed and not frozen yet."""
    record = sealrecord.load(lab.workspace.seal(task))
    return _open(lab, lab.workspace.bundle(lab.settings.team, task), record, identity)


def _open(lab: Lab, vault: Path, record: SealRecord, identity: Identity) -> Bundle:
    if not vault.is_file():
        raise PhaseError(f"no sealed bundle {vault}", hint=f"get it from {record.sealed_by}")
    public = read_person(lab.workspace, record.sealed_by).signing_key
    return open_task(read_bytes(vault), record, identity=identity, public=public)
