"""`HostCommand`: a candidate that is a command of this machine, with its network and its tools.

It is as little of a wall as starting the command by hand: use it for candidates that you trust and
that need a network, and `labkit.evals.command.Command` for all others.
"""

import contextlib
import os
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from labkit.evals.answerfile import CandidateError
from labkit.evals.candidatefiles import NO_FILES, VARIABLE, CandidateFiles
from labkit.evals.case import EvalCase
from labkit.evals.commandfiles import (
    ANSWER,
    INPUT,
    MOST_OUTPUT,
    Left,
    answer_of,
    command_words,
    failed,
    input_file,
    variables,
)
from labkit.evals.kept import Closing, End, HostLimits, Kept, Program
from labkit.evals.pipes import Heard
from labkit.evals.sample import Answer, Escaped, TimedOut, Trial
from labkit.graders.folder import Unreadable, read_inside

_OWN = "candidate"
_FOR_EVER = 10 * 365 * 86_400.0


class HostCommand(Closing):
    """Runs `command` (words, or a text for the shell) once for each sample, as the user.

    It works in the sample's scratch folder and finds the case in the file that LABKIT_INPUT names;
    it answers by what it prints, or in the file that LABKIT_ANSWER names. At its end, and after
    `timeout` seconds, everything that it started is killed. Ending in another code than 0 is no
    answer; with `any_exit` what it left is its answer all the same. `files` lie in the folder that
    LABKIT_CANDIDATE names, fresh for each sample.
    """

    def __init__(
        self,
        command: str | Sequence[str],
        *,
        timeout: float | None = None,
        any_exit: bool = False,
        limits: HostLimits | None = None,
        files: CandidateFiles = NO_FILES,
    ) -> None:
        self._words = command_words(command)
        self._files = files
        self.code = files.code(self._words)
        self._timeout = timeout
        self._any_exit = any_exit
        self._limits = limits or HostLimits()
        self._lock = threading.Lock()
        self._running: set[Kept] = set()
        self._closed = False

    def __call__(self, case: EvalCase, trial: Trial) -> Answer:
        """Return the command's answer; raises CandidateError, TimedOut or Escaped."""
        with tempfile.TemporaryDirectory(prefix="labkit-candidate-") as private:
            folder = Path(private)
            (folder / INPUT).write_bytes(input_file(case, trial))
            if self._files.entries:
                self._files.lay(folder / _OWN)
            stdout, stderr = Heard(first=MOST_OUTPUT), Heard()
            begun = time.monotonic()
            try:
                end = self._run(folder, trial, stdout, stderr)
            finally:
                stdout.finish()
                stderr.finish()
            seconds = time.monotonic() - begun
            if trial.scratch.is_symlink() or not trial.scratch.is_dir():
                raise Escaped("the scratch folder itself was replaced or removed")
            if end.code != 0 and not self._any_exit:
                said = stderr.last_words or stdout.last_words
                hint = self._files.missed(self._words, said)
                raise failed(end.words, end.code, said.encode(), hint)
            left = Left(
                stdout=stdout.first,
                cut=stdout.cut > 0,
                answer=_written(folder),
                seconds=seconds,
            )
            return answer_of(left)

    def _run(self, folder: Path, trial: Trial, stdout: Heard, stderr: Heard) -> End:
        told = variables(trial, given=str(folder / INPUT), answer=str(folder / ANSWER))
        if self._files.entries:
            told[VARIABLE] = str(folder / _OWN)
        program = Program(
            argv=self._words,
            cwd=trial.scratch,
            env=os.environ | told,
            stdout=stdout.end,
            stderr=stderr.end,
            limits=self._limits,
        )
        kept = Kept(program)
        with self._counted(kept):
            stdout.started()
            stderr.started()
            end = kept.wait(self._timeout or _FOR_EVER)
        if end is None:
            kept.end()
            raise TimedOut(f"had not ended after {self._timeout:g} s")
        if end.killed:
            raise CandidateError("the command was ended because the run was")
        return end

    @contextlib.contextmanager
    def _counted(self, kept: Kept) -> Iterator[None]:
        """Let `close` find what runs."""
        with self._lock:
            self._running.add(kept)
            closed = self._closed
        if closed:
            kept.kill()
        try:
            yield
        except BaseException:
            kept.end()
            raise
        finally:
            with self._lock:
                self._running.discard(kept)

    def close(self) -> None:
        """Kill what still runs: those samples are then missing."""
        with self._lock:
            self._closed = True
            running = [*self._running]
        for kept in running:
            kept.kill()


def _written(folder: Path) -> bytes | None:
    if not os.path.lexists(folder / ANSWER):
        return None
    found = read_inside(folder, ANSWER)
    if isinstance(found, Unreadable):
        raise CandidateError(found.why)
    return found
