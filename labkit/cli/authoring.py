"""What `labkit task new` does: a task's file, its prompt, and the draft of its hidden tests."""

import re
import shutil
import sys
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from labkit.cli.console import ask, say
from labkit.cli.lab import Lab
from labkit.errors import InputError
from labkit.fields import counted
from labkit.git import Commit, Repository
from labkit.guess import Guess, guess, headline, new_public_names
from labkit.model import Category, TaskId
from labkit.phases import require_authoring
from labkit.scaffold import make_draft, prompt_skeleton, require_free, taken
from labkit.solved import HiddenDraft, Solved, hidden_draft, protected_places, solved_by
from labkit.tasks import DEFAULT_GRADING, Task, task_text
from labkit.testpaths import PathKind, path_kind
from labkit.workspace import Workspace, write_new

_BEGINNINGS = {Category.BUGFIX: "bug"}
_LONGEST_SLUG = 40
_NOISE = re.compile(r"\(?#\d+\)?|^\w+(?:\([^)]*\))?!?:\s|^(?:fix(?:e[sd])?|add(?:s|ed)?)\b", re.I)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a new task is made from, as typed; empty where nothing was."""

    name: str | None = None
    category: str = ""
    commit: str = ""
    base: str = ""
    parent: int = 0
    blank: str = ""
    title: str = ""
    questions: bool = True
    """Whether a person at a terminal may be asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What a new task starts from."""

    base: Commit
    solved: Solved | None = None
    guessed: Guess | None = None
    headline: str = ""
    """The line of the commit's message that says what it did."""


def new_task(wanted: Wanted, me: str) -> None:
    """Scaffold a task: its file, its prompt, and the draft of its hidden tests.

    Everything is asked and checked before the first file is written.
    """
    lab = Lab.open()
    require_authoring(lab.workspace)
    person = lab.person(me)
    if wanted.name is not None:
        require_free(lab.workspace, TaskId(wanted.name))
    given = _given_category(wanted)
    asking = wanted.questions and sys.stdin.isatty() and sys.stderr.isatty()
    start = _start(lab.repository, wanted, given, asking=asking)
    category = given or _category(start, asking=asking)
    task = _named(lab.workspace, wanted.name, start, category, asking=asking)
    usual = _printable(start.headline) or str(task)
    title = _printable(wanted.title) or _answer("Title", usual, _printable, asking=asking)
    places = protected_places(lab.repository, start.solved) if start.solved else ("tests/",)
    made = Task(
        id=task,
        title=title,
        author=str(person.name),
        category=category,
        base=start.base.oid,
        solution=start.solved.solution.oid if start.solved else "",
        prompt=prompt_skeleton(category, places),
        grading=DEFAULT_GRADING,
        forbidden=() if category is Category.TESTS else (*(places or ("tests/",)), "evals/"),
        allowed=(places or ("tests/",)) if category is Category.TESTS else (),
        slices=(),
        tags=(),
        notes="",
    )
    hidden = hidden_draft(lab.repository, start.solved) if start.solved else HiddenDraft()
    write_task(lab.workspace, made, hidden)
    _tell(lab.workspace, made, start, hidden, guessed=not (given or asking))


def _printable(text: str) -> str:
    """Return a text as one line without control characters: commits may hold any."""
    return "".join(c if c.isprintable() else " " for c in text).strip()


def _given_category(wanted: Wanted) -> Category | None:
    """Return the category that was typed; raises InputError when there is no such one."""
    if wanted.blank and wanted.category not in ("", wanted.blank):
        raise InputError(
            f"--blank {wanted.blank} and --category {wanted.category} do not go together",
            hint="--blank says the category already: leave --category out",
        )
    text = wanted.blank or wanted.category
    if text and text not in list(Category):
        raise InputError(f"there is no category {text!r}", hint=f"one of: {', '.join(Category)}")
    return Category(text) if text else None


def _start(
    repository: Repository, wanted: Wanted, category: Category | None, *, asking: bool
) -> Start:
    """Return the commit that the agent gets, and the work that solved it."""
    if wanted.blank and (wanted.commit or wanted.parent):
        raise InputError(
            "a blank task has no commit that solved it",
            hint="use --from SHA without --blank, or --blank with --base SHA alone",
        )
    if wanted.parent and wanted.base:
        raise InputError(
            "--parent and --base both say what the agent gets", hint="give one of them"
        )
    without = wanted.blank or (wanted.base and not wanted.commit and category is Category.TRAP)
    if without:
        return Start(base=repository.commit(wanted.base or "HEAD"))
    if wanted.commit or asking:
        solved = _solved(repository, wanted)
        message = repository.message(solved.solution.oid)
        return Start(
            base=solved.base,
            solved=solved,
            guessed=_guess(repository, solved, message),
            headline=headline(message),
        )
    if wanted.base and category:
        raise InputError(
            f"a {category} task needs the commit that solved it",
            hint=f"use --from SHA, or --blank {category} to write the solution yourself",
        )
    raise InputError(
        "a task starts from one commit",
        hint="--from SHA (or --commit SHA) names the solved commit, labkit task mine lists good "
        "ones; --blank CATEGORY where nothing solved it",
    )


