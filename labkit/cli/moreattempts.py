"""What `labkit task freeze --more-attempts` does: a plan of its own behind the frozen one."""

from collections.abc import Sequence

from labkit.cli.console import data, say
from labkit.cli.lab import Lab
from labkit.errors import InputError, PhaseError, did_you_mean, refuse
from labkit.evidence import LOGGED_PLAN, told_grades, told_runs
from labkit.fields import counted
from labkit.model import TaskId
from labkit.phases import progress, require_frozen
from labkit.plan import further, last_digest, plan_text, preselected
from labkit.suite import Suite, digest
from labkit.workspace import write_new


def require_alone(more: int | None, *, again: bool, pilot: bool) -> None:
    """Refuse options that do not go together."""
    if more is None:
        raise InputError(
            "the whole suite is frozen at once, not single tasks",
            hint="name tasks only with --more-attempts N",
        )
    if again or pilot:
        raise InputError(
            "--more-attempts leaves what is frozen as it is",
            hint="leave out --again and --pilot",
        )


def add_attempts(me: str, more: int, words: Sequence[str]) -> None:
    """Plan more attempts at all tasks, or at those that were chosen before the first run."""
    lab = Lab.open()
    require_frozen(lab.workspace)
    person = lab.person(me)
    lab.require_log(person)
    suite = lab.frozen_suite(lab.tasks())
    _require_time(lab)
    chosen = _chosen(lab, suite, words)
    planned = progress(lab.workspace).planned
    made = further(planned, chosen, more)
    path = lab.workspace.further_plan(len(lab.workspace.further_plans()) + 2)
    text = plan_text(made, after=last_digest(lab.workspace))
    # The log comes first: a plan that no log tells of would stop everybody's next command.
    lab.log(person, LOGGED_PLAN, subject=path.name, digests={path.name: digest(text.encode())})
    write_new(path, text)
    data(path.name)
    say(f"planned: {counted(len(made), 'run')} of {counted(len(chosen), 'task')} behind the others")
    say("commit and push evals/; then everybody: labkit task run")


def _require_time(lab: Lab) -> None:
    """Refuse attempts before the first run, and those that a result may have led to."""
    space = lab.workspace
    if not progress(space).finished and not told_runs(space):
        raise PhaseError(
            "nothing has run yet: attempts are planned by the freeze itself",
            hint='set "attempts:" in evals/labkit.yaml; then: labkit task freeze --again',
        )
    known = "the runs are graded" if told_grades(space) else ""
    if (space.blind / "assignment.csv").exists() or space.all_scores.exists():
        known = "the runs are blinded"
    if known:
        raise PhaseError(
            f"{known} already: no attempt can be added",
            hint="whoever may know a result must not decide how often something is tried; "
            "a new lab can try more often",
        )


def _chosen(lab: Lab, suite: Suite, words: Sequence[str]) -> frozenset[TaskId]:
    """Return the tasks that are meant, if nobody can have chosen them by how they went."""
    names = [str(task) for task in suite.tasks]
    refuse(
        [
            f"the suite has no task {word!r}{did_you_mean(word, names)}"
            for word in words
            if word not in names
        ],
        hint="labkit task list shows the tasks",
    )
    everything = frozenset(suite.tasks)
    meant = frozenset(map(TaskId, words)) or everything
    before = {
        "all tasks": everything,
        "those with second attempts": preselected(progress(lab.workspace).planned),
        "the smoke subset": frozenset(suite.smoke),
    }
    if meant not in before.values():
        shown = [
            f"{name} ({', '.join(sorted(map(str, tasks)))})"
            for name, tasks in before.items()
            if tasks and name != "all tasks"
        ]
        raise InputError(
            "these tasks were not chosen before the first run: "
            "attempts are never added by how runs went",
            hint=f"name no task, for all{''.join(f', or {each}' for each in shown)}",
        )
    return meant
