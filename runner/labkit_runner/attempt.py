"""One run from end to end: base in, agent started, difference and evidence out.

The order matters. The work folder is read back only after every process of the run is gone, so no
process of the agent is alive to forge it, and nothing in it is opened by name on this machine.
"""

import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from labkit.archive import Entry, Kind, read_tar, write_tar
from labkit.building import Surroundings
from labkit.configurations import Configuration
from labkit.errors import InfrastructureError, InputError, ReturnedTooLargeError, ToolError
from labkit.model import Api, Ending
from labkit.plan import PlannedRun
from labkit.records import RunRecord, record_text
from labkit.sandbox.interface import CHANNEL, Halt, Outcome, Spec, Streams
from labkit.tasks import Task
from labkit.treediff import TreeDiff, diff_returned, nothing_read
from labkit_runner.accounting import Done, Kept, account_of, called_of, record_of
from labkit_runner.agents import start
from labkit_runner.agents.interface import GATEWAY_PORT, HOME, INPUTS, WORKSPACE, Launch, Request
from labkit_runner.ending import decide
from labkit_runner.gateway.host import SOCKET
from labkit_runner.gateway.wire import Wire
from labkit_runner.job import Bench, Job, Way
from labkit_runner.masking import MaskedStream
from labkit_runner.voided import Voided, broken

_MOST_FILE_BYTES = 50_000_000
_STARTER = Path(start.__file__).read_bytes()


def request(
    planned: PlannedRun, task: Task, configuration: Configuration, api: Api | None = None
) -> Request:
    """Return what an agent is told of a planned run."""
    return Request(
        run=planned.run,
        configuration=configuration,
        prompt=task.prompt,
        seed=planned.seed,
        api=api,
    )


def perform(bench: Bench, job: Job, target: Path) -> RunRecord:
    """Perform a run and keep its evidence as the new folder `target`, whole or not at all.

    Raises Voided when nothing was measured: the sandbox failed, somebody killed what ran in it, the
    model could not be reached or paid. The error names the folder with what the try left. That an
    agent fails, is out of time or leaves too much is a result.
    """
    launch = job.agent.launch(request(job.planned, job.task, job.configuration, job.api))
    with new_folder(target) as folder, tempfile.TemporaryFile(dir=folder) as home:
        # The agent's own folder may hold a login: it has no name here, whatever happens.
        started = bench.now().isoformat(timespec="seconds")
        outcome, difference, wire, why = _execute(bench, job, launch, _Kept(folder, home))
        wire = called_of(folder, wire)
        account = account_of(bench, job, launch, outcome, _Kept(folder, home))
        read = wire if wire and wire.metered else None
        changed = bool(difference.patch or difference.left_out)
        ending, reason = decide(outcome, why, read, account, changed=changed)
        if ending is Ending.INFRASTRUCTURE:
            raise broken(reason, outcome, read)
        _write_evidence(folder, outcome, difference)
        done = Done(
            launch=launch, started=started, outcome=outcome, difference=difference,
            wire=wire, account=account, ending=ending, why=reason,
        )  # fmt: skip
        record = record_of(bench, job, done, folder)
        (folder / "run.json").write_text(record_text(record), encoding="utf-8")
    return record


@dataclass(frozen=True, slots=True)
class _Kept(Kept):
    """Where a run's output goes."""

    def stream(self, name: str, job: Job, stack: ExitStack) -> MaskedStream:
        """Open a file of the evidence that gets no secret of the job's."""
        masked = job.masker.stream(stack.enter_context((self.folder / name).open("wb")))
        stack.callback(masked.end)
        return masked


def _execute(
    bench: Bench, job: Job, launch: Launch, kept: _Kept
) -> tuple[Outcome, TreeDiff, Wire | None, str]:
    """Run the agent, with its way to the model beside it where it has one."""
    halt = Halt()
    way: Way | None = None
    stdout = launch.transcript if not launch.transcript_path else "stdout.txt"
    with ExitStack() as stack:
        if job.route is not None:
            wire_file = stack.enter_context((kept.folder / "wire.jsonl").open("wb"))
            way = stack.enter_context(job.route.opened(wire_file, halt))
        shown = kept.stream(stdout, job, stack)
        seat = job.seat(shown) if job.seat else None
        streams = Streams(
            stdout=seat or shown,
            stderr=kept.stream("stderr.txt", job, stack),
            home=kept.home,
        )
        spec = _spec(bench, job, launch, channel=way.channel if way else "", halt=halt)
        spec = replace(spec, keyboard=seat)
        outcome, difference = bench.sandbox.run(
            spec, streams, lambda stream: _collect(stream, bench, job)
        )
    return outcome, difference, way.wire if way else None, halt.why


def _spec(bench: Bench, job: Job, launch: Launch, *, channel: str, halt: Halt) -> Spec:
    place = job.surroundings or Surroundings(image=bench.image)
    argv = launch.argv
    inputs = launch.inputs
    if channel:
        argv = ("python3", f"{INPUTS}/start.py", str(GATEWAY_PORT), f"{CHANNEL}/{SOCKET}", *argv)
        inputs = (*inputs, Entry(path=b"start.py", kind=Kind.FILE, data=_STARTER))
    is_kept = bool(launch.sessions or launch.transcript_path)
    return Spec(
        argv=argv,
        image=place.image,
        returned=WORKSPACE,
        returned_tar=job.base_tar,
        # A folder that is handed over costs a volume: only where something of it is kept.
        memory_folders=(INPUTS,) if is_kept else (INPUTS, HOME),
        streamed_tar=write_tar([*_below(INPUTS, inputs), *_below(HOME, launch.home)]),
        home=HOME if is_kept else "",
        fixed=launch.fixed,
        channel=channel,
        halt=halt,
        workdir=WORKSPACE,
        environment={**place.variables, "HOME": HOME, **launch.environment},
        limits=bench.limits,
        labels={"labkit.lab": bench.workspace_id, "labkit.run": str(job.planned.run)},
    )


def _below(folder: str, entries: Iterable[Entry]) -> list[Entry]:
    return [replace(entry, path=folder.encode()[1:] + b"/" + entry.path) for entry in entries]


def _collect(stream: IO[bytes], bench: Bench, job: Job) -> TreeDiff:
    entries = read_tar(
        stream, most_bytes=bench.limits.returned_bytes, most_file_bytes=_MOST_FILE_BYTES
    )
    hits: list[str] = []
    masked = job.masker.entries(entries, hits)
    try:
        found = diff_returned(bench.repository, job.base, masked, built=job.built)
        told = (f"{path}: it held a secret of the login, which was masked" for path in hits)
        return replace(found, left_out=(*told, *found.left_out))
    except ReturnedTooLargeError as error:
        return nothing_read(job.base, f"everything: {error}, so the work folder was not read")


def _write_evidence(folder: Path, outcome: Outcome, difference: TreeDiff) -> None:
    (folder / "diff.patch").write_bytes(difference.patch)
    (folder / "test-diff-stat.txt").write_bytes(difference.stat)
    (folder / "minutes.txt").write_text(f"{outcome.seconds / 60:.2f}\n", encoding="utf-8")


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
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
