"""The one place that starts programs: always from a list, never through a shell."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from labkit.errors import ToolError

_STDERR_TAIL = 2000
_PIECE = 1 << 16
Started = subprocess.Popen[bytes]
"""A program that runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """What a program left: its exit code (negative: killed by that signal) and its output."""

    argv: tuple[str, ...]
    code: int
    stdout: bytes
    stderr: bytes

    @property
    def complaint(self) -> str:
        """The end of standard error, for a message."""
        return self.stderr[-_STDERR_TAIL:].decode(errors="backslashreplace").strip()


def plain_environment() -> dict[str, str]:
    """Return the smallest environment in which ordinary programs work: no user settings at all."""
    keep = ("PATH", "SYSTEMROOT", "TMPDIR", "TEMP", "TMP")
    return {name: os.environ[name] for name in keep if name in os.environ} | {
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
    }


def run(
    argv: Sequence[str | Path],
    *,
    stdin: bytes = b"",
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    check: bool = True,
) -> Completed:
    """Run a program to its end and return what it left.

    Raises ToolError when the program is missing, and, with `check`, when it ends in another code
    than 0. `env` replaces the whole environment; by default it is `plain_environment()`.
    """
    words = tuple(str(word) for word in argv)
    try:
        done = subprocess.run(
            words,
            input=stdin,
            cwd=cwd,
            env=dict(env) if env is not None else plain_environment(),
            capture_output=True,
            check=False,
        )
    except FileNotFoundError as error:
        raise ToolError(
            f"{words[0]} could not be started: {error.strerror}: {error.filename}",
            hint=f"install {words[0]} or put it on PATH",
        ) from error
    except OSError as error:
        raise ToolError(f"{words[0]} could not be started: {error.strerror}") from error
    completed = Completed(argv=words, code=done.returncode, stdout=done.stdout, stderr=done.stderr)
    if check and completed.code != 0:
        raise ToolError(
            f"{' '.join(words[:4])} ... ended in {completed.code}: {completed.complaint}"
        )
    return completed


def stream(argv: Sequence[str | Path], *, env: Mapping[str, str]) -> Iterator[bytes]:
    """Yield a program's output as it comes; it is ended when nobody reads on.

    Raises ToolError at the end when the program ended in another code than 0.
    """
    with tempfile.TemporaryFile() as complaints:
        program = start(argv, env=env, stderr=complaints)
        with program:
            try:
                assert program.stdin is not None and program.stdout is not None  # noqa: S101, PT018
                program.stdin.close()
                while piece := program.stdout.read(_PIECE):
                    yield piece
            except BaseException:
                program.kill()
                raise
        if program.returncode != 0:
            complaints.seek(0)
            told = complaints.read()[-_STDERR_TAIL:].decode(errors="backslashreplace").strip()
            raise ToolError(
                f"{' '.join(map(str, argv[:4]))} ... ended in {program.returncode}: {told}"
            )


def start(
    argv: Sequence[str | Path],
    *,
    env: Mapping[str, str],
    stdout: int | IO[bytes] = subprocess.PIPE,
    stderr: int | IO[bytes] = subprocess.PIPE,
    pass_fds: Sequence[int] = (),
    cwd: Path | None = None,
) -> Started:
    """Start a program with a pipe as its standard input and leave it running, for the caller."""
    try:
        return subprocess.Popen(
            [str(word) for word in argv],
            stdin=subprocess.PIPE,
            stdout=stdout,
            stderr=stderr,
            env=dict(env),
            pass_fds=tuple(pass_fds),
            cwd=cwd,
            start_new_session=True,  # Ctrl-C at the terminal is for labkit, which ends it or not
        )
    except OSError as error:
        raise ToolError(f"{argv[0]} could not be started: {error.strerror}") from error


def show(
    argv: Sequence[str | Path], *, cwd: Path, env: Mapping[str, str]
) -> "subprocess.CompletedProcess[str]":
    """Run a program whose output people see as it comes; return its exit code and its stdout."""
    words = [str(word) for word in argv]
    with subprocess.Popen(
        words, cwd=cwd, env=dict(env), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    ) as program:
        lines = []
        for line in program.stdout or ():
            sys.stdout.write(line)
            sys.stdout.flush()
            lines.append(line)
    return subprocess.CompletedProcess(words, program.returncode, "".join(lines))
