"""What `labkit task run` says: each try, and at the end what there is, what lacks and why."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from labkit.cli.console import Pace
from labkit.fields import counted
from labkit.missing import is_lost, paths
from labkit.model import ConfigurationId, Ended, Ending, RunId
from labkit.plan import PlannedRun
from labkit.records import MissingRecord, RunRecord
from labkit.spending import Spent, amount, minutes, spent, spent_on_tries
from labkit_runner.causes import Broken
from labkit_runner.crew import pair_of
from labkit_runner.stopping import Stop
from labkit_runner.tries import Progress, Shelf

_MOST = 10
"""So many lines of one kind are shown."""


@dataclass(slots=True)
class Told:
    """Tells of each try as it ends, and keeps the finished records."""

    pace: Pace
    finished: list[RunRecord] = field(default_factory=list)
    keys: Mapping[ConfigurationId, str] = field(default_factory=dict)
    """Which variable holds the key that a configuration's model is asked with."""
    stop: Stop = field(default_factory=Stop)
    """When it is asked for, what has not been begun takes no time any more."""

    def lines(self, event: Progress) -> Iterator[str]:
        """Yield what is to be said of a try."""
        place = f"[{event.place}/{event.of}] {event.run}"
        if event.record is None:
            by = event.failure if is_stopped(event) else "broken by the infrastructure"
            why = "" if is_stopped(event) else f": {event.failure}"
            yield f"{place}: {by}, {_next(event)}{why}"
            yield from self._mend(event)
            return
        self.finished.append(event.record)
        left = "" if self.stop.why else self.pace.left(len(self.finished))
        yield f"{place}: {_ending(event.record)}{_figures(event.record)}{left}"
        if event.record.why:
            yield f"  {event.record.why}"
        yield from (f"  {remark}" for remark in event.record.remarks)

    def _mend(self, event: Progress) -> Iterator[str]:
        """Yield where the key is that was not taken."""
        if event.kind is Broken.AUTH:
            name = self.keys.get(event.run.configuration)
            yield (
                f"  it is the value of {name}: set the right key, and the same command goes on"
                if name
                else "  log in anew (docs/logins.md), and the same command goes on"
            )

    def totals(self) -> str:
        """Return what the finished runs took, and their broken tries; empty when none finished."""
        if not self.finished:
            return ""
        time = minutes(sum(record.seconds for record in self.finished) / 60)
        own = sum((spent(record.tokens, record.cost) for record in self.finished), Spent())
        tries = [each for record in self.finished for each in record.voided]
        told = f"{counted(len(self.finished), 'run')} finished: {time} of agents' time"
        told += _spent(own, "run")
        if tries:
            told += f"; beside that {_tries(len(tries))} of theirs that broke"
            told += _spent(spent_on_tries(tries), "try")
        return told


def is_stopped(event: Progress) -> bool:
    """Tell whether a try was ended because a person wanted it so."""
    return event.kind is Broken.INTERRUPTED


def _next(event: Progress) -> str:
    if is_stopped(event):
        return "it starts anew next time"
    if event.tries_left:
        return f"trying again in {event.wait:.0f} s ({_tries(event.tries_left)} left)"
    return "recorded missing" if event.is_lost else "not tried again now"


def _spent(found: Spent, what: str) -> str:
    told = f", {amount('tokens', found.tokens)}" if found.tokens else ""
    if found.cost:
        told += f", cost {amount('cost', found.cost)}"
    if found.unpriced:
        many = _tries(found.unpriced) if what == "try" else counted(found.unpriced, what)
        told += f", what {many} cost is not known"
    return told


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


def _before(shelf: Shelf, item: PlannedRun) -> MissingRecord:
    return shelf.before(item.run, str(item.runner))


def what_is_left(shelf: Shelf, left: Sequence[PlannedRun]) -> Iterator[str]:
    """Yield why each run that is left has not been finished."""
    lost = [item for item in left if is_lost(shelf.missing, item.run)]
    for item in lost:
        place = paths(shelf.missing, item.run)[0]
        yield f"missing: {item.run}: {_before(shelf, item).reasons[-1]} ({place})"
    halves = [item for item in left if item not in lost and _before(shelf, item).voided]
    for item in halves:
        yield f"not finished: {item.run}: it starts anew ({_before(shelf, item).reasons[-1]})"
    if waiting := [str(item.run) for item in left if item not in (*lost, *halves)]:
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
