"""One run from end to end: base in, agent started, difference and evidence out.

The order matters. The work folder is read back only after every process of the run is gone, so no
process of the agent is alive to forge it, and nothing in it is opened by name on this machine.
"""

import hashlib
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import IO

from labkit.archive import read_tar, write_tar
from labkit.building import NOTHING_BUILT, Built, Surroundings
from labkit.configurations import Configuration
from labkit.errors import InfrastructureError, InputError, ReturnedTooLargeError, ToolError
from labkit.export import Base
from labkit.git import Repository
from labkit.model import Ended
from labkit.plan import PlannedRun
from labkit.records import RunRecord, record_text
from labkit.sandbox.interface import Limits, Outcome, Sandbox, Spec, Streams
from labkit.tasks import Task
from labkit.transcripts.detect import read_transcript
from labkit.treediff import TreeDiff, diff_returned, nothing_read
from labkit_runner.agents.interface import INPUTS, WORKSPACE, Agent, Launch, Request
from labkit_runner.voided import Took, Voided

_MOST_FILE_BYTES = 50_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What all runs of a session share: where they run, and what the suite is."""

    sandbox: Sandbox
    image: str
    limits: Limits
    repository: Repository
    suite_version: str
    workspace_id: str
    """Written on every container, so that `labkit clean` finds this lab's own."""
    now: Callable[[], datetime]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One run, with everything it needs."""

    planned: PlannedRun
    task: Task
    configuration: Configuration
    agent: Agent
    base: Base
    base_tar: bytes
    surroundings: Surroundings | None = None
    """What the task is run in; None: the bench's own image, as it is."""
    built: Built = NOTHING_BUILT
    """What build commands did to the base; it is in `base_tar` already."""
    earlier_failures: tuple[str, ...] = ()
    voided: tuple[Mapping[str, object], ...] = ()


def request(planned: PlannedRun, task: Task, configuration: Configuration) -> Request:
    """Return what an agent is told of a planned run."""
    return Request(
        run=planned.run, configuration=configuration, prompt=task.prompt, seed=planned.seed
    )


def perform(bench: Bench, job: Job, target: Path) -> RunRecord:
    """Perform a run and keep its evidence as the new folder `target`, whole or not at all.

    Raises Voided when the sandbox failed or somebody killed what ran in it: then there is no
    result, and the error names the folder with what the try left. That an agent fails, is out of
    time or leaves too much is a result.
    """
    launch = job.agent.launch(request(job.planned, job.task, job.configuration))
    with _new_folder(target) as folder:
        started = bench.now().isoformat(timespec="seconds")
        with (
            (folder / launch.transcript).open("wb") as out,
            (folder / "stderr.txt").open("wb") as err,
        ):
            outcome, difference = bench.sandbox.run(
                _spec(bench, job, launch),
                Streams(stdout=out, stderr=err),
                lambda stream: _collect(stream, bench, job),
            )
        if outcome.ended is Ended.KILLED:
            raise Voided(
                "the run was killed from outside its sandbox", took=Took(seconds=outcome.seconds)
            )
        _write_evidence(folder, outcome, difference)
        done = _Done(launch=launch, started=started, outcome=outcome, difference=difference)
        record = _record(bench, job, done, folder)
        (folder / "run.json").write_text(record_text(record), encoding="utf-8")
    return record


def _spec(bench: Bench, job: Job, launch: Launch) -> Spec:
    place = job.surroundings or Surroundings(image=bench.image)
    return Spec(
        argv=launch.argv,
        image=place.image,
        returned=WORKSPACE,
        returned_tar=job.base_tar,
        memory_folders=(INPUTS,),
        streamed_tar=write_tar(launch.inputs, prefix=INPUTS.encode()[1:] + b"/"),
        workdir=WORKSPACE,
        environment={**place.variables, **launch.environment},
        limits=bench.limits,
        labels={"labkit.lab": bench.workspace_id, "labkit.run": str(job.planned.run)},
    )


def _collect(stream: IO[bytes], bench: Bench, job: Job) -> TreeDiff:
    entries = read_tar(
        stream, most_bytes=bench.limits.returned_bytes, most_file_bytes=_MOST_FILE_BYTES
    )
    try:
        return diff_returned(bench.repository, job.base, entries, built=job.built)
    except ReturnedTooLargeError as error:
        return nothing_read(job.base, f"everything: {error}, so the work folder was not read")


def _write_evidence(folder: Path, outcome: Outcome, difference: TreeDiff) -> None:
    (folder / "diff.patch").write_bytes(difference.patch)
    (folder / "test-diff-stat.txt").write_bytes(difference.stat)
    (folder / "minutes.txt").write_text(f"{outcome.seconds / 60:.2f}\n", encoding="utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Done:
    launch: Launch
    started: str
    outcome: Outcome
    difference: TreeDiff


def _record(bench: Bench, job: Job, done: _Done, folder: Path) -> RunRecord:
    transcript = read_transcript((folder / done.launch.transcript).read_bytes())
    return RunRecord(
        run=job.planned.run,
        runner=str(job.planned.runner),
        suite_version=bench.suite_version,
        seed=job.planned.seed,
        ended=done.outcome.ended,
        exit_code=done.outcome.exit_code,
        started=done.started,
        seconds=round(done.outcome.seconds, 3),
        sandbox=bench.sandbox.name,
        image_digest=done.outcome.image_digest,
        environment=job.surroundings.key if job.surroundings else "",
        agent=job.configuration.agent,
        agent_version=done.launch.version,
        model=job.configuration.model,
        turns=transcript.turns if transcript.ended else None,
        base_tree=job.base.tree,
        result_tree=done.difference.result_tree,
        digests={path.name: _file_digest(path) for path in sorted(folder.iterdir())},
        left_out=done.difference.left_out,
        cut_bytes=done.outcome.cut_bytes,
        earlier_failures=job.earlier_failures,
        voided=job.voided,
    )


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _new_folder(target: Path) -> Iterator[Path]:
    """Give a scratch folder that becomes `target` at the end.

    When the infrastructure fails, the error takes it along; on any other failure it vanishes.
    """
    if target.exists():
        raise InputError(f"{target} is already there", hint="labkit never overwrites a run")
    scratch: Path | None = None
    began = time.monotonic()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        yield scratch
        scratch.chmod(0o755)
        scratch.rename(target)
    except InfrastructureError as error:
        broken = error if isinstance(error, Voided) else Voided(error.message, hint=error.hint)
        if broken.took.seconds is None:
            broken.took = replace(broken.took, seconds=round(time.monotonic() - began, 3))
        broken.folder, scratch = scratch, None
        raise broken from error.__cause__
    except OSError as error:
        raise ToolError(
            f"the evidence of {target.name} could not be kept: {error.strerror}",
            hint="is the disk full?",
        ) from error
    finally:
        if scratch is not None:
            shutil.rmtree(scratch, ignore_errors=True)
