"""A container's three streams over one attached connection, both outputs drained as they come."""

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from typing import IO

import docker

from labkit.sandbox.streams import CHUNK, Output

_GRACE = 30
"""Seconds that the outputs of an ended container may take to come."""


@contextlib.contextmanager
def attached(client: docker.APIClient, container: str, output: Output) -> Iterator[socket.socket]:
    """Attach to all three streams; drain two in a thread, yield the socket to write to."""
    wanted = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
    attachment = client.attach_socket(container, params=wanted)
    connection: socket.socket = getattr(attachment, "_sock", attachment)
    connection.settimeout(None)
    reader = connection.makefile("rb", buffering=CHUNK)
    drain = threading.Thread(target=_demultiplex, args=(reader, output), daemon=True)
    drain.start()
    try:
        yield connection
        drain.join(_GRACE)
    finally:
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
        drain.join()
        for end in (reader, attachment, connection):
            end.close()


def _demultiplex(reader: IO[bytes], output: Output) -> None:
    """Take the engine's attach stream apart: 8 bytes (stream number, size), then the payload."""
    with contextlib.suppress(OSError, ValueError):
        while len(header := reader.read(8)) == 8:  # noqa: PLR2004 - the frame header of the API
            number, size = struct.unpack(">BxxxL", header)
            take = output.err if number == 2 else output.out  # noqa: PLR2004 - standard error
            while size > 0 and (data := reader.read(min(size, CHUNK))):
                take(data)
                size -= len(data)
