"""`Hosted`: the user's Python function, in processes of its own that can be ended.

A function in labkit's own process that hangs, or that takes the process down, takes the whole run
along. Here it costs one sample. It is no wall: the function runs as the user, and may do what the
user may. Code that is not trusted belongs into `labkit.evals.command.Command`.
"""

import os
import secrets
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labkit.errors import InputError
from labkit.evals.answerfile import CandidateError, read_answer
from labkit.evals.arguments import paths_of, require_timeout
from labkit.evals.case import EvalCase
from labkit.evals.kept import Closing, HostLimits, Kept, Program
from labkit.evals.pipes import Channel, ClosedError, Heard, LateError, LongError
from labkit.evals.sample import Answer, Escaped, TimedOut, Trial
from labkit.evals.wire import UnfitError, pack, unpack

_LONGEST_START = 120.0
_FOR_EVER = 10 * 365 * 86_400.0


def shown_case(case: EvalCase) -> dict[str, Any]:
    """Return what a candidate is shown of a case: no reference, no grader, not where it lies."""
    return {
        "id": case.id,
        "inputs": case.inputs,
        "slices": case.slices,
        "tags": case.tags,
        "forbidden": case.forbidden,
        "split": str(case.split),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setting:
    """What every worker of one candidate is told."""

    target: str
    folder: Path
    allow: tuple[Path, ...] | None
    limits: HostLimits


class Hosted(Closing):
    """Answers with `FILE.py:FUNCTION` or `MODULE:FUNCTION`; `folder` is first on its path.

    Safe to call from several threads: each call has a worker to itself, started when there is no
    idle one. The function runs in the sample's scratch folder and is given the case without its
    reference, grader and folder. `timeout` is in seconds for one sample. A function that writes
    elsewhere has escaped; `allow` names more places where it may, and with None nobody looks.

    `code` is the digest of the function's own file. A file that is changed while samples are taken
    answers no more of them: they would be another program's.

    Raises InputError when there is no such function: before any sample is run.
    """

    def __init__(
        self,
        target: str,
        *,
        timeout: float | None = None,
        folder: Path | str | None = None,
        allow: Iterable[Path | str] | None = (),
        limits: HostLimits | None = None,
    ) -> None:
        require_timeout(timeout)
        place, _, name = target.rpartition(":")
        if not place or not name:
            raise InputError(
                f"{target!r} names no function", hint="write FILE.py:FUNCTION or MODULE:FUNCTION"
            )
        self.timeout = timeout
        self.code: str | None = None
        self._setting = _Setting(
            target=target,
            folder=Path(folder or Path.cwd()).resolve(),
            allow=None
            if allow is None
            else tuple(path.resolve() for path in paths_of(allow, "allow")),
            limits=limits or HostLimits(memory=4096),
        )
        self._lock = threading.Lock()
        self._closed = False
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()
        first = self._take()
        self.code = first.code
        self._give_back(first)

    def __call__(self, case: EvalCase, trial: Trial) -> Answer:
        """Return the function's answer; raises CandidateError, TimedOut or Escaped."""
        worker = self._take()
        try:
            return worker.ask(case, trial, self.timeout)
        finally:
            if worker.usable:
                self._give_back(worker)
            else:
                self._drop(worker)

    def _take(self) -> "_Worker":
        with self._lock:
            if self._closed:
                raise CandidateError("the candidate was closed")
            if self._idle:
                return self._idle.pop()
        worker = _Worker(self._setting)
        if self.code not in (None, worker.code):
            worker.end()
            raise CandidateError(
                f"the file of {self._setting.target} was changed while samples were taken"
            )
        with self._lock:
            self._all.add(worker)
        return worker

    def _give_back(self, worker: "_Worker") -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(worker)
                return
        self._drop(worker)

    def _drop(self, worker: "_Worker") -> None:
        worker.end()
        with self._lock:
            self._all.discard(worker)

    def close(self) -> None:
        """End every worker, also one that still answers: that sample is then missing."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            busy = self._all.difference(idle)
        for worker in busy:
            worker.kill()  # whoever asked it drops it
        for worker in idle:
            self._drop(worker)


class _Worker:
    """One process. Used by one thread at a time, and after `usable` is False by nobody."""

    def __init__(self, setting: _Setting) -> None:
        self.usable = False
        """Whether the next sample may be asked of it."""
        self.code = ""
        """The digest of the file that it imported."""
        self._setting = setting
        self._mark = b""
        """Stands in what it says where the present sample begins: its words come by another way."""
        self._temporary = Path(tempfile.mkdtemp(prefix="labkit-worker-")).resolve()
        self._heard = Heard()
        self._channel = Channel()
        self._kept: Kept | None = None
        try:
            self._start()
        except BaseException:
            self.end()
            raise

    def _start(self) -> None:
        setting, theirs = self._setting, self._channel.theirs
        program = Program(
            argv=[sys.executable, "-P", "-m", "labkit.evals.worker", *map(str, theirs)],
            cwd=setting.folder,
            env=os.environ | {"TMPDIR": str(self._temporary), "PYTHONUNBUFFERED": "1"},
            stdout=self._heard.end,
            stderr=self._heard.end,
            passed=theirs,
            limits=setting.limits,
        )
        self._kept = Kept(program)
        self._heard.started()
        self._channel.started()
        told = {
            "target": setting.target,
            "folder": str(setting.folder),
            "allow": None
            if setting.allow is None
            else [str(path) for path in (*setting.allow, self._temporary)],
        }
        try:
            said = self._exchange(pack(told, "it"), time.monotonic() + _LONGEST_START)
        except (LateError, CandidateError) as error:
            why = str(error) or f"it had not been after {_LONGEST_START:g} s"
            raise InputError(
                f"{setting.target} could not be imported: {why}",
                hint="importing it must not run anything; run python on it alone to see",
            ) from error
        if "refused" in said:
            raise InputError(str(said["refused"]), hint=str(said.get("hint", "")))
        self.code = str(said.get("code", ""))
        self.usable = True

    def ask(self, case: EvalCase, trial: Trial, timeout: float | None) -> Answer:
        """Return the answer to one sample; raises CandidateError, TimedOut or Escaped."""
        self.usable = False
        token = secrets.token_hex(8)
        self._mark = token.encode()
        shown = {"number": trial.number, "seed": trial.seed, "scratch": str(trial.scratch)}
        try:
            line = pack({"token": token, "case": shown_case(case), "trial": shown}, "the case")
        except UnfitError as error:
            self.usable = True
            raise CandidateError(str(error)) from error
        try:
            said = self._exchange(line, time.monotonic() + (timeout or _FOR_EVER))
        except LateError:
            raise TimedOut(f"had not ended after {timeout:g} s") from None
        if trial.scratch.is_symlink() or not trial.scratch.is_dir():
            raise Escaped("the scratch folder itself was replaced or removed")
        if said.get("token") != token:
            raise CandidateError("answered for another sample")
        self.usable = said.get("left") is False
        return self._read(said)

    def _read(self, said: Mapping[str, Any]) -> Answer:
        match said:
            case {"answer": Mapping() as values}:
                return read_answer(values)
            case {"escaped": str(why)}:
                raise Escaped(why)
            case {"timed_out": str(why)}:
                raise TimedOut(why)
            case {"raised": str(why)}:
                most = self._setting.limits.memory
                limit = f" (at most {most} MiB)" if why.startswith("MemoryError") and most else ""
                raise CandidateError(why + limit)
            case _:
                raise CandidateError("its process sent nonsense")

    def _exchange(self, line: bytes, until: float) -> Mapping[str, Any]:
        """Send a line and return the one that comes back; raises LateError and CandidateError."""
        try:
            self._channel.send(line, until)
            said = unpack(self._channel.receive(until))
        except ClosedError:
            raise CandidateError(self._last_words()) from None
        except (LongError, UnfitError) as error:
            raise CandidateError("its process sent nonsense") from error
        if not isinstance(said, Mapping):
            raise CandidateError("its process sent nonsense")
        return said

    def _last_words(self) -> str:
        """End what is left of it; return how it ended and what it said last."""
        assert self._kept is not None  # noqa: S101 - it was started
        end = self._kept.wait(1.0) or self._kept.end()
        self._heard.finish()
        how = "closed its pipes" if end.killed and end.code is not None else end.words
        closed = f"its process {how}"
        said = self._heard.last_words_after(self._mark)
        return f"{closed}; it said last:\n{said}" if said else closed

    def kill(self) -> None:
        """Have it killed; from any thread."""
        self.usable = False
        if self._kept is not None:
            self._kept.kill()

    def end(self) -> None:
        """End it with all that it started, and leave nothing open."""
        self.usable = False
        if self._kept is not None:
            self._kept.end()
        self._heard.finish()
        self._channel.close()
        shutil.rmtree(self._temporary, ignore_errors=True)
