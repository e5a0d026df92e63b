"""Grades one run: a total function from what the run left to a verdict with its reason."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from labkit.errors import InfrastructureError, ToolError
from labkit.fields import first_words
from labkit.model import Category, Flag, RunId, Verdict
from labkit.patch.place import Applied, NotApplied, apply_to_base, base_tree, shown
from labkit.records import GradeRecord
from labkit.tasks import forbidden_edits
from labkit.transcripts.detect import read_transcript
from labkit_grader.dependencies import changes
from labkit_grader.execute import Bench
from labkit_grader.oracles.interface import Case, Finding, Work
from labkit_grader.oracles.registry import oracle_for
from labkit_grader.review import for_people
from labkit_grader.submission import Submission, sentence, submission_of, was_handed_in


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvidence:
    """What a run left, and the frozen suite that it belongs to."""

    run: RunId
    suite_version: str
    commitment: str
    diff: bytes | None
    """None where there is no file."""
    transcript: bytes
    agent: str | None = None
    """The agent that is known to have run; it decides how the transcript is read."""
    final_message: str = ""
    """The agent's last words as its run's record has them; empty: they are read anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How often a grade that the infrastructure broke is tried once more."""

    pauses: tuple[float, ...] = ()
    """Seconds before each further try."""
    rest: Callable[[float], object] = time.sleep
    """Waits so long; what it returns is true when the grading is to end instead."""


RETRIES = (1.0, 5.0)
"""The pauses of `labkit grade`: two more tries."""


def grade_run(
    bench: Bench, case: Case, evidence: RunEvidence, patience: Patience | None = None
) -> GradeRecord:
    """Return the verdict on a run, whatever it submitted.

    UNGRADED means that the grader's own tools failed, so nothing is known of the run. Raises
    IntegrityError when the bundle is not one that validation made.
    """
    patience = patience or Patience()
    failures: list[str] = []
    for pause in (*patience.pauses, None):
        try:
            record = _graded_run(bench, case, evidence)
        except InfrastructureError as error:
            failures.append(error.message)
            if pause is None or patience.rest(pause):
                break
        except ToolError as error:
            failures.append(error.message)
            break  # it would fail in the same way again
        else:
            told = {"earlier tries": "; ".join(failures)} if failures else {}
            return replace(record, environment=bench.environment, checks={**record.checks, **told})
    return replace(ungraded(evidence, _told(failures)), environment=bench.environment)


def _told(failures: list[str]) -> str:
    """Return why every try failed; tries that failed alike are told once."""
    last, count = failures[-1], len(failures)
    if count == 1:
        return last
    if set(failures) == {last}:
        return f"{last} ({count} tries, each time)"
    earlier = "; ".join(failures[:-1])
    return f"{last} (the last of {count} tries; before: {earlier})"


def _graded_run(bench: Bench, case: Case, evidence: RunEvidence) -> GradeRecord:
    submission = submission_of(evidence.diff)
    if evidence.diff is None or not was_handed_in(submission):
        return _nothing(evidence, submission or Submission.NO_FILE)
    patch = b"" if submission else evidence.diff
    applied = apply_to_base(case.repository, case.base, patch)
    if isinstance(applied, NotApplied):
        return _not_applied(evidence, applied)
    message = evidence.final_message
    if not message:
        message = read_transcript(evidence.transcript, agent=evidence.agent).final_message
    work = Work(applied=applied, final_message=message)
    finding = oracle_for(case.task.category).grade(bench, case, work)
    return for_people(_graded(evidence, case, applied, finding), case, applied)


def ungraded(evidence: RunEvidence, why: str) -> GradeRecord:
    """Return the record of a run that could not be graded here."""
    return _record(evidence, verdict=Verdict.UNGRADED, reason=f"not graded: {why}")


def _nothing(evidence: RunEvidence, submission: Submission) -> GradeRecord:
    record = _record(
        evidence, verdict=Verdict.FAIL, reason=sentence(submission), flags=(Flag.NOT_APPLIED,)
    )
    return replace(record, submission=submission)


def _not_applied(evidence: RunEvidence, applied: NotApplied) -> GradeRecord:
    return _record(
        evidence,
        verdict=Verdict.FAIL,
        reason=f"the diff does not apply: {applied.reason}",
        flags=(Flag.NOT_APPLIED,),
    )


def _graded(evidence: RunEvidence, case: Case, applied: Applied, finding: Finding) -> GradeRecord:
    changed = tuple(shown(path) for path in applied.changed)
    forbidden = forbidden_edits(case.task, changed)
    dependencies = changes(base_tree(case.base), applied.tree, applied.changed)
    told = (Flag.DEPENDENCIES,) if dependencies else ()
    submission = submission_of(evidence.diff)
    # Without a change nothing is solved, even where a test passes by chance.
    is_trap = case.task.category is Category.TRAP  # there no change can be the right one
    idle = not applied.changed and not is_trap
    said = (sentence(submission) if submission else "the diff changes nothing") * idle
    edits = f"edits that the task forbids: {first_words(forbidden)}" if forbidden else ""
    passed = finding.passed and not forbidden and not idle
    return GradeRecord(
        run=evidence.run,
        suite_version=evidence.suite_version,
        commitment=evidence.commitment,
        verdict=Verdict.PASS if passed else Verdict.FAIL,
        reason="; ".join(filter(None, (edits, said, finding.reason))),
        flags=(*_flags(finding, applied, forbidden), *told),
        tests=finding.tests,
        checks=finding.checks,
        unexpected=finding.unexpected,
        submission=submission or "",
        forbidden_edits=forbidden,
        neutralised=finding.neutralised,
        dependencies=dependencies,
        repairs=applied.repairs,
        seconds=finding.seconds,
        image_digest=finding.image_digest,
    )


def _flags(finding: Finding, applied: Applied, forbidden: tuple[str, ...]) -> Iterable[Flag]:
    yield from finding.flags
    if forbidden:
        yield Flag.OUT_OF_SCOPE
    if applied.repairs:
        yield Flag.REPAIRED
    if finding.neutralised:
        yield Flag.NEUTRALISED


def _record(
    evidence: RunEvidence, *, verdict: Verdict, reason: str, flags: tuple[Flag, ...] = ()
) -> GradeRecord:
    return GradeRecord(
        run=evidence.run,
        suite_version=evidence.suite_version,
        commitment=evidence.commitment,
        verdict=verdict,
        reason=reason,
        flags=flags,
    )
