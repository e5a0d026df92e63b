"""The folders of this machine that one command under bubblewrap gets, in its scratch folder."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from labkit.archive import Entry, Kind
from labkit.sandbox.interface import Spec


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where one command works."""

    tree: Path
    home: Path
    fixed: tuple[tuple[Path, str], ...]
    """Folders that are only read, and where they are shown."""


def lay_out(scratch: Path, spec: Spec) -> Place:
    """Make the folders of a command."""
    place = Place(
        tree=scratch / "tree",
        home=scratch / "home",
        fixed=tuple(
            (scratch / f"fixed-{number}", folder) for number, folder in enumerate(spec.fixed)
        ),
    )
    for folder in (place.tree, place.home, *(folder for folder, _ in place.fixed)):
        folder.mkdir(mode=0o755)
    if spec.returned_file:
        (place.tree / spec.returned_file).touch(mode=0o644)
    for folder, name in place.fixed:
        _lay(folder, spec.fixed[name])
    return place


def _lay(folder: Path, entries: Iterable[Entry]) -> None:
    """Write entries of labkit's own into a folder that is empty."""
    for entry in entries:
        path = folder / os.fsdecode(entry.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        match entry.kind:
            case Kind.FOLDER:
                path.mkdir(exist_ok=True)
            case Kind.SYMLINK:
                path.symlink_to(os.fsdecode(entry.data))
            case Kind.FILE | Kind.EXECUTABLE:
                path.write_bytes(entry.data)
                path.chmod(0o755 if entry.kind is Kind.EXECUTABLE else 0o644)
            case Kind.SPECIAL | Kind.OVERSIZED:
                raise ValueError(f"{path.name} has no content to lay down")
