"""One sample from start to end: scratch folder, candidate, patch, grader."""

import copy
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from labkit.errors import InfrastructureError, LabkitError, ToolError
from labkit.evals import answers
from labkit.evals.answers import kept_output
from labkit.evals.case import EvalCase
from labkit.evals.edits import apply_diff, apply_replacements
from labkit.evals.sample import Answer, Candidate, Escaped, Sample, Status, TimedOut, Trial
from labkit.evals.scratch import Files, edits, lay
from labkit.fields import first_words
from labkit.globs import within
from labkit.graders import Case, Grader, Output, Verdict, grade
from labkit.graders.values import raised, said_by


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """A case that can be run: its grader is built."""

    case: EvalCase
    asked: EvalCase
    """What the candidate sees of it: nothing of how it is judged."""
    grader: Grader


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One sample to be taken."""

    ready: Ready
    files: Files
    number: int
    seed: int
    scratch: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempted:
    """What came of asking the candidate."""

    answer: Answer | None = None
    milliseconds: float = 0.0
    status: Status = Status.ERRORED
    why: str = ""
    looked: bool = False
    """Whether what lies in the scratch folder is the candidate's doing alone, answer or none."""


def attempt(candidate: Candidate, job: Job) -> Attempted:
    """Ask the candidate. Never raises, but for Ctrl-C."""
    try:
        lay(job.files, job.scratch)
    except OSError as error:
        return Attempted(why=f"the scratch folder could not be made: {error.strerror}")
    trial = Trial(number=job.number, seed=job.seed, scratch=Path(job.scratch))
    start = time.perf_counter()
    try:
        found = candidate(_afresh(job.ready.asked), trial)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a candidate may raise anything
        return _failed(error, _since(start))
    milliseconds = _since(start)
    answer = answers.read(found)
    if isinstance(answer, str):
        return Attempted(milliseconds=milliseconds, why=answer, looked=True)
    return Attempted(answer=answer, milliseconds=milliseconds, status=Status.GRADED)


def _afresh(asked: EvalCase) -> EvalCase:
    """Return a case that the candidate may change: no other sample, and no grader, has it."""
    if isinstance(asked.inputs, str | int | float | None):
        return asked
    return replace(asked, inputs=copy.deepcopy(asked.inputs))


def _failed(error: BaseException, milliseconds: float) -> Attempted:
    """Tell apart how a candidate did not answer."""
    match error:
        case TimedOut():
            status, why = Status.TIMEOUT, said_by(error) or "had not ended in its time"
        case Escaped():
            status, why = Status.ESCAPED, said_by(error) or "wrote outside its scratch folder"
        case LabkitError():
            status, why = Status.ERRORED, error.message
        case _:
            status, why = Status.ERRORED, f"the candidate raised {raised(error)}"
    looked = not isinstance(error, ToolError | InfrastructureError)  # labkit may have been at it
    return Attempted(milliseconds=milliseconds, status=status, why=why, looked=looked)


def _since(start: float) -> float:
    return (time.perf_counter() - start) * 1000


def overdue(job: Job, seconds: float) -> Sample:
    """Return the sample of a candidate that hangs in this process."""
    why = f"had not ended after {seconds:g} s"
    late = Attempted(milliseconds=seconds * 1000, status=Status.TIMEOUT, why=why, looked=True)
    return _unanswered(job, late)


def settle(job: Job, attempted: Attempted) -> Sample:
    """Apply the patch, look at the edits, grade. Never raises, but for Ctrl-C."""
    answer = attempted.answer
    if answer is None:
        return _unanswered(job, attempted)
    try:
        misfit = _misfit(answer, Path(job.scratch))
        changed = edits(job.files, job.scratch)
    except (OSError, LabkitError) as error:
        broken = replace(attempted, answer=None, status=Status.ERRORED, why=str(error))
        return _sample(job, broken, _verdict_without(broken))
    forbidden = _forbidden(job, changed)
    status = attempted.status
    if misfit:
        status, verdict = Status.NOT_APPLIED, Verdict.failing(f"not applied: {misfit}")
    elif forbidden:
        status, verdict = Status.FORBIDDEN, Verdict.failing(_told(forbidden))
    else:
        verdict = _graded(job, answer)
        status = Status.GRADED if verdict.graded else Status.UNGRADED
    return replace(
        _sample(job, replace(attempted, status=status), verdict),
        edits=changed,
        forbidden_edits=forbidden,
    )


def _unanswered(job: Job, attempted: Attempted) -> Sample:
    """Return the sample of a candidate without an answer; its edits are looked at all the same.

    One that changed what is forbidden has failed, and is not missing: a crash hides nothing.
    """
    changed = _changed(job) if attempted.looked else None
    forbidden = _forbidden(job, changed or ())
    if forbidden and attempted.status is Status.ERRORED:
        why = f"{_told(forbidden)}; and then {attempted.why}"
        attempted = replace(attempted, status=Status.FORBIDDEN, why=why)
    sample = _sample(job, attempted, _verdict_without(attempted))
    return replace(sample, edits=changed, forbidden_edits=forbidden)


def _changed(job: Job) -> tuple[str, ...] | None:
    try:
        return edits(job.files, job.scratch)
    except OSError:
        return None


def _forbidden(job: Job, changed: Iterable[str]) -> tuple[str, ...]:
    return tuple(path for path in changed if within(path, job.ready.case.forbidden))


def _told(forbidden: Sequence[str]) -> str:
    return f"changed what is forbidden: {first_words(forbidden)}"


def _misfit(answer: Answer, scratch: Path) -> str | None:
    if answer.diff is not None:
        return apply_diff(scratch, answer.diff)
    if answer.replacements is not None:
        return apply_replacements(scratch, answer.replacements)
    return None


def _graded(job: Job, answer: Answer) -> Verdict:
    output = Output(value=answer.output, folder=Path(job.scratch))
    return grade(job.ready.grader, output, as_graded(job.ready.case))


def as_asked(case: EvalCase) -> EvalCase:
    """Return a case as a candidate sees it."""
    return EvalCase(
        id=case.id,
        inputs=case.inputs,
        slices=case.slices,
        tags=case.tags,
        forbidden=case.forbidden,
        split=case.split,
    )


def as_graded(case: EvalCase) -> Case:
    """Return a case as a grader sees it."""
    return Case(id=case.id, inputs=case.inputs, reference=case.reference)


def _verdict_without(attempted: Attempted) -> Verdict:
    if attempted.status is Status.ERRORED:
        return Verdict.ungraded(attempted.why)
    return Verdict.failing(attempted.why)


def _sample(job: Job, attempted: Attempted, verdict: Verdict) -> Sample:
    answer = attempted.answer or Answer()
    measured = attempted.milliseconds if answer.latency_ms is None else answer.latency_ms
    return Sample(
        case=job.ready.case.id,
        number=job.number,
        seed=job.seed,
        status=attempted.status,
        verdict=verdict,
        output=kept_output(answer.output),
        trace=tuple(answer.trace),
        latency_ms=measured,
        cost=answer.cost,
        success_self_reported=answer.success_self_reported,
    )
