"""Puts a saved diff on its base tree, fail-closed, in a repository of our own without a work tree.

Git itself does the applying, strictly, into a temporary index; `patch` and its guesses are never
used. A diff that does not apply is a value with a reason, not an error.
"""

import itertools
import os
import re
import tempfile
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from labkit.archive import Entry, Kind
from labkit.export import Base
from labkit.git import EXECUTABLE, GITLINK, REGULAR, SYMLINK, Repository, TreeEntry

Tree = Mapping[bytes, Entry]
"""The files of a tree by path."""

_KINDS = {REGULAR: Kind.FILE, EXECUTABLE: Kind.EXECUTABLE, SYMLINK: Kind.SYMLINK}
_NO_DATA = re.compile(rb"^Binary files .+ differ\r?$", re.MULTILINE)
_ABSURD = re.compile(rb"^(?:literal|delta) [0-9]{13}", re.MULTILINE)
_BINARY = re.compile(rb"^(?:literal|delta) ([0-9]{1,12})\r?$", re.MULTILINE)
_HEADER = re.compile(rb"^diff --git ", re.MULTILINE)
_MOST_BYTES = 256 * 1024 * 1024
_NEWLINE = "the lost final newline was put back"
_LINE_ENDS = "CRLF line ends were taken as LF, which the changed files have"


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """A base tree with a diff on it."""

    tree: Tree
    changed: tuple[bytes, ...]
    """Paths in which the tree differs from the base, sorted."""
    repairs: tuple[str, ...] = ()
    """What had to be mended in the diff before it applied, one sentence each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotApplied:
    """Why a diff could not be put on its base, for a person."""

    reason: str


def apply_to_base(repository: Repository, base: Base, patch: bytes) -> Applied | NotApplied:
    """Apply a diff in a scratch repository that lives only as long as that takes."""
    with tempfile.TemporaryDirectory(prefix="labkit-place-") as folder:
        scratch = Repository.create_bare(Path(folder) / "git", like=repository)
        return apply_diff(scratch, base, patch)


def apply_diff(scratch: Repository, base: Base, patch: bytes) -> Applied | NotApplied:
    """Apply a diff to `base`; an empty one, or one of white space alone, changes nothing.

    `scratch` is a bare repository of the caller's that can read the base's objects. The repairs are
    two: a lost final newline, and CRLF where every changed file has LF.
    """
    if not patch.strip():
        return Applied(tree=base_tree(base), changed=())
    if problem := _unfit(patch):
        return NotApplied(reason=problem)
    complaint = ""
    for candidate, repairs in _candidates(patch):
        if _left_out(scratch, candidate):
            complaint = complaint or "git leaves out a part of the diff: a piece of it is damaged"
            continue
        result, problem = _write(scratch, base, candidate)
        if result:
            return _checked(scratch, base, result, repairs)
        complaint = complaint or problem
    return NotApplied(reason=_line_ends_differ(scratch, base, patch) or complaint)


def base_tree(base: Base) -> Tree:
    """Return a base's files by path."""
    return {entry.path: entry for entry in base.files()}


def shown(path: bytes) -> str:
    """Return a path as text that can always be written; odd bytes become escapes."""
    return path.decode(errors="backslashreplace")


def _unfit(patch: bytes) -> str:
    """Return why a diff is not even tried; empty when it may be.

    A binary change without data would be taken from whatever repository git can read, and one that
    unpacks to much more than it is could fill this machine's memory.
    """
    if without := _NO_DATA.search(patch):
        return f"a binary file without its data: {shown(without[0].strip())}"
    if _ABSURD.search(patch):
        return "a binary file of an absurd size"
    size = len(patch) + sum(int(match[1]) for match in _BINARY.finditer(patch))
    return f"the diff is too large: {size} bytes" if size > _MOST_BYTES else ""


def _ended(patch: bytes) -> bytes:
    """Return a diff with the newline at its end that a careless tool took away.

    Binary data ends in an empty line. Without it git takes the rest and silently leaves that file
    out, so the diff as it came is never tried.
    """
    last = patch[patch.rfind(b"\ndiff --git ") + 1 :].replace(b"\r\n", b"\n")
    wanted = b"\n\n" if b"\nGIT binary patch\n" in last else b"\n"
    missing = next(n for n in range(len(wanted) + 1) if (last + b"\n" * n).endswith(wanted))
    return patch + b"\n" * missing if patch else patch


def _candidates(patch: bytes) -> Iterator[tuple[bytes, tuple[str, ...]]]:
    """Yield the diff as it is, then with each repair that may be made.

    Without its CRs a diff applies only where the changed files have LF: git compares every byte.
    """
    whole = _ended(patch)
    repairs = (_NEWLINE,) if whole != patch else ()
    yield whole, repairs
    if b"\r\n" in whole:
        yield whole.replace(b"\r\n", b"\n"), (*repairs, _LINE_ENDS)


