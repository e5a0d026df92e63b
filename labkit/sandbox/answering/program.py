"""Answers each connection with one word until its standard input ends.

A plain file that knows nothing of labkit: standard library only. The first line of standard input
is the folder of its socket.
"""

import contextlib
import socket
import sys
import threading
from pathlib import Path

NAME = "answer.sock"
WORD = b"reached"


def _answer(listening: socket.socket) -> None:
    while True:
        connection, _ = listening.accept()
        with connection, contextlib.suppress(OSError):
            connection.sendall(WORD)


def main() -> None:
    """Listen, say so, and answer."""
    place = Path(sys.stdin.readline().rstrip("\n"), NAME)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(place))
        place.chmod(0o666)  # the command has another user
        listening.listen()
        threading.Thread(target=_answer, args=[listening], daemon=True).start()
        sys.stdout.write("listening\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
