"""The frozen order of runs: who runs what, when, with which seed."""

import csv
import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass

from labkit.errors import InputError, IntegrityError, LabkitError
from labkit.fields import read_bytes
from labkit.model import ConfigurationId, Member, RunId, TaskId
from labkit.workspace import Workspace

_COLUMNS = ("order", "run", "runner", "seed")
_SEED_BITS = 31


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRun:
    """One line of plan.csv."""

    order: int
    run: RunId
    runner: Member
    seed: int


def interleave(
    tasks: Sequence[tuple[TaskId, Member]],
    configurations: Sequence[ConfigurationId],
    attempts: int,
    runners: Sequence[Member],
) -> tuple[PlannedRun, ...]:
    """Plan every run: per task A1, B1, A2, B2, so that a cut-off hits all configurations alike.

    `tasks` come with their authors. All runs of a task have one runner, and where there is anybody
    else it is not its author, so nobody runs only own tasks; the load is balanced. The seed of a
    run depends on its task and attempt alone: configurations share it. Raises InputError when
    nobody can run, or when there is nothing to run.
    """
    if not runners:
        raise InputError(
            "nobody can run agents", hint="a student joins with: labkit init --me NAME"
        )
    if not tasks or not configurations or attempts < 1:
        raise InputError(
            "there is nothing to run", hint="a suite needs tasks, configurations and attempts >= 1"
        )
    runner_of = _share(sorted(tasks), sorted(set(runners)))
    runs = (
        RunId(task, configuration, attempt)
        for task, _ in sorted(tasks)
        for attempt in range(1, attempts + 1)
        for configuration in sorted(configurations)
    )
    return tuple(
        PlannedRun(
            order=order, run=run, runner=runner_of[run.task], seed=_seed(run.task, run.attempt)
        )
        for order, run in enumerate(runs, 1)
    )


def _share(
    tasks: Sequence[tuple[TaskId, Member]], runners: Sequence[Member]
) -> dict[TaskId, Member]:
    """Share the tasks out: nobody gets an own task, and the loads differ as little as then can be.

    Each task goes to whoever has least; where that leaves loads uneven, tasks are passed on along
    chains of people (an augmenting path) until no chain can level them further.
    """
    may = {
        task: [member for member in runners if member != author] or list(runners)
        for task, author in tasks
    }
    load: dict[Member, list[TaskId]] = {member: [] for member in runners}
    for task, members in may.items():
        min((load[member] for member in members), key=len).append(task)
    while chain := _levelling_chain(load, may):
        for task, giver, taker in chain:
            load[giver].remove(task)
            load[taker].append(task)
    return {task: member for member, own in load.items() for task in own}


_Pass = tuple[TaskId, Member, Member]


def _levelling_chain(
    load: dict[Member, list[TaskId]], may: dict[TaskId, list[Member]]
) -> list[_Pass]:
    """Return passes (task, giver, taker) from somebody to somebody with two tasks fewer."""
    for first in sorted(load, key=lambda member: (-len(load[member]), member)):
        reached: dict[Member, list[_Pass]] = {first: []}
        queue = [first]
        for giver in queue:
            if len(load[giver]) <= len(load[first]) - 2:
                return reached[giver]
            for task in sorted(load[giver]):
                for taker in may[task]:
                    if taker not in reached:
                        reached[taker] = [*reached[giver], (task, giver, taker)]
                        queue.append(taker)
    return []


def _seed(task: TaskId, attempt: int) -> int:
    digest = hashlib.sha256(f"labkit/seed/{task}/{attempt}".encode()).digest()
    return int.from_bytes(digest[:4]) >> (32 - _SEED_BITS)


def plan_text(planned: Sequence[PlannedRun]) -> str:
    """Return plan.csv's content."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    writer.writerows((item.order, item.run, item.runner, item.seed) for item in planned)
    return out.getvalue()


def read_plan(workspace: Workspace) -> tuple[PlannedRun, ...]:
    """Read plan.csv; raises IntegrityError when it is damaged."""
    text = read_bytes(workspace.plan).decode(errors="replace")
    try:
        planned = tuple(
            PlannedRun(
                order=int(row["order"]),
                run=RunId.parse(row["run"]),
                runner=Member(row["runner"]),
                seed=int(row["seed"]),
            )
            for row in csv.DictReader(io.StringIO(text))
        )
    except (KeyError, ValueError, TypeError, LabkitError) as error:
        raise IntegrityError(
            f"{workspace.plan} is damaged: {error}", hint="restore it from git"
        ) from error
    orders = [item.order for item in planned]
    if not orders or orders != list(range(1, len(orders) + 1)):
        raise IntegrityError(
            f"{workspace.plan} is damaged: its lines are not numbered from 1",
            hint="restore it from git",
        )
    return planned
