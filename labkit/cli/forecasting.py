"""What `labkit plan power` does: gathers the plan and earlier runs, and tells what they promise."""

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from labkit.cli.console import data
from labkit.cli.lab import Lab
from labkit.effort import effort
from labkit.errors import InputError, LabkitError, PhaseError, refuse
from labkit.fields import counted, json_text
from labkit.forecast import USUAL_RATE, Scheme, forecast
from labkit.model import RunId, TaskId, Verdict
from labkit.phases import progress
from labkit.plan import MOST_ATTEMPTS, PlannedRun
from labkit.records import load_grade, load_run
from labkit.report.plan import Sources, plan_json, plan_text
from labkit.settings import Role, read_people
from labkit.suite import read_suite
from labkit.tasks import SAFETY_TAG, read_task
from labkit.workspace import Workspace

FEWEST_FOR_A_RATE = 5
_MOST_TASKS = 10_000
_MOST_CONFIGURATIONS = 26
_PAIR = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What was asked for on the command line; None is what the lab plans itself."""

    tasks: int | None
    attempts: int | None
    configurations: int | None
    pass_rate: float | None
    """In per cent."""
    pilot: str


def tell(wanted: Wanted, *, as_json: bool) -> None:
    """Print what the plan could detect and what it takes; nothing is written."""
    _check(wanted)
    lab = Lab.open()
    workspace = _pilot(lab.workspace, wanted.pilot)
    runs = sorted(progress(workspace).finished)
    planned = progress(lab.workspace).planned
    scheme, plan = _scheme(lab, wanted, planned)
    rate, why = supposed_rate(workspace, runs, wanted)
    found = forecast(scheme, rate)
    records = [load_run(workspace.run(run) / "run.json") for run in runs]
    takes = effort(records, lab.settings.run_limits.seconds / 60)
    sources = Sources(
        plan=plan,
        rate=why,
        pilot=str(workspace.project) if records else "",
        shares=_shares(planned, scheme),
        people=sum(person.role is Role.STUDENT for person in read_people(lab.workspace)),
    )
    if as_json:
        data(json_text(plan_json(found, takes, sources)))
    else:
        data(plan_text(found, takes, sources))


def _check(wanted: Wanted) -> None:
    problems = []
    for name, value, low, high in (
        ("--tasks", wanted.tasks, 1, _MOST_TASKS),
        ("--attempts", wanted.attempts, 1, MOST_ATTEMPTS),
        ("--configurations", wanted.configurations, _PAIR, _MOST_CONFIGURATIONS),
    ):
        if value is not None and not low <= value <= high:
            problems.append(f"{name} {value}: it has to be from {low} to {high}")
    if wanted.pass_rate is not None and not 0 < wanted.pass_rate < 100:  # noqa: PLR2004 - per cent
        problems.append(
            f"--pass-rate {wanted.pass_rate:g}: it has to lie between 0 and 100 per cent"
        )
    refuse(problems, hint="labkit plan power --help shows every option")


def _pilot(own: Workspace, chosen: str) -> Workspace:
    """Return the lab whose runs were the pilot."""
    if not chosen:
        return own
    folder = Path(chosen).resolve()
    try:
        found = Workspace.find(folder)
    except PhaseError as error:
        raise InputError(
            f"--pilot {chosen}: there is no lab", hint="name a project with a folder evals/ in it"
        ) from error
    if not progress(found).finished:
        raise InputError(
            f"--pilot {chosen}: that lab has no runs", hint="labkit task run makes them, there"
        )
    return found


def _scheme(lab: Lab, wanted: Wanted, planned: Sequence[PlannedRun]) -> tuple[Scheme, str]:
    """Return how much is planned, and in words what that rests on."""
    suite = read_suite(lab.workspace.suite) if lab.workspace.suite.is_file() else None
    tasks = tuple(suite.tasks) if suite else lab.workspace.task_ids()
    if not tasks and wanted.tasks is None:
        raise PhaseError(
            "there are no tasks",
            hint="run: labkit task new; or say how many you mean to write: "
            "labkit plan power --tasks 9",
        )
    safety = 0 if wanted.tasks else _safety(lab, tasks)
    if safety == len(tasks) and wanted.tasks is None:
        raise PhaseError(
            "every task is a safety task, and those are set apart from the rates",
            hint="write others: labkit task new",
        )
    attempts = max((item.run.attempt for item in planned), default=lab.settings.attempts)
    letters = len(suite.configurations if suite else lab.workspace.configuration_ids())
    scheme = Scheme(
        tasks=wanted.tasks or len(tasks) - safety,
        safety=safety,
        attempts=wanted.attempts or attempts,
        configurations=wanted.configurations or max(_PAIR, letters),
    )
    return scheme, _words(wanted, frozen=suite is not None, letters=letters)


def _words(wanted: Wanted, *, frozen: bool, letters: int) -> str:
    asked = [
        name
        for name, value in (
            ("tasks", wanted.tasks),
            ("attempts", wanted.attempts),
            ("configurations", wanted.configurations),
        )
        if value is not None
    ]
    base = "the frozen suite" if frozen else "the tasks that are here, nothing being frozen yet"
    if wanted.tasks is not None and not frozen:
        base = "labkit.yaml"
    words = f"{base}, with other {' and '.join(asked)} as asked for" if asked else base
    if letters < _PAIR and wanted.configurations is None:
        words += "; two configurations are supposed, as fewer are written"
    return words


def _safety(lab: Lab, tasks: Sequence[TaskId]) -> int:
    """Count the safety tasks; a draft that cannot be read yet counts as none."""
    found = 0
    for task in tasks:
        try:
            found += SAFETY_TAG in read_task(lab.workspace, task, lab.repository).tags
        except LabkitError:
            continue
    return found


def supposed_rate(workspace: Workspace, runs: Sequence[RunId], wanted: Wanted) -> tuple[float, str]:
    """Return the pass rate to suppose, and why.

    Grades of a lab are looked at only after its unblinding: before, they would tell scorers how
    the runs went.
    """
    if wanted.pass_rate is not None:
        return wanted.pass_rate / 100, "as asked for"
    if not runs or not workspace.all_scores.is_file():
        return USUAL_RATE, "the usual guess before there are data"
    verdicts: dict[TaskId, list[bool]] = {}
    for run in runs:
        verdict = load_grade(workspace.run(run) / "grade.json").verdict
        if verdict is not Verdict.UNGRADED:
            verdicts.setdefault(run.task, []).append(verdict is Verdict.PASS)
    if len(verdicts) < FEWEST_FOR_A_RATE:
        return USUAL_RATE, f"the usual guess: the pilot had only {counted(len(verdicts), 'task')}"
    return statistics.fmean(map(statistics.fmean, verdicts.values())), "what the pilot's runs did"


def _shares(planned: Sequence[PlannedRun], scheme: Scheme) -> tuple[int, ...]:
    """Return how many runs each runner of the frozen plan has; none for another plan."""
    if len(planned) != scheme.runs:
        return ()
    return tuple(sorted(Counter(item.runner for item in planned).values()))
