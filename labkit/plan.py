"""The frozen order of runs: who runs what, when, with which seed."""

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from labkit.errors import InputError, IntegrityError, LabkitError
from labkit.fields import read_bytes
from labkit.model import ConfigurationId, Member, RunId, TaskId
from labkit.workspace import Workspace

_COLUMNS = ("order", "run", "runner", "seed")
_CHAIN = "after"
"""In further plans: the digest of the plan before."""
_SEED_BITS = 31
MOST_ATTEMPTS = 9
"""Attempts are one digit."""


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
    attempts: int | Mapping[TaskId, int],
    runners: Sequence[Member],
) -> tuple[PlannedRun, ...]:
    """Plan every run: per task A1, B1, A2, B2, so that a cut-off hits all configurations alike.

    `tasks` come with their authors; `attempts` may differ from task to task. All runs of a task
    have one runner, and where there is anybody else it is not its author, so nobody runs only own
    tasks; the load is balanced. The seed of a run depends on its task and attempt alone:
    configurations share it. Raises InputError when nobody can run, or when there is nothing to run.
    """
    if not runners:
        raise InputError(
            "nobody can run agents", hint="a student joins with: labkit init --me NAME"
        )
    times = attempts if isinstance(attempts, Mapping) else {task: attempts for task, _ in tasks}
    if not tasks or not configurations or min(times.values()) < 1:
        raise InputError(
            "there is nothing to run", hint="a suite needs tasks, configurations and attempts >= 1"
        )
    runner_of = _share(sorted(tasks), sorted(set(runners)))
    runs = (
        RunId(task, configuration, attempt)
        for task, _ in sorted(tasks)
        for attempt in range(1, times[task] + 1)
        for configuration in sorted(configurations)
    )
    return tuple(
        PlannedRun(
            order=order, run=run, runner=runner_of[run.task], seed=_seed(run.task, run.attempt)
        )
        for order, run in enumerate(runs, 1)
    )


def further(
    planned: Sequence[PlannedRun], tasks: Collection[TaskId], more: int
) -> tuple[PlannedRun, ...]:
    """Plan `more` attempts at some tasks of a plan, by the same runners, behind everything else.

    Raises InputError when there would be more than nine attempts.
    """
    made: list[PlannedRun] = []
    for task in sorted(tasks):
        own = [item for item in planned if item.run.task == task]
        last = max(item.run.attempt for item in own)
        if last + more > MOST_ATTEMPTS:
            raise InputError(
                f"{task} has {last} attempts: {more} more are over {MOST_ATTEMPTS}",
                hint="ask for fewer",
            )
        letters = sorted({item.run.configuration for item in own})
        made += [
            PlannedRun(
                order=0,
                run=RunId(task, letter, attempt),
                runner=own[0].runner,
                seed=_seed(task, attempt),
            )
            for attempt in range(last + 1, last + more + 1)
            for letter in letters
        ]
    first = len(planned) + 1
    return tuple(replace(item, order=order) for order, item in enumerate(made, first))


def preselected(planned: Sequence[PlannedRun]) -> frozenset[TaskId]:
    """Return the tasks that a reduced plan gives more attempts than others; none of a full plan."""
    times = Counter[TaskId]()
    for item in planned:
        times[item.run.task] = max(times[item.run.task], item.run.attempt)
    return frozenset(task for task in times if times[task] > min(times.values()))


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


def plan_text(planned: Sequence[PlannedRun], *, after: str = "") -> str:
    """Return the content of plan.csv; of a further plan `after` the digest of the one before."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow((*_COLUMNS, _CHAIN) if after else _COLUMNS)
    chain = (after,) if after else ()
    writer.writerows((item.order, item.run, item.runner, item.seed, *chain) for item in planned)
    return out.getvalue()


def read_plan(workspace: Workspace) -> tuple[PlannedRun, ...]:
    """Read plan.csv and the further plans that were made later; IntegrityError: one is damaged."""
    planned = _read_one(workspace.plan, first=1, after=None)
    before = workspace.plan
    for path in workspace.further_plans():
        planned += _read_one(path, first=len(planned) + 1, after=_digest(before))
        before = path
    repeated = [run for run, times in Counter(item.run for item in planned).items() if times > 1]
    if repeated:
        raise IntegrityError(
            f"{before} is damaged: {repeated[0]} is planned twice", hint="restore it from git"
        )
    return planned


def _read_one(path: Path, *, first: int, after: str | None) -> tuple[PlannedRun, ...]:
    text = read_bytes(path).decode(errors="replace")
    try:
        rows = list(csv.DictReader(io.StringIO(text)))
        planned = tuple(
            PlannedRun(
                order=int(row["order"]),
                run=RunId.parse(row["run"]),
                runner=Member(row["runner"]),
                seed=int(row["seed"]),
            )
            for row in rows
        )
        chained = {row[_CHAIN] for row in rows} if after else set()
    except (KeyError, ValueError, TypeError, LabkitError) as error:
        raise IntegrityError(f"{path} is damaged: {error}", hint="restore it from git") from error
    orders = [item.order for item in planned]
    problem = ""
    if not orders or orders != list(range(first, first + len(orders))):
        problem = f"its lines are not numbered from {first}"
    elif after and chained != {after}:
        problem = "the plan before it is not the one that it was made for"
    if problem:
        raise IntegrityError(f"{path} is damaged: {problem}", hint="restore it from git")
    return planned


def last_digest(workspace: Workspace) -> str:
    """Return the digest of the newest plan: what a further one names."""
    return _digest((workspace.plan, *workspace.further_plans())[-1])


def _digest(path: Path) -> str:
    return hashlib.sha256(read_bytes(path)).hexdigest()
