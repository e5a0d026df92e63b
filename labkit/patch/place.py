"""Puts a saved diff on its base tree, fail-closed, in a repository of our own without a work tree.

Git itself does the applying, strictly, into a temporary index; `patch` and its guesses are never
used. A diff that does not apply is a value with a reason, not an error.
"""

import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from labkit.archive import Entry, Kind
from labkit.export import Base
from labkit.git import EXECUTABLE, GITLINK, REGULAR, SYMLINK, Repository, TreeEntry
from labkit.patch.lift import Lifted, Refused, lift
from labkit.patch.unfit import MOST_BYTES, bad_link, leading, odd_name, shown, unfit

__all__ = [
    "Applied",
    "NotApplied",
    "Tree",
    "apply_diff",
    "apply_to_base",
    "base_tree",
    "leading",
    "shown",
]

Tree = Mapping[bytes, Entry]
"""The files of a tree by path."""

_KINDS = {REGULAR: Kind.FILE, EXECUTABLE: Kind.EXECUTABLE, SYMLINK: Kind.SYMLINK}
_HEADER = re.compile(rb"^diff --git ", re.MULTILINE)
# What other systems take for .git is refused on every one.
_STRICT = ("-c", "core.protectHFS=true", "-c", "core.protectNTFS=true")
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
    three: text around the diff, a lost final newline, and CRLF where every changed file has LF.
    """
    if not patch.strip():
        return Applied(tree=base_tree(base), changed=())
    lifted = lift(patch)
    problem = lifted.reason if isinstance(lifted, Refused) else unfit(lifted.patch)
    if problem or isinstance(lifted, Refused):
        return NotApplied(reason=problem)
    complaint = ""
    for candidate, repairs in _candidates(lifted):
        if _left_out(scratch, candidate):
            complaint = complaint or "git leaves out a part of the diff: a piece of it is damaged"
            continue
        result, problem = _write(scratch, base, candidate)
        if result:
            return _checked(scratch, base, result, repairs)
        complaint = complaint or problem
    return NotApplied(reason=_line_ends_differ(scratch, base, lifted.patch) or complaint)


def base_tree(base: Base) -> Tree:
    """Return a base's files by path."""
    return {entry.path: entry for entry in base.files()}


def _ended(patch: bytes) -> bytes:
    """Return a diff with the newline at its end that a careless tool took away.

    Binary data ends in an empty line. Without it git takes the rest and silently leaves that file
    out, so the diff as it came is never tried.
    """
    last = patch[patch.rfind(b"\ndiff --git ") + 1 :].replace(b"\r\n", b"\n")
    wanted = b"\n\n" if b"\nGIT binary patch\n" in last else b"\n"
    missing = next(n for n in range(len(wanted) + 1) if (last + b"\n" * n).endswith(wanted))
    return patch + b"\n" * missing if patch else patch


def _candidates(lifted: Lifted) -> Iterator[tuple[bytes, tuple[str, ...]]]:
    """Yield the diff as it is, then with each repair that may be made.

    Without its CRs a diff applies only where the changed files have LF: git compares every byte.
    """
    whole = _ended(lifted.patch)
    repairs = (*lifted.repairs, _NEWLINE) if whole != lifted.patch else lifted.repairs
    yield whole, repairs
    if b"\r\n" in whole:
        yield whole.replace(b"\r\n", b"\n"), (*repairs, _LINE_ENDS)


def _write(scratch: Repository, base: Base, patch: bytes) -> tuple[str, str]:
    """Return the id of the patched tree, or an empty one and what git says against it."""
    index = {"GIT_INDEX_FILE": str(scratch.git_dir / "labkit-index")}
    scratch.git("read-tree", base.tree, extra=index)
    done = scratch.git(
        *_STRICT,
        "apply",
        "--cached",
        "--whitespace=nowarn",
        "-",
        stdin=patch,
        check=False,
        extra=index,
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
    if problem := _too_large(scratch, base, changed):
        return NotApplied(reason=problem)
    contents = dict(zip(changed, scratch.blobs(entry.oid for entry in changed), strict=True))
    new = {
        entry.path: Entry(path=entry.path, kind=_KINDS.get(entry.mode, Kind.FILE), data=data)
        for entry, data in contents.items()
    }
    problem = odd_name(entries, changed) or bad_link(new.values())
    if problem:
        return NotApplied(reason=problem)
    here = {entry.path for entry in entries}
    kept = {path: entry for path, entry in base_tree(base).items() if path in here}
    gone = before.keys() - here
    return Applied(tree=kept | new, changed=tuple(sorted({*new, *gone})), repairs=repairs)


def _too_large(scratch: Repository, base: Base, changed: tuple[TreeEntry, ...]) -> str:
    """Return a sentence when files are larger than a diff of any size that is read could make.

    A copy of a large file is a few words.
    """
    asked = "".join(f"{entry.oid}\n" for entry in changed).encode()
    told = scratch.git("cat-file", "--batch-check=%(objectsize)", stdin=asked).stdout.split()
    size, most = sum(map(int, told)), MOST_BYTES + sum(map(len, base.contents.values()))
    return f"the files that it changes are too large: {size} bytes" if size > most else ""
