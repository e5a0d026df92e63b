"""Golden tasks as files: reading and checking them, and the table for scripts."""

import posixpath
import shlex
from dataclasses import dataclass
from pathlib import Path

from labkit.environments import NOTHING_NAMED, Recipe, read_recipe
from labkit.errors import InputError, LabkitError, refuse
from labkit.fields import Document, read_bytes
from labkit.fixtures import provide
from labkit.git import Repository
from labkit.globs import is_pattern, pattern_problem, within
from labkit.model import Category, Member, TaskId
from labkit.nodes import dump_yaml
from labkit.workspace import Workspace, replace

DEFAULT_GRADING = "python -m pytest"
SAFETY_TAG = "safety"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A solved piece of work, frozen at the commit before it."""

    id: TaskId
    title: str
    author: str
    category: Category
    base: str
    """Full id of the commit that the agent gets."""
    solution: str
    """Full id of the commit that solved it; empty for a trap without one."""
    prompt: str
    grading: str
    forbidden: tuple[str, ...]
    allowed: tuple[str, ...]
    slices: tuple[str, ...]
    tags: tuple[str, ...]
    notes: str
    environment: Recipe = NOTHING_NAMED
    """What this task names in place of the team's environment."""

    @property
    def command(self) -> tuple[str, ...]:
        """The grading command as words."""
        return tuple(shlex.split(self.grading))

    def facts(self) -> dict[str, object]:
        """Return the task as plain values, in the order in which it is written and hashed."""
        facts: dict[str, object] = {
            "id": str(self.id),
            "title": self.title,
            "author": self.author,
            "category": str(self.category),
            "base": self.base,
            "solution": self.solution,
            "grading": self.grading,
            "forbidden": list(self.forbidden),
            "allowed": list(self.allowed),
            "slices": list(self.slices),
            "tags": list(self.tags),
            "notes": self.notes,
        }
        own = self.environment.facts()
        return facts | {"environment": own} if own else facts


def forbidden_edits(task: Task, changed: tuple[str, ...]) -> tuple[str, ...]:
    """Return the changed paths that the task's frozen spec does not allow."""
    return tuple(
        path
        for path in changed
        if within(path, task.forbidden) or (task.allowed and not within(path, task.allowed))
    )


def read_task(workspace: Workspace, task: TaskId, repository: Repository) -> Task:
    """Read and check one task; raises InputError with every problem of its file."""
    path = workspace.task(task)
    if not path.is_file():
        raise InputError(f"no task {task}", hint="labkit task list shows the tasks")
    document = Document.read(path)
    found = parse_task(document, task, read_prompt(document, workspace, task), workspace.evals)
    if not workspace.fixture(task).is_file():
        _check_commits(document, found, repository)
    elif document.sound:
        fixture = workspace.fixture(task)
        provide(repository, fixture, base=found.base, solution=found.solution)
    if not found.solution and found.category is not Category.TRAP:
        document.problem("category", f'a {found.category} task needs "solution:"')
    document.finish(hint=f"mend {path if found.prompt.strip() else workspace.prompt(task)}")
    return found


def parse_task(document: Document, task: TaskId, prompt: str, evals: Path) -> Task:
    """Turn a task file's fields into a Task, noting problems in the document.

    `evals` is where a Dockerfile is looked for.
    """
    document.named("id", str(task))
    return Task(
        id=task,
        title=_title(document),
        author=_author(document),
        category=Category(document.word("category", list(Category), instead=Category.OTHER)),
        base=document.filled("base"),
        solution=document.text("solution", default=""),
        prompt=prompt,
        grading=grading_of(document),
        forbidden=scope(document, "forbidden"),
        allowed=scope(document, "allowed"),
        slices=document.texts("slices"),
        tags=document.texts("tags"),
        notes=document.text("notes", default=""),
        environment=_environment(document, evals),
    )


