"""A piece of work that a project's history has solved: its two ends, and its tests as a draft."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from labkit.bundle import LAYOUT, why_not_drafted
from labkit.errors import InputError, ToolError
from labkit.git import EXECUTABLE, GITLINK, SYMLINK, Change, Commit, Repository
from labkit.nodes import dump_yaml
from labkit.testpaths import PathKind, is_test, path_kind, places_of_tests

_LAYOUT_HEAD = """\
# What the files below hidden/ cannot say themselves.
# removed: paths that the hidden tests take away, such as tests that the solution moved elsewhere
# executable: hidden files that are programs
# links: hidden paths that are symbolic links, and where they lead
"""
_ABBREVIATED = 10
_MOST_PLACES = 8
"""So many test places of the base are named where the commit itself has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Solved:
    """The commit before, the commit that solved it, and what lies between."""

    base: Commit
    solution: Commit
    changes: tuple[Change, ...]

    @property
    def tests(self) -> tuple[Change, ...]:
        """The changed tests and everything that belongs to them."""
        return tuple(change for change in self.changes if is_test(change.path))

    def of_kind(self, kind: PathKind) -> tuple[Change, ...]:
        """Return the changes of one kind of path."""
        return tuple(change for change in self.changes if path_kind(change.path) is kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenDraft:
    """The first draft of hidden tests: what a tree needs to have a commit's tests."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    executable: tuple[str, ...] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    removed: tuple[str, ...] = ()
    """Paths that the commit deleted or moved elsewhere."""
    left_out: tuple[str, ...] = ()
    """What no draft can hold, and why, one sentence each."""

    @property
    def layout(self) -> dict[str, object]:
        """What the files alone do not say, as hidden.yaml has it; empty when there is nothing."""
        told: dict[str, object] = {
            "executable": list(self.executable),
            "links": dict(self.links),
            "removed": list(self.removed),
        }
        return {name: value for name, value in told.items() if value}

    @property
    def layout_text(self) -> str:
        """The text of hidden.yaml; empty when the files say everything."""
        return _LAYOUT_HEAD + dump_yaml(self.layout) if self.layout else ""

    def as_draft(self) -> dict[str, bytes]:
        """Return the draft's files, as grading reads them."""
        drafted = {f"hidden/{path}": data for path, data in self.files.items()}
        return drafted | ({LAYOUT: self.layout_text.encode()} if self.layout else {})


def solved_by(repository: Repository, name: str, *, parent: int = 0, base: str = "") -> Solved:
    """Return the work that a commit solved, from its parent or from any commit before it.

    Raises InputError when that says no single base, ToolError when the clone lacks a part of it.
    """
    solution = repository.commit(name)
    start = _ancestor(repository, solution, base) if base else _parent(repository, solution, parent)
    for end in (start, solution):
        require_whole(repository, end)
    changes = repository.changes(start.tree, solution.tree)
    return Solved(base=start, solution=solution, changes=changes)


def _ancestor(repository: Repository, solution: Commit, name: str) -> Commit:
    base = repository.commit(name)
    if base.oid == solution.oid:
        raise InputError(
            f"a task starts from one commit and ends in a later one: {base.oid[:_ABBREVIATED]} is "
            "both base and solution",
            hint="--base names an earlier commit; leave it out to take the solution's parent",
        )
    if not repository.is_ancestor(base.oid, solution.oid):
        raise InputError(
            f"{base.oid[:_ABBREVIATED]} does not lead to {solution.oid[:_ABBREVIATED]}",
            hint="--base names a commit from the solution's own history",
        )
    return base


def _parent(repository: Repository, solution: Commit, chosen: int) -> Commit:
    short = solution.oid[:_ABBREVIATED]
    if not solution.parents and repository.is_shallow():
        raise InputError(
            f"{short} is the oldest commit of this shallow clone: what was before it is not here",
            hint="get the whole history: git fetch --unshallow",
        )
    if not solution.parents:
        raise InputError(
            f"{short} is the first commit: there is nothing before it to start from",
            hint="choose a later commit",
        )
    count = len(solution.parents)
    if count > 1 and not chosen:
        raise InputError(
            f"{short} is a merge commit with {count} parents",
            hint="say which one the agent should get: --parent 1",
        )
    if not 0 <= chosen <= count:
        raise InputError(
            f"{short} has no parent {chosen}",
            hint=f"its parents are numbered from 1 to {count}",
        )
    return repository.commit(solution.parents[max(0, chosen - 1)])


def require_whole(repository: Repository, commit: Commit) -> None:
    """Raise ToolError when this clone lacks a file of a commit, as partial clones do."""
    short = commit.oid[:_ABBREVIATED]
    hint = "in a partial clone, fetch everything: git fetch --refetch --no-filter"
    try:
        entries = repository.tree(commit.tree)
    except ToolError as error:
        raise ToolError(
            f"commit {short} is not whole in this clone: {error.message}", hint=hint
        ) from error
    missing = repository.missing(entries)
    if missing:
        files = "1 file" if len(missing) == 1 else f"{len(missing)} files"
        raise ToolError(
            f"commit {short} is not whole in this clone: git lacks the content of {files}, "
            f"such as {missing[0].path.decode(errors='backslashreplace')}",
            hint=hint,
        )


def hidden_draft(repository: Repository, solved: Solved) -> HiddenDraft:
    """Return a commit's tests as the draft of hidden tests, with their modes and their links."""
    after = [change.new for change in solved.tests if change.new and change.new.mode != GITLINK]
    contents = dict(zip(after, repository.blobs([entry.oid for entry in after]), strict=True))
    files: dict[str, bytes] = {}
    links: dict[str, str] = {}
    executable: list[str] = []
    left_out = [
        f"{_shown(change.path)}: a submodule cannot be hidden"
        for change in solved.tests
        if change.new and change.new.mode == GITLINK
    ]
    for entry, data in contents.items():
        path = os.fsdecode(entry.path)
        why = why_not_drafted(path) or _why_no_link(entry.path, entry.mode, data)
        if why:
            left_out.append(f"{_shown(entry.path)}: {why}")
        elif entry.mode == SYMLINK:
            links[path] = data.decode()
        else:
            files[path] = data
            executable += [path] * (entry.mode == EXECUTABLE)
    return HiddenDraft(
        files=files,
        executable=tuple(executable),
        links=links,
        removed=tuple(_removed(solved)),
        left_out=tuple(left_out),
    )


def _removed(solved: Solved) -> Iterator[str]:
    for change in solved.tests:
        path = os.fsdecode(change.path)
        if change.new is None and not why_not_drafted(path):
            yield path


def _why_no_link(path: bytes, mode: str, target: bytes) -> str:
    """Return why a link could not be drafted; empty when it can, or is none."""
    if mode != SYMLINK:
        return ""
    if leads_out(path, target):
        return "the link leads out of the project"
    return "" if os.fsdecode(target).isprintable() else "the link's target is not plain text"


def leads_out(path: bytes, target: bytes) -> bool:
    """Return whether a link's text could lead out of the tree that it stands in."""
    parts = target.split(b"/")
    climbs = next((n for n, part in enumerate(parts) if part != b".."), len(parts))
    return target.startswith(b"/") or climbs > path.count(b"/") or b".." in parts[climbs:]


def _shown(path: bytes) -> str:
    return path.decode(errors="backslashreplace")


def protected_places(repository: Repository, solved: Solved) -> tuple[str, ...]:
    """Return where the tests are that an agent must leave alone, as the base has them.

    The list is read by the whole team, so a test file that only the solution has is not named.
    """
    entries = repository.tree(solved.base.tree)
    standing = {entry.path for entry in entries}
    found = places_of_tests(change.path for change in solved.tests)
    named = [place for place in found if place in standing or _is_known_folder(place, standing)]
    if not named:
        named = list(places_of_tests(path for path in standing if is_test(path)))[:_MOST_PLACES]
    return tuple(text for place in named if (text := os.fsdecode(place)).isprintable())


def _is_known_folder(place: bytes, standing: set[bytes]) -> bool:
    """Whether a test folder is there at the base, or is named as everybody names theirs."""
    known = place.count(b"/") == 1 or any(path.startswith(place) for path in standing)
    return place.endswith(b"/") and known
