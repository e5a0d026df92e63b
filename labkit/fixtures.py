"""Tasks from a folder instead of a history: two trees, kept as one tar, and the commits they are.

`evals/fixtures/<id>.tar` holds `start/` and `solution/` whole. A tar keeps what a checkout of
`evals/` would not on every machine: line ends, executable bits, links, names that an ignore rule
covers. Its trees always give the same two commits, which are written into the project's object
database where they are missing: no ref, no file of the project's.
"""

import io
import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from labkit.archive import Entry, Kind, read_tar, write_tar
from labkit.errors import IntegrityError, ToolError, refuse
from labkit.export import object_id, tree_id
from labkit.fields import read_bytes
from labkit.git import EXECUTABLE, REGULAR, SYMLINK, Repository, TreeEntry
from labkit.gitpaths import DOT_GIT, quoted

_MODES = {Kind.FILE: REGULAR, Kind.EXECUTABLE: EXECUTABLE, Kind.SYMLINK: SYMLINK}
_WHO = b"labkit <labkit@localhost> 946684800 +0000"
"""2000-01-01: with a fixed author, time and message the commits depend on the trees alone."""
_MESSAGES = {"start": b"The state that the agent gets\n", "solution": b"The expected state\n"}
_CACHES = frozenset({"__pycache__", ".pytest_cache", ".ruff_cache", ".mypy_cache"})
MOST_BYTES = 64 * 1024 * 1024
"""How large a fixture can be, both trees together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixture:
    """The two trees of a task, each sorted by path."""

    start: tuple[Entry, ...]
    solution: tuple[Entry, ...]
    """The whole expected tree; empty where nothing is expected (a trap)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """The ids of the two commits; `solution` is empty where there is none."""

    base: str
    solution: str


def collect(folder: Path, executable: Iterable[str] = ()) -> tuple[Entry, ...]:
    """Return a folder's files, sorted; caches are left out, empty folders are nothing to git.

    `executable` names files that are so even where the system keeps no such bit. Raises InputError
    that names every file that no commit can hold.
    """
    marked = set(executable)
    found: list[Entry] = []
    problems: list[str] = []
    for path in _walk(folder):
        name = path.relative_to(folder).as_posix()
        if any(DOT_GIT.fullmatch(part) for part in os.fsencode(name).split(b"/")):
            problems.append(f"{path}: git keeps nothing of that name")
        elif path.is_symlink():
            target = os.fsencode(path.readlink())
            found.append(Entry(path=os.fsencode(name), kind=Kind.SYMLINK, data=target))
        elif not path.is_file():
            problems.append(f"{path} is neither a file nor a link")
        else:
            bit = name in marked or (os.name == "posix" and bool(path.stat().st_mode & 0o100))
            kind = Kind.EXECUTABLE if bit else Kind.FILE
            found.append(Entry(path=os.fsencode(name), kind=kind, data=read_bytes(path)))
    refuse(problems, hint="take it out of the folder")
    return tuple(sorted(found, key=lambda entry: entry.path))


def _walk(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder):
        links = [name for name in folders if Path(root, name).is_symlink()]
        repositories = [name for name in folders if DOT_GIT.fullmatch(os.fsencode(name))]
        folders[:] = sorted(set(folders) - {*links, *repositories} - _CACHES)
        for name in sorted([*names, *links, *repositories]):
            if not name.endswith((".pyc", ".DS_Store")):
                yield Path(root, name)


def overlay(
    start: Iterable[Entry], changes: Iterable[Entry], removed: Iterable[str]
) -> tuple[Entry, ...]:
    """Return a tree with files added, replaced and removed; a new file takes an old one's place."""
    new = {entry.path: entry for entry in changes}
    gone = {os.fsencode(path.rstrip("/")) for path in removed}
    above = {folder for path in new for folder in _parents(path)}
    kept = {
        entry.path: entry
        for entry in start
        if entry.path not in above
        and not any(path in new or path in gone for path in (*_parents(entry.path), entry.path))
    }
    return tuple(entry for _, entry in sorted({**kept, **new}.items()))


def _parents(path: bytes) -> Iterator[bytes]:
    parts = path.split(b"/")
    return (b"/".join(parts[:count]) for count in range(1, len(parts)))


def changed_paths(fixture: Fixture) -> tuple[str, ...]:
    """Return the paths in which the two trees differ, sorted."""
    before = {entry.path: entry for entry in fixture.start}
    after = {entry.path: entry for entry in fixture.solution}
    paths = sorted(before.keys() | after.keys())
    return tuple(os.fsdecode(path) for path in paths if before.get(path) != after.get(path))


def fixture_tar(fixture: Fixture) -> bytes:
    """Return the tar that a fixture is kept as: always the same for the same trees."""
    trees = {b"start/": fixture.start, b"solution/": fixture.solution}
    entries = [
        Entry(path=name + entry.path, kind=entry.kind, data=entry.data)
        for name, tree in trees.items()
        for entry in tree
    ]
    return write_tar(entries, prefix=b"fixture/", uid=0)


