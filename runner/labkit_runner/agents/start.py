"""Starts an agent inside the sandbox, with the way to the gateway beside it.

A plain file that knows nothing of labkit: standard library only, Python 3.8 or newer.
Usage: start.py PORT SOCKET PROGRAM [ARGUMENT...]. What comes to 127.0.0.1:PORT goes to the socket;
the program runs with nothing on its standard input and is this process from then on.
"""

import asyncio
import os
import socket
import sys

_PIECE = 65536


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    """Hand on what comes; an end is handed on as an end, a broken connection as a broken one."""
    try:
        while piece := await source.read(_PIECE):
            target.write(piece)
            await target.drain()
        if target.can_write_eof():
            target.write_eof()
    except OSError:
        target.transport.abort()


async def _forward(listening: socket.socket, place: str) -> None:
    async def connected(source: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        try:
            answers, target = await asyncio.open_unix_connection(place)
        except OSError:
            back.transport.abort()
            return
        await asyncio.gather(_copy(source, target), _copy(answers, back))
        target.close()
        back.close()

    server = await asyncio.start_server(connected, sock=listening)
    async with server:
        await server.serve_forever()


def main(port: int, place: str, argv: "list[str]") -> None:
    """Listen, leave the forwarder behind as a process of its own, and become the program."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", port))
    listening.listen(64)
    if os.fork() == 0:
        # Without the agent's streams, or its output would not end before the forwarder does.
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        os.setsid()
        asyncio.run(_forward(listening, place))
        os._exit(0)
    listening.close()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    try:
        os.execvp(argv[0], argv)  # noqa: S606 - starting the agent is what it is for
    except OSError as error:
        sys.stderr.write(f"{argv[0]} could not be started: {error.strerror}\n")
        sys.exit(127)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
