"""Reads a folder that a sandboxed command has left, from inside another sandbox that is empty.

So nothing follows a link on this machine, and folders that the command locked can be read.
"""

import io
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TypeVar

from labkit.errors import InfrastructureError
from labkit.sandbox.interface import SANDBOX_UID
from labkit.sandbox.namespace import started
from labkit.sandbox.streams import CHUNK, Sink
from labkit.sandbox.view import reader_view

T = TypeVar("T")
_COMPLAINT = 2000


def read_folder(
    bwrap: Path, folder: Path, place: str, read: Callable[[Iterator[bytes]], tuple[T, bool]]
) -> T:
    """Hand `folder` to `read` as the pieces of a tar, as if it stood at `place`.

    `read` returns its value, and whether it read to the end.
    """
    name = PurePosixPath(place)
    pack = ["tar", "--create", "--format=gnu", "--numeric-owner", "--sort=name"]
    pack += [f"--owner={SANDBOX_UID}", f"--group={SANDBOX_UID}", "-C", str(name.parent)]
    view = reader_view(folder, place)
    with started(bwrap, [*view, "--", *pack, "--", name.name]) as running:
        chunks = iter(partial(os.read, running.stdout, CHUNK), b"")
        complaint = io.BytesIO()
        with running.drained((running.stderr, Sink(complaint, _COMPLAINT).write)):
            value, ended = read(chunks)
            if not ended:
                return value  # the packer still writes: leaving here ends it
            code = running.wait()
    if code != 0:
        said = complaint.getvalue().decode(errors="backslashreplace").strip()
        raise InfrastructureError(f"the folder {place} could not be read: {said}")
    return value
