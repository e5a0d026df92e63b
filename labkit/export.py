"""A base commit as raw blobs: exactly the stored bytes, in a new repository with one commit.

`git archive` drops `export-ignore` files and rewrites `export-subst` ones, and `checkout-index`
runs filters, so the blobs are read themselves. The tree id is computed again from what was read.
"""

import hashlib
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from labkit.archive import Entry, Kind, write_tar
from labkit.errors import IntegrityError
from labkit.git import EXECUTABLE, GITLINK, REGULAR, SYMLINK, Repository, TreeEntry
from labkit.treewriting import write_tree

_MODES = {Kind.FILE: REGULAR, Kind.EXECUTABLE: EXECUTABLE}
_KINDS = {EXECUTABLE: Kind.EXECUTABLE, SYMLINK: Kind.SYMLINK, GITLINK: Kind.FOLDER}


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """A base tree: its entries, and the content of each blob by object id."""

    tree: str
    entries: tuple[TreeEntry, ...]
    contents: Mapping[str, bytes]

    def files(self) -> Iterator[Entry]:
        """Yield the tree's files; a submodule is an empty folder."""
        for entry in self.entries:
            data = b"" if entry.mode == GITLINK else self.contents[entry.oid]
            yield Entry(path=entry.path, kind=_KINDS.get(entry.mode, Kind.FILE), data=data)


def read_base(repository: Repository, commit: str) -> Base:
    """Read a commit's whole tree and prove that it is whole; raises IntegrityError otherwise."""
    tree = repository.commit(commit).tree
    entries = repository.tree(tree)
    wanted = sorted({entry.oid for entry in entries if entry.mode != GITLINK})
    contents = dict(zip(wanted, repository.blobs(wanted), strict=True))
    digest = repository.object_format()
    for oid, data in contents.items():
        if object_id("blob", data, digest) != oid:
            raise IntegrityError(f"git gave other content for {oid}", hint="run: git fsck")
    if tree_id(entries, digest) != tree:
        raise IntegrityError(f"the export of {commit} is not its tree {tree}", hint="run: git fsck")
    return Base(tree=tree, entries=entries, contents=contents)


def object_id(kind: str, data: bytes, digest: str) -> str:
    """Return git's id of an object."""
    return hashlib.new(digest, b"%s %d\0" % (kind.encode(), len(data)) + data).hexdigest()


def tree_id(entries: tuple[TreeEntry, ...], digest: str) -> str:
    """Return the id of the tree that has these files, computed here and not by git."""
    folder: dict[bytes, list[TreeEntry]] = {}
    lines: list[tuple[bytes, bytes]] = []
    for entry in entries:
        first, slash, rest = entry.path.partition(b"/")
        if slash:
            below = TreeEntry(path=rest, mode=entry.mode, oid=entry.oid)
            folder.setdefault(first, []).append(below)
        else:
            lines.append((first, _tree_line(entry.mode, first, entry.oid)))
    for name, below_entries in folder.items():
        oid = tree_id(tuple(below_entries), digest)
        lines.append((name + b"/", _tree_line("40000", name, oid)))  # git sorts folders as "name/"
    return object_id("tree", b"".join(line for _, line in sorted(lines)), digest)


def _tree_line(mode: str, name: bytes, oid: str) -> bytes:
    return mode.encode() + b" " + name + b"\0" + bytes.fromhex(oid)


def workspace_tar(
    repository: Repository,
    base: Base,
    *,
    files: Iterable[Entry] | None = None,
    laid: Iterable[Entry] = (),
) -> bytes:
    """Return the tar of the work folder an agent gets: the files and a one-commit repository.

    `files` are those of the base as build commands left them, and as a configuration laid its own
    over them; `laid` are these, which are in the commit too.
    """
    found = base.files() if files is None else files
    return write_tar([*found, *_fresh_git(repository, base, tuple(laid))])


def _fresh_git(repository: Repository, base: Base, laid: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Make a `.git` with one commit, of what a run starts from: no history, no later object."""
    with tempfile.TemporaryDirectory(prefix="labkit-base-") as folder:
        reader = Repository.create_bare(Path(folder) / "reader", like=repository)
        tree = base.tree
        if laid:
            changed = {each.path: (_MODES[each.kind], each.data) for each in laid}
            tree = write_tree(reader, base.tree, (), changed)
        commit = reader.git("commit-tree", tree, "-m", "base").stdout.decode().strip()
        pack = reader.git("pack-objects", "--revs", "--stdout", "-q", stdin=f"{commit}\n".encode())
        fresh = Repository.create_bare(Path(folder) / "fresh")
        if reader.object_format() != "sha1":
            shutil.rmtree(fresh.git_dir)
            fresh = Repository.create_bare(fresh.git_dir, like=reader)
            (fresh.git_dir / "objects" / "info" / "alternates").unlink()
        fresh.git("index-pack", "--stdin", stdin=pack.stdout)
        fresh.git("update-ref", "refs/heads/main", commit)
        fresh.git("symbolic-ref", "HEAD", "refs/heads/main")
        fresh.git("config", "core.bare", "false")
        fresh.git("config", "user.name", "agent")  # agents commit, and git wants a name
        fresh.git("config", "user.email", "agent@localhost")
        fresh.git("read-tree", commit)
        return tuple(_git_files(fresh.git_dir))


def _git_files(git_dir: Path) -> Iterator[Entry]:
    for path in sorted(git_dir.rglob("*")):
        name = b".git/" + bytes(path.relative_to(git_dir))
        if path.is_dir():
            yield Entry(path=name, kind=Kind.FOLDER)
        else:
            yield Entry(path=name, kind=Kind.FILE, data=path.read_bytes())
