"""What `labkit task validate` does: every draft is proven, or it is said why it cannot be."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from labkit.building import Surroundings
from labkit.bundle import INSTANCE, PROOF, read_draft
from labkit.cli.author import chosen_ids, drafts_here
from labkit.cli.console import Pace, complain, say
from labkit.cli.correcting import require_changeable
from labkit.cli.grading import open_bench
from labkit.cli.lab import Lab, now
from labkit.cli.parallel import in_parallel, processors
from labkit.cli.sandboxes import supply_of
from labkit.errors import InputError, LabkitError
from labkit.evals.swebench import differences, read_named
from labkit.export import read_base
from labkit.fields import counted
from labkit.model import TaskId
from labkit.scaffold import is_untouched
from labkit.tasks import Task, read_task
from labkit.workspace import replace
from labkit_grader.execute import Bench
from labkit_grader.material import EVIDENCE, read_material
from labkit_grader.oracles.interface import Case
from labkit_grader.remembered import environment_id, proof_key, recall, record_text
from labkit_grader.repeats import LEAST, Repeats
from labkit_grader.surroundings import bench_of_task
from labkit_grader.validate import Evidence, validate_task


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """How to validate, as typed."""

    repeats: int = 0
    """Exactly so many rounds; 0 leaves it to the budget."""
    budget: float
    quick: bool = False
    again: bool = False

    @property
    def rounds(self) -> Repeats:
        """How many rounds that makes."""
        if self.repeats or self.quick:
            return Repeats.exactly(self.repeats or LEAST, thorough=not self.quick)
        return Repeats(budget=self.budget)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Proving:
    """Where tasks are proven, and how."""

    lab: Lab
    bench: Bench
    wanted: Wanted
    ready: Mapping[TaskId, Surroundings]
    failed: Mapping[TaskId, LabkitError]
    """Tasks whose environment could not be made."""
    workers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Proven:
    """What became of one task: evidence, or the error that stood in the way of any."""

    task: Task
    evidence: Evidence | None = None
    since: datetime | None = None
    """When it was proven, if that was earlier."""
    key: str = ""
    error: LabkitError | None = None


def validate_tasks(names: Sequence[str], wanted: Wanted, *, sandbox_name: str) -> int:
    """Prove the tasks and write their evidence; return 1 when one of them is not sound.

    A task that could not be examined at all stops none of the others; the exit code is then that of
    its error, unless another task is not sound.
    """
    lab = Lab.open()
    require_changeable(lab, drafts_here(lab, names))
    if 0 < wanted.repeats < LEAST and not wanted.quick:
        raise InputError(
            f"{wanted.repeats} repeats prove too little: at least {LEAST} are needed",
            hint="add --quick for a look that writes nothing",
        )
    tasks, unread = _read(lab, chosen_ids(lab, names, what="validate"))
    bench = open_bench(lab, sandbox_name)
    supplied = supply_of(lab, bench.sandbox).provide(tasks)
    proving = _Proving(
        lab=lab,
        bench=bench,
        wanted=wanted,
        ready=supplied.ready,
        failed=supplied.failed,
        workers=max(1, processors() // len(tasks)),
    )
    say(f"proving {counted(len(tasks), 'task')} in {bench.sandbox.name}")
    pace = Pace(len(tasks))
    found: list[_Proven] = []
    for place, proven in enumerate(in_parallel(lambda task: _prove(proving, task), tasks), 1):
        found.append(proven)
        _keep(proving, proven)
        left = pace.left(place).removeprefix(", ")
        say(f"[{place}/{len(tasks)}] {_verdict(proven)}" + (f"  ({left})" if left else ""))
        _tell(lab, proven)
    return _sum_up(found, unread, wanted)


def _read(lab: Lab, ids: Sequence[TaskId]) -> tuple[list[Task], list[LabkitError]]:
    """Read the tasks; what is wrong with one stops no other, unless none can be read."""
    tasks: list[Task] = []
    errors: list[LabkitError] = []
    for name in ids:
        try:
            tasks.append(_ready(lab, name))
        except LabkitError as error:
            errors.append(error)
    if not tasks:
        raise errors[0] if len(errors) == 1 else _joined(errors)
    for each in errors:
        complain(each)
    return tasks, errors


def _ready(lab: Lab, name: TaskId) -> Task:
    task = read_task(lab.workspace, name, lab.repository)
    if is_untouched(task.prompt, task.category):
        raise InputError(
            f"{lab.workspace.prompt(name)} is as labkit made it",
            hint="write what the agent is asked, as to a teammate",
        )
    return task


def _joined(errors: Sequence[LabkitError]) -> LabkitError:
    first, *more = [problem for error in errors for problem in error.problems]
    return InputError(first, hint=errors[0].hint, more=more)


def _prove(proving: _Proving, task: Task) -> _Proven:
    if task.id in proving.failed:
        return _Proven(task=task, error=proving.failed[task.id])
    try:
        return _proof(proving, task)
    except LabkitError as error:
        return _Proven(task=task, error=error)


def _proof(proving: _Proving, task: Task) -> _Proven:
    """Prove one task, or recall its proof when nothing that it rests on has changed."""
    lab, wanted = proving.lab, proving.wanted
    draft = lab.workspace.draft(task.id)
    material = read_material(read_draft(draft), task.category)
    twin = material.rules.trap.twin
    case = Case(
        task=task,
        repository=lab.repository,
        base=read_base(lab.repository, task.base),
        material=material,
        twin=read_task(lab.workspace, twin, lab.repository)
        if twin in lab.workspace.task_ids()
        else None,
    )
    place = proving.ready[task.id]
    bench = bench_of_task(proving.bench, case, place)
    environment = "\n".join((environment_id(bench), place.key, *place.build))
    key = proof_key(bench, case, wanted.rounds, environment=environment)
    kept = b"" if wanted.again else _content(draft / PROOF)
    if recalled := recall(kept, case, key=key):
        evidence, since = recalled
        return _Proven(task=task, evidence=evidence, since=since, key=key)
    evidence = validate_task(bench, case, repeats=wanted.rounds, workers=proving.workers)
    return _Proven(task=task, evidence=evidence, key=key)


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() and not path.is_symlink() else b""


def _keep(proving: _Proving, proven: _Proven) -> None:
    """Write what a whole proof found; a quick look leaves everything as it was."""
    if proven.evidence is None or proving.wanted.quick:
        return
    workspace, task = proving.lab.workspace, proven.task.id
    replace(workspace.validation(task), proven.evidence.public_text)
    replace(workspace.draft(task) / EVIDENCE, proven.evidence.draft_text)
    if proven.since is None:
        text = record_text(proven.evidence, key=proven.key, now=now())
        replace(workspace.draft(task) / PROOF, text)


def _verdict(proven: _Proven) -> str:
    """Return a task's one line: its verdict, and how it was come by."""
    name = f"{proven.task.id} ({proven.task.category})"
    if proven.evidence is None:
        return f"{name}: NOT EXAMINED"
    verdict = "sound" if proven.evidence.valid else "NOT SOUND"
    if proven.since is not None:
        return f"{name}: unchanged since {proven.since:%Y-%m-%d %H:%M}: {verdict}"
    return f"{name}: {verdict}"


