"""Gives a program a terminal inside the sandbox, typed on from outside.

A plain file that knows nothing of labkit: standard library only, Python 3.8 or newer.
Usage: terminal.py DESCRIPTOR PROGRAM [ARGUMENT...]. What is typed comes over the descriptor in
frames: one letter, two bytes of length, the content. `k` is keys; `s` is the size of the terminal,
two bytes of rows and two of columns. What the program shows goes to standard output. The end of
the descriptor is the end of labkit: everything is killed.
"""

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

_PIECE = 65536
_HEADER = 3
_PAUSE = 0.05
_MOST_WAITING = 65536
_LABKIT_GONE = 137


class _Seat:
    """One program at its terminal."""

    def __init__(self, typed: int, program: int, terminal: int) -> None:
        self.typed = typed
        self.program = program
        self.terminal = terminal
        self.frames = b""
        self.keys = b""
        """What the program has not read yet."""

    def take(self) -> None:
        """Take what was typed, as far as it is whole."""
        data = os.read(self.typed, _PIECE)
        if not data:
            os.kill(-1, signal.SIGKILL)
            os._exit(_LABKIT_GONE)
        self.frames += data
        while len(self.frames) >= _HEADER:
            kind, size = struct.unpack(">cH", self.frames[:_HEADER])
            if len(self.frames) < _HEADER + size:
                return
            content = self.frames[_HEADER : _HEADER + size]
            self.frames = self.frames[_HEADER + size :]
            if kind == b"k":
                self.keys += content
            elif kind == b"s":
                rows, columns = struct.unpack(">HH", content)
                place = struct.pack("HHHH", rows, columns, 0, 0)
                fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, place)

    def show(self) -> bool:
        """Show what the program wrote; return whether there may be more."""
        try:
            data = os.read(self.terminal, _PIECE)
        except BlockingIOError:
            return False
        except OSError:  # nobody holds the other end
            time.sleep(_PAUSE)
            return False
        while data:
            data = data[os.write(1, data) :]
        return True

    def type(self) -> None:
        """Hand the program as many keys as it takes."""
        try:
            self.keys = self.keys[os.write(self.terminal, self.keys) :]
        except BlockingIOError:
            return
        except OSError:
            self.keys = b""

    def serve(self) -> int:
        """Serve until the program ends; return its exit code."""
        while True:
            wanted = [self.terminal]
            if len(self.keys) < _MOST_WAITING:
                wanted.append(self.typed)
            pending = [self.terminal] if self.keys else []
            ready, free, _ = select.select(wanted, pending, [], _PAUSE)
            if self.typed in ready:
                self.take()
            if free:
                self.type()
            if self.terminal in ready:
                self.show()
            done, status = os.waitpid(self.program, os.WNOHANG)
            if done:
                while self.show():
                    pass
                return _code(status)


def _code(status: int) -> int:
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def main(typed: int, argv: "list[str]") -> int:
    """Start the program at a terminal of its own and serve it."""
    program, terminal = pty.fork()
    if program == 0:
        os.close(typed)
        try:
            os.execvp(argv[0], argv)  # noqa: S606 - starting the program is what it is for
        except OSError as error:
            sys.stderr.write("%s could not be started: %s\n" % (argv[0], error.strerror))  # noqa: UP031
            sys.stderr.flush()
            os._exit(127)
    os.set_blocking(terminal, False)
    return _Seat(typed, program, terminal).serve()


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
