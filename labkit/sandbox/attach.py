"""A container's three streams over one attached connection, both outputs drained as they come."""

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from typing import IO, Protocol

import docker

from labkit.sandbox.streams import CHUNK

_GRACE = 30
"""Seconds that the outputs of an ended container may take to come."""


class Takers(Protocol):
    """Who takes the two outputs."""

    def out(self, data: bytes) -> None:
        """Take a piece of standard output."""
        ...

    def err(self, data: bytes) -> None:
        """Take a piece of standard error."""
        ...


@contextlib.contextmanager
def attached(
    client: docker.APIClient,
    container: str,
    takers: Takers,
    *,
    late: Callable[[], None] = lambda: None,
    over: Callable[[], None] = lambda: None,
) -> Iterator[socket.socket]:
    """Attach to all three streams; drain two in a thread, yield the socket to write to.

    `late` is called when the outputs have had their time to come: from then on they may get lost.
    `over` is called, in that thread, when nothing more comes.
    """
    wanted = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
    attachment = client.attach_socket(container, params=wanted)
    connection: socket.socket = getattr(attachment, "_sock", attachment)
    connection.settimeout(None)
    reader = connection.makefile("rb", buffering=CHUNK)
    drain = threading.Thread(target=_drain, args=(reader, takers, over), daemon=True)
    drain.start()
    try:
        yield connection
        drain.join(_GRACE)
    finally:
        late()
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
        drain.join()
        for end in (reader, attachment, connection):
            end.close()


def _drain(reader: IO[bytes], takers: Takers, over: Callable[[], None]) -> None:
    _demultiplex(reader, takers)
    over()


def _demultiplex(reader: IO[bytes], takers: Takers) -> None:
    """Take the engine's attach stream apart: 8 bytes (stream number, size), then the payload."""
    with contextlib.suppress(OSError, ValueError):
        while len(header := reader.read(8)) == 8:  # noqa: PLR2004 - the frame header of the API
            number, size = struct.unpack(">BxxxL", header)
            take = takers.err if number == 2 else takers.out  # noqa: PLR2004 - standard error
            while size > 0 and (data := reader.read(min(size, CHUNK))):
                take(data)
                size -= len(data)
