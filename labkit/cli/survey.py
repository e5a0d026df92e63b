"""Everything that stands between a lab and its frozen suite.

`labkit task freeze` refuses it, `labkit task check` tells it. Files are read one by one, so that a
broken one does not hide what another lacks.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import TypeVar

from labkit import sealrecord
from labkit.cli.lab import SHARED, Lab
from labkit.cli.laying import laying_problems
from labkit.cli.mix import MEND, MEND_OR_TRIAL, mix_problems
from labkit.cli.sizes import ease
from labkit.cli.states import Standing, State, standing
from labkit.configurations import Configuration, read_configuration, the_difference
from labkit.errors import InputError, IntegrityError, LabkitError
from labkit.fields import read_bytes
from labkit.model import TaskId
from labkit.phases import progress
from labkit.rubric import Rubric, load_rubric
from labkit.scaffold import template
from labkit.seal import check_recipient
from labkit.sealrecord import SealRecord
from labkit.settings import Person, Role, read_person
from labkit.suite import Suite, read_suite, version
from labkit.tasks import Task, read_task
from labkit_runner.preflight import changed_since

Value = TypeVar("Value")


class Weight(StrEnum):
    """What a finding means for freezing."""

    ERROR = "error"
    MIX = "mix"
    """Refused too, except for a trial (`--pilot`)."""
    ADVICE = "advice"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing to do, and how."""

    weight: Weight
    what: str
    mend: str = ""
    damaged: bool = False
    """Whether something does not match that labkit itself wrote or signed."""


@dataclass(slots=True)
class Survey:
    """A lab as far as it could be read, and what was found."""

    lab: Lab
    suite: Suite | None = None
    people: tuple[Person, ...] = ()
    tasks: dict[TaskId, Task] = field(default_factory=dict)
    standings: dict[TaskId, Standing] = field(default_factory=dict)
    seals: dict[TaskId, SealRecord] = field(default_factory=dict)
    configurations: tuple[Configuration, ...] = ()
    rubric: Rubric | None = None
    findings: list[Finding] = field(default_factory=list)
    is_whole: bool = True
    """Whether every member's and every task's file could be read."""

    def of(self, *weights: Weight) -> list[Finding]:
        """Return the findings of these weights, in the order in which they were found."""
        return [finding for finding in self.findings if finding.weight in weights]

    def note(self, what: str, mend: str = "", *, weight: Weight = Weight.ERROR) -> None:
        """Note something to do."""
        self.findings.append(Finding(weight=weight, what=what, mend=mend))

    def read(self, read: Callable[[], Value]) -> Value | None:
        """Return what `read` does, or None when it raises: then its problems are noted."""
        try:
            return read()
        except LabkitError as error:
            damaged = isinstance(error, IntegrityError)
            self.findings += [
                Finding(weight=Weight.ERROR, what=problem, mend=error.hint or "", damaged=damaged)
                for problem in error.problems
            ]
            return None


def survey(lab: Lab, *, frozen: bool = True) -> Survey:
    """Look at everything of a lab; without `frozen` as if it had not been frozen yet."""
    made = Survey(lab)
    space = lab.workspace
    if frozen and space.suite.is_file():
        made.suite = made.read(lambda: read_suite(space.suite))
    names = made.read(space.member_names) or ()
    found = [made.read(partial(read_person, space, name)) for name in names]
    made.people = tuple(person for person in found if person is not None)
    _read_tasks(made)
    made.is_whole = len(made.people) == len(names) and made.is_whole
    _read_keys(made)
    _read_configurations(made)
    made.rubric = made.read(lambda: load_rubric(space.rubric))
    for task in made.tasks.values():
        _look_at(made, task)
    _look_at_mix(made)
    if made.suite is None:
        _look_at_chosen(made)
    if made.suite:
        _look_at_suite(made, made.suite)
    return made


def _look_at_mix(made: Survey) -> None:
    """Note what is lacking in the mix; it is counted once every file can be read."""
    if made.is_whole:
        weight = Weight.ADVICE if made.suite else Weight.MIX
        for problem in mix_problems(made.lab.settings, _tasks(made), made.people):
            made.note(problem, MEND if made.suite else MEND_OR_TRIAL, weight=weight)


def _look_at_chosen(made: Survey) -> None:
    """Note what labkit.yaml chooses and nobody has written."""
    settings = made.lab.settings
    for name, tasks in (
        ("second_attempts", settings.second_attempts),
        ("smoke", settings.smoke),
    ):
        for task in tasks:
            if not made.lab.workspace.task(task).is_file():
                made.note(
                    f"{name} in labkit.yaml names {task}, and there is no such task",
                    "labkit task list shows the tasks",
                )


def _look_at_suite(made: Survey, suite: Suite) -> None:
    """Note what changed since the suite was frozen, beside the tasks that are still there."""
    for name in suite.tasks:
        if not made.lab.workspace.task(name).is_file():
            made.note(f"task {name} is frozen, and its file is gone", "restore it from git")
    changed = changed_since(made.lab.workspace, suite, made.tasks, made.configurations)
    rubric = made.rubric.facts() if made.rubric else {}
    environment = made.lab.pinned_environment(made.tasks)
    if made.rubric and version(suite.tasks, rubric, environment) != suite.version:
        changed.append(SHARED)
    for what in changed:
        if not what.startswith("task ") or what.endswith("(new)"):
            made.note(
                f"changed since the suite was frozen: {what}",
                "undo the change; before the first run: labkit task freeze --again",
            )


