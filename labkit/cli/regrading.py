"""Which runs are graded, which once more and why, and what that changed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from labkit.cli.bundles import Oracles
from labkit.cli.chosen import chosen_runs
from labkit.cli.console import data, say
from labkit.cli.lab import Lab
from labkit.errors import PhaseError
from labkit.evidence import unvouched_grades
from labkit.fields import counted, first_words
from labkit.model import RunId, TaskId, Verdict
from labkit.phases import Progress
from labkit.records import GradeRecord, load_grade
from labkit.study import Regrade
from labkit.verdicts import GRADE, superseded

NOT_OURS = "its grade.json was not the one that the holder's log tells of"
LATE = "the runs were blinded already: scorers see the earlier grade"
_AGAIN = "it was asked for, with the same hidden tests"
_UNGRADED = "it was ungraded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which runs to grade, as typed."""

    words: tuple[str, ...] = ()
    """Runs, tasks and configurations; every run without any."""
    regrade: bool = False
    jobs: int = 0
    """How many grades at once; 0 leaves it to the machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """What is to be graded, and what is only looked at."""

    chosen: tuple[RunId, ...]
    reasons: Mapping[RunId, str]
    """Every run to grade, and why it is graded again; empty for a first grade."""


def grade_of(lab: Lab, run: RunId) -> GradeRecord:
    """Return a run's grade."""
    return load_grade(lab.workspace.run(run) / GRADE)


def _vouched_grades(lab: Lab, done: Progress) -> dict[RunId, GradeRecord]:
    """Return the grades that a holder's log tells of."""
    runs = sorted(done.graded)
    odd = unvouched_grades(lab.workspace, runs)
    return {run: grade_of(lab, run) for run in runs if run not in odd}


def due_runs(lab: Lab, oracles: Oracles, done: Progress, asked: Asked) -> Due:
    """Return what is to be graded.

    A run without a grade always is, and one whose grade no holder's log tells of: others can write
    files too. With `--regrade` those as well that are ungraded, that were graded by hidden tests
    which were corrected since (then all of the task's), and that are named.
    """
    chosen = chosen_runs(done, asked.words)
    grades = _vouched_grades(lab, done)
    reasons = {run: NOT_OURS if run in done.graded else "" for run in chosen if run not in grades}
    if asked.regrade:
        reasons |= _again(oracles, grades, chosen, named=bool(asked.words))
        others = len(reasons.keys() - set(chosen))
        if others:
            say(f"with them {counted(others, 'run')} of the same tasks: tests were corrected")
    if (lab.workspace.blind / "assignment.csv").exists():
        reasons = {run: f"{why}; {LATE}" if why else "" for run, why in reasons.items()}
    return Due(chosen=tuple(sorted({*chosen, *reasons})), reasons=dict(sorted(reasons.items())))


def _again(
    oracles: Oracles,
    grades: Mapping[RunId, GradeRecord],
    chosen: Sequence[RunId],
    *,
    named: bool,
) -> dict[RunId, str]:
    """Return the graded runs to grade again; a task is either brought up to date or done anew."""
    reasons: dict[RunId, str] = {}
    stale = _stale(oracles, grades)
    behind = {run.task for run in stale}
    tasks = {run.task for run in chosen}
    for run, grade in grades.items():
        newest = oracles.corrections.newest(run.task)
        if run in stale and run.task in tasks and newest:
            reasons[run] = f"correction {newest.number} of its hidden tests: {newest.because}"
        elif run in chosen and grade.verdict is Verdict.UNGRADED:
            reasons[run] = _UNGRADED
        elif run in chosen and named and run.task not in behind:
            reasons[run] = _AGAIN
    return reasons


def _stale(oracles: Oracles, grades: Mapping[RunId, GradeRecord]) -> tuple[RunId, ...]:
    return tuple(
        run for run, grade in grades.items() if grade.commitment != oracles.commitment(run.task)
    )


def behind(lab: Lab, oracles: Oracles, done: Progress) -> dict[TaskId, tuple[RunId, ...]]:
    """Return the tasks with runs graded by hidden tests that are not in force, and those runs."""
    found: dict[TaskId, tuple[RunId, ...]] = {}
    for run in _stale(oracles, _vouched_grades(lab, done)):
        found[run.task] = (*found.get(run.task, ()), run)
    return found


def require_in_force(lab: Lab, oracles: Oracles, done: Progress) -> None:
    """Refuse verdicts of hidden tests that were corrected since: they compare with no others."""
    if found := behind(lab, oracles, done):
        problems = list(sentences(found))
        names = " ".join(map(str, found))
        raise PhaseError(
            problems[0], more=problems[1:], hint=f"the holder runs: labkit grade --regrade {names}"
        )


def sentences(found: Mapping[TaskId, tuple[RunId, ...]]) -> Iterator[str]:
    """Yield, for each task, that runs were graded before its hidden tests were corrected."""
    for task, runs in found.items():
        yield (
            f"the hidden tests of {task} were corrected after {counted(len(runs), 'run')} of it "
            f"{'was' if len(runs) == 1 else 'were'} graded: {first_words(list(map(str, runs)), 4)}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One run that was graded again: what it was, and what it is."""

    before: GradeRecord
    after: GradeRecord

    @property
    def flaky(self) -> bool:
        """Whether the same hidden tests said two things of the same work."""
        verdicts = {self.before.verdict, self.after.verdict}
        same = self.before.commitment == self.after.commitment
        return same and verdicts == {Verdict.PASS, Verdict.FAIL}


def tell_changes(changes: Sequence[Change]) -> int:
    """Show old and new verdicts side by side; return 1 when a grade turned out flaky."""
    if changes:
        data("\n".join(_table(sorted(changes, key=lambda change: change.after.run))))
    if any(change.after.because.endswith(LATE) for change in changes):
        say(f"{LATE}; their marks stay as they are, and the summary says so")
    flaky = [change for change in changes if change.flaky]
    for change in flaky:
        say(
            f"FLAKY GRADE: {change.after.run} was {change.before.verdict} and is now "
            f"{change.after.verdict}, with the same hidden tests: find out why before anybody "
            "relies on either"
        )
    return 1 if flaky else 0


def _table(changes: Sequence[Change]) -> Iterator[str]:
    width = max(len(str(change.after.run)) for change in changes)
    yield f"{'run':<{width}}  before    now"
    for change in changes:
        before, after = change.before.verdict, change.after.verdict
        mark = "" if before is after else "  changed"
        yield f"{change.after.run!s:<{width}}  {before:<8}  {after}{mark}"


def regrades(lab: Lab, run: RunId) -> Iterator[Regrade]:
    """Yield every pair of verdicts in a row that a run got, the newest first.

    An earlier "ungraded" was no verdict.
    """
    newest = grade_of(lab, run)
    for earlier in superseded(lab.workspace.run(run)):
        if earlier.verdict is Verdict.UNGRADED:
            continue
        yield Regrade(
            run=run,
            before=earlier.verdict,
            after=newest.verdict,
            corrected=newest.commitment != earlier.commitment,
            late=newest.because.endswith(LATE),
        )
        newest = earlier
