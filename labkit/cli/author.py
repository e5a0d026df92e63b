"""What an author does: new tasks, and their proof."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass

from labkit.building import Surroundings
from labkit.bundle import read_draft
from labkit.cli.console import Pace, say
from labkit.cli.grading import open_bench
from labkit.cli.lab import Lab
from labkit.cli.parallel import in_parallel
from labkit.cli.sandboxes import provide
from labkit.errors import InputError, PhaseError, refuse
from labkit.export import read_base
from labkit.git import Commit, Repository
from labkit.model import Category, TaskId
from labkit.phases import require_authoring
from labkit.scaffold import is_test, make_draft, prompt_skeleton
from labkit.tasks import DEFAULT_GRADING, Task, read_task, task_text
from labkit.workspace import Workspace, replace, write_new
from labkit_grader.execute import Bench
from labkit_grader.material import read_material
from labkit_grader.oracles.interface import Case
from labkit_grader.surroundings import bench_of_task
from labkit_grader.validate import Evidence, validate_task


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What a new task is made from, as typed."""

    commit: str = ""
    base: str = ""
    parent: int = 0
    title: str = ""


def new_task(name: str, category: str, source: Source, me: str) -> None:
    """Scaffold a task: its file, its prompt, and the draft of its hidden tests."""
    lab = Lab.open()
    require_authoring(lab.workspace)
    task = TaskId(name)
    person = lab.person(me)
    if category not in list(Category):
        raise InputError(
            f"there is no category {category!r}", hint=f"one of: {', '.join(Category)}"
        )
    for path in (lab.workspace.task(task), lab.workspace.prompt(task), lab.workspace.draft(task)):
        if path.exists():
            raise InputError(
                f"there is a task {task} already: {path}",
                hint="choose another id, or delete what is left of a task that you gave up",
            )
    base, solution = _ends(lab.repository, source, Category(category))
    tests = _commit_tests(lab.repository, base, solution) if solution else {}
    made = Task(
        id=task,
        title=source.title or (solution.subject if solution else name),
        author=str(person.name),
        category=Category(category),
        base=base.oid,
        solution=solution.oid if solution else "",
        prompt="",
        grading=DEFAULT_GRADING,
        forbidden=() if category == Category.TESTS else ("tests/", "evals/"),
        allowed=("tests/",) if category == Category.TESTS else (),
        slices=(),
        tags=(),
        notes="",
    )
    drafted = _write(lab.workspace, made, tests)
    say(f"made task {task} from {base.oid[:10]}: {made.title}")
    say(f"  write the prompt, as to a teammate: {lab.workspace.prompt(task)}")
    say(f"  check the hidden tests and make them stronger: {lab.workspace.draft(task)}")
    say(f"  {drafted} files drafted; when it is ready: labkit task validate {task}")


def _write(workspace: Workspace, task: Task, tests: dict[str, bytes]) -> int:
    """Write a new task's files, or none when one cannot be written; return how many are drafted."""
    try:
        drafted = make_draft(workspace, task.id, task.category, tests)
        write_new(workspace.prompt(task.id), prompt_skeleton(task.category))
        write_new(workspace.task(task.id), task_text(task))
    except BaseException:
        shutil.rmtree(workspace.draft(task.id), ignore_errors=True)
        workspace.prompt(task.id).unlink(missing_ok=True)
        raise
    return len(drafted)


def _ends(
    repository: Repository, source: Source, category: Category
) -> tuple[Commit, Commit | None]:
    """Return the commit that the agent gets, and the one that solved it."""
    if bool(source.commit) == bool(source.base):
        raise InputError(
            "a task starts from one commit",
            hint="--commit SHA (the solved commit), or --base SHA where nothing solved it",
        )
    if source.base:
        if category is not Category.TRAP:
            raise InputError(
                f"a {category} task needs the commit that solved it", hint="use --commit SHA"
            )
        return repository.commit(source.base), None
    solution = repository.commit(source.commit)
    return repository.commit(_parent(solution, source.parent)), solution