def _solved(repository: Repository, wanted: Wanted) -> Solved:
    """Return the work that solved it; where no commit was typed, a person is asked for one."""

    def parse(text: str) -> Solved:
        if not text:
            raise InputError("an answer is needed", hint="Ctrl-C leaves, and nothing was written")
        return solved_by(repository, text, parent=wanted.parent, base=wanted.base)

    if wanted.commit:
        return parse(wanted.commit)
    return ask("The commit that solved it (labkit task mine lists some)", parse)


def _answer(question: str, default: str, parse: Callable[[str], str], *, asking: bool) -> str:
    """Return a person's answer, or the default where nobody is asked or nothing is typed."""
    if not asking:
        return parse(default)
    return ask(f"{question} [{default}]", lambda text: parse(text or default))


def _guess(repository: Repository, solved: Solved, message: str) -> Guess:
    sources = solved.of_kind(PathKind.SOURCE)
    names = new_public_names(
        repository.blobs([change.old.oid for change in sources if change.old]),
        repository.blobs([change.new.oid for change in sources if change.new]),
    )
    kinds = {path_kind(change.path) for change in solved.changes}
    return guess(message, kinds, len(names))


def _category(start: Start, *, asking: bool) -> Category:
    guessed = start.guessed
    if guessed is None:
        raise InputError("a blank task needs its category", hint="--blank CATEGORY")

    def parse(text: str) -> str:
        found = _given_category(Wanted(category=text))
        return str(found)

    if asking:
        say(f"probably a {guessed.category}, because {guessed.reason}")
    choice = f"Category: {', '.join(Category)}"
    return Category(_answer(choice, str(guessed.category), parse, asking=asking))


def _named(
    workspace: Workspace, name: str | None, start: Start, category: Category, *, asking: bool
) -> TaskId:
    """Return the new task's id: as typed, or derived from the commit's subject and free."""
    if name is not None:
        return TaskId(name)

    def parse(text: str) -> str:
        require_free(workspace, TaskId(text))
        return text

    return TaskId(_answer("Id", _free_id(workspace, start, category), parse, asking=asking))


def _free_id(workspace: Workspace, start: Start, category: Category) -> str:
    beginning = _BEGINNINGS.get(category, str(category))
    plain = unicodedata.normalize("NFKD", _NOISE.sub(" ", start.headline)).encode("ascii", "ignore")
    words = re.findall("[a-z0-9]+", plain.decode().lower())
    if not words and start.solved:
        words = [start.solved.solution.oid[:7]]
    slug = beginning
    for word in words:
        if len(slug) + 1 + len(word) > _LONGEST_SLUG:
            break
        slug += f"-{word}"
    number = 1
    while taken(workspace, TaskId(slug if number == 1 else f"{slug}-{number}")):
        number += 1
    return slug if number == 1 else f"{slug}-{number}"


def write_task(
    workspace: Workspace,
    task: Task,
    hidden: HiddenDraft,
    *,
    beside: Mapping[str, bytes] | None = None,
) -> None:
    """Write a new task's files, or none when one cannot be written.

    `beside` are further files of its draft.
    """
    try:
        make_draft(workspace, task.id, task.category, hidden)
        for name, content in (beside or {}).items():
            write_new(workspace.draft(task.id) / name, content)
        write_new(workspace.prompt(task.id), task.prompt)
        write_new(workspace.task(task.id), task_text(task))
    except BaseException:
        shutil.rmtree(workspace.draft(task.id), ignore_errors=True)
        workspace.prompt(task.id).unlink(missing_ok=True)
        raise


def _tell(
    workspace: Workspace, task: Task, start: Start, hidden: HiddenDraft, *, guessed: bool
) -> None:
    say(f"made task {task.id} from {task.base[:10]}: {task.title}")
    if guessed and start.guessed:
        say(f"  guessed: {task.category}, because {start.guessed.reason}; --category changes it")
    draft = workspace.draft(task.id)
    say(f"  write the prompt, as to a teammate: {workspace.prompt(task.id)}")
    if start.solved is None:
        _tell_blank(workspace, task)
    elif not start.solved.changes:
        say("  base and solution hold the same files: there is nothing to solve between them")
    elif hidden.files or hidden.links:
        files = counted(len(hidden.files) + len(hidden.links), "file")
        say(f"  the commit's tests are drafted, {files}; make them stronger: {draft / 'hidden'}")
    else:
        say("  the commit adds or changes no test, so there is no hidden test yet")
        say(f"  write some, at their paths in the project: {draft}/hidden/tests/test_....py")
    if hidden.removed:
        files = counted(len(hidden.removed), "path")
        say(f"  {files} that the commit removed stand in {draft / 'hidden.yaml'}")
    for what in hidden.left_out:
        say(f"  left out of the draft: {what}")
    say(f"  when it is ready: labkit task validate {task.id}")


def _tell_blank(workspace: Workspace, task: Task) -> None:
    draft = workspace.draft(task.id)
    if task.category is Category.TRAP:
        say(f"  write what a good answer names, and examples of answers: {draft}")
        return
    say(f"  write hidden tests, at their paths in the project: {draft}/hidden/tests/test_....py")
    say(
        "  solve it on a branch of its own, and put that commit's whole id as solution: into "
        f"{workspace.task(task.id)}"
    )
