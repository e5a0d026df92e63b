"""Every two configurations, paired by task: how far apart they are, and whether it can be told."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from labkit.fields import first_words
from labkit.model import ConfigurationId, TaskId
from labkit.stats import noise_at_least
from labkit.summary.evidence import Attempts, Evidence
from labkit.summary.judging import Judged, judge
from labkit.summary.model import ConfigurationSummary
from labkit.summary.pair import Comparison
from labkit.summary.pairing import outlook, spread_of
from labkit.summary.reasons import outcome, too_little, why_not, why_undone

_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """Two configurations and their attempts at the tasks that count."""

    first: ConfigurationSummary
    second: ConfigurationSummary
    attempts: tuple[Attempts, Attempts]
    unequal: tuple[TaskId, ...]
    """Tasks that are not planned alike for both."""


def compare_all(
    evidence: Evidence, configurations: Sequence[ConfigurationSummary]
) -> tuple[Comparison, ...]:
    """Compare every two configurations, the later one with the earlier."""
    pairs = [_pair(evidence, *both) for both in combinations(configurations, 2)]
    judged = judge([found.attempts for found in pairs])
    return tuple(_compare(*each) for each in zip(pairs, judged, strict=True))


def _pair(evidence: Evidence, first: ConfigurationSummary, second: ConfigurationSummary) -> _Pair:
    one, other = (evidence.counted_attempts(side.id) for side in (first, second))
    return _Pair(
        first=first,
        second=second,
        attempts=(one, other),
        unequal=tuple(
            task for task in evidence.counted if len(one.get(task, ())) != len(other.get(task, ()))
        ),
    )


def _compare(pair: _Pair, judged: Judged) -> Comparison:
    paired = judged.paired
    ahead = _ahead(pair, judged)
    obstacle = _obstacle(pair, judged) or why_undone(judged, str(ahead))
    spread = spread_of(paired, *pair.attempts)
    future = outlook(len(paired.differences), spread) if spread else None
    return Comparison(
        first=pair.first.id,
        second=pair.second.id,
        outcome=outcome(judged.direction, obstacle),
        ahead=None if obstacle else ahead,
        why=obstacle or why_not(judged),
        measured_ahead=ahead,
        veto=tuple(side.id for side in (pair.first, pair.second) if side.safety.failed),
        differences=paired.differences,
        difference=paired.difference,
        p_exact=paired.p_exact,
        p_mid=paired.p_mid,
        p_adjusted=judged.p_adjusted,
        comparisons=judged.tests,
        gained=paired.gained,
        lost=paired.lost,
        strict=paired.strict,
        smallest_detectable=future.here.smallest if future else None,
        spread=spread.value if spread else None,
        spread_observed=spread is not None and spread.observed,
        outlook=future,
        survives_missing=judged.survives,
        difference_bounds=judged.bounds,
        noise_as_large=_noise_as_large(pair, paired.difference.value),
    )


def _ahead(pair: _Pair, judged: Judged) -> ConfigurationId | None:
    match judged.direction:
        case 0:
            return None
        case 1:
            return pair.second.id
        case _:
            return pair.first.id


def _obstacle(pair: _Pair, judged: Judged) -> str:
    """Say what forbids any verdict; empty when nothing does."""
    sides = (pair.first, pair.second)
    if not judged.paired.differences:
        match [str(side.id) for side in sides if not side.rate.tasks]:
            case []:
                return "no task was measured for both"
            case [one]:
                return f"no run of {one} was measured"
            case _:
                return "no run was measured"
    if pair.unequal:
        return (
            f"{first_words(list(map(str, pair.unequal)), _SHOWN)} "
            f"{'was' if len(pair.unequal) == 1 else 'were'} not planned alike for "
            f"{pair.first.id} and {pair.second.id}, and runs left out of one side only could "
            "have been chosen"
        )
    for side in sides:
        coverage = side.coverage
        planned = coverage.planned - coverage.retired
        if little := too_little(coverage.graded, planned, str(side.id)):
            return little
    return ""


def _noise_as_large(pair: _Pair, value: float | None) -> float | None:
    sides = [side.noise for side in (pair.first, pair.second) if side.noise is not None]
    if value is None or not sides:
        return None
    return max(noise_at_least(len(side.moved), abs(value) * side.tasks) for side in sides)
