"""The reference candidate of Harbor tasks: runs each task's own solution, in the sandbox.

Whoever brings tasks here runs this first. A task that its own solution does not pass says nothing
of any candidate: its tests want a network, say, or what only an image has.
"""

import io
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from labkit.archive import Entry, Kind, read_tar, write_tar
from labkit.errors import InputError
from labkit.evals.case import EvalCase
from labkit.evals.digests import contents_digest, files_of
from labkit.evals.harbor import SOLVE, read_task, task_folders
from labkit.evals.sample import Answer, TimedOut, Trial
from labkit.evals.scratch import lay, remove
from labkit.graders.folder import MOST_FILE_BYTES, Unreadable, entries_of
from labkit.model import Ended
from labkit.sandbox.interface import Limits, Sandbox, Spec, Streams

_SOLUTION = "/solution"
_LIMITS = Limits(seconds=600.0, returned_bytes=256 * 1024 * 1024)
_MODES = {Kind.FILE: 0o644, Kind.EXECUTABLE: 0o755}
_TAIL = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class HarborSolution:
    """Answers a case by `solution/solve.sh` of its task, which works where the task says."""

    tasks: Path
    """A task, or the folder that tasks lie in."""
    sandbox: Sandbox
    image: str = ""
    limits: Limits = _LIMITS
    _folders: dict[str, Path] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        self._folders.update((folder.name, folder) for folder in task_folders(self.tasks))

    @property
    def code(self) -> str:
        """The digest of all solutions."""
        return contents_digest(
            (f"{case}/{name}", path.read_bytes(), path.stat().st_mode)
            for case, folder in sorted(self._folders.items())
            if (folder / "solution").is_dir()
            for name, path in files_of(folder / "solution")
        )

    def __call__(self, case: EvalCase, trial: Trial) -> Answer:
        """Return the answer; raises InputError when there is no solution or it fails."""
        folder = self._folders.get(case.id)
        if folder is None or not (folder / "solution" / SOLVE).is_file():
            raise InputError(f"{case.id} has no solution/{SOLVE}")
        task = read_task(folder, image="any")
        log = io.BytesIO()
        spec = self._spec(folder, task.workdir, task.solution_variables, trial)
        outcome, left = self.sandbox.run(spec, Streams(stdout=log, stderr=log), self._collect)
        said = log.getvalue()[-_TAIL:].decode(errors="backslashreplace").strip()
        if outcome.ended is Ended.TIMEOUT:
            raise TimedOut(f"the solution had not ended after {self.limits.seconds:g} s")
        if outcome.ended is not Ended.EXITED or outcome.exit_code != 0:
            how = outcome.ended if outcome.exit_code is None else f"exit {outcome.exit_code}"
            raise InputError(f"the solution of {case.id} failed ({how}): {said}")
        remove(str(trial.scratch))
        lay(left, str(trial.scratch))
        return Answer(output=said, success_self_reported=True)

    def _spec(self, folder: Path, workdir: str, variables: Mapping[str, str], trial: Trial) -> Spec:
        files = entries_of(trial.scratch)
        if isinstance(files, Unreadable):
            raise InputError(files.why)
        solution = [
            Entry(
                path=f"{_SOLUTION[1:]}/{name}".encode(),
                kind=Kind.EXECUTABLE if name == SOLVE else Kind.FILE,
                data=path.read_bytes(),
            )
            for name, path in files_of(folder / "solution")
        ]
        return Spec(
            argv=("sh", "-c", '"$0"', f"{_SOLUTION}/{SOLVE}"),
            image=self.image,
            returned=workdir,
            returned_tar=write_tar(files),
            memory_folders=(_SOLUTION,),
            streamed_tar=write_tar(solution),
            workdir=workdir,
            environment={"PYTHONDONTWRITEBYTECODE": "1", **variables},
            limits=replace(self.limits, output_bytes=1024 * 1024),
        )

    def _collect(self, stream: IO[bytes]) -> dict[str, tuple[bytes, int]]:
        """Return the plain files that were left; links and devices are no part of an answer."""
        found = read_tar(
            stream, most_bytes=self.limits.returned_bytes, most_file_bytes=MOST_FILE_BYTES
        )
        return {
            os.fsdecode(entry.path): (entry.data, _MODES[entry.kind])
            for entry in found
            if entry.kind in _MODES
        }
