"""Configurations against themselves in an earlier summary: a few tasks, run on a new version."""

from collections.abc import Iterable
from dataclasses import dataclass

from labkit.errors import InputError
from labkit.model import ConfigurationId, TaskId
from labkit.stats import minimum_detectable_effect
from labkit.summary.earlier import Earlier
from labkit.summary.evidence import Attempts
from labkit.summary.judging import Judged, judge
from labkit.summary.pair import Rerun
from labkit.summary.pairing import spread_of
from labkit.summary.reasons import outcome, too_little, why_not, why_undone
from labkit.summary.whole import Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class _Both:
    configuration: ConfigurationId
    then: Attempts
    now: Attempts


def rerun(summary: Summary, earlier: Earlier) -> tuple[Rerun, ...]:
    """Compare every configuration that both have with its earlier self, on the tasks of both.

    Raises InputError when no configuration, or no task, is in both.
    """
    now = {row.task: row.digest for row in summary.tasks}
    common = [task for task in now if task in earlier.digests]
    same = [task for task in common if now[task] and now[task] == earlier.digests[task]]
    sides = [side for side in summary.configurations if side.id in earlier.configurations]
    _require(earlier, sides=bool(sides), common=common, same=same)
    found = [
        _Both(
            configuration=side.id,
            then=_chosen(earlier.attempts[side.id], same),
            now=_chosen({r.task: r.attempts.get(side.id, ()) for r in summary.tasks}, same),
        )
        for side in sides
    ]
    judged = judge([(both.then, both.now) for both in found])
    return tuple(
        _rerun(side.description, earlier, both, verdict, apart=_apart(now, earlier, same))
        for side, both, verdict in zip(sides, found, judged, strict=True)
    )


def _require(earlier: Earlier, *, sides: bool, common: list[TaskId], same: list[TaskId]) -> None:
    if not sides:
        raise InputError(
            f"{earlier.place} has none of these configurations",
            hint="a rerun keeps the letter of the configuration that it runs again",
        )
    if not same:
        raise InputError(
            f"{earlier.place}: every task that is in both was changed since"
            if common
            else f"{earlier.place} has none of these tasks",
            hint="a rerun takes tasks as they were: prompt, fields and hidden tests",
        )


def _chosen(attempts: Attempts, tasks: Iterable[TaskId]) -> Attempts:
    return {task: attempts[task] for task in tasks if attempts.get(task)}


_WHEN = {-1: "earlier", 0: None, 1: "now"}
_VERSIONS = {-1: "the earlier version", 0: "", 1: "the version now"}
_Apart = tuple[tuple[TaskId, ...], tuple[TaskId, ...], tuple[TaskId, ...]]


def _apart(now: dict[TaskId, str], earlier: Earlier, same: list[TaskId]) -> _Apart:
    """Return the tasks that changed, those of the earlier summary only, and those of this only."""
    kept = frozenset(same)
    return (
        tuple(task for task in now if task in earlier.digests and task not in kept),
        tuple(task for task in earlier.digests if task not in now),
        tuple(task for task in now if task not in earlier.digests),
    )


def _rerun(
    description: str, earlier: Earlier, both: _Both, judged: Judged, *, apart: _Apart
) -> Rerun:
    paired = judged.paired
    obstacle = _obstacle(both) or why_undone(judged, _VERSIONS[judged.direction])
    spread = spread_of(paired, both.then, both.now)
    changed, only_earlier, only_now = apart
    return Rerun(
        configuration=both.configuration,
        earlier=earlier.configurations[both.configuration],
        now=description,
        outcome=outcome(judged.direction, obstacle),
        ahead=None if obstacle else _WHEN[judged.direction],
        why=obstacle or why_not(judged),
        paired=paired,
        p_adjusted=judged.p_adjusted,
        changed=changed,
        only_earlier=only_earlier,
        only_now=only_now,
        smallest_detectable=minimum_detectable_effect(len(paired.differences), spread.value)
        if spread
        else None,
    )


def _obstacle(both: _Both) -> str:
    for attempts, when in ((both.then, "the earlier summary"), (both.now, "this summary")):
        known = [passed for of in attempts.values() for passed in of]
        graded = len(known) - known.count(None)
        if not graded:
            return f"no run of {both.configuration} was measured in {when}"
        if little := too_little(graded, len(known), f"{both.configuration} in {when}"):
            return little
    return ""
