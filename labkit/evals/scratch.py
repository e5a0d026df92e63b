"""Scratch folders: a case's files laid out afresh for each sample, and what became of them.

This happens for every sample of a suite, so it asks the system itself: a Path costs as much as the
call behind it.
"""

# ruff: noqa: PTH101, PTH102, PTH103, PTH104, PTH106, PTH108, PTH112, PTH114, PTH120, PTH123, PTH208

import errno
import itertools
import os
import queue
import shutil
import stat
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from labkit.errors import InputError
from labkit.evals.digests import contents_digest, files_of

_EXECUTABLE = 0o755
_PLAIN = 0o644
_NO_LINK = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_WAITING = 100
_DEEP = 50
_BUDGET = 256 * 1024 * 1024
Files = Mapping[str, tuple[bytes, int]]
"""Content and mode of each file, by its path in the folder."""


def read_files(folder: Path | None) -> Files:
    """Return what is to be laid out; raises InputError as `files_of` does."""
    if folder is None:
        return {}
    return {
        name: (path.read_bytes(), _EXECUTABLE if path.stat().st_mode & 0o100 else _PLAIN)
        for name, path in files_of(folder)
    }


class Cupboard:
    """Files of cases, kept in memory as long as they are few."""

    def __init__(self, budget: int = _BUDGET) -> None:
        self._kept: dict[Path, Files] = {}
        self._digests: dict[Path, str] = {}
        self._budget = budget

    def files(self, folder: Path | None) -> Files:
        """Return the files of a folder.

        Raises InputError as `files_of` does, and when they are others than at the first time.
        """
        if folder is None:
            return {}
        if folder in self._kept:
            return self._kept[folder]
        files = read_files(folder)
        found = contents_digest((name, *of) for name, of in sorted(files.items()))
        if self._digests.setdefault(folder, found) != found:
            raise InputError(
                f"{folder} was changed while it was being measured",
                hint="leave the files of cases alone until the run has ended",
            )
        size = sum(len(data) for data, _ in files.values())
        if size <= self._budget:
            self._budget -= size
            self._kept[folder] = files
        return files


def lay(files: Files, scratch: str) -> None:
    """Write the files into a new folder."""
    os.mkdir(scratch)
    made = {""}
    for name, (data, mode) in files.items():
        parent = name.rpartition("/")[0]
        if parent not in made:
            os.makedirs(f"{scratch}/{parent}", exist_ok=True)
            made.add(parent)
        target = os.open(f"{scratch}/{name}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        try:
            _write_all(target, data)
        finally:
            os.close(target)


def _write_all(target: int, data: bytes) -> None:
    done = os.write(target, data)
    while done < len(data):  # a disk that is nearly full takes a part
        done += os.write(target, memoryview(data)[done:])


def edits(files: Files, scratch: str) -> tuple[str, ...]:
    """Return the paths that are new, changed or gone, sorted; links are not followed.

    A file whose content is the same is unchanged, whatever was done to it in between. What Python
    leaves beside the code it runs (`__pycache__`) is no edit.
    """
    missing = set(files)
    changed = []
    for name, entry in _walk(scratch):
        missing.discard(name)
        laid = files.get(name)
        if entry is None or laid is None or not _same(entry, laid):
            changed.append(name)
    return tuple(sorted([*changed, *missing]))


def _walk(folder: str) -> Iterator[tuple[str, "os.DirEntry[str] | None"]]:
    """Yield the files below a folder; of a folder that cannot be looked into, only its name."""
    waiting = [] if os.path.islink(folder) else [(folder, "")]
    while waiting:
        at, prefix = waiting.pop()
        try:
            with os.scandir(at) as entries:
                found = list(entries)
        except OSError:
            if prefix:
                yield prefix, None
            continue
        for entry in found:
            name = f"{prefix}{entry.name}"
            if not entry.is_dir(follow_symlinks=False):
                yield name, entry
            elif entry.name != "__pycache__":
                waiting.append((entry.path, f"{name}/"))


def _same(entry: "os.DirEntry[str]", laid: tuple[bytes, int]) -> bool:
    data, mode = laid
    try:
        now = entry.stat(follow_symlinks=False)
        if not stat.S_ISREG(now.st_mode) or now.st_size != len(data):
            return False
        if bool(now.st_mode & 0o100) != bool(mode & 0o100):
            return False
        with open(entry.path, "rb", buffering=0) as file:
            return file.read(len(data) + 1) == data
    except OSError:
        return False


def remove(scratch: str) -> None:
    """Remove a scratch folder, also where a candidate took its own rights away.

    Where it is no folder any more, what is there in its place goes, and never what a link names.
    """
    if os.path.islink(scratch) or not os.path.isdir(scratch):
        with suppress(OSError):
            os.unlink(scratch)
        return
    with suppress(OSError):
        _remove(scratch)
    if os.path.lexists(scratch):
        with suppress(OSError):
            _remove_level_by_level(scratch)


def move(scratch: str, target: str) -> None:
    """Move a scratch folder to where it is kept, in place of an earlier one; raises OSError."""
    try:
        os.rename(scratch, target)
    except OSError:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.lexists(target):
            remove(target)
        shutil.move(scratch, target)


class Remover:
    """Removes scratch folders beside the work: the system takes as long for it as for the rest."""

    def __init__(self) -> None:
        self._folders: queue.Queue[str | None] = queue.Queue(_WAITING)
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def remove(self, scratch: str) -> None:
        """Have a folder removed; waits while many are still there."""
        self._folders.put(scratch)

    def close(self) -> None:
        """Wait until all are gone."""
        self._folders.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (scratch := self._folders.get()) is not None:
            remove(scratch)


def _remove(folder: str, above: int | None = None, depth: int = 0) -> None:
    """Remove a folder; much quicker than shutil for a handful of files.

    Each folder is opened and must not be a link: a candidate may have put one in its place, and
    what that points to is somebody's. Raises OSError also for a tree too deep to be held open.
    """
    if depth > _DEEP:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), folder)
    here = os.open(folder, _NO_LINK, dir_fd=above)
    try:
        with os.scandir(here) as entries:
            found = list(entries)
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                _remove(entry.name, here, depth + 1)
            else:
                os.unlink(entry.name, dir_fd=here)
    finally:
        os.close(here)
    os.rmdir(folder, dir_fd=above)


def _remove_level_by_level(folder: str) -> None:
    """Remove a folder of any depth, whatever rights its folders have.

    What lies in a folder below is moved up, so that no path grows and two folders are open.
    """
    os.chmod(folder, 0o700)
    top = os.open(folder, _NO_LINK)
    try:
        for number in itertools.count():
            names = os.listdir(top)
            if not names:
                break
            for place, name in enumerate(names):
                if _is_folder(name, top):
                    _empty_into(top, name, f".labkit-{number}-{place}")
                else:
                    os.unlink(name, dir_fd=top)
    finally:
        os.close(top)
    os.rmdir(folder)


def _empty_into(top: int, name: str, prefix: str) -> None:
    """Remove a folder in `top`; the folders in it go into `top`."""
    os.chmod(name, 0o700, dir_fd=top)
    here = os.open(name, _NO_LINK, dir_fd=top)
    try:
        for place, below in enumerate(os.listdir(here)):
            if _is_folder(below, here):
                os.chmod(below, 0o700, dir_fd=here)
                os.rename(below, f"{prefix}-{place}", src_dir_fd=here, dst_dir_fd=top)
            else:
                os.unlink(below, dir_fd=here)
    finally:
        os.close(here)
    os.rmdir(name, dir_fd=top)


def _is_folder(name: str, above: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode)
