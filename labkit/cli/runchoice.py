"""Which runs `labkit task run` is to do, and who may do them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from labkit.cli.chosen import meant_runs
from labkit.cli.lab import Lab
from labkit.errors import InputError
from labkit.evidence import ran_by_others
from labkit.fields import counted
from labkit.phases import progress
from labkit.plan import PlannedRun
from labkit.settings import Person
from labkit_runner.crew import in_order


class Scope(StrEnum):
    """Whose runs are meant, and what for."""

    MINE = "mine"
    ALL = "all"
    SMOKE = "smoke"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the command line says."""

    words: tuple[str, ...] = ()
    scope: Scope = Scope.MINE
    jobs: int = 1
    dry_run: bool = False
    budget_cost: float | None = None
    yes: bool = False
    sandbox: str = "auto"


def scope_of(*, mine: bool, everybody: bool, smoke: bool) -> Scope:
    """Return the scope that the flags name; raises InputError when they are several."""
    named = {Scope.MINE: mine, Scope.ALL: everybody, Scope.SMOKE: smoke}
    found = [scope for scope, is_named in named.items() if is_named]
    if len(found) > 1:
        raise InputError(
            f"{' and '.join(f'--{scope}' for scope in found)} exclude each other",
            hint="use one of them",
        )
    return found[0] if found else Scope.MINE


def to_do(lab: Lab, person: Person, asked: Asked) -> tuple[PlannedRun, ...]:
    """Return the runs that are meant and not finished anywhere, open pairs first.

    Runs that are recorded missing are among them. Raises InputError when a word names nothing, or
    somebody else's run without --all.
    """
    done = progress(lab.workspace)
    meant = meant_runs([item.run for item in done.planned], asked.words)
    known = {item.run for item in done.planned if item.runner == person.name}
    everybody = asked.scope is Scope.ALL
    foreign = [item.run for item in done.planned if item.run in meant - known]
    named = [run for run in foreign if str(run) in asked.words]
    if named and not everybody:
        raise InputError(
            f"{named[0]} is not a run of {person.name}",
            more=[f"{run} is not a run of {person.name}" for run in named[1:]],
            hint=f"{person.name} has {counted(len(known), 'run')} in evals/plan.csv; "
            "--all runs others' too",
        )
    finished = done.finished | ran_by_others(lab.workspace, person.name)
    left = [
        replace(item, runner=person.name)
        for item in done.planned
        if item.run in meant and (everybody or item.run in known) and item.run not in finished
    ]
    return in_order(left, [item for item in done.planned if item.run in finished])


def foreign_runs(lab: Lab, runs: Sequence[PlannedRun]) -> tuple[PlannedRun, ...]:
    """Return those of the runs that the plan gives to somebody else, as it has them."""
    mine = {item.run: item.runner for item in runs}
    return tuple(
        item
        for item in progress(lab.workspace).planned
        if item.run in mine and item.runner != mine[item.run]
    )
