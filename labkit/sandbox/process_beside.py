"""Sidecars without an engine: a process of this machine, and a folder that it shares.

It is as free as labkit itself, being labkit's own code. It ends with its standard input, which the
kernel closes when labkit is gone; `clean` then removes the folder.
"""

import contextlib
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import IO

from labkit import process
from labkit.errors import InfrastructureError, ToolError
from labkit.sandbox.beside import GRACE, Beside
from labkit.sandbox.distributions import closure
from labkit.sandbox.interface import SidecarSpec
from labkit.sandbox.scratch import note_running, scratch_folder
from labkit.sandbox.streams import pump


@contextlib.contextmanager
def process_beside(scratch_root: Path, spec: SidecarSpec) -> Iterator[Beside]:
    """Start the program as a process, with a private folder; see `SidecarSandbox.sidecar`."""
    with scratch_folder(scratch_root) as scratch:
        channel, site = scratch / "channel", scratch / "site"
        for folder in (channel, site):
            folder.mkdir(mode=0o755)
        _link(site, spec.folders)
        program = _start(spec, channel, site)
        try:
            note_running(scratch, program.pid, spec.labels)
            with _drained(program, channel) as beside:
                yield beside
        finally:
            program.kill()
            program.wait()
            for pipe in (program.stdin, program.stdout, program.stderr):
                _close(pipe)


def _start(spec: SidecarSpec, channel: Path, site: Path) -> process.Started:
    """Start it in its folder: a socket's whole path may be longer than the system allows.

    Whatever labkit starts has a session of its own, which keeps the terminal's interrupt from it:
    labkit says when it is over.
    """
    try:
        closure(spec.packages)  # as installed beside labkit, whose Python this is
        return process.start(
            [sys.executable, "-P", "-u", "-m", spec.module],
            env={**process.plain_environment(), "PYTHONPATH": str(site)},
            cwd=channel,
        )
    except ToolError as error:
        raise InfrastructureError(
            f"the program beside the sandbox could not be started: {error.message}", hint=error.hint
        ) from error


@contextlib.contextmanager
def _drained(program: process.Started, channel: Path) -> Iterator[Beside]:
    stdin, stdout, stderr = program.stdin, program.stdout, program.stderr
    assert stdin is not None and stdout is not None and stderr is not None  # noqa: S101, PT018 - all are pipes
    beside = Beside(channel=str(channel), folder=".", send=partial(_send, stdin))

    complaints = threading.Thread(
        target=pump, args=(partial(os.read, stderr.fileno()), beside.err), daemon=True
    )

    def take_lines() -> None:
        pump(partial(os.read, stdout.fileno()), beside.out)
        complaints.join(GRACE)  # whoever finds the lines over asks why
        beside.stdout.close()

    threads = (complaints, threading.Thread(target=take_lines, daemon=True))
    for thread in threads:
        thread.start()
    try:
        yield beside
    finally:
        _close(stdin)
        for thread in threads:
            thread.join(GRACE)
        beside.stdout.give_up()
        program.kill()
        for thread in threads:
            thread.join()


def _send(stdin: IO[bytes], data: bytes) -> None:
    stdin.write(data)
    stdin.flush()


def _close(pipe: IO[bytes] | None) -> None:
    if pipe is not None:
        with contextlib.suppress(OSError):  # what an ended program has not taken
            pipe.close()


def _link(site: Path, folders: Mapping[str, Path]) -> None:
    """Show packages under the names that they are imported by."""
    for name, folder in folders.items():
        place = site.joinpath(*name.split("."))
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(folder.resolve())
