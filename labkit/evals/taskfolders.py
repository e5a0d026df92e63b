"""A folder of fixture tasks: which of its folders are tasks, and which only look like one."""

import difflib
from pathlib import Path

from labkit.evals.verifiers import BUGGY, EXPECTED

TASK_FILES = ("task.yaml", "task.yml", "task.json")
_SKIPPED = frozenset({"__pycache__", "__MACOSX"})
_NEAR = 0.85
_HARBORS = ".toml"


def task_files(folder: Path) -> list[Path]:
    """Return the files that make a folder a task; more than one is a mistake."""
    return [folder / name for name in TASK_FILES if (folder / name).is_file()]


def visible_folders(folder: Path) -> list[Path]:
    """Return the folders in which a task could be, sorted."""
    return sorted(
        path
        for path in folder.iterdir()
        if path.is_dir() and not path.name.startswith(".") and path.name not in _SKIPPED
    )


def stray(folder: Path) -> str:
    """Return why a folder is no task although it looks like one; empty when it does not."""
    if task_files(folder):
        return ""
    lacks = f"and no {TASK_FILES[0]}"
    if near := sorted(path.name for path in folder.iterdir() if _is_near(path)):
        return f'{folder.name} holds {near[0]} {lacks}: did you mean "{TASK_FILES[0]}"?'
    if trees := [f"{name}/" for name in (BUGGY, EXPECTED) if (folder / name).is_dir()]:
        return f"{folder.name} holds {' and '.join(trees)} {lacks}: write one, or move it away"
    return ""


def _is_near(path: Path) -> bool:
    name = path.name.casefold()
    if path.suffix == _HARBORS or not path.is_file():
        return False
    return name.startswith(TASK_FILES) or bool(
        difflib.get_close_matches(name, TASK_FILES, cutoff=_NEAR)
    )
