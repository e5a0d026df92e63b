"""What `labkit task seal --correct` does: wrong hidden tests are mended after the freeze.

Only what is hidden may change: the task's fields and its prompt are those of the frozen suite, so
the runs still belong to it. They are then graded again: `labkit grade --regrade`.
"""

import shutil
from collections.abc import Sequence

from labkit.bundle import Files, read_draft
from labkit.cli.author import chosen_drafts
from labkit.cli.console import say
from labkit.cli.lab import Lab, now
from labkit.cli.sealing import require_gone, require_proven
from labkit.corrections import LOGGED, MADE, Correction, read_corrections
from labkit.errors import InputError, PhaseError, refuse
from labkit.fields import first_words
from labkit.model import TaskId
from labkit.phases import require_authoring, require_frozen
from labkit.sealrecord import SealRecord
from labkit.settings import Person, Role
from labkit.suite import Suite, content_digest, digest, read_suite
from labkit.tasks import Task, read_task
from labkit.workspace import replace, write_new
from labkit_grader.material import read_material
from labkit_instructor.custody import Sealer, seal_correction


def correct_task(names: Sequence[str], me: str, *, because: str) -> None:
    """Seal a task's mended draft beside what was frozen, and record why."""
    lab = Lab.open()
    require_frozen(lab.workspace)
    if lab.workspace.all_scores.exists():
        raise PhaseError(
            "the lab is unblinded: hidden tests can no longer be corrected",
            hint="whoever corrects now can see whom it helps; tell of the fault in the report",
        )
    person = lab.person(me)
    task = _chosen(lab, names, person)
    suite = read_suite(lab.workspace.suite)
    require_as_frozen(lab, suite, [task])
    draft = read_draft(lab.workspace.draft(task.id))
    require_proven([task], {task.id: draft})
    _check_reason(because, draft, task)
    seal = _corrected(lab, suite, person, task, (draft, because.strip()))
    shutil.rmtree(lab.workspace.draft(task.id))
    require_gone(lab, {task.id: draft}, seal.canary_digests)
    say(f"commit and push evals/, and hand {lab.workspace.handover} to the holder;")
    say(f"then, the holder: labkit grade --regrade {task.id}")


def _chosen(lab: Lab, names: Sequence[str], person: Person) -> Task:
    if len(names) != 1:
        raise InputError(
            "a correction is of one task, and its reason too",
            hint='labkit task seal TASK --correct "why"',
        )
    (task,) = chosen_drafts(lab, names, what="correct")
    if task.author != str(person.name) and person.role is not Role.HOLDER:
        raise PhaseError(
            f"task {task.id} is {task.author}'s: its author or a holder corrects it",
            hint="another author? use --me",
        )
    return task


def require_as_frozen(lab: Lab, suite: Suite, tasks: Sequence[Task]) -> None:
    """Refuse tasks that are not, but for their hidden tests, those of the frozen suite."""
    refuse(
        [f"the frozen suite has no task {task.id}" for task in tasks if task.id not in suite.tasks]
        + [
            f"task {task.id} has changed since it was frozen: a correction is of hidden tests only"
            for task in tasks
            if task.id in suite.tasks
            and suite.tasks[task.id].content != content_digest(task.facts(), task.prompt)
        ],
        hint=f"undo the change: git -C {lab.workspace.evals} log -p -- tasks prompts",
    )


def require_changeable(lab: Lab, ids: Sequence[TaskId]) -> None:
    """Refuse to work on drafts once there are runs, unless it is for a correction."""
    try:
        require_authoring(lab.workspace)
    except PhaseError:
        if not lab.workspace.suite.is_file() or not ids:
            raise
        tasks = [read_task(lab.workspace, name, lab.repository) for name in ids]
        require_as_frozen(lab, read_suite(lab.workspace.suite), tasks)


def _check_reason(because: str, draft: Files, task: Task) -> None:
    """Refuse a reason that says nothing, or that tells what is hidden."""
    if not because.strip():
        raise InputError(
            "a correction needs a reason", hint='--correct "test for blanks was too strict"'
        )
    if not because.isprintable():
        raise InputError("the reason has line ends or control characters", hint="one plain line")
    material = read_material(draft, task.category)
    expected = material.evidence.tests if material.evidence else ()
    names = {test.rpartition("::")[2] for test in expected}
    names |= {path.rpartition("/")[2] for path in material.hidden}
    if told := sorted(name for name in names if name and name in because):
        raise InputError(
            f"the reason names what is hidden: {first_words(told)}",
            hint="everybody who sees evals/ reads it: say what was wrong without names",
        )


def _corrected(
    lab: Lab, suite: Suite, person: Person, task: Task, work: tuple[Files, str]
) -> SealRecord:
    """Write vault, log and record, in this order: a record that the log tells of counts.

    A call that was interrupted after its record was written is gone on with.
    """
    draft, because = work
    earlier = read_corrections(lab.workspace, suite)
    sealer = Sealer(member=person.name, key=lab.key(person), recipients=lab.settings.recipients)
    vault, seal = seal_correction(task.id, draft, sealer=sealer, now=now())
    newest = earlier.newest(task.id)
    if newest and newest.seal.commitment == seal.commitment:
        say(f"{task.id}: correction {newest.number} has this content already")
        return newest.seal
    in_force = earlier.commitment(suite, task.id)
    if seal.commitment == in_force:
        raise InputError(
            f"nothing is corrected: the draft of {task.id} is what was frozen",
            hint=f"mend {lab.workspace.draft(task.id)}, then labkit task validate {task.id}",
        )
    number = newest.number + 1 if newest else 1
    correction = Correction(
        task=task.id,
        number=number,
        by=person.name,
        at=seal.sealed_at,
        because=because,
        content=suite.tasks[task.id].content,
        replaces=in_force,
        seal=seal,
    ).sign(lab.key(person))
    text = correction.text()
    path = lab.workspace.correction(task.id, number)
    replace(lab.workspace.corrected_bundle(lab.settings.team, task.id, number), vault)
    lab.log(person, LOGGED, subject=path.name, digests={MADE: digest(text.encode())})
    write_new(path, text)
    say(f"{task.id}: correction {number}, commitment {seal.commitment[:16]}...: {because}")
    return seal
