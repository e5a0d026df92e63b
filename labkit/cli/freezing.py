"""What `labkit task freeze` does: one suite version, one plan, before the first run."""

from collections import Counter

from labkit import sealrecord
from labkit.cli.console import data, say
from labkit.cli.lab import Lab, now
from labkit.configurations import Configuration, read_configurations, the_difference
from labkit.errors import InputError, PhaseError, refuse
from labkit.fields import read_bytes, read_json
from labkit.model import Category, Member, TaskId
from labkit.phases import progress, require_authoring
from labkit.plan import interleave, plan_text
from labkit.rubric import load_rubric
from labkit.settings import Person, Role, read_people
from labkit.suite import FrozenTask, Suite, content_digest, digest, suite_text, version
from labkit.tasks import Task, write_table
from labkit.workspace import replace
from labkit_runner.preflight import configuration_digest

_LEAST = {
    Category.BUGFIX: 2,
    Category.FEATURE: 2,
    Category.REFACTOR: 1,
    Category.TESTS: 1,
    Category.TRAP: 1,
}
_OWN_TASKS = 3
_SOLO_TASKS = 8


def freeze(me: str, *, again: bool, pilot: bool) -> None:
    """Freeze the suite and the plan; refuses when a task is not proven, sealed or unchanged."""
    lab = Lab.open()
    require_authoring(lab.workspace)
    person = lab.person(me)
    if lab.workspace.suite.exists() and not again:
        raise PhaseError(
            "the suite is frozen already",
            hint=f"before the first run: labkit task freeze --again{' --pilot' if pilot else ''}",
        )
    tasks = lab.tasks()
    if not tasks:
        raise PhaseError("there are no tasks", hint="run: labkit task new")
    people = read_people(lab.workspace)
    frozen = _frozen_tasks(lab, tasks, people)
    if not pilot:
        refuse(
            _mix_problems(lab, tasks, people),
            hint="write more tasks, or, for a trial: labkit task freeze"
            f"{' --again' if again else ''} --pilot",
        )
    configurations = read_configurations(lab.workspace)
    load_rubric(lab.workspace.rubric)
    plan = _plan(lab, tasks, configurations, people)
    suite = Suite(
        version=version(frozen, read_bytes(lab.workspace.rubric)),
        frozen_at=now().isoformat(timespec="seconds"),
        difference=the_difference(configurations),
        configurations={
            str(found.id): configuration_digest(lab.workspace, found) for found in configurations
        },
        plan=digest(plan.encode()),
        tasks=frozen,
    )
    write_table(lab.workspace, tuple(tasks.values()))
    replace(lab.workspace.plan, plan)
    replace(lab.workspace.suite, suite_text(suite))
    lab.log(person, "freeze", subject=suite.version, digests={"plan": suite.plan})
    _tell(lab, suite)


def _tell(lab: Lab, suite: Suite) -> None:
    planned = progress(lab.workspace).planned
    data(suite.version)
    say(f"frozen: {len(suite.tasks)} tasks, {len(planned)} runs; {suite.difference}")
    for runner, count in sorted(Counter(item.runner for item in planned).items()):
        say(f"  {runner} runs {count}")
    say("commit and push evals/; then everybody: labkit task run")


def _frozen_tasks(
    lab: Lab, tasks: dict[TaskId, Task], people: tuple[Person, ...]
) -> dict[TaskId, FrozenTask]:
    """Return what the suite pins of each task; raises InputError with all that is missing."""
    keys = {person.name: person.signing_key for person in people}
    problems: list[str] = []
    frozen: dict[TaskId, FrozenTask] = {}
    for task in tasks.values():
        if not lab.workspace.seal(task.id).is_file():
            problems.append(f"task {task.id} ({task.author}) is not sealed")
            continue
        record = sealrecord.load(lab.workspace.seal(task.id))
        if record.sealed_by not in keys:
            problems.append(f"task {task.id} was sealed by {record.sealed_by}, who has not joined")
            continue
        sealrecord.check(record, keys[record.sealed_by])
        content = content_digest(task.facts(), task.prompt)
        if _proven_content(lab, task) != content:
            problems.append(f"task {task.id} ({task.author}) changed after it was proven sound")
        frozen[task.id] = FrozenTask(
            author=task.author,
            content=content,
            commitment=record.commitment,
            ciphertext=record.ciphertext_sha256,
            canaries=record.canary_digests,
        )
    refuse(problems, hint="labkit task validate, then labkit task seal")
    return frozen


def _proven_content(lab: Lab, task: Task) -> str:
    path = lab.workspace.validation(task.id)
    return str(read_json(path, schema=1).get("content", "")) if path.is_file() else ""


def _mix_problems(lab: Lab, tasks: dict[TaskId, Task], people: tuple[Person, ...]) -> list[str]:
    """Return what the suite lacks of the mix that a course asks for."""
    students = [person.name for person in people if person.role is Role.STUDENT]
    categories = Counter(task.category for task in tasks.values())
    problems = [
        f"{categories[category]} {category} tasks: at least {least} are asked for"
        for category, least in _LEAST.items()
        if categories[category] < least
    ]
    if lab.settings.solo or len(students) == 1:
        if len(tasks) < _SOLO_TASKS:
            problems.append(f"{len(tasks)} tasks: a person alone writes at least {_SOLO_TASKS}")
        return problems
    owned = Counter(task.author for task in tasks.values())
    problems += [
        f"{name} wrote {owned[str(name)]} tasks: at least {_OWN_TASKS} are asked for"
        for name in students
        if owned[str(name)] < _OWN_TASKS
    ]
    return problems


def _plan(
    lab: Lab,
    tasks: dict[TaskId, Task],
    configurations: tuple[Configuration, ...],
    people: tuple[Person, ...],
) -> str:
    runners = [person.name for person in people if person.role is Role.STUDENT]
    if len(runners) == 1 and not lab.settings.solo:
        raise InputError(
            "one student alone would run only own tasks",
            hint='set "solo: true" in evals/labkit.yaml; the summary says so',
        )
    planned = interleave(
        [(task.id, Member(task.author)) for task in tasks.values()],
        [found.id for found in configurations],
        lab.settings.attempts,
        runners,
    )
    return plan_text(planned)
