"""The parts of the house, for tests of its rules and of its documents."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from labkit.cli.app import app

ROOT = Path(__file__).parents[1]
PACKAGES = {
    "labkit": ROOT / "labkit",
    "labkit_runner": ROOT / "runner" / "labkit_runner",
    "labkit_grader": ROOT / "grader" / "labkit_grader",
    "labkit_instructor": ROOT / "instructor" / "labkit_instructor",
}
TEMPLATES = ROOT / "templates" / "labkit_templates"
SOURCES = {
    path.relative_to(folder.parent).as_posix(): path
    for folder in PACKAGES.values()
    for path in sorted(folder.rglob("*.py"))
}


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield every command by its name as it is typed."""
    yield " ".join(("labkit", *path)), command
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, (*path, name))


COMMANDS = dict(commands(typer.main.get_command(app)))
