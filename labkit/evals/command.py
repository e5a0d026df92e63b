"""`Command`: a candidate that is any command, in the sandbox, on a copy of the scratch folder.

This is the place for a candidate that is not trusted: no network, nothing of this machine, no
process that outlives it. Nothing comes back but files and what it printed.
"""

import io
import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, assert_never

from labkit.archive import Entry, Kind, read_tar, write_tar
from labkit.errors import InfrastructureError, not_written
from labkit.evals.answerfile import CandidateError
from labkit.evals.candidatefiles import NO_FILES, PLACE, VARIABLE, CandidateFiles
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
from labkit.evals.sample import Answer, TimedOut, Trial
from labkit.fields import first_words
from labkit.graders.folder import MOST_FILE_BYTES, Unreadable, entries_of
from labkit.model import Ended
from labkit.sandbox.interface import Limits, Outcome, Sandbox, Spec, Streams

COMMAND_LIMITS = Limits(seconds=600.0, returned_bytes=256 * 1024 * 1024)
"""What one sample may use unless somebody says otherwise."""
_PLACE = "/labkit"
_SCRATCH = b"scratch"
_IN_SCRATCH = ("sh", "-c", 'cd scratch && exec "$@"', "labkit")
"""The folder is only there once the sandbox has unpacked what it was given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Returned:
    files: tuple[Entry, ...] = ()
    """What lies in the working folder: files and folders."""
    answer: Entry | None = None
    left_out: tuple[str, ...] = ()
    """Links and devices, which do not come back."""


class Command:
    """Runs `command` (words, or a text for the shell) once for each sample, in a fresh sandbox.

    It works in `/labkit/scratch`, which holds the sample's files and replaces them afterwards: its
    links and devices are left out. It finds the case in `/labkit/input.json`, and answers by what
    it prints, or in `/labkit/answer.json`. A command that ends in another code than 0 has given no
    answer; with `any_exit` what it left is its answer all the same. `files` lie in `/candidate`,
    fresh for each sample.
    """

    def __init__(
        self,
        command: str | Sequence[str],
        *,
        sandbox: Sandbox,
        image: str = "",
        limits: Limits = COMMAND_LIMITS,
        any_exit: bool = False,
        files: CandidateFiles = NO_FILES,
    ) -> None:
        self._words = command_words(command)
        self._files = files
        self.code = files.code(self._words)
        self._sandbox = sandbox
        self._image = image
        self._limits = replace(limits, output_bytes=MOST_OUTPUT)
        self._any_exit = any_exit

    def __call__(self, case: EvalCase, trial: Trial) -> Answer:
        """Return the command's answer; raises CandidateError, TimedOut or InfrastructureError."""
        stdout, stderr = io.BytesIO(), io.BytesIO()
        spec = self._spec(case, trial)
        outcome, returned = self._sandbox.run(
            spec, Streams(stdout=stdout, stderr=stderr), self._collect
        )
        if outcome.ended is Ended.EXITED:  # what it changed stays, also when it failed
            _lay(returned.files, trial.scratch)
        self._refuse(outcome, stderr.getvalue() or stdout.getvalue())
        answer = answer_of(
            Left(
                stdout=stdout.getvalue(),
                cut=outcome.cut_bytes > 0 and len(stdout.getvalue()) >= MOST_OUTPUT,
                answer=_content(returned.answer),
                seconds=outcome.seconds,
            )
        )
        if not returned.left_out:
            return answer
        step = {"labkit": f"links and devices left out: {first_words(returned.left_out)}"}
        return replace(answer, trace=(*answer.trace, step))

    def _spec(self, case: EvalCase, trial: Trial) -> Spec:
        files = entries_of(trial.scratch)
        if isinstance(files, Unreadable):
            raise CandidateError(f"the sample's files cannot be read: {files.why}")
        given = Entry(path=INPUT.encode(), kind=Kind.FILE, data=input_file(case, trial))
        laid = (replace(entry, path=_SCRATCH + b"/" + entry.path) for entry in files)
        folder = Entry(path=_SCRATCH, kind=Kind.FOLDER)
        return Spec(
            argv=(*_IN_SCRATCH, *self._words),
            image=self._image,
            returned=_PLACE,
            returned_tar=write_tar([given, folder, *laid]),
            workdir=_PLACE,
            memory_folders=(PLACE,) if self._files.entries else (),
            streamed_tar=write_tar(self._files.below(PLACE)) if self._files.entries else b"",
            environment={"PYTHONDONTWRITEBYTECODE": "1"}
            | ({VARIABLE: PLACE} if self._files.entries else {})
            | variables(trial, given=f"{_PLACE}/{INPUT}", answer=f"{_PLACE}/{ANSWER}"),
            limits=self._limits,
        )

    def _collect(self, stream: IO[bytes]) -> _Returned:
        files, left_out, answer = [], [], None
        for entry in read_tar(
            stream, most_bytes=self._limits.returned_bytes, most_file_bytes=MOST_FILE_BYTES
        ):
            folder, _, path = entry.path.partition(b"/")
            if entry.path == ANSWER.encode():
                answer = entry
            elif folder == _SCRATCH and path:
                if entry.kind in (Kind.SYMLINK, Kind.SPECIAL):
                    left_out.append(os.fsdecode(path))
                else:
                    files.append(replace(entry, path=path))
        return _Returned(files=tuple(files), answer=answer, left_out=tuple(left_out))

    def _refuse(self, outcome: Outcome, said: bytes) -> None:
        """Raise for a command that has not ended as it should."""
        match outcome.ended:
            case Ended.EXITED if outcome.exit_code == 0 or self._any_exit:
                return
            case Ended.EXITED:
                hint = self._files.missed(self._words, said.decode(errors="replace"))
                raise failed(f"ended in {outcome.exit_code}", outcome.exit_code, said, hint)
            case Ended.TIMEOUT:
                raise TimedOut(f"had not ended after {self._limits.seconds:g} s")
            case Ended.OUT_OF_MEMORY:
                raise failed(f"took more than {self._limits.memory} MiB of memory", None, said)
            case Ended.KILLED | Ended.STOPPED:
                raise InfrastructureError("the sandbox was killed from outside")
            case _:
                assert_never(outcome.ended)


def _content(answer: Entry | None) -> bytes | None:
    if answer is None:
        return None
    if answer.kind not in (Kind.FILE, Kind.EXECUTABLE):
        raise CandidateError(f"{ANSWER} is no plain file: {answer.note or answer.kind}")
    return answer.data


def _lay(entries: Sequence[Entry], scratch: Path) -> None:
    """Let `entries` be all that lies in a folder that no candidate can reach."""
    for entry in entries:
        if entry.kind is Kind.OVERSIZED:
            raise CandidateError(f"the command left {os.fsdecode(entry.path)}: {entry.note}")
    try:
        for path in _content_of(scratch):
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        for entry in entries:
            _write(scratch / os.fsdecode(entry.path), entry)
    except OSError as error:
        raise not_written(scratch, error) from error


def _content_of(folder: Path) -> Iterable[Path]:
    return list(folder.iterdir())


def _write(path: Path, entry: Entry) -> None:
    if entry.kind is Kind.FOLDER:
        path.mkdir(parents=True, exist_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        file.write(entry.data)
    path.chmod(0o755 if entry.kind is Kind.EXECUTABLE else 0o644)
