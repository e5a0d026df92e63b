"""A piece of work that a project's history has solved: its two ends, and its tests as a draft."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from labkit.archive import Entry, Kind
from labkit.bundle import LAYOUT, why_not_drafted
from labkit.errors import InputError, ToolError
from labkit.git import EXECUTABLE, GITLINK, SYMLINK, Change, Commit, Repository, TreeEntry
from labkit.nodes import dump_yaml
from labkit.testpaths import PathKind, is_test, path_kind, places_of_tests

_LAYOUT_HEAD = """\
# What the files below hidden/ cannot say themselves.
# removed: paths that the hidden tests take away, such as tests that the solution moved elsewhere
# executable: hidden files that are programs
# links: hidden paths that are symbolic links, and where they lead
"""
_ABBREVIATED = 10
_KINDS = {EXECUTABLE: Kind.EXECUTABLE, SYMLINK: Kind.SYMLINK, GITLINK: Kind.FOLDER}
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
    return draft_of(
        (change.path, _laid(change.new, contents) if change.new else None)
        for change in solved.tests
    )


def _laid(entry: TreeEntry, contents: Mapping[TreeEntry, bytes]) -> Entry:
    kind = _KINDS.get(entry.mode, Kind.FILE)
    return Entry(path=entry.path, kind=kind, data=contents.get(entry, b""))


def draft_of(changed: Iterable[tuple[bytes, Entry | None]]) -> HiddenDraft:
    """Return changed tests as a draft: each path with what stands there now, None for nothing."""
    files: dict[str, bytes] = {}
    links: dict[str, str] = {}
    executable: list[str] = []
    removed: list[str] = []
    left_out: list[str] = []
    for raw, entry in changed:
        path = os.fsdecode(raw)
        if entry is None:
            removed += [path] * (not why_not_drafted(path))
        elif why := why_not_drafted(path) or _why_no_draft(entry):
            left_out.append(f"{_shown(raw)}: {why}")
        elif entry.kind is Kind.SYMLINK:
            links[path] = entry.data.decode()
        else:
            files[path] = entry.data
            executable += [path] * (entry.kind is Kind.EXECUTABLE)
    return HiddenDraft(
        files=files,
        executable=tuple(executable),
        links=links,
        removed=tuple(removed),
        left_out=tuple(left_out),
    )


def _why_no_draft(entry: Entry) -> str:
    """Return why what stands at a path could not be drafted; empty when it can."""
    if entry.kind is Kind.FOLDER:
        return "a submodule cannot be hidden"
    if entry.kind is not Kind.SYMLINK:
        return ""
    if leads_out(entry.path, entry.data):
        return "the link leads out of the project"
    return "" if os.fsdecode(entry.data).isprintable() else "the link's target is not plain text"


def leads_out(path: bytes, target: bytes) -> bool:
    """Return whether a link's text could lead out of the tree that it stands in."""
    parts = target.split(b"/")
    climbs = next((n for n, part in enumerate(parts) if part != b".."), len(parts))
    return target.startswith(b"/") or climbs > path.count(b"/") or b".." in parts[climbs:]


def _shown(path: bytes) -> str:
    return path.decode(errors="backslashreplace")


def protected_places(repository: Repository, solved: Solved) -> tuple[str, ...]:
    """Return where the tests are that an agent must leave alone, as the base has them."""
    return places_at(repository, solved.base, (change.path for change in solved.tests))


def places_at(repository: Repository, base: Commit, tests: Iterable[bytes]) -> tuple[str, ...]:
    """Return where a base has the tests that are changed later.

    The list is read by the whole team, so a test file that only the solution has is not named.
    """
    standing = {entry.path for entry in repository.tree(base.tree)}
    found = places_of_tests(tests)
    named = [place for place in found if place in standing or _is_known_folder(place, standing)]
    if not named:
        named = list(places_of_tests(path for path in standing if is_test(path)))[:_MOST_PLACES]
    return tuple(text for place in named if (text := os.fsdecode(place)).isprintable())


def _is_known_folder(place: bytes, standing: set[bytes]) -> bool:
    """Whether a test folder is there at the base, or is named as everybody names theirs."""
    known = place.count(b"/") == 1 or any(path.startswith(place) for path in standing)
    return place.endswith(b"/") and known
