"""The safe git: reads repositories without running anything that they, or the user, configured.

Every call ignores the user's and the system's configuration, hooks, attributes, file-system
monitors, external diff programs and pagers, so the result depends on the objects alone.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from labkit import process
from labkit.errors import InputError, ToolError
from labkit.process import Completed, plain_environment, run

GITLINK = "160000"
SYMLINK = "120000"
EXECUTABLE = "100755"
REGULAR = "100644"
# What git refuses as a part of a path, because some file system would take it for `.git`.

_SAFE = (
    "-c", "core.fsmonitor=false",
    "-c", "core.hooksPath=/dev/null",
    "-c", "core.attributesFile=/dev/null",
    "-c", "core.autocrlf=false",
    "-c", "core.quotePath=true",
    "-c", "core.pager=cat",
    "-c", "diff.noprefix=false",
    "-c", "protocol.allow=never",
    "-c", "gc.auto=0",
    "-c", "safe.directory=*",
)  # fmt: skip


def git_environment() -> dict[str, str]:
    """Return an environment in which git knows no one's settings and asks nothing."""
    return plain_environment() | {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_SYSTEM": "/dev/null",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_AUTHOR_NAME": "labkit",
        "GIT_AUTHOR_EMAIL": "labkit@localhost",
        "GIT_COMMITTER_NAME": "labkit",
        "GIT_COMMITTER_EMAIL": "labkit@localhost",
        "GIT_AUTHOR_DATE": "2000-01-01T00:00:00Z",
        "GIT_COMMITTER_DATE": "2000-01-01T00:00:00Z",
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeEntry:
    """One file of a tree: path, mode (six octal digits) and object id."""

    path: bytes
    mode: str
    oid: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A path in which two trees differ; None stands where a tree has no such file."""

    path: bytes
    old: TreeEntry | None
    new: TreeEntry | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """A commit's facts."""

    oid: str
    tree: str
    parents: tuple[str, ...]
    author: str
    subject: str


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository, by its git directory; nothing here ever looks at a work tree."""

    git_dir: Path

    @classmethod
    def discover(cls, folder: Path) -> "Repository":
        """Return the repository that `folder` lies in; raises InputError when it is in none."""
        found = run(
            ["git", *_SAFE, "-C", folder, "rev-parse", "--absolute-git-dir"],
            env=git_environment(),
            check=False,
        )
        if found.code != 0:
            raise InputError(
                f"{folder} is not in a git repository",
                hint="go into your project's checkout, or make one: git init",
            )
        return cls(_path(found.stdout))

    @classmethod
    def create_bare(cls, folder: Path, *, like: "Repository | None" = None) -> "Repository":
        """Make an empty bare repository; it can read the objects of `like`, never write there."""
        form = like.object_format() if like else "sha1"
        run(
            [
                "git",
                *_SAFE,
                "init",
                "-q",
                "--bare",
                "--template=",
                f"--object-format={form}",
                folder,
            ],
            env=git_environment(),
        )
        if like:
            alternates = folder / "objects" / "info" / "alternates"
            alternates.parent.mkdir(exist_ok=True)
            alternates.write_bytes(_constants(like)[1] + b"\n")
        return cls(folder)

    def git(
        self,
        *words: str,
        stdin: bytes = b"",
        check: bool = True,
        extra: Mapping[str, str] | None = None,
    ) -> Completed:
        """Run one git command on this repository; `extra` adds to the environment."""
        return run(
            ["git", *_SAFE, f"--git-dir={self.git_dir}", *words],
            stdin=stdin,
            env=git_environment() | dict(extra or {}),
            check=check,
        )

    def stream(self, *words: str) -> Iterator[bytes]:
        """Yield the output of one git command on this repository as it comes."""
        argv = ["git", *_SAFE, f"--git-dir={self.git_dir}", *words]
        return process.stream(argv, env=git_environment())

    def object_format(self) -> str:
        """Return `sha1` or `sha256`."""
        return _constants(self)[0].decode()

    def work_tree(self) -> Path:
        """Return the checkout that this repository belongs to."""
        found = self.git("rev-parse", "--is-bare-repository").stdout.strip()
        if found == b"true":
            raise InputError(f"{self.git_dir} has no checkout", hint="labkit needs a working copy")
        listed = self.git("worktree", "list", "--porcelain", "-z").stdout.split(b"\0")[0]
        return _path(listed.removeprefix(b"worktree "))

    def commit(self, name: str) -> Commit:
        """Return the commit that `name` means; raises InputError when there is none."""
        asked = ("rev-parse", "--verify", "-q", "--end-of-options", f"{name}^{{commit}}")
        sane = "\0" not in name and not name.startswith("^")
        found = self.git(*asked, check=False) if sane else None
        if found is None or found.code != 0:
            raise InputError(
                f"no commit {name!r} in this repository",
                hint="git log --oneline shows the commits; a shallow clone lacks the older ones",
            )
        told = self.git(
            "log", "-1", "--no-show-signature", "--encoding=UTF-8",
            "--format=%H%x00%T%x00%P%x00%an <%ae>%x00%s", found.stdout.decode().strip(), "--",
        )  # fmt: skip
        fields = told.stdout.decode(errors="replace").rstrip("\n").split("\0")
        return Commit(
            oid=fields[0],
            tree=fields[1],
            parents=tuple(fields[2].split()),
            author=fields[3],
            subject=fields[4],
        )

    def tree(self, name: str) -> tuple[TreeEntry, ...]:
        """Return every file of a commit or tree, sorted by path; submodules are gitlink entries."""
        listed = self.git("ls-tree", "-r", "-z", "--full-tree", name, check=False)
        if listed.code != 0:
            raise _incomplete(name, listed.complaint)
        return tuple(_tree_entry(record) for record in listed.stdout.split(b"\0") if record)

    def blobs(self, oids: Iterable[str]) -> Iterator[bytes]:
        """Yield the raw content of blobs, as stored: no filter, no line-end conversion."""
        wanted = list(oids)
        asked = "".join(f"{oid}\n" for oid in wanted).encode()
        found = self.git("cat-file", "--batch", stdin=asked, check=False)
        answer = memoryview(found.stdout)
        at = 0
        for oid in wanted:
            line, _, _ = bytes(answer[at : at + 200]).partition(b"\n")
            header = line.split()
            if len(header) != 3 or header[1] != b"blob":  # noqa: PLR2004 - "<id> blob <size>"
                raise _incomplete(oid, found.complaint)
            start = at + len(line) + 1
            size = int(header[2])
            yield bytes(answer[start : start + size])
            at = start + size + 1

    def diff(self, old: str, new: str, *options: str) -> bytes:
        """Return the whole difference of two trees as bytes that `git apply` takes."""
        return self.git(
            "diff", "--binary", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv",
            "--no-color", "--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules=none",
            "--submodule=short", *options, old, new,
        ).stdout  # fmt: skip

    def changed_paths(self, old: str, new: str) -> tuple[bytes, ...]:
        """Return the paths in which two trees differ, sorted."""
        listed = self.git("diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new).stdout
        return tuple(path for path in listed.split(b"\0") if path)

    def changes(self, old: str, new: str) -> tuple[Change, ...]:
        """Return the files in which two trees differ, sorted by path; a move is two changes."""
        listed = self.git("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", old, new)
        fields = listed.stdout.split(b"\0")
        return tuple(map(_change, fields[:-1:2], fields[1::2]))

    def message(self, commit: str) -> str:
        """Return a commit's whole message; bytes that are no text become marks."""
        told = self.git(
            "log", "-1", "--no-show-signature", "--encoding=UTF-8", "--format=%B", commit
        )
        return told.stdout.decode(errors="replace").strip()

    def between(self, base: str, solution: str) -> tuple[str, ...]:
        """Return the ids of the commits that lead from one commit to another, the last included."""
        listed = self.git("rev-list", f"{base}..{solution}", "--", check=False).stdout
        return tuple(listed.decode().split())

    def is_ancestor(self, older: str, newer: str) -> bool:
        """Return whether a commit lies in another one's history."""
        return self.git("merge-base", "--is-ancestor", older, newer, check=False).code == 0

    def is_shallow(self) -> bool:
        """Return whether this clone lacks the older commits."""
        return self.git("rev-parse", "--is-shallow-repository").stdout.strip() == b"true"

    def missing(self, entries: Iterable[TreeEntry]) -> tuple[TreeEntry, ...]:
        """Return the files whose content is not here, as in a partial clone."""
        files = [entry for entry in entries if entry.mode != GITLINK]
        asked = "".join(f"{entry.oid}\n" for entry in files).encode()
        told = self.git("cat-file", "--batch-check=%(objecttype)", stdin=asked).stdout.splitlines()
        return tuple(e for e, kind in zip(files, told, strict=True) if kind != b"blob")


def _change(meta: bytes, path: bytes) -> Change:
    """Read one change of `--raw`: ":<old mode> <new mode> <old id> <new id> <letter>"."""
    modes_and_ids = meta.removeprefix(b":").decode().split()
    old, new = (
        TreeEntry(path=path, mode=mode, oid=oid) if mode != "000000" else None
        for mode, oid in zip(modes_and_ids[:2], modes_and_ids[2:4], strict=True)
    )
    return Change(path=path, old=old, new=new)


def _path(line: bytes) -> Path:
    return Path(os.fsdecode(line.removesuffix(b"\n")))


def _incomplete(what: str, complaint: str) -> ToolError:
    """Return the error for an object that is named but not there."""
    why = f": {complaint.splitlines()[-1]}" if complaint else ""
    return ToolError(
        f"git has no content for {what}: the repository is incomplete{why}",
        hint="in a partial clone, fetch everything: git fetch --refetch --no-filter",
    )


@lru_cache(maxsize=64)
def _constants(repository: Repository) -> tuple[bytes, bytes]:
    """Return what never changes of a repository: its object format, and where its objects lie."""
    asked = ("--show-object-format", "--path-format=absolute", "--git-path", "objects")
    form, _, objects = repository.git("rev-parse", *asked).stdout.partition(b"\n")
    return form, objects.removesuffix(b"\n")


def _tree_entry(record: bytes) -> TreeEntry:
    meta, _, path = record.partition(b"\t")
    mode, _, oid = meta.split()
    return TreeEntry(path=path, mode=mode.decode(), oid=oid.decode())
