from collections.abc import Callable
from pathlib import Path

import pytest

from labkit import phases
from labkit.errors import PhaseError
from labkit.model import ConfigurationId, Member, RunId, TaskId
from labkit.plan import interleave, plan_text
from labkit.records import MissingRecord, record_text
from labkit.workspace import Workspace, replace

A, B = ConfigurationId("A"), ConfigurationId("B")
PLAN = interleave([(TaskId("t"), Member("ben"))], [A, B], 1, [Member("ana")])
FIRST, SECOND = (item.run for item in PLAN)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    made = Workspace(tmp_path)
    made.evals.mkdir()
    return made


def freeze(workspace: Workspace) -> None:
    replace(workspace.suite, "{}")
    replace(workspace.plan, plan_text(PLAN))


def finish(workspace: Workspace) -> None:
    replace(workspace.run(FIRST) / "run.json", "{}")


def miss(workspace: Workspace, run: RunId = SECOND) -> None:
    lost = MissingRecord(run=run, runner="ana", reasons=("the engine was gone",))
    replace(workspace.missing(run), record_text(lost))


def check_leaks(workspace: Workspace) -> None:
    replace(workspace.leaks, "{}")


def grade(workspace: Workspace) -> None:
    replace(workspace.run(FIRST) / "grade.json", "{}")


def blind(workspace: Workspace) -> None:
    replace(workspace.blind / "assignment.csv", "")


def unblind(workspace: Workspace) -> None:
    replace(workspace.all_scores, "")


STEPS = (freeze, finish, miss, check_leaks, grade, blind, unblind)


@pytest.mark.parametrize(
    ("require", "after", "told", "hint"),
    [
        (phases.require_frozen, 0, "the suite is not frozen yet", "labkit task freeze"),
        (phases.require_runs_done, 1, "2 of 2 planned runs are not here yet: t__A__1", "ana"),
        (phases.require_runs_done, 2, "1 of 2 planned runs are not here yet: t__B__1", "ana"),
        (phases.require_leaks_checked, 3, "the leak check has not been made", "labkit leaks"),
        (phases.require_graded, 4, "1 runs are not graded: t__A__1", "labkit grade"),
        (phases.require_blinded, 5, "the runs are not blinded yet", "labkit blind"),
        (phases.require_unblinded, 6, "the scores are not joined yet", "labkit unblind"),
    ],
)
def test_a_step_out_of_order_names_the_missing_one(
    workspace: Workspace, require: Callable[[Workspace], object], after: int, told: str, hint: str
) -> None:
    for step in STEPS[:after]:
        step(workspace)
    with pytest.raises(PhaseError) as caught:
        require(workspace)
    assert str(caught.value).startswith(told)
    assert hint in str(caught.value.hint)
    for step in STEPS[after:]:
        step(workspace)
    require(workspace)


def test_tasks_change_until_something_was_measured(workspace: Workspace) -> None:
    phases.require_authoring(workspace)
    freeze(workspace)
    phases.require_authoring(workspace)
    miss(workspace)
    with pytest.raises(PhaseError, match="the suite has runs already"):
        phases.require_authoring(workspace)


def test_runs_that_are_all_missing_are_nothing_to_go_on_with(workspace: Workspace) -> None:
    freeze(workspace)
    miss(workspace)
    miss(workspace, FIRST)
    with pytest.raises(PhaseError, match="every planned run is missing"):
        phases.require_runs_done(workspace)


def test_progress_counts_each_run_once(workspace: Workspace) -> None:
    assert phases.progress(workspace).outstanding == ()
    freeze(workspace)
    assert phases.progress(workspace).outstanding == PLAN
    finish(workspace)
    miss(workspace, FIRST)  # an old record of a run that was made up later
    found = phases.progress(workspace)
    assert found.finished == {FIRST}
    assert not found.missing
    assert found.outstanding == PLAN[1:]
