"""What `labkit task validate` does: every draft is proven, or it is said why it cannot be."""

from collections.abc import Sequence

from labkit.bundle import read_draft
from labkit.cli.author import chosen_drafts
from labkit.cli.console import Pace, say
from labkit.cli.grading import open_bench
from labkit.cli.lab import Lab
from labkit.cli.parallel import in_parallel
from labkit.errors import refuse
from labkit.export import read_base
from labkit.phases import require_authoring
from labkit.scaffold import prompt_skeleton
from labkit.tasks import Task
from labkit.workspace import replace
from labkit_grader.execute import Bench
from labkit_grader.material import read_material
from labkit_grader.oracles.interface import Case
from labkit_grader.validate import Evidence, validate_task


def validate_tasks(names: Sequence[str], *, repeats: int, sandbox_name: str) -> int:
    """Prove the tasks and write their evidence; return 1 when one of them is not sound."""
    lab = Lab.open()
    require_authoring(lab.workspace)
    tasks = chosen_drafts(lab, names, what="validate")
    refuse(
        [
            f"{lab.workspace.prompt(task.id)} is as labkit made it"
            for task in tasks
            if task.prompt == prompt_skeleton(task.category)
        ],
        hint="write what the agent is asked, as to a teammate",
    )
    bench = open_bench(lab, sandbox_name)
    say(f"proving {len(tasks)} tasks in {bench.sandbox.name}, each side {repeats} times")
    pace = Pace(len(tasks))
    unsound = 0
    proofs = in_parallel(lambda task: _prove(lab, bench, task, repeats), tasks)
    for place, evidence in enumerate(proofs, 1):
        task = evidence.case.task
        replace(lab.workspace.validation(task.id), evidence.public_text)
        replace(lab.workspace.draft(task.id) / "evidence.json", evidence.draft_text)
        verdict = "sound" if evidence.valid else "NOT SOUND"
        say(f"[{place}/{len(tasks)}] {task.id} ({task.category}): {verdict}{pace.left(place)}")
        _tell(evidence)
        if not evidence.valid:
            say(f"  its draft: {lab.workspace.draft(task.id)}")
        unsound += not evidence.valid
    if unsound:
        say(f"{unsound} of {len(tasks)} tasks are not sound yet")
    return 1 if unsound else 0


def _prove(lab: Lab, bench: Bench, task: Task, repeats: int) -> Evidence:
    case = Case(
        task=task,
        repository=lab.repository,
        base=read_base(lab.repository, task.base),
        material=read_material(read_draft(lab.workspace.draft(task.id)), task.category),
    )
    return validate_task(bench, case, repeats=repeats)


def _tell(evidence: Evidence) -> None:
    for note in evidence.notes:
        say(f"  note: {note}")
    for problem in evidence.problems:
        say(f"  problem: {problem}")
    counts = ", ".join(f"{count} {what}" for what, count in evidence.counts.items())
    if counts:
        say(f"  found: {counts}")
