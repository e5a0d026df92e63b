"""What `labkit task new --fixture` does: a task from a folder with start/ and solution/."""

import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from labkit.cli.console import say
from labkit.cli.fixturefolder import Folder, read_folder
from labkit.cli.lab import Lab
from labkit.errors import InputError
from labkit.fixtures import Ends, changed_paths, fixture_tar, write_commits
from labkit.model import Category, Member, TaskId
from labkit.phases import require_authoring
from labkit.scaffold import copy_out, require_free, template
from labkit.settings import Person
from labkit.tasks import Task, task_text
from labkit.workspace import Workspace, replace, write_new

_ATTRIBUTE = b"fixtures/*.tar binary"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is typed beside the folder; it goes before what the folder's task.yaml says."""

    category: str = ""
    title: str = ""
    history: bool = False
    """Whether a commit was named too."""


def new_from_fixture(name: str, folder: Path, asked: Asked, me: str) -> None:
    """Make a task out of a folder instead of a history."""
    if asked.history:
        raise InputError(
            "a task starts from a folder or from a commit, not from both",
            hint="leave out --fixture, or --commit and --base",
        )
    lab = Lab.open()
    require_authoring(lab.workspace)
    person = lab.person(me)
    chosen = TaskId(name)
    require_free(lab.workspace, chosen)
    read = read_folder(folder, asked.category)
    task = add_task(lab, chosen, read, person, title=asked.title)
    say(f"made task {task.id} from {folder}: {task.title}")
    changed = changed_paths(read.fixture)
    if read.fixture.solution:
        count = f"{len(changed)} file{'' if len(changed) == 1 else 's'}"
        say(f"  the solution changes {count}: {', '.join(changed[:8])}")
    say(f"  check the prompt: {lab.workspace.prompt(task.id)}")
    say(f"  check the hidden tests: {lab.workspace.draft(task.id)}")
    say(f"  when it is ready: labkit task validate {task.id}")


def add_task(lab: Lab, task: TaskId, read: Folder, person: Person, *, title: str = "") -> Task:
    """Write a new task's files and its commits: all of them, or none."""
    require_free(lab.workspace, task)
    ends = write_commits(lab.repository, read.fixture)
    made = make_task(task, read, ends, person.name, title)
    paths = Paths.of(lab.workspace, task)
    try:
        mark_binary(lab.workspace)
        write_new(paths.fixture, fixture_tar(read.fixture))
        for path, data in read.draft.items():
            write_new(paths.draft / path, data)
        if read.category is Category.TRAP and not (paths.draft / "examples").is_dir():
            copy_out(template("task", "examples"), paths.draft / "examples")
        write_new(paths.prompt, read.prompt)
        write_new(paths.task, task_text(made))
    except BaseException:
        paths.remove()
        raise
    return made


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """Everything that a new fixture task brings."""

    task: Path
    prompt: Path
    fixture: Path
    draft: Path

    @classmethod
    def of(cls, workspace: Workspace, task: TaskId) -> "Paths":
        """Return the paths of one task."""
        return cls(
            task=workspace.task(task),
            prompt=workspace.prompt(task),
            fixture=workspace.fixture(task),
            draft=workspace.draft(task),
        )

    def remove(self) -> None:
        """Remove what a task that could not be made has left."""
        shutil.rmtree(self.draft, ignore_errors=True)
        for path in (self.task, self.prompt, self.fixture):
            with suppress(OSError):
                path.unlink()


def mark_binary(workspace: Workspace) -> None:
    """Tell the git of evals/ never to touch a fixture's bytes, whatever its users have set."""
    path = workspace.evals / ".gitattributes"
    lines = path.read_bytes().splitlines() if path.is_file() else []
    if _ATTRIBUTE not in lines:
        replace(path, b"\n".join([*lines, _ATTRIBUTE]) + b"\n")


def make_task(task: TaskId, read: Folder, made: Ends, author: Member, title: str = "") -> Task:
    """Return the task that a folder and its commits are."""
    spec, writing = read.spec, read.category is Category.TESTS
    forbidden = () if writing else ("tests/", "evals/")
    allowed = ("tests/",) if writing else ()
    return Task(
        id=task,
        title=title or spec.title or str(task),
        author=str(author),
        category=read.category,
        base=made.base,
        solution=made.solution,
        prompt=read.prompt,
        grading=spec.grading,
        forbidden=forbidden if spec.forbidden is None else spec.forbidden,
        allowed=allowed if spec.allowed is None else spec.allowed,
        slices=spec.slices,
        tags=spec.tags,
        notes=spec.notes,
    )
