"""How much a solution changes, and whether a task may be too easy to tell anybody apart."""

from collections.abc import Iterator
from dataclasses import dataclass

from labkit.bundle import read_draft
from labkit.cli.states import Standing
from labkit.errors import InputError
from labkit.git import Repository
from labkit.model import Category
from labkit.tasks import Task
from labkit.testpaths import is_test
from labkit.workspace import Workspace

_MANY_LINES = 300
_MANY_FILES = 10
_THIN = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """What a solution changes beside tests; a binary file counts as one line."""

    lines: int
    files: int


def solution_size(repository: Repository, task: Task) -> Size | None:
    """Return the size of a task's solution; None where there is none (a trap)."""
    if not task.solution:
        return None
    listed = repository.git(
        "diff", "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv",
        task.base, task.solution, "--",
    ).stdout  # fmt: skip
    lines = files = 0
    for record in listed.split(b"\0"):
        added, _, rest = record.partition(b"\t")
        removed, _, path = rest.partition(b"\t")
        if path and (task.category is Category.TESTS or not is_test(path)):
            files += 1
            lines += 1 if added == b"-" else max(int(added), int(removed))
    return Size(lines=lines, files=files)


def ease(
    workspace: Workspace, repository: Repository, task: Task, found: Standing
) -> Iterator[str]:
    """Yield why a task may be too easy, or too large, to separate two configurations."""
    size = solution_size(repository, task)
    if size is not None:
        if size.lines == 1:
            yield "its solution is one changed line: every configuration may pass"
        if size.lines > _MANY_LINES or size.files > _MANY_FILES:
            yield (
                f"its solution is large: {size.lines} lines in {size.files} "
                f"file{'' if size.files == 1 else 's'}; runs and scoring take long"
            )
    if found.counts.get("fail_to_pass") == _THIN:
        yield "a single test has to begin to pass: a guess may be enough"
    if found.counts.get("mutations") == _THIN:
        yield "there is a single planted fault: a single test may be enough"
    if _is_the_commits_own(workspace, repository, task):
        yield "its hidden tests are the commit's own, unchanged: give them other inputs"


def _is_the_commits_own(workspace: Workspace, repository: Repository, task: Task) -> bool:
    """Return whether every hidden test of a draft stands in the solution just so."""
    folder = workspace.draft(task.id)
    if not task.solution or not folder.is_dir():
        return False
    try:
        files = read_draft(folder)
    except InputError:
        return False  # the validation says so
    hidden = {
        path.removeprefix("hidden/").encode(): data
        for path, data in files.items()
        if path.startswith("hidden/") and is_test(path.encode())
    }
    there = {entry.path: entry.oid for entry in repository.tree(task.solution)}
    if not hidden or not hidden.keys() <= there.keys():
        return False
    return all(
        data == hidden[path]
        for path, data in zip(hidden, repository.blobs(there[path] for path in hidden), strict=True)
    )
