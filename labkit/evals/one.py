"""One sample from start to end: scratch folder, candidate, patch, grader."""

import time
from dataclasses import dataclass, replace
from pathlib import Path

from labkit.errors import LabkitError
from labkit.evals.answers import kept_output, kept_trace, malformed
from labkit.evals.case import EvalCase
from labkit.evals.edits import apply_diff, apply_replacements
from labkit.evals.sample import Answer, Candidate, Escaped, Sample, Status, TimedOut, Trial
from labkit.evals.scratch import Files, edits, lay
from labkit.fields import first_words
from labkit.globs import within
from labkit.graders import Case, Grader, Output, Verdict, grade
from labkit.graders.values import raised


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


def attempt(candidate: Candidate, job: Job) -> Attempted:
    """Ask the candidate. Never raises, but for Ctrl-C."""
    try:
        lay(job.files, job.scratch)
    except OSError as error:
        return Attempted(why=f"the scratch folder could not be made: {error.strerror}")
    trial = Trial(number=job.number, seed=job.seed, scratch=Path(job.scratch))
    start = time.perf_counter()
    try:
        found = candidate(job.ready.asked, trial)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a candidate may raise anything
        return _failed(error, _since(start))
    answer = found if type(found) is Answer else Answer(output=found)
    if why := malformed(answer):
        return Attempted(milliseconds=_since(start), why=why)
    return Attempted(answer=answer, milliseconds=_since(start), status=Status.GRADED)


def _failed(error: BaseException, milliseconds: float) -> Attempted:
    """Tell apart how a candidate did not answer."""
    match error:
        case TimedOut():
            status, why = Status.TIMEOUT, str(error) or "had not ended in its time"
        case Escaped():
            status, why = Status.ESCAPED, str(error) or "wrote outside its scratch folder"
        case LabkitError():
            status, why = Status.ERRORED, error.message
        case _:
            status, why = Status.ERRORED, f"the candidate raised {raised(error)}"
    return Attempted(milliseconds=milliseconds, status=status, why=why)


def _since(start: float) -> float:
    return (time.perf_counter() - start) * 1000


def overdue(job: Job, seconds: float) -> Sample:
    """Return the sample of a candidate that hangs in this process."""
    why = f"had not ended after {seconds:g} s"
    late = Attempted(milliseconds=seconds * 1000, status=Status.TIMEOUT, why=why)
    return _sample(job, late, _verdict_without(late))


def settle(job: Job, attempted: Attempted) -> Sample:
    """Apply the patch, look at the edits, grade. Never raises, but for Ctrl-C."""
    answer = attempted.answer
    if answer is None:
        return _sample(job, attempted, _verdict_without(attempted))
    try:
        misfit = _misfit(answer, Path(job.scratch))
        changed = edits(job.files, job.scratch)
    except (OSError, LabkitError) as error:
        broken = replace(attempted, answer=None, status=Status.ERRORED, why=str(error))
        return _sample(job, broken, _verdict_without(broken))
    forbidden = tuple(path for path in changed if within(path, job.ready.case.forbidden))
    status = attempted.status
    if misfit:
        status, verdict = Status.NOT_APPLIED, Verdict.failing(f"not applied: {misfit}")
    elif forbidden:
        told = first_words(forbidden)
        status, verdict = Status.FORBIDDEN, Verdict.failing(f"changed what is forbidden: {told}")
    else:
        verdict = _graded(job, answer)
        status = Status.GRADED if verdict.graded else Status.UNGRADED
    return replace(
        _sample(job, replace(attempted, status=status), verdict),
        edits=changed,
        forbidden_edits=forbidden,
    )


def _misfit(answer: Answer, scratch: Path) -> str | None:
    if answer.diff is not None:
        return apply_diff(scratch, answer.diff)
    if answer.replacements is not None:
        return apply_replacements(scratch, answer.replacements)
    return None


def _graded(job: Job, answer: Answer) -> Verdict:
    output = Output(value=answer.output, folder=Path(job.scratch))
    return grade(job.ready.grader, output, as_graded(job.ready.case))


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
        trace=kept_trace(answer.trace),
        latency_ms=measured,
        cost=answer.cost,
        success_self_reported=answer.success_self_reported,
    )
