"""What `labkit task run` says: each try, and at the end what there is, what lacks and why."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from labkit.cli.console import Pace
from labkit.fields import counted
from labkit.missing import is_lost, paths
from labkit.model import Ended, Ending, RunId
from labkit.plan import PlannedRun
from labkit.records import RunRecord
from labkit.spending import amount, spent_on_run
from labkit_runner.crew import pair_of
from labkit_runner.tries import Progress, Shelf

_MOST = 10
"""So many lines of one kind are shown."""


@dataclass(slots=True)
class Told:
    """Tells of each try as it ends, and keeps the finished records."""

    pace: Pace
    finished: list[RunRecord] = field(default_factory=list)

    def lines(self, event: Progress) -> Iterator[str]:
        """Yield what is to be said of a try."""
        place = f"[{event.place}/{event.of}] {event.run}"
        if event.record is None:
            yield f"{place}: broken by the infrastructure, {_next(event)}: {event.failure}"
            return
        self.finished.append(event.record)
        left = self.pace.left(len(self.finished))
        yield f"{place}: {_ending(event.record)}{_figures(event.record)}{left}"
        if event.record.why:
            yield f"  {event.record.why}"
        yield from (f"  {remark}" for remark in event.record.remarks)

    def totals(self) -> str:
        """Return what the finished runs took together."""
        minutes = sum(record.seconds for record in self.finished) / 60
        spent = [spent_on_run(record) for record in self.finished]
        tokens, cost = sum(each.tokens for each in spent), sum(each.cost for each in spent)
        unpriced = sum(each.unpriced for each in spent)
        told = f"{counted(len(self.finished), 'run')} finished: {minutes:.1f} min of agents' time"
        if tokens:
            told += f", {amount('tokens', tokens)}"
        if cost:
            told += f", cost {amount('cost', cost)}"
        if unpriced:
            told += f", not counting {_tries(unpriced)} at a price that is not known"
        return told


def _next(event: Progress) -> str:
    if event.tries_left:
        return f"trying again in {event.wait:.0f} s ({_tries(event.tries_left)} left)"
    return "recorded missing" if event.is_lost else "not tried again now"


def _tries(count: int) -> str:
    return "1 try" if count == 1 else f"{count} tries"


def _ending(record: RunRecord) -> str:
    how = record.ending.replace("_", " ")
    if record.ending is Ending.COMPLETED and record.ended is not Ended.EXITED:
        how = record.ended.replace("_", " ")
    code = f", exit {record.exit_code}" if record.exit_code else ""
    return f"{how} after {record.seconds:.1f} s{code}"


def _figures(record: RunRecord) -> str:
    told = ""
    if record.turns is not None:
        told += f", {counted(record.turns, 'turn')}"
    if record.tokens is not None:
        told += f", {amount('tokens', record.tokens)}"
    if record.cost is not None:
        told += f", cost {amount('cost', record.cost)}"
    return told


def what_is_left(shelf: Shelf, left: Sequence[PlannedRun]) -> Iterator[str]:
    """Yield why each run that is left has not been finished."""
    lost = [item for item in left if is_lost(shelf.missing, item.run)]
    for item in lost:
        reasons, (place, *_) = (
            shelf.before(item.run, str(item.runner)).reasons,
            paths(shelf.missing, item.run),
        )
        yield f"missing: {item.run}: {reasons[-1]} ({place})"
    if waiting := [str(item.run) for item in left if item not in lost]:
        rest = f" and {len(waiting) - _MOST} more" if len(waiting) > _MOST else ""
        yield f"not begun: {', '.join(waiting[:_MOST])}{rest}"


def open_pairs(planned: Sequence[PlannedRun], is_done: Callable[[RunId], bool]) -> Iterator[str]:
    """Yield what is to be run next because its counterparts have run."""
    pairs: dict[object, list[PlannedRun]] = {}
    for item in planned:
        pairs.setdefault(pair_of(item), []).append(item)
    for pair in pairs.values():
        ran = [str(item.run.configuration) for item in pair if is_done(item.run)]
        lacks = [item.run for item in pair if not is_done(item.run)]
        if ran:
            have = "have" if len(ran) > 1 else "has"
            for run in lacks:
                yield (
                    f"{run.configuration} of {run.task} attempt {run.attempt} is missing while "
                    f"{' and '.join(ran)} {have} run: run it next"
                )