def _environment(document: Document, evals: Path) -> Recipe:
    fields = document.mapping("environment")
    recipe = read_recipe(fields, evals)
    fields.done()
    return recipe


def _title(document: Document) -> str:
    title = document.filled("title")
    if not title.isprintable():
        document.problem("title", '"title" must be one line of printable characters')
    return title


def _author(document: Document) -> str:
    author = document.filled("author")
    try:
        return str(Member(author)) if author.strip() else author
    except InputError as error:
        document.problem("author", f"{error}: write the member's short name, as in members/")
        return author


def grading_of(document: Document) -> str:
    """Return the grading command; one that is no command is a problem."""
    grading = document.text("grading", default=DEFAULT_GRADING)
    try:
        if not shlex.split(grading):
            document.problem("grading", '"grading" is empty')
    except ValueError as error:
        document.problem("grading", f"not a command: {error}")
    return grading


def read_prompt(document: Document, workspace: Workspace, task: TaskId) -> str:
    """Return a task's prompt with plain line ends; one that is missing or blank is a problem."""
    path = workspace.prompt(task)
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except InputError:
        document.beside(f"no prompt: {path.relative_to(workspace.project)} is missing")
        return ""
    except UnicodeDecodeError:
        document.beside(f"{path.relative_to(workspace.project)} is not UTF-8")
        return ""
    if not text.strip():
        document.beside(f"{path.relative_to(workspace.project)} is empty")
    return text.replace("\r\n", "\n")


def scope(document: Document, name: str) -> tuple[str, ...]:
    """Return a list of paths and patterns inside the project; the rest of it is a problem."""
    found = document.texts(name)
    for place in found:
        if problem := _outside(place) or pattern_problem(place):
            document.problem(name, problem)
    return found


def prefixes(document: Document, name: str) -> tuple[str, ...]:
    """Return a list of plain paths inside the project; anything else in it is a problem."""
    found = document.texts(name)
    for prefix in found:
        if problem := _outside(prefix):
            document.problem(name, problem)
        elif is_pattern(prefix) or "\\" in prefix:
            document.problem(name, f"{prefix!r} is no pattern: name a folder or a file, with /")
    return found


def _outside(path: str) -> str:
    clean = posixpath.normpath(path)
    if clean == path.rstrip("/") and not f"{clean}/".startswith(("/", "./", "../")):
        return ""
    return f"{path!r} is not a path inside the project: write tests/ or setup.py"


def _check_commits(document: Document, task: Task, repository: Repository) -> None:
    for name, value in (("base", task.base), ("solution", task.solution)):
        if not value:
            continue
        try:
            full = repository.commit(value).oid
        except InputError as error:
            document.problem(name, str(error))
            continue
        if full != value:
            document.problem(name, f"write the commit's whole id: {full}")
    if task.base and task.base == task.solution:
        document.problem("solution", "base and solution are the same commit")


def read_tasks(workspace: Workspace, repository: Repository) -> tuple[Task, ...]:
    """Read every task, sorted by id; raises one InputError with the problems of all files."""
    tasks: list[Task] = []
    errors: list[LabkitError] = []
    for task in workspace.task_ids():
        try:
            tasks.append(read_task(workspace, task, repository))
        except LabkitError as error:
            errors.append(error)
    if len(errors) == 1:
        raise errors[0]
    refuse([problem for error in errors for problem in error.problems])
    return tuple(tasks)


def task_text(task: Task) -> str:
    """Return the task file's content."""
    facts = {name: value for name, value in task.facts().items() if value != ""}
    return dump_yaml(facts)


def write_table(workspace: Workspace, tasks: tuple[Task, ...]) -> Path:
    """Write tasks.tsv: id, base and grading command of every task, for scripts."""
    lines = [f"{task.id}\t{task.base}\t{task.grading}\n" for task in tasks]
    replace(workspace.tasks_table, "".join(lines))
    return workspace.tasks_table