def _parent(solution: Commit, chosen: int) -> str:
    if not solution.parents:
        raise InputError(
            f"{solution.oid[:10]} is the first commit: there is nothing before it to start from",
            hint="choose a later commit",
        )
    if len(solution.parents) > 1 and not chosen:
        raise InputError(
            f"{solution.oid[:10]} is a merge commit with {len(solution.parents)} parents",
            hint="say which one the agent should get: --parent 1",
        )
    if chosen > len(solution.parents) or chosen < 0:
        raise InputError(
            f"{solution.oid[:10]} has no parent {chosen}",
            hint=f"its parents are numbered from 1 to {len(solution.parents)}",
        )
    return solution.parents[max(0, chosen - 1)]


def _commit_tests(repository: Repository, base: Commit, solution: Commit) -> dict[str, bytes]:
    """Return the test files that the solved commit added or changed, as they are after it."""
    changed = set(repository.changed_paths(base.tree, solution.tree))
    entries = [
        entry
        for entry in repository.tree(solution.tree)
        if entry.path in changed and is_test(entry.path)
    ]
    contents = repository.blobs([entry.oid for entry in entries])
    return {
        entry.path.decode(errors="surrogateescape"): content
        for entry, content in zip(entries, contents, strict=True)
    }


def chosen_drafts(lab: Lab, names: Sequence[str], *, what: str) -> tuple[Task, ...]:
    """Return the named tasks, or every task that has a draft."""
    ids = [TaskId(name) for name in names] or [
        task for task in lab.workspace.task_ids() if lab.workspace.draft(task).is_dir()
    ]
    if not ids:
        raise PhaseError(
            f"there is no draft to {what}",
            hint="labkit task new starts a task; sealed tasks have no draft any more",
        )
    missing = [
        f"task {task} has no draft in {lab.workspace.draft(task)}"
        for task in ids
        if not lab.workspace.draft(task).is_dir()
    ]
    refuse(missing, hint="it is sealed already, or was written on another machine")
    return tuple(read_task(lab.workspace, task, lab.repository) for task in ids)


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
    supplied = provide(lab, bench.sandbox, tasks)
    ready = [task for task in tasks if task.id in supplied.ready]
    pace = Pace(len(ready))
    unsound = len(supplied.failed)

    def prove(task: Task) -> Evidence:
        return _prove(lab, bench, task, supplied.ready[task.id], repeats)

    proofs = in_parallel(prove, ready)
    for place, evidence in enumerate(proofs, 1):
        task = evidence.case.task
        replace(lab.workspace.validation(task.id), evidence.public_text)
        replace(lab.workspace.draft(task.id) / "evidence.json", evidence.draft_text)
        verdict = "sound" if evidence.valid else "NOT SOUND"
        say(f"[{place}/{len(ready)}] {task.id} ({task.category}): {verdict}{pace.left(place)}")
        _tell(evidence)
        if not evidence.valid:
            say(f"  its draft: {lab.workspace.draft(task.id)}")
        unsound += not evidence.valid
    if unsound:
        say(f"{unsound} of {len(tasks)} tasks are not sound yet")
    return 1 if unsound else 0


def _prove(lab: Lab, bench: Bench, task: Task, place: Surroundings, repeats: int) -> Evidence:
    case = Case(
        task=task,
        repository=lab.repository,
        base=read_base(lab.repository, task.base),
        material=read_material(read_draft(lab.workspace.draft(task.id)), task.category),
    )
    return validate_task(bench_of_task(bench, case, place), case, repeats=repeats)


def _tell(evidence: Evidence) -> None:
    for note in evidence.notes:
        say(f"  note: {note}")
    for problem in evidence.problems:
        say(f"  problem: {problem}")
    counts = ", ".join(f"{count} {what}" for what, count in evidence.counts.items())
    if counts:
        say(f"  found: {counts}")
