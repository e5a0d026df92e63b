"""Applies a candidate's patch to its scratch folder: wholly, or not at all.

A patch that does not fit is a value with a reason, and then nothing was changed. Nothing is
guessed, no link is followed, and nothing outside the folder is read or written.
"""

import errno
import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from labkit.archive import Entry, Kind
from labkit.evals.blocks import read_replacements
from labkit.evals.sample import Replacement
from labkit.export import Base
from labkit.git import EXECUTABLE, REGULAR, SYMLINK, Repository, TreeEntry
from labkit.gitpaths import DOT_GIT
from labkit.graders.folder import (
    MOST_FILE_BYTES,
    Unreadable,
    entries_of,
    path_problem,
    read_inside,
)
from labkit.graders.values import shown_type
from labkit.patch.place import NotApplied
from labkit.patch.place import apply_diff as place
from labkit.patch.unfit import leading, odd_name, shown
from labkit.treewriting import write_tree

__all__ = ["apply_diff", "apply_replacements", "read_replacements"]

_MODES = {Kind.FILE: REGULAR, Kind.EXECUTABLE: EXECUTABLE, Kind.SYMLINK: SYMLINK}
_MOST_COUNTED = 1000
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_ITS_DOING = (errno.EACCES, errno.EPERM, errno.ENAMETOOLONG)


class _Misfit(Exception):  # noqa: N818 - never leaves this module
    """A patch that does not fit, for the reason that it holds."""


def apply_replacements(folder: Path | str, replacements: Sequence[Replacement]) -> str | None:
    """Make exact edits in a folder, in their order; return None, or why not one was made.

    Each `search` has to stand exactly once in what the edits before it left. Raises OSError when
    the machine, and not the candidate, keeps a file from being read or written.
    """
    folder = Path(folder)
    made: dict[str, bytes] = {}
    if not _is_folder(folder):
        return "the folder is missing"
    try:
        for count, each in enumerate(replacements, 1):
            path, search, replace = _texts(each, f"edit {count}")
            made[path] = _edited(folder, path, search, replace, made, f"edit {count}")
        _refuse_odd_names(folder, [path.encode() for path in made])
        _lay(folder, {path.encode(): _file(folder, path, data) for path, data in made.items()})
    except _Misfit as misfit:
        return str(misfit)
    return None


def _texts(each: Replacement, which: str) -> tuple[str, bytes, bytes]:
    """Return an edit's path, search and replace; a candidate may have put anything there."""
    if not isinstance(each, Replacement):
        raise _Misfit(f"{which} is {shown_type(each)}, not a Replacement")
    if each.problem:
        raise _Misfit(str(each.problem))
    for text in (each.path, each.search, each.replace):
        if type(text) is not str:
            raise _Misfit(f"{which} holds {shown_type(text)} where a text belongs")
    try:
        each.path.encode()
        search, replace = each.search.encode(), each.replace.encode()
    except UnicodeEncodeError:
        raise _Misfit(f"{which} holds a character that no UTF-8 file can") from None
    if problem := path_problem(each.path):
        raise _Misfit(f"{which}: its path {problem}")
    return each.path, search, replace


def _edited(
    folder: Path, path: str, search: bytes, replace: bytes, made: Mapping[str, bytes], which: str
) -> bytes:
    """Return what an edit makes of a file, as the edits before it left that."""
    if not search:
        if path in made or os.path.lexists(folder / path):
            raise _Misfit(f"{which}: an empty search makes a new file, and {path} is there already")
        return replace
    if search == replace:
        raise _Misfit(f"{which}: search and replace are the same in {path}")
    before = made[path] if path in made else read_inside(folder, path)
    if isinstance(before, Unreadable):
        raise _Misfit(f"{which}: {before.why}")
    times = _times(search, before)
    if times != 1:
        most = " at least" if times == _MOST_COUNTED else ""
        found = f"stands{most} {times} times in" if times else "does not stand in"
        raise _Misfit(f"{which}: the text to replace {found} {path}")
    after = before.replace(search, replace)
    if len(after) > MOST_FILE_BYTES:
        raise _Misfit(f"{which}: it makes {path} larger than {MOST_FILE_BYTES:,} bytes")
    return after


def _times(search: bytes, text: bytes) -> int:
    """Return how often a text stands in another, overlaps included; no count above a thousand."""

    def places() -> Iterator[int]:
        at = text.find(search)
        while at >= 0:
            yield at
            at = text.find(search, at + 1)

    return sum(1 for _ in itertools.islice(places(), _MOST_COUNTED))


def _refuse_odd_names(folder: Path, new: Sequence[bytes]) -> None:
    """Refuse names below .git, and those that are another file's on some systems."""
    here = [os.fsencode(path) for path in _paths_below(folder)]
    entries = [TreeEntry(path=path, mode=REGULAR, oid="") for path in sorted({*here, *new})]
    if problem := odd_name(entries, [each for each in entries if each.path in new]):
        raise _Misfit(problem)


