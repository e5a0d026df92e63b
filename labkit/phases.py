"""Which phase a lab is in, told from its files alone, and the refusal of steps out of order."""

from dataclasses import dataclass

from labkit.errors import PhaseError
from labkit.fields import first_words
from labkit.missing import is_lost
from labkit.model import RunId
from labkit.plan import PlannedRun, read_plan
from labkit.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far the runs of a lab have come on this machine."""

    planned: tuple[PlannedRun, ...]
    finished: frozenset[RunId]
    """Runs whose evidence lies in raw/."""
    missing: frozenset[RunId]
    """Runs that are recorded as broken by the infrastructure."""
    graded: frozenset[RunId]

    @property
    def outstanding(self) -> tuple[PlannedRun, ...]:
        """Planned runs that are neither finished nor recorded missing, in their order."""
        done = self.finished | self.missing
        return tuple(item for item in self.planned if item.run not in done)


def progress(workspace: Workspace) -> Progress:
    """Return how far the runs are; the plan is empty before the suite is frozen."""
    planned = read_plan(workspace) if workspace.plan.is_file() else ()
    runs = [item.run for item in planned]
    finished = frozenset(run for run in runs if (workspace.run(run) / "run.json").is_file())
    folder = workspace.evals / "missing"
    return Progress(
        planned=planned,
        finished=finished,
        missing=frozenset(run for run in runs if is_lost(folder, run)) - finished,
        graded=frozenset(run for run in finished if (workspace.run(run) / "grade.json").is_file()),
    )


def require_authoring(workspace: Workspace) -> None:
    """Refuse to change tasks once anything was measured with them."""
    done = progress(workspace)
    if done.finished or done.missing:
        raise PhaseError(
            "the suite has runs already: its tasks can no longer change",
            hint="numbers of different suites are not comparable; start a new lab for new tasks; "
            "wrong hidden tests are corrected with labkit task seal --correct",
        )


def require_frozen(workspace: Workspace) -> None:
    """Refuse what needs the frozen suite and plan."""
    if not workspace.suite.is_file() or not workspace.plan.is_file():
        raise PhaseError("the suite is not frozen yet", hint="run: labkit task freeze")


def require_runs_done(workspace: Workspace) -> Progress:
    """Refuse what needs every planned run finished, or recorded missing."""
    require_frozen(workspace)
    done = progress(workspace)
    if done.outstanding:
        names = sorted({str(item.runner) for item in done.outstanding})
        runs = first_words([str(item.run) for item in done.outstanding], most=4)
        raise PhaseError(
            f"{len(done.outstanding)} of {len(done.planned)} planned runs are not here yet: {runs}",
            hint=f"{', '.join(names)}: run labkit task run, then labkit handin",
        )
    if not done.finished:
        raise PhaseError(
            "every planned run is missing: there is nothing to go on with",
            hint="labkit doctor says what works here; then run labkit task run again",
        )
    return done


def require_leaks_checked(workspace: Workspace) -> Progress:
    """Refuse what needs the leak check."""
    done = require_runs_done(workspace)
    if not workspace.leaks.is_file():
        raise PhaseError("the leak check has not been made", hint="run: labkit leaks")
    return done


def require_graded(workspace: Workspace) -> Progress:
    """Refuse what needs every finished run graded."""
    done = require_leaks_checked(workspace)
    if open_runs := sorted(done.finished - done.graded):
        raise PhaseError(
            f"{len(open_runs)} runs are not graded: {first_words(list(map(str, open_runs)), 4)}",
            hint="the holder runs: labkit grade",
        )
    return done


def require_blinded(workspace: Workspace) -> None:
    """Refuse what needs the blind packs."""
    if not (workspace.blind / "assignment.csv").is_file():
        raise PhaseError("the runs are not blinded yet", hint="the holder runs: labkit blind")


def require_unblinded(workspace: Workspace) -> None:
    """Refuse what needs the joined scores."""
    if not workspace.all_scores.is_file():
        raise PhaseError("the scores are not joined yet", hint="the holder runs: labkit unblind")
