"""The `instructions:` of a configuration: files that are laid over the base before an agent starts.

They are in the one commit of the run's repository, as any file of the project, and never in its
difference: the project does not have them.
"""

import hashlib
import posixpath
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from labkit.archive import Entry, Kind
from labkit.building import Built
from labkit.errors import InputError, refuse
from labkit.fields import counted
from labkit.gitpaths import DOT_GIT
from labkit.globs import within
from labkit.workspace import Workspace

MOST_FILE_BYTES = 1_000_000
MOST_BYTES = 5_000_000
MOST_FILES = 500
_RUBBISH = frozenset({".ds_store", "thumbs.db", "desktop.ini"})
"""What desktops leave in folders."""


def read_instructions(workspace: Workspace, name: str) -> tuple[Entry, ...]:
    """Read a folder below configs/, sorted by path; no name, no files.

    Raises InputError with everything in it that cannot be laid over a project.
    """
    if not name:
        return ()
    place = f"configs/{name}"
    parts = PurePosixPath(name)
    configs = workspace.evals / "configs"
    if parts.is_absolute() or ".." in parts.parts or not (configs / name).is_dir():
        raise InputError(
            f"there is no folder {place}", hint=f"make evals/{place}, or mend instructions:"
        )
    if configs.resolve() / name != (configs / name).resolve():
        raise InputError(f"{place} is a link", hint="put the folder itself there")
    files = sorted(_files(configs / name))
    sizes = [path.lstat().st_size for path in files]
    problems = [
        problem
        for path, size in zip(files, sizes, strict=True)
        if (problem := _problem(path, path.relative_to(configs / name).as_posix(), size))
    ]
    refuse([f"{place}/{problem}" for problem in problems], hint="take it out of the folder")
    refuse(_too_much(place, len(files), sum(sizes)), hint="keep what instructs an agent, no more")
    return tuple(_entry(path, path.relative_to(configs / name)) for path in files)


def _files(folder: Path) -> Iterator[Path]:
    """Yield everything below a folder that is no folder; links are not followed."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            yield from _files(path)
        elif path.name.lower() not in _RUBBISH:
            yield path


def _problem(path: Path, name: str, size: int) -> str:
    if what := _wrong_name(name):
        return what
    if path.is_symlink():
        return f"{name} is a link: an agent would find another file, or none"
    if not path.is_file():
        return f"{name} is no file"
    if size > MOST_FILE_BYTES:
        return f"{name} has {size:,} bytes, at most {MOST_FILE_BYTES:,}"
    return ""


def _wrong_name(name: str) -> str:
    if not name.isprintable():  # a name that is not UTF-8 has surrogates, which are not
        return f"{name!a}: its name has characters that cannot be shown"
    parts = name.split("/")
    if any(DOT_GIT.fullmatch(part.encode()) for part in parts) or parts[-1] == ".gitmodules":
        return f"{name}: that name is git's own"
    if parts[0].lower() == "evals":
        return f"{name}: evals/ is hidden from agents, and nothing may look like it"
    return ""


def _too_much(place: str, files: int, size: int) -> tuple[str, ...]:
    if not files:
        return (f"{place} holds no file: nothing would be laid over the project",)
    found = []
    if files > MOST_FILES:
        found.append(f"{place} holds {counted(files, 'file')}, at most {MOST_FILES}")
    if size > MOST_BYTES:
        found.append(f"{place} has {size:,} bytes, at most {MOST_BYTES:,}")
    return tuple(found)


def _entry(path: Path, name: Path) -> Entry:
    kind = Kind.EXECUTABLE if path.stat().st_mode & 0o100 else Kind.FILE
    return Entry(path=name.as_posix().encode(), kind=kind, data=path.read_bytes())


def laid(built: Built, instructions: Iterable[Entry], base: Iterable[Entry]) -> Built:
    """Return what was done to a base once instructions lie over what build commands left.

    Raises InputError where the base has no room for them: a file or a link where they need a
    folder, or a folder where they are a file.
    """
    files = {entry.path: entry for entry in instructions}
    tree = built.over(base)
    folders = {above for path in tree for above in _above(path)}
    folders |= {path for path, entry in tree.items() if entry.kind is Kind.FOLDER}
    refuse(
        [problem for path in files if (problem := _no_room(path, tree, folders))],
        hint="rename the file in the instructions: folder of the configuration",
    )
    return Built(
        made={**built.made, **files},
        gone=built.gone - files.keys(),
        laid=frozenset(files),
    )


def _above(path: bytes) -> Iterator[bytes]:
    parts = path.split(b"/")
    return (b"/".join(parts[:count]) for count in range(1, len(parts)))


def _no_room(path: bytes, tree: Mapping[bytes, Entry], folders: set[bytes]) -> str:
    told = f"{path.decode()} cannot be laid over the base"
    for above in _above(path):
        entry = tree.get(above)
        if entry is not None and entry.kind is not Kind.FOLDER:
            what = "link" if entry.kind is Kind.SYMLINK else "file"
            return f"{told}: {above.decode()} is a {what} there"
    return f"{told}: it is a folder there" if path in folders else ""


def instructing(
    files: Mapping[bytes, Entry], patterns: tuple[str, ...], place: str
) -> dict[str, str]:
    """Return the SHA-256 of each file that instructs or sets an agent, by its path in the sandbox.

    `files` lie below `place`; `patterns` are those of the agent (`labkit.globs`). A link counts as
    what it leads to inside the tree.
    """
    if not patterns:
        return {}
    return {
        f"{place}/{name}": hashlib.sha256(_behind(entry, files).data).hexdigest()
        for path, entry in sorted(files.items())
        if entry.kind in (Kind.FILE, Kind.EXECUTABLE, Kind.SYMLINK)
        and within(name := path.decode(errors="backslashreplace"), patterns)
    }


def _behind(entry: Entry, files: Mapping[bytes, Entry]) -> Entry:
    seen = {entry.path}
    while entry.kind is Kind.SYMLINK:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(entry.path), entry.data))
        following = files.get(target)
        if following is None or target in seen:
            return entry
        seen.add(target)
        entry = following
    return entry