def _read_tasks(made: Survey) -> None:
    space = made.lab.workspace
    ids = made.read(space.task_ids) or ()
    for name in ids:
        task = made.read(partial(read_task, space, name, made.lab.repository))
        if task is not None:
            made.tasks[name] = task
    made.is_whole = len(made.tasks) == len(ids)
    if not ids:
        made.note("there are no tasks", "labkit task new, or labkit task starter")


def _read_keys(made: Survey) -> None:
    settings = made.lab.settings
    if not settings.holder:
        made.read(lambda: settings.recipients)
    for name, key in (("holder", settings.holder), ("backup", settings.backup)):
        try:
            if key:
                check_recipient(key)
        except InputError as error:
            made.note(f"labkit.yaml, {name}: {error.message}", error.hint or "")


def _read_configurations(made: Survey) -> None:
    space = made.lab.workspace
    names = made.read(space.configuration_ids) or ()
    found = [made.read(partial(read_configuration, space, name)) for name in names]
    made.configurations = tuple(each for each in found if each is not None)
    for name in names:
        blank = template("init", "configs", f"{name}.yaml")
        written = read_bytes(space.configuration(name)).replace(b"\r\n", b"\n")
        if blank.is_file() and written == blank.read_bytes():
            made.note(
                f"configs/{name}.yaml is as labkit made it",
                "write what your team really uses; if that is it, delete the file's first line",
            )
    if len(names) < 2:  # noqa: PLR2004 - a comparison has two sides
        made.note("a comparison needs two configurations", "write configs/A.yaml and B.yaml")
    elif len(made.configurations) == len(names):
        made.read(lambda: the_difference(made.configurations))
        ways = partial(laying_problems, made.lab, made.configurations, _tasks(made))
        for what, mend in made.read(ways) or ():
            made.note(what, mend)
    students = [person for person in made.people if person.role is Role.STUDENT]
    if len(students) == 1 and made.is_whole and not made.lab.settings.solo:
        made.note(
            "one student alone would run only own tasks",
            'set "solo: true" in evals/labkit.yaml; the summary says so',
        )


def _tasks(made: Survey) -> tuple[Task, ...]:
    return tuple(made.tasks.values())


def _look_at(made: Survey, task: Task) -> None:
    """Note what one task lacks."""
    space = made.lab.workspace
    found = made.read(lambda: standing(space, task, made.suite))
    if found is None:
        return
    made.standings[task.id] = found
    name = f"task {task.id} ({task.author})"
    for what, mend in _undone(made, task, found):
        made.note(f"{name} {what}", mend)
    owner = {str(person.name): person.role for person in made.people}.get(task.author)
    if owner is None and made.is_whole:
        made.note(f"{name}: {task.author} has not joined", f"labkit init --me {task.author}")
    elif owner is Role.HOLDER:
        made.note(f"{name}: its author is the holder", "give it to a student", weight=Weight.ADVICE)
    if space.seal(task.id).is_file():
        _look_at_seal(made, task)
    for why in ease(space, made.lab.repository, task, found):
        made.note(f"task {task.id}: {why}", weight=Weight.ADVICE)


def _undone(made: Survey, task: Task, found: Standing) -> Iterator[tuple[str, str]]:
    what = f": {', '.join(found.changed)}" if found.changed else ""
    match found.state:
        case State.DRAFT:
            yield "is not sealed, and not proven sound yet", _ways(task)
        case State.UNSOUND:
            yield "is not sealed, and was found not sound", _ways(task)
        case State.STALE:
            yield f"is not sealed, and changed after it was proven sound{what}", _ways(task)
        case State.PROVEN:
            yield "is not sealed", f"labkit task seal {task.id}"
        case State.EDITED:
            yield f"changed after it was {_done(made, task)}{what}", way_out(made, task)
        case _:
            pass


def _ways(task: Task) -> str:
    return f"labkit task validate {task.id}, then labkit task seal {task.id}"


def _done(made: Survey, task: Task) -> str:
    return "frozen" if made.suite and task.id in made.suite.tasks else "sealed"


def way_out(made: Survey, task: Task) -> str:
    """Return what can be done about a task that changed after it was sealed or frozen."""
    files = f"tasks/{task.id}.yaml prompts/{task.id}.txt"
    undo = f"undo the change (in evals/, git diff and git log -p -- {files} show it)"
    done = progress(made.lab.workspace)
    if done.finished or done.missing:
        return f"{undo}: there are runs of the task as it was frozen"
    again = ", then labkit task freeze --again" if _done(made, task) == "frozen" else ""
    return (
        f"{undo}; or, to keep it, put the hidden tests back into "
        f"{made.lab.workspace.draft(task.id)}, then labkit task validate {task.id} and labkit task "
        f"seal --replace {task.id}{again}"
    )


def _look_at_seal(made: Survey, task: Task) -> None:
    """Note what is wrong with a task's seal record."""
    keys = {person.name: person.signing_key for person in made.people}
    record = made.read(lambda: sealrecord.load(made.lab.workspace.seal(task.id)))
    if record is None:
        return
    if record.sealed_by not in keys:
        made.note(
            f"task {task.id} was sealed by {record.sealed_by}, who has not joined",
            f"labkit init --me {record.sealed_by}",
        )
        return
    before = len(made.findings)
    made.read(lambda: sealrecord.check(record, keys[record.sealed_by]))
    holder = made.lab.settings.holder
    if holder and holder not in record.recipients:
        made.note(
            f"task {task.id} ({task.author}) is sealed to another key than the holder's",
            "seal it to the holder again: put its hidden tests back into the draft, validate it, "
            f"labkit task seal --replace {task.id}",
        )
    if len(made.findings) == before:
        made.seals[task.id] = record