def _tell(lab: Lab, proven: _Proven) -> None:
    """Say what a task's verdict rests on, indented below it."""
    if proven.error is not None:
        complain(proven.error)
    if proven.evidence is None:
        return
    for problem in proven.evidence.problems:
        say(f"  problem: {problem}")
    for note in proven.evidence.notes:
        say(f"  note: {note}")
    for line in _of_instance(lab, proven.evidence):
        say(f"  the instance it was imported from: {line}")
    for line in _figures(proven.evidence):
        say(f"  {line}")
    if not proven.evidence.valid:
        say(f"  its draft: {lab.workspace.draft(proven.task.id)}")


def _of_instance(lab: Lab, evidence: Evidence) -> Iterator[str]:
    """Yield where the tests that an imported instance names are not what was found."""
    path = lab.workspace.draft(evidence.case.task.id) / INSTANCE
    found = evidence.expected
    if evidence.repeats and path.is_file():
        yield from differences(read_named(_content(path)), found.fail_to_pass, found.pass_to_pass)


def _figures(evidence: Evidence) -> Iterator[str]:
    counts = ", ".join(f"{count} {what}" for what, count in evidence.counts.items())
    if counts:
        yield f"found: {counts}"
    if evidence.chance is not None:
        yield (
            f"runs: {evidence.repeats} of each side; a test that fails one time in three is "
            f"noticed with probability {evidence.chance:.2f}"
        )
    if evidence.cheats:
        passed = [name for name, failed in evidence.cheats.items() if not failed]
        but = f"; not: {', '.join(passed)}" if passed else ""
        yield f"cheats: {evidence.caught} of {len(evidence.cheats)} fail{but}"


def _sum_up(found: Sequence[_Proven], unread: Sequence[LabkitError], wanted: Wanted) -> int:
    unsound = sum(each.evidence is not None and not each.evidence.valid for each in found)
    errors = [*unread, *(each.error for each in found if each.error is not None)]
    total = len(found) + len(unread)
    if unsound:
        say(f"{unsound} of {counted(total, 'task')} not sound yet")
    if errors:
        say(f"{len(errors)} of {counted(total, 'task')} could not be examined")
    if wanted.quick:
        say("a quick look, without cheats: nothing is written; labkit task validate proves")
    return 1 if unsound else max((error.exit_code for error in errors), default=0)
