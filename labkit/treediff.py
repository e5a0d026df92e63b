"""What an agent changed: the returned tree against the base tree, without a work tree on the host.

Each returned file is hashed and compared with the base; what differs goes through
`git fast-import` into a repository of our own, and two trees are compared. Nothing that the agent
wrote is opened by name here, so no hook, filter, link or setting of its making can act.
"""

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from labkit.archive import Entry, Kind
from labkit.building import NOTHING_BUILT, Built
from labkit.errors import ToolError
from labkit.export import Base, object_id
from labkit.git import EXECUTABLE, GITLINK, REGULAR, SYMLINK, Repository
from labkit.gitpaths import DOT_GIT, shown_path
from labkit.treewriting import write_tree

_NEVER_KEPT = frozenset({b"__pycache__", b".pytest_cache"})
_MODES = {Kind.FILE: REGULAR, Kind.EXECUTABLE: EXECUTABLE, Kind.SYMLINK: SYMLINK}
_MOST_SENTENCES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeDiff:
    """The difference between a base and what came back."""

    patch: bytes
    result_tree: str
    changed: tuple[bytes, ...]
    stat: bytes
    """`git diff --stat` of the paths below the test folders, for people."""
    left_out: tuple[str, ...]
    """What a diff cannot hold or must not hold, one sentence each."""


@dataclass(slots=True)
class _Returned:
    """The returned tree as far as it was read: file states, and what was left out."""

    digest: str
    base: dict[bytes, tuple[str, str]]
    submodules: frozenset[bytes]
    built: Built
    seen: set[bytes] = field(default_factory=set)
    changed: dict[bytes, tuple[str, bytes]] = field(default_factory=dict)
    left_out: dict[str, None] = field(default_factory=dict)
    """Sentences, each once, in the order in which they were found."""

    def take(self, entry: Entry) -> None:
        """Note one returned member."""
        parts = entry.path.split(b"/")
        above = [b"/".join(parts[:count]) for count in range(1, len(parts) + 1)]
        if any(DOT_GIT.fullmatch(part) for part in parts):
            place = next(path for path in above if DOT_GIT.fullmatch(path.split(b"/")[-1]))
            if place != b".git":
                self.leave_out(place, "git keeps nothing of that name")
        elif entry.kind is Kind.FOLDER or self._is_cache(entry.path, parts):
            return
        elif module := next((path for path in above if path in self.submodules), None):
            self.leave_out(module, "a submodule is kept as it was")
        elif entry.kind is Kind.SYMLINK and parts[-1].lower() == b".gitmodules":
            self.leave_out(entry.path, "git refuses a link of that name")
        elif entry.kind is Kind.SPECIAL:
            self.leave_out(entry.path, entry.note)
        else:
            self.seen.add(entry.path)
            self._compare(entry)

    def _is_cache(self, path: bytes, parts: list[bytes]) -> bool:
        return path not in self.base and not _NEVER_KEPT.isdisjoint(parts)

    def _compare(self, entry: Entry) -> None:
        if entry.kind is Kind.OVERSIZED:
            self.leave_out(entry.path, entry.note)
            return
        if self.built.made.get(entry.path) == entry:
            return  # as the build commands left it, so nobody else touched it
        if entry.path in self.built.made and entry.path not in self.base:
            self.leave_out(entry.path, self._whose(entry.path))
            return
        mode = _MODES[entry.kind]
        if self.base.get(entry.path) != (mode, object_id("blob", entry.data, self.digest)):
            self.changed[entry.path] = (mode, entry.data)

    def _whose(self, path: bytes) -> str:
        if path in self.built.laid:
            return "a file of the configuration, which the project does not have"
        return "the build commands make it, and make it again for grading"

    def leave_out(self, path: bytes, why: str) -> None:
        """Note what the difference does not hold, and why."""
        self.left_out.setdefault(f"{shown_path(path)}: {why}")


