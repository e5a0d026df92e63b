"""Environments as folders: setup fills a virtual environment, at the place where it is seen later.

What a command would have to be the superuser for is refused: `/usr` is this machine's own.
"""

import contextlib
import json
import os
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from labkit import process
from labkit.errors import ToolError
from labkit.sandbox.bootstrap import bootstrap
from labkit.sandbox.environment import Environment
from labkit.sandbox.indexes import read_indexes
from labkit.sandbox.kit import setup_command, setup_kit
from labkit.sandbox.making import (
    LEFT,
    NAME,
    VENV,
    Made,
    Making,
    Progress,
    SetupError,
    Tail,
    Told,
    not_there,
)
from labkit.sandbox.namespace import started
from labkit.sandbox.scratch import remove_folder, scratch_folder
from labkit.sandbox.streams import Output
from labkit.sandbox.view import Writable, setup_view

_ROOT = "root"
_ABOUT = "environment.json"
_LIMIT = 1 << 40
_NEEDS_ROOT = re.compile(
    r"(?:^|[;&|(]|\b(?:exec|then|do|else))\s*(?:\w+=\S*\s+)*"
    r"(sudo|apt-get|apt|aptitude|dpkg|yum|dnf|apk|zypper|pacman)\s"
)


class BubblewrapWorkshop:
    """Makes environments as folders below one folder of the user's cache."""

    kind = "bubblewrap"

    def __init__(self, bwrap: Path, environment: Environment, roots: Path) -> None:
        self._bwrap = bwrap
        self._environment = environment
        self._roots = roots

    def foundation(self, making: Making) -> str:
        """Return which interpreter and system it stands on; refuses what needs an engine."""
        if making.dockerfile:
            raise ToolError(
                "a Dockerfile needs a container engine, and this is bubblewrap",
                hint="start an engine, or say in setup: what has to be installed",
            )
        for command in making.setup:
            if match := _NEEDS_ROOT.search(command):
                raise ToolError(
                    f"the setup command {command!r} needs the superuser ({match[1]}), "
                    "and bubblewrap leaves this machine's system as it is",
                    hint="install it on this machine yourself, or use a container engine",
                )
        return prepared_root(self._environment, self._roots, making.image).description

    def has(self, key: str) -> bool:
        """Whether the folder is there; it appears as a whole."""
        return (self._roots / key).is_dir()

    def make(self, key: str, making: Making, progress: Progress) -> None:
        """Make the folder; see `Workshop.make`."""
        with scratch_folder(self._roots) as scratch:
            new = scratch / key
            writable = Writable(
                root=new / _ROOT, tree=scratch / "tree", temporary=scratch / "temporary"
            )
            for folder in (new, writable.root, writable.tree, writable.temporary):
                folder.mkdir()
            below = prepared_root(self._environment, self._roots, making.image).root
            if below is not None:
                # Copies, not links to the same files: setup may write into them.
                process.run(["cp", "-a", "--reflink=auto", "--", f"{below}/.", writable.root])
            self._set_up(writable, making, progress)
            about = {
                "bytes": _size(new),
                "created": datetime.now(UTC).isoformat(timespec="seconds"),
            }
            (new / _ABOUT).write_text(json.dumps(about), encoding="utf-8")
            with contextlib.suppress(FileExistsError):
                new.rename(self._roots / key)

    def left(self, key: str) -> bool:
        """Whether setup left files."""
        return (self._roots / key / _ROOT / Path(LEFT).name).is_dir()

    def made(self) -> tuple[Made, ...]:
        """Return every folder that is an environment."""
        found = []
        for path in sorted(self._roots.glob(f"*/{_ABOUT}")):
            with contextlib.suppress(OSError, ValueError, LookupError):
                about = json.loads(path.read_text(encoding="utf-8"))
                size, created = int(about["bytes"]), str(about["created"])[:19]
                found.append(Made(key=path.parent.name, bytes=size, created=created))
        return tuple(found)

    def in_use(self, key: str) -> bool:
        """Whether a process of this machine was started with the folder among its words."""
        words = f"{self._roots / key}/".encode()
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):  # it ended meanwhile, or is somebody else's
                if any(each.startswith(words) for each in path.read_bytes().split(b"\0")):
                    return True
        return False

    def remove(self, key: str) -> None:
        """Remove a folder; first it is no environment any more, then it is gone."""
        with scratch_folder(self._roots) as scratch, contextlib.suppress(FileNotFoundError):
            (self._roots / key).rename(scratch / key)
            remove_folder(scratch / key)

    def _set_up(self, writable: Writable, making: Making, progress: Progress) -> None:
        indexes = read_indexes()
        tree, kit = making.tree, setup_kit(indexes, making, venv=VENV)
        command = setup_command(making.setup)
        argv = bootstrap(command, returned="/workspace", sizes=(len(tree), len(kit)))
        view = setup_view(self._environment, writable, indexes.folders)
        told, tail = Told(making.setup, progress), Tail()
        output = Output(told, tail, _LIMIT)
        with started(self._bwrap, [*view, "--", *argv]) as running:
            takers = ((running.stdout, output.out), (running.stderr, output.err))
            with running.drained(*takers):
                running.feed(tree, kit)
                running.wait()
        if not output.ready:
            raise SetupError(
                f"setup could not start: {output.complaint or 'it said nothing'}",
                hint="run `labkit doctor`",
            )
        told.check(tail.kept)


def prepared_root(environment: Environment, roots: Path, image: str) -> Environment:
    """Return the environment that a name stands for; names that are no environment's mean none.

    Raises InfrastructureError when it is not there.
    """
    name, _, key = image.partition(":")
    if name != NAME:
        return environment
    root = roots / key / _ROOT
    if not root.is_dir():
        raise not_there(image)
    return replace(environment, root=root)


def _size(folder: Path) -> int:
    return sum(
        path.lstat().st_size
        for base, _, names in os.walk(folder)
        for path in (Path(base, name) for name in names)
    )
