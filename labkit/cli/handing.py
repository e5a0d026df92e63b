"""What `labkit handin` does, and how the holder takes it in."""

from collections.abc import Mapping

from labkit.bundle import Files
from labkit.cli.console import say
from labkit.cli.identity import opening
from labkit.cli.lab import Lab
from labkit.errors import IntegrityError, PhaseError
from labkit.evidence import ran_by, ran_by_others
from labkit.fields import counted, first_words, read_bytes
from labkit.model import Member, RunId
from labkit.phases import progress, require_frozen
from labkit.plan import read_plan
from labkit.records import EVIDENCE_FILES
from labkit.seal import Identity
from labkit.settings import Role, read_person
from labkit.workspace import Workspace
from labkit_instructor.custody import Sealer, open_runs, seal_runs, write_runs


def hand_in(me: str, *, again: bool) -> None:
    """Seal a member's finished runs to the holder; refuses while some are outstanding."""
    lab = Lab.open()
    require_frozen(lab.workspace)
    person = lab.person(me, role=Role.STUDENT)
    done = progress(lab.workspace)
    elsewhere = ran_by_others(lab.workspace, person.name)
    outstanding = [
        str(item.run)
        for item in done.outstanding
        if item.runner == person.name and item.run not in elsewhere
    ]
    if outstanding:
        raise PhaseError(
            f"{len(outstanding)} of your runs are not done: {first_words(outstanding, 4)}",
            hint="run: labkit task run",
        )
    own = ran_by(lab.workspace, person.name)
    mine = [
        lab.workspace.run(item.run)
        for item in done.planned
        if item.run in done.finished - elsewhere and (item.runner == person.name or item.run in own)
    ]
    target = lab.workspace.handin(lab.settings.team, person.name)
    if target.exists() and not again:
        raise PhaseError(
            f"you have handed in already: {target}", hint="labkit handin --again replaces it"
        )
    sealer = Sealer(member=person.name, key=lab.key(person), recipients=lab.settings.recipients)
    digest = seal_runs(mine, sealer=sealer, target=target, overwrite=again)
    lab.log(person, "handin", subject=target.name, digests={"ciphertext": digest})
    say(f"{counted(len(mine), 'run')} sealed into {target}: give it to the holder")


def take_in(lab: Lab, identity: Identity) -> None:
    """Open every hand-in that lies here, and add the runs that are not in raw/ yet."""
    team = lab.settings.team
    for path in lab.workspace.handed_in(team):
        member = Member(path.stem.removeprefix(f"{team}-raw-"))
        public = read_person(lab.workspace, member).signing_key
        with opening(path):
            runs = open_runs(read_bytes(path), identity=identity, member=member, public=public)
        require_own(lab.workspace, member, runs)
        fresh = write_runs(runs, lab.workspace.raw)
        if fresh:
            say(f"{member}: took in {counted(len(fresh), 'run')}")


def require_own(workspace: Workspace, member: Member, runs: Mapping[RunId, Files]) -> None:
    """Refuse a hand-in that holds more than the member's planned runs and their own evidence.

    Runs of others that the member's signed log tells of are the member's too.
    """
    planned = {item.run for item in read_plan(workspace) if item.runner == member}
    planned |= ran_by(workspace, member)
    odd = [
        f"{run}, which the plan does not give to {member}" for run in sorted(runs.keys() - planned)
    ]
    odd += [
        f"{run}/{name}, which no run leaves"
        for run in sorted(runs.keys() & planned)
        for name in sorted(runs[run].keys() - EVIDENCE_FILES)
    ]
    if odd:
        raise IntegrityError(
            f"the hand-in of {member} holds {odd[0]}",
            more=[f"it holds {what}" for what in odd[1:]],
            hint=f"nothing was taken in; {member} hands in again: labkit handin --again",
        )
