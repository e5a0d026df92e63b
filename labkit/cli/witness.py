"""A member's signed log as the second place that knows of a look, for a suite inside a lab."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from labkit.cli.lab import Lab
from labkit.errors import PhaseError
from labkit.journal import read
from labkit.settings import Person, read_person
from labkit.workspace import Workspace

_BEGUN, _COMPLETED = "finalize", "finalized"


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """Who finalizes, and the lab whose members' logs tell of it."""

    lab: Lab
    person: Person

    @classmethod
    def of(cls, suite: Path, me: str) -> Self | None:
        """Return the witness of a suite below a lab's evals/, None for any other suite.

        Raises InputError when labkit does not know who is asking, or that person has no key here.
        """
        place = suite.resolve()
        try:
            workspace = Workspace.find(place.parent)
        except PhaseError:
            return None
        if not place.is_relative_to(workspace.evals.resolve()):
            return None
        lab = Lab.open(place.parent)
        person = lab.person(me)
        lab.require_log(person)
        return cls(lab=lab, person=person)

    def looked(self, commitment: str) -> str:
        """Return the member whose log tells of a look at a split; empty when none does.

        Raises IntegrityError for a log that is damaged.
        """
        workspace = self.lab.workspace
        for name in workspace.member_names():
            path = workspace.log(name)
            public = read_person(workspace, name).signing_key
            for entry in read(path, public=public) if path.is_file() else ():
                event = entry.event
                if event.action == _BEGUN and event.digests.get("commitment") == commitment:
                    return str(name)
        return ""

    def begun(self, suite: str, commitment: str) -> None:
        """Record that a look begins, once."""
        if not self.looked(commitment):
            digests = {"commitment": commitment}
            self.lab.log(self.person, _BEGUN, subject=suite, digests=digests)

    def completed(self, suite: str, commitment: str, report: str) -> None:
        """Record what came out."""
        digests = {"commitment": commitment, "report.json": report}
        self.lab.log(self.person, _COMPLETED, subject=suite, digests=digests)
