"""What `labkit task seal` does: drafts to sealed bundles, and nothing readable left behind."""

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence

from labkit import sealrecord
from labkit.bundle import Files, read_draft
from labkit.cli.author import chosen_drafts
from labkit.cli.console import say
from labkit.cli.lab import Lab, now
from labkit.errors import PhaseError, refuse
from labkit.fields import counted
from labkit.model import TaskId
from labkit.phases import require_authoring
from labkit.readable import Known, still_readable
from labkit.settings import Person
from labkit.suite import content_digest
from labkit.tasks import Task
from labkit_grader.material import is_proven
from labkit_instructor.custody import Sealer, SealPaths, hidden_digests, seal_task


def seal_own(names: Sequence[str], me: str, *, overwrite: bool) -> None:
    """Seal an author's drafts, delete them, and check that nothing readable is left."""
    lab = Lab.open()
    require_authoring(lab.workspace)
    person = lab.person(me)
    tasks = chosen_drafts(lab, names, what="seal")
    if not names:
        tasks = tuple(task for task in tasks if task.author == str(person.name))
    if not tasks:
        raise PhaseError(f"{person.name} has no draft to seal", hint="another author? use --me")
    drafts = {task.id: read_draft(lab.workspace.draft(task.id)) for task in tasks}
    seal_drafts(lab, person, tasks, drafts, overwrite=overwrite)
    for task in drafts:
        shutil.rmtree(lab.workspace.draft(task))
    require_gone(lab, drafts, _published(lab, drafts))
    count = counted(len(tasks), "task")
    say(f"sealed {count} into {lab.workspace.handover}: hand that folder to the holder")


def seal_drafts(
    lab: Lab,
    person: Person,
    tasks: Sequence[Task],
    drafts: Mapping[TaskId, Files],
    *,
    overwrite: bool,
) -> None:
    """Seal proven drafts to the holder and record it in the sealer's log."""
    sealer = Sealer(member=person.name, key=lab.key(person), recipients=lab.settings.recipients)
    require_proven(tasks, drafts)
    for task in tasks:
        paths = SealPaths(
            vault=lab.workspace.bundle(lab.settings.team, task.id),
            record=lab.workspace.seal(task.id),
        )
        record = seal_task(
            task.id, drafts[task.id], sealer=sealer, paths=paths, now=now(), overwrite=overwrite
        )
        digests = {"commitment": record.commitment, "ciphertext": record.ciphertext_sha256}
        lab.log(person, "seal", subject=str(task.id), digests=digests)
        say(f"{task.id}: commitment {record.commitment[:16]}...")


def require_proven(tasks: Sequence[Task], drafts: Mapping[TaskId, Files]) -> None:
    """Refuse drafts that are not proven sound just as they are."""
    unproven = [
        task.id
        for task in tasks
        if not is_proven(drafts[task.id], content_digest(task.facts(), task.prompt))
    ]
    refuse(
        [f"task {task} is not proven sound as it is now" for task in unproven],
        hint=f"run: labkit task validate {' '.join(map(str, unproven))}",
    )


def _published(lab: Lab, tasks: Iterable[TaskId]) -> tuple[str, ...]:
    """Return the canary digests of tasks that are sealed."""
    records = [sealrecord.load(lab.workspace.seal(task)) for task in tasks]
    return tuple(sha for record in records for sha in record.canary_digests)


def require_gone(lab: Lab, drafts: Mapping[TaskId, Files], tokens: Iterable[str]) -> None:
    """Look for readable copies of what was sealed; raise PhaseError that names them.

    A hidden test that is the project's own test, unchanged, stands in its later history: that is
    said, not refused, because whoever has the project has it.
    """
    files = frozenset[str]().union(*(hidden_digests(draft) for draft in drafts.values()))
    search = still_readable(
        (lab.workspace.project, lab.workspace.handover),
        Known(canaries=frozenset(tokens), files=files),
    )
    unsealed = [
        lab.workspace.draft(task)
        for task in lab.workspace.task_ids()
        if not lab.workspace.seal(task).is_file()
    ]
    tracked = set(lab.repository.git("ls-files", "-z").stdout.split(b"\0"))
    copies = []
    for remnant in search.remnants:
        if any(remnant.path.is_relative_to(draft) for draft in unsealed):
            continue  # tasks may share a test file; it goes when that task is sealed
        if os.fsencode(os.path.relpath(remnant.path, lab.workspace.project)) in tracked:
            say(f"note: {remnant.path} {remnant.why}: whoever has the project knows it")
        else:
            copies.append(f"{remnant.path} {remnant.why}")
    if copies:
        raise PhaseError(
            f"sealed, but the handover is not done: {copies[0]}",
            more=copies[1:],
            hint="delete these files; labkit task run looks again",
        )