def _write(scratch: Repository, base: Base, patch: bytes) -> tuple[str, str]:
    """Return the id of the patched tree, or an empty one and what git says against it."""
    index = {"GIT_INDEX_FILE": str(scratch.git_dir / "labkit-index")}
    scratch.git("read-tree", base.tree, extra=index)
    done = scratch.git(
        "apply", "--cached", "--whitespace=nowarn", "-", stdin=patch, check=False, extra=index
    )
    if done.code == 0:
        done = scratch.git("write-tree", check=False, extra=index)
    if done.code == 0:
        return done.stdout.decode().strip(), ""
    lines = [line.removeprefix("error: ") for line in done.complaint.splitlines()]
    return "", "; ".join(lines[:3]) or f"git apply ended in {done.code}"


def _touched(scratch: Repository, patch: bytes) -> tuple[bytes, ...]:
    """Return the paths that a diff names, as far as git can read it."""
    listed = scratch.git("apply", "--numstat", "-z", "-", stdin=patch, check=False).stdout
    return tuple(name for part in listed.split(b"\0") if (name := part.split(b"\t")[-1]))


def _left_out(scratch: Repository, patch: bytes) -> bool:
    """Whether git reads fewer files out of a diff than it has headers, and says nothing of them."""
    headers = len(_HEADER.findall(patch))
    return 0 < len(_touched(scratch, patch)) < headers


def _have_crlf(scratch: Repository, base: Base, patch: bytes) -> tuple[bytes, ...]:
    """Return the files that a diff changes and that have CRLF line ends at the base."""
    blobs = {entry.path: entry.oid for entry in base.entries}
    return tuple(
        path
        for path in _touched(scratch, patch)
        if b"\r\n" in base.contents.get(blobs.get(path, ""), b"")
    )


def _line_ends_differ(scratch: Repository, base: Base, patch: bytes) -> str:
    """Return a sentence when a diff fails only because it lost the CRs of its files."""
    paths = () if b"\r\n" in patch else _have_crlf(scratch, base, patch)
    if not paths:
        return ""
    index = {"GIT_INDEX_FILE": str(scratch.git_dir / "labkit-index")}
    scratch.git("read-tree", base.tree, extra=index)
    loose = scratch.git(
        "apply", "--cached", "--check", "--ignore-whitespace", "-",
        stdin=patch, check=False, extra=index,
    )  # fmt: skip
    names = ", ".join(shown(path) for path in paths)
    return f"line ends differ: the diff has LF, but CRLF stands in {names}" * (loose.code == 0)


def _checked(
    scratch: Repository, base: Base, result: str, repairs: tuple[str, ...]
) -> Applied | NotApplied:
    """Read the patched tree back; refuse what must not be laid out for grading."""
    entries = scratch.tree(result)
    before = {entry.path: entry for entry in base.entries}
    changed = tuple(entry for entry in entries if before.get(entry.path) != entry)
    if any(entry.mode == GITLINK for entry in changed):
        paths = ", ".join(shown(entry.path) for entry in changed if entry.mode == GITLINK)
        return NotApplied(reason=f"the diff adds or moves a submodule: {paths}")
    contents = dict(zip(changed, scratch.blobs(entry.oid for entry in changed), strict=True))
    new = {
        entry.path: Entry(path=entry.path, kind=_KINDS.get(entry.mode, Kind.FILE), data=data)
        for entry, data in contents.items()
    }
    problem = _odd_name(entries, changed) or _bad_link(new.values())
    if problem:
        return NotApplied(reason=problem)
    here = {entry.path for entry in entries}
    kept = {path: entry for path, entry in base_tree(base).items() if path in here}
    gone = before.keys() - here
    return Applied(tree=kept | new, changed=tuple(sorted({*new, *gone})), repairs=repairs)


def _bad_link(new: Iterable[Entry]) -> str:
    """Return a sentence about a link that could lead out of the tree.

    `..` may stand at a target's beginning only: later on it could climb from where another link
    leads, which its text does not show.
    """
    for entry in new:
        if entry.kind is not Kind.SYMLINK:
            continue
        parts = entry.data.split(b"/")
        climbs = len(list(itertools.takewhile(lambda part: part == b"..", parts)))
        if (
            entry.data.startswith(b"/")
            or climbs > entry.path.count(b"/")
            or b".." in parts[climbs:]
        ):
            return f"the link {shown(entry.path)} leads out of the tree: {shown(entry.data)}"
    return ""


def _odd_name(entries: Iterable[TreeEntry], changed: Iterable[TreeEntry]) -> str:
    """Return a sentence about a new path that some file systems take for another one."""
    spellings: dict[str, set[bytes]] = {}
    for entry in entries:
        for part in leading(entry.path):
            spellings.setdefault(_folded(part), set()).add(part)
    for entry in changed:
        if any(_folded(part) == ".git" for part in entry.path.split(b"/")):
            return f"the diff writes below .git: {shown(entry.path)}"
        for part in leading(entry.path):
            twins = spellings[_folded(part)] - {part}
            if twins:
                return f"{shown(part)} and {shown(min(twins))} are one path on some systems"
    return ""


def leading(path: bytes) -> Iterator[bytes]:
    """Yield a path and every folder that it lies in."""
    parts = path.split(b"/")
    return (b"/".join(parts[:count]) for count in range(1, len(parts) + 1))


def _folded(path: bytes) -> str:
    return unicodedata.normalize("NFC", os.fsdecode(path)).casefold()