def _paths_below(folder: Path) -> Iterator[str]:
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not DOT_GIT.fullmatch(os.fsencode(name))]
        for name in (*names, *folders):
            yield os.path.relpath(os.path.join(root, name), folder)  # noqa: PTH118 - odd names


def _file(folder: Path, path: str, data: bytes) -> Entry:
    """Return a file with new content, as executable as it was."""
    at = folder / path
    executable = os.path.lexists(at) and at.lstat().st_mode & 0o100
    kind = Kind.EXECUTABLE if executable else Kind.FILE
    return Entry(path=path.encode(), kind=kind, data=data)


def apply_diff(folder: Path | str, diff: str) -> str | None:
    """Apply a unified diff to a folder; return None, or why nothing of it was applied.

    git itself applies it, strictly, to a copy of the files; what dangerous things a diff can hold
    is refused as for a golden task's (`labkit.patch`). A blank diff changes nothing. Raises
    OSError or ToolError when the machine, and not the candidate, keeps it from being applied.
    """
    folder = Path(folder)
    if type(diff) is not str:
        return f"the diff is {shown_type(diff)}, not a text"
    if not diff.strip():
        return None
    entries = entries_of(folder)
    if isinstance(entries, Unreadable):
        return entries.why
    try:
        _lay(folder, _placed([each for each in entries if _is_kept(each)], os.fsencode(diff)))
    except UnicodeEncodeError:
        return "the diff holds a character that no UTF-8 file can"
    except _Misfit as misfit:
        return str(misfit)
    return None


def _is_kept(entry: Entry) -> bool:
    """Whether git can keep a file; of what it cannot keep, a diff can change nothing."""
    parts = entry.path.split(b"/")
    link = entry.kind is Kind.SYMLINK and parts[-1].lower() == b".gitmodules"
    return entry.kind in _MODES and not link and not any(map(DOT_GIT.fullmatch, parts))


def _placed(entries: Sequence[Entry], patch: bytes) -> dict[bytes, Entry | None]:
    """Return what a diff makes of some files."""
    with tempfile.TemporaryDirectory(prefix="labkit-edits-") as scratch:
        repository = Repository.create_bare(Path(scratch) / "git")
        files = {each.path: (_MODES[each.kind], each.data) for each in entries}
        tree = write_tree(repository, "", (), files)
        kept = repository.tree(tree)
        contents = {each.oid: files[each.path][1] for each in kept}
        placed = place(repository, Base(tree=tree, entries=kept, contents=contents), patch)
    if isinstance(placed, NotApplied):
        raise _Misfit(placed.reason)
    return {path: placed.tree.get(path) for path in placed.changed}


def _lay(folder: Path, new: Mapping[bytes, Entry | None]) -> None:
    """Write files and remove others, once nothing stands in the way of any."""
    going = frozenset(path for path, entry in new.items() if entry is None)
    coming = [entry for entry in new.values() if entry is not None]
    for entry in coming:
        _refuse_obstacle(folder, entry.path, going)
    try:
        for path in going:
            _remove(folder, path)
        for entry in coming:
            _write(folder / os.fsdecode(entry.path), entry)
    except OSError as error:
        if error.errno not in _ITS_DOING:
            raise
        # The candidate took away the permission; what is half written here is never graded.
        raise _Misfit(f"the folder cannot be written: {error.strerror}") from error


def _refuse_obstacle(folder: Path, path: bytes, going: frozenset[bytes]) -> None:
    """Refuse a path that leads through a file or a link, or means a folder with files in it."""
    *above, own = leading(path)
    for each in above:
        at = folder / os.fsdecode(each)
        if os.path.lexists(at) and not _is_folder(at) and each not in going:
            raise _Misfit(f"{shown(each)} is no plain folder, so {shown(own)} cannot lie in it")
    at = folder / os.fsdecode(own)
    below = os.walk(at) if _is_folder(at) else ()
    files = (os.path.join(root, name) for root, _, names in below for name in names)  # noqa: PTH118
    if any(os.fsencode(os.path.relpath(file, folder)) not in going for file in files):
        raise _Misfit(f"{shown(own)} is a folder with files in it")


def _is_folder(at: Path) -> bool:
    return at.is_dir() and not at.is_symlink()


def _remove(folder: Path, path: bytes) -> None:
    """Remove a file, and the folders that it leaves empty, as git does."""
    (folder / os.fsdecode(path)).unlink()
    for above in [*leading(path)][-2::-1]:
        try:
            (folder / os.fsdecode(above)).rmdir()
        except OSError:
            return


def _write(at: Path, entry: Entry) -> None:
    """Write a file anew, so that another name of the old one keeps what it had."""
    at.parent.mkdir(parents=True, exist_ok=True)
    if _is_folder(at):
        shutil.rmtree(at)
    else:
        at.unlink(missing_ok=True)
    if entry.kind is Kind.SYMLINK:
        at.symlink_to(os.fsdecode(entry.data))
        return
    mode = 0o755 if entry.kind is Kind.EXECUTABLE else 0o644
    with os.fdopen(os.open(at, _NEW, mode), "wb") as file:
        file.write(entry.data)
