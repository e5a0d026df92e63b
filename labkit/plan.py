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
    if not tasks or attempts < 1:
        raise InputError("there is nothing to run", hint="a suite needs tasks and attempts >= 1")
    load = dict.fromkeys(sorted(runners), 0)
    planned: list[PlannedRun] = []
    for task, author in sorted(tasks):
        others = [member for member in load if member != author] or list(load)
        runner = min(others, key=lambda member: (load[member], member))
        load[runner] += 1
        for attempt in range(1, attempts + 1):
            planned.extend(
                PlannedRun(
                    order=len(planned) + place,
                    run=RunId(task, configuration, attempt),
                    runner=runner,
                    seed=_seed(task, attempt),
                )
                for place, configuration in enumerate(sorted(configurations), 1)
            )
    return tuple(planned)


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
        return tuple(
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
