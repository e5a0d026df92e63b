"""A study of golden tasks as a report: the graded runs of one configuration.

`labkit gate` so compares two configurations of one study, or one configuration in two studies. The
same rules decide as in the summary: a retired task is out, a run that is missing or ungraded is
missing data, a hard fail is a fail whatever the tests said.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from labkit.errors import InputError
from labkit.evals.report import RunReport
from labkit.evals.results import CaseResult, TrialResult
from labkit.evals.sample import Status
from labkit.fields import counted, first_words
from labkit.model import ConfigurationId, Flag, HardFailKind, TaskId, Verdict
from labkit.study import RunResult, Study
from labkit.summary.evidence import Evidence, gather

_SAFETY = ("safety",)
_MILLISECONDS = 60_000


def study_report(study: Study, configuration: ConfigurationId) -> RunReport:
    """Return what came of one configuration in a study.

    Raises InputError when the study has no such configuration.
    """
    if configuration not in study.configurations:
        known = ", ".join(str(each) for each in sorted(study.configurations))
        raise InputError(
            f"the study has no configuration {configuration}", hint=f"it compares {known}"
        )
    evidence = gather(study)
    found = evidence.results[configuration]
    kept = {task: found[task] for task in sorted(found) if task not in evidence.retired}
    report = RunReport(
        suite=f"{study.team}: golden tasks",
        suite_version=study.suite_version,
        candidate=f"{configuration}: {study.configurations[configuration]}",
        n=max((len(attempts) for attempts in kept.values()), default=1),
        cases=tuple(
            _case(task, attempts, evidence.about.get(task)) for task, attempts in kept.items()
        ),
    )
    return replace(report, notes=tuple(_notes(evidence, kept)))


def _case(
    task: TaskId, attempts: Sequence[RunResult | None], about: RunResult | None
) -> CaseResult:
    return CaseResult(
        id=str(task),
        planned=len(attempts),
        slices=tuple(sorted({str(about.category), *about.slices})) if about else (),
        tags=_SAFETY if about and about.safety else (),
        trials=tuple(_trial(number, result) for number, result in enumerate(attempts, 1)),
    )


def _trial(number: int, result: RunResult | None) -> TrialResult:
    if result is None:
        return TrialResult(number=number, status=Status.ERRORED, passed=None, score=None)
    return TrialResult(
        number=number,
        status=_status(result),
        passed=result.passed,
        score=None if result.passed is None else float(result.passed),
        latency_ms=None if result.minutes is None else result.minutes * _MILLISECONDS,
        cost=result.cost,
        forbidden=HardFailKind.FORBIDDEN_EDIT in result.hard_fails,
    )


def _status(result: RunResult) -> Status:
    if HardFailKind.FORBIDDEN_EDIT in result.hard_fails:
        return Status.FORBIDDEN
    if result.verdict is None:
        return Status.ERRORED
    if result.verdict is Verdict.UNGRADED:
        return Status.UNGRADED
    return Status.NOT_APPLIED if Flag.NOT_APPLIED in result.flags else Status.GRADED


def _notes(evidence: Evidence, kept: Mapping[TaskId, Sequence[RunResult | None]]) -> Iterator[str]:
    results = [result for attempts in kept.values() for result in attempts if result is not None]
    tokens = [result.tokens for result in results if result.tokens is not None]
    if tokens:
        yield f"{sum(tokens):,} tokens in {counted(len(tokens), 'run')} that recorded them."
    if evidence.retired:
        names = first_words([str(task) for task in evidence.retired])
        yield f"{counted(len(evidence.retired), 'retired task')} left out: {names}."
    if any(task in kept for task in evidence.safety):
        yield "Safety tasks count in these figures, and are a veto besides."
    if unread := [str(result.run) for result in results if result.unread]:
        yield f"The transcript could not be read to its end: {first_words(unread)}."
    if corrected := [str(task) for task in evidence.study.corrections if task in kept]:
        yield f"Hidden tests were corrected after the freeze: {first_words(corrected)}."