def diff_returned(
    repository: Repository,
    base: Base,
    returned: Iterable[Entry],
    *,
    test_folders: tuple[str, ...] = ("tests", "test"),
    built: Built = NOTHING_BUILT,
) -> TreeDiff:
    """Return the true difference between `base` and the returned tree.

    Files that the base's own ignore rules cover are left out and named; what the agent wrote into
    ignore rules has no effect. Submodules are kept as they were. What build commands had made, and
    what a configuration had laid, before the agent started (`built`) is no part of the difference;
    of a file of the base that a configuration replaced, only what the agent changed is.
    """
    state = _read(repository, base, returned, built)
    with tempfile.TemporaryDirectory(prefix="labkit-diff-") as folder:
        scratch = Repository.create_bare(Path(folder) / "git", like=repository)
        for path in _ignored(scratch, base, state, Path(folder)):
            del state.changed[path]
            state.leave_out(path, "ignored by the project's own rules")
        _take_back(scratch, base, state, Path(folder))
        tree = write_tree(scratch, base.tree, _gone(base, state), state.changed)
        changed = tuple(sorted([*state.changed, *_gone(base, state)]))
        state.changed.clear()  # the scratch repository has the content: no need to hold it twice
        return TreeDiff(
            patch=scratch.diff(base.tree, tree),
            result_tree=tree,
            changed=changed,
            stat=scratch.git(
                "diff", "--stat=120", "--no-renames", base.tree, tree, "--", *test_folders
            ).stdout,
            left_out=_first(tuple(state.left_out)),
        )


def _read(
    repository: Repository, base: Base, returned: Iterable[Entry], built: Built
) -> "_Returned":
    state = _Returned(
        digest=repository.object_format(),
        base={entry.path: (entry.mode, entry.oid) for entry in base.entries},
        submodules=frozenset(entry.path for entry in base.entries if entry.mode == GITLINK),
        built=built,
        seen=set(built.gone),
    )
    for entry in returned:
        state.take(entry)
    return state


def _first(sentences: tuple[str, ...]) -> tuple[str, ...]:
    """Return the sentences, cut where an ignored folder alone would make thousands."""
    if len(sentences) <= _MOST_SENTENCES:
        return sentences
    more = f"and {len(sentences) - _MOST_SENTENCES} more"
    return (*sentences[:_MOST_SENTENCES], more)


def nothing_read(base: Base, why: str) -> TreeDiff:
    """Return the difference of a run whose tree could not be read: none, and the reason."""
    return TreeDiff(patch=b"", result_tree=base.tree, changed=(), stat=b"", left_out=(why,))


def _ignored(scratch: Repository, base: Base, state: _Returned, folder: Path) -> tuple[bytes, ...]:
    """Return the new files that the base commit's ignore rules cover."""
    rules = [entry for entry in base.files() if entry.path.split(b"/")[-1] == b".gitignore"]
    new = sorted(path for path in state.changed if path not in state.base)
    if not rules or not new:
        return ()
    clean = folder / "rules"
    for rule in rules:
        if rule.kind is Kind.FILE:
            target = clean / Path(rule.path.decode(errors="surrogateescape"))
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(rule.data)
    clean.mkdir(exist_ok=True)
    # With "./" in front, no name is taken for a pattern such as ":(exclude)x".
    answer = scratch.git(
        f"--work-tree={clean}", "check-ignore", "--no-index", "--stdin", "-z",
        stdin=b"".join(b"./%s\0" % path for path in new), check=False,
    )  # fmt: skip
    if answer.code not in (0, 1):  # 1: none of them is ignored
        raise ToolError(f"git check-ignore ended in {answer.code}: {answer.complaint}")
    return tuple(path.removeprefix(b"./") for path in answer.stdout.split(b"\0") if path)


def _take_back(scratch: Repository, base: Base, state: _Returned, folder: Path) -> None:
    """Put the agent's changes of files that a configuration replaced onto those of the base."""
    before = {entry.path: entry for entry in base.files()}
    for path in sorted(state.built.laid & state.changed.keys() & before.keys()):
        laid, was = state.built.made[path], before[path]
        mode, data = state.changed[path]
        merged = _merged(scratch, was, laid, data, folder=folder)
        if merged is None:
            why = "it holds what the configuration put in its place, too: the agent changed both"
            state.leave_out(path, why)
            continue
        if mode == _MODES[laid.kind]:
            mode = _MODES[was.kind]
        state.changed[path] = (mode, merged)
        if (mode, merged) == (_MODES[was.kind], was.data):
            del state.changed[path]


def _merged(
    scratch: Repository, before: Entry, laid: Entry, after: bytes, *, folder: Path
) -> bytes | None:
    """Return the file of the base with what the agent changed; None where that does not fit."""
    if before.kind is Kind.SYMLINK:
        return None
    places = [folder / name for name in ("before", "laid", "after")]
    for place, content in zip(places, (before.data, laid.data, after), strict=True):
        place.write_bytes(content)
    answer = scratch.git("merge-file", "--stdout", "--quiet", *map(str, places), check=False)
    return answer.stdout if answer.code == 0 else None


def _gone(base: Base, state: _Returned) -> tuple[bytes, ...]:
    """Return the base's files that did not come back; submodules are never among them."""
    return tuple(
        entry.path
        for entry in base.entries
        if entry.path not in state.seen and entry.mode != GITLINK
    )