def read_fixture(path: Path) -> Fixture:
    """Read a fixture back; raises IntegrityError when it is not one that labkit wrote."""
    trees: dict[bytes, list[Entry]] = {b"start": [], b"solution": []}
    try:
        stream = io.BytesIO(read_bytes(path))
        for entry in read_tar(stream, most_bytes=MOST_BYTES, most_file_bytes=MOST_BYTES):
            top, _, rest = entry.path.partition(b"/")
            if entry.kind in _MODES:
                tree = trees[top if rest else b""]
                tree.append(Entry(path=rest, kind=entry.kind, data=entry.data))
    except (ToolError, KeyError) as error:
        raise _damaged(path, "it is not a whole tar of start/ and solution/") from error
    return Fixture(start=tuple(trees[b"start"]), solution=tuple(trees[b"solution"]))


def _damaged(path: Path, what: str) -> IntegrityError:
    return IntegrityError(
        f"fixtures/{path.name}: {what}",
        hint=f"restore it: git -C evals checkout -- fixtures/{path.name}; an edited fixture is a "
        "new task: labkit task new ID --fixture FOLDER",
    )


def ends(fixture: Fixture, digest: str) -> Ends:
    """Return the ids of a fixture's commits, computed here and not by git."""
    base = _commit_id("start", fixture.start, "", digest)
    solution = fixture.solution and _commit_id("solution", fixture.solution, base, digest)
    return Ends(base=base, solution=solution or "")


def _commit_id(name: str, tree: tuple[Entry, ...], parent: str, digest: str) -> str:
    entries = tuple(
        TreeEntry(
            path=entry.path, mode=_MODES[entry.kind], oid=object_id("blob", entry.data, digest)
        )
        for entry in tree
    )
    lines = [b"tree " + tree_id(entries, digest).encode()]
    lines += [b"parent " + parent.encode()] if parent else []
    lines += [b"author " + _WHO, b"committer " + _WHO, b"", _MESSAGES[name]]
    return object_id("commit", b"\n".join(lines), digest)


def provide(repository: Repository, path: Path, *, base: str, solution: str) -> None:
    """See to it that a fixture's commits are in the project's object database.

    Raises IntegrityError when its trees are not the ones that the task pins.
    """
    fixture = read_fixture(path)
    found = ends(fixture, repository.object_format())
    for name, pinned, real in (
        ("base", base, found.base),
        ("solution", solution, found.solution),
    ):
        if pinned != real:
            raise _damaged(
                path,
                f'its files give the {name} {real[:10] or "(none)"}, but the task says "{name}: '
                f'{pinned[:10]}"',
            )
    if not _is_there(repository, found):
        write_commits(repository, fixture)


def _is_there(repository: Repository, found: Ends) -> bool:
    """Return whether both commits are there with everything below them."""
    names = [found.base, *([found.solution] if found.solution else [])]
    return repository.git("rev-list", "--objects", "--quiet", *names, "--", check=False).code == 0


def write_commits(repository: Repository, fixture: Fixture) -> Ends:
    """Write a fixture's commits into a repository's object database, without a ref.

    git makes them in a repository of our own first; only a pack whose commits have the ids that
    were computed here goes on to the project.
    """
    found = ends(fixture, repository.object_format())
    wanted = [found.base, *([found.solution] if found.solution else [])]
    with tempfile.TemporaryDirectory(prefix="labkit-fixture-") as folder:
        scratch = Repository.create_bare(Path(folder) / "git", like=repository)
        (scratch.git_dir / "objects" / "info" / "alternates").unlink()
        stream = b"".join(_stream(fixture))
        scratch.git("fast-import", "--quiet", "--done", stdin=stream)
        asked = "".join(f"{oid}\n" for oid in wanted).encode()
        pack = scratch.git("pack-objects", "--revs", "--stdout", "-q", stdin=asked)
        repository.git("unpack-objects", "-q", stdin=pack.stdout)
    return found


def _stream(fixture: Fixture) -> Iterator[bytes]:
    """Yield the fast-import stream of both commits."""
    trees = {"start": fixture.start, "solution": fixture.solution}
    for mark, (name, tree) in enumerate(trees.items(), 1):
        if not tree:
            continue
        message = _MESSAGES[name]
        yield b"commit refs/heads/%s\nmark :%d\nauthor %s\ncommitter %s\ndata %d\n%s" % (
            *(name.encode(), mark, _WHO, _WHO, len(message)),
            message,
        )
        yield b"from :1\ndeleteall\n" if mark > 1 else b"deleteall\n"
        for entry in tree:
            mode = _MODES[entry.kind].encode()
            yield b"M %s inline %s\ndata %d\n" % (mode, quoted(entry.path), len(entry.data))
            yield entry.data + b"\n"
    yield b"done\n"
