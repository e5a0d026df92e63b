"""What a lab has spent as far as this machine knows, and whether its budget bears more."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from labkit.bounds import Budget
from labkit.cli.lab import Lab
from labkit.errors import InputError
from labkit.missing import united
from labkit.model import ConfigurationId, RunId
from labkit.phases import progress
from labkit.plan import PlannedRun
from labkit.records import RunRecord, load_run
from labkit.spending import (
    NOTHING,
    Likely,
    Spent,
    likely,
    over_budget,
    spent,
    spent_on_tries,
)
from labkit_runner.givenup import spent_in_sessions
from labkit_runner.tries import Shelf


@dataclass(frozen=True, slots=True, kw_only=True)
class Purse:
    """A lab's money."""

    lab: Lab
    budget: Budget
    ignores_unpriced: bool = False
    """Whether to go on where the cost of past runs is not known."""

    @classmethod
    def of(cls, lab: Lab, budget_cost: float | None, *, ignores_unpriced: bool) -> "Purse":
        """Return a lab's purse; raises InputError when more is asked for than labkit.yaml has."""
        budget = lab.settings.budget
        if budget_cost is not None:
            if budget.cost is not None and budget_cost > budget.cost:
                raise InputError(
                    f"--budget-cost {budget_cost:g} is more than the team's {budget.cost:g}",
                    hint="budget: cost: in evals/labkit.yaml is the team's own",
                )
            budget = replace(budget, cost=budget_cost)
        return cls(lab=lab, budget=budget, ignores_unpriced=ignores_unpriced)

    @property
    def is_bounded(self) -> bool:
        """Whether there is a budget at all."""
        return self.budget != Budget()

    def gate(self, pair: Sequence[PlannedRun], beside: Sequence[PlannedRun]) -> str:
        """Say why a pair may not be begun beside the runs that are at work; empty: it may."""
        if not self.is_bounded:
            return ""
        so_far = self.so_far()
        if self.ignores_unpriced:
            so_far = replace(so_far, unpriced=0)
        known = self.records()
        more = self.takes([*pair, *beside], known)
        first = pair[0].run
        why = over_budget(self.budget, so_far, more, f"attempt {first.attempt} of {first.task}")
        if not why and beside and self._is_unknown(more):
            return "what a run takes is not known yet"
        return why

    def _is_unknown(self, more: Likely) -> bool:
        return (self.budget.cost is not None and more.cost is None) or (
            self.budget.tokens is not None and more.tokens is None
        )

    def takes(
        self,
        runs: Sequence[PlannedRun],
        known: Mapping[ConfigurationId, Sequence[RunRecord]],
    ) -> Likely:
        """Return what runs will take together."""
        return sum((self.takes_one(item, known) for item in runs), NOTHING)

    def takes_one(
        self, item: PlannedRun, known: Mapping[ConfigurationId, Sequence[RunRecord]]
    ) -> Likely:
        """Return what a run will take, by what its configuration took before."""
        settings = self.lab.settings
        earlier = known.get(item.run.configuration, ())
        return likely(earlier, settings.caps, settings.run_limits.seconds / 60)

    def records(self) -> dict[ConfigurationId, list[RunRecord]]:
        """Return the records of the study's finished runs that are here, by configuration."""
        found: dict[ConfigurationId, list[RunRecord]] = {}
        for run in sorted(progress(self.lab.workspace).finished):
            record = load_run(self.lab.workspace.run(run) / "run.json")
            found.setdefault(run.configuration, []).append(record)
        return found

    def so_far(self) -> Spent:
        """Return what all runs that this machine knows of have spent, broken tries too."""
        space = self.lab.workspace
        done = progress(space)
        study = sum(
            (_spent(Shelf.of(space), item) for item in done.planned),
            Spent(),
        )
        return (
            study
            + spent_in_sessions(space)
            + sum(
                (_spent(shelf_of(folder), item) for folder, item in self._smoked(done.planned)),
                Spent(),
            )
        )

    def _smoked(self, planned: Sequence[PlannedRun]) -> Iterator[tuple[Path, PlannedRun]]:
        for folder in self.lab.workspace.smokes():
            yield from ((folder, item) for item in planned)


def shelf_of(smoke: Path) -> Shelf:
    """Return where a rerun of the smoke subset is put."""
    return Shelf(raw=smoke, missing=smoke / "missing", voided=smoke / "voided")


def _spent(shelf: Shelf, item: PlannedRun) -> Spent:
    path = shelf.raw / str(item.run) / "run.json"
    tries = shelf.before(item.run, str(item.runner)).voided
    if path.is_file():
        record = load_run(path)
        return spent(record.tokens, record.cost) + spent_on_tries(united(record.voided, tries))
    return spent_on_tries(tries)


def record_of(lab: Lab, run: RunId) -> RunRecord | None:
    """Return the record of a run of the study; None when it is not here."""
    path = lab.workspace.run(run) / "run.json"
    return load_run(path) if path.is_file() else None
