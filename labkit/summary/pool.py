"""The studies of several teams on the same configurations, put together: a team is a cluster."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from labkit.errors import refuse
from labkit.fields import counted
from labkit.forecast import SIGNIFICANCE
from labkit.model import ConfigurationId
from labkit.stats import (
    SignFlip,
    clustered_interval,
    clustered_size,
    sign_flip_test,
    wilson_interval,
)
from labkit.summary.earlier import Earlier
from labkit.summary.evidence import task_means
from labkit.summary.judging import adjust, direction_of
from labkit.summary.model import Estimate
from labkit.summary.pair import Outcome
from labkit.summary.pairing import FEWEST_MOVED, differences, mean_of
from labkit.summary.reasons import outcome, too_little

_FEWEST_TEAMS = 2
_ONE_TEAM = "one team is no sample of teams"


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamRow:
    """One team's part."""

    team: str
    suite_version: str
    tasks: int
    passed: Mapping[ConfigurationId, Estimate]
    """The team's own rate, without an interval: it is in the team's own summary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PooledComparison:
    """The second configuration against the first, over all teams' tasks measured for both."""

    first: ConfigurationId
    second: ConfigurationId
    outcome: Outcome
    ahead: ConfigurationId | None
    why: str
    difference: Estimate
    """Over tasks; its interval takes teams as units."""
    for_first: int
    """Teams on whose tasks the first did better."""
    for_second: int
    p_exact: float | None
    p_mid: float | None
    """Of the sign-flip test that flips whole teams."""
    p_adjusted: float | None
    """p_mid by Holm over all comparisons."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """The result of a class."""

    difference: str
    configurations: Mapping[ConfigurationId, str]
    teams: tuple[TeamRow, ...]
    rates: Mapping[ConfigurationId, Estimate]
    """Over tasks; the interval is Wilson's at the size that teams as units leave of the tasks."""
    comparisons: tuple[PooledComparison, ...]
    shared: int
    """Tasks that more than one team has: they are not independent."""


def pool(studies: Sequence[Earlier]) -> Pool:
    """Put teams' summaries together.

    Raises InputError with every reason why they cannot be: a team twice, other configurations.
    """
    ordered = sorted(studies, key=lambda study: study.team)
    _require_alike(ordered)
    first = ordered[0]
    return Pool(
        difference=first.difference,
        configurations=first.configurations,
        teams=tuple(map(_row, ordered)),
        rates={which: _rate(ordered, which) for which in first.configurations},
        comparisons=_comparisons(ordered),
        shared=_shared(ordered),
    )


def _require_alike(studies: Sequence[Earlier]) -> None:
    problems = [
        f"team {team} is there {many} times"
        for team, many in Counter(study.team for study in studies).items()
        if many > 1
    ]
    if not studies:
        problems.append("there is no summary to pool")
    for study in studies[1:]:
        problems += _differs(studies[0], study)
    refuse(
        problems,
        hint="a pool takes one summary.json a team, all of the very same configurations",
    )


def _differs(first: Earlier, other: Earlier) -> Iterator[str]:
    for which in sorted(first.configurations.keys() | other.configurations.keys()):
        here, there = first.configurations.get(which), other.configurations.get(which)
        if here != there:
            yield (
                f"{other.place}: configuration {which} is {there or 'not there'}, and of team "
                f"{first.team} it is {here or 'not there'}"
            )
    if first.difference != other.difference:
        yield (
            f"{other.place}: the configurations differ in {other.difference}, and of team "
            f"{first.team} in {first.difference}"
        )


def _row(study: Earlier) -> TeamRow:
    def rate(which: ConfigurationId) -> Estimate:
        means = task_means(study.attempts[which]).values()
        value = mean_of(means) if means else None
        why = "see the team's own summary" if means else "no task was measured"
        return Estimate(value=value, interval=None, tasks=len(means), why=why)

    return TeamRow(
        team=study.team,
        suite_version=study.suite_version,
        tasks=len(study.digests),
        passed={which: rate(which) for which in study.configurations},
    )


def _rate(studies: Sequence[Earlier], which: ConfigurationId) -> Estimate:
    found = [list(task_means(study.attempts[which]).values()) for study in studies]
    clusters = [means for means in found if means]
    values = [mean for means in clusters for mean in means]
    if not values:
        return Estimate(value=None, interval=None, tasks=0, why="no task was measured")
    value = mean_of(values)
    size = clustered_size(clusters)
    return Estimate(
        value=value,
        interval=wilson_interval(value, size) if size else None,
        tasks=len(values),
        why="" if size else _ONE_TEAM,
    )


def _comparisons(studies: Sequence[Earlier]) -> tuple[PooledComparison, ...]:
    pairs = list(combinations(sorted(studies[0].configurations), 2))
    found = [_differences(studies, *pair) for pair in pairs]
    tests = [sign_flip_test([sum(team, Fraction()) for team in teams]) for teams in found]
    adjusted = adjust([t.p_mid if teams else None for t, teams in zip(tests, found, strict=True)])
    return tuple(
        _compare(studies, *each) for each in zip(pairs, found, tests, adjusted, strict=True)
    )


def _differences(
    studies: Sequence[Earlier], first: ConfigurationId, second: ConfigurationId
) -> list[list[Fraction]]:
    found = (differences(study.attempts[first], study.attempts[second]) for study in studies)
    return [list(of_team.values()) for of_team in found if of_team]


def _compare(
    studies: Sequence[Earlier],
    pair: tuple[ConfigurationId, ConfigurationId],
    teams: list[list[Fraction]],
    test: SignFlip,
    adjusted: float | None,
) -> PooledComparison:
    first, second = pair
    sums = [sum(team, Fraction()) for team in teams]
    values = [value for team in teams for value in team]
    mean = mean_of(values) if values else None
    interval = clustered_interval(teams) if len(teams) >= _FEWEST_TEAMS else None
    direction = direction_of(mean, adjusted, interval)
    obstacle = _obstacle(studies, pair, len(teams))
    missing = "no task was measured for both" if mean is None else "" if interval else _ONE_TEAM
    return PooledComparison(
        first=first,
        second=second,
        outcome=outcome(direction, obstacle),
        ahead=None if obstacle else {-1: first, 0: None, 1: second}[direction],
        why=obstacle or ("" if direction else _why_not(test.moved, adjusted)),
        difference=Estimate(
            value=mean,
            interval=interval,
            tasks=len(values),
            why=missing,
        ),
        for_first=sum(total < 0 for total in sums),
        for_second=sum(total > 0 for total in sums),
        p_exact=test.p_exact if teams else None,
        p_mid=test.p_mid if teams else None,
        p_adjusted=adjusted,
    )


def _why_not(moved: int, adjusted: float | None) -> str:
    if moved < FEWEST_MOVED:
        return (
            f"{counted(moved, 'team')} saw a difference, and with fewer than {FEWEST_MOVED} teams "
            "none could be detected"
        )
    if adjusted is not None and adjusted <= SIGNIFICANCE:
        return "a borderline case: the test would do, but the interval includes 0, and both decide"
    return ""


def _obstacle(
    studies: Sequence[Earlier], pair: tuple[ConfigurationId, ConfigurationId], teams: int
) -> str:
    if not teams:
        return "no task was measured for both"
    if teams < _FEWEST_TEAMS:
        return _ONE_TEAM
    for which in pair:
        known = [p for study in studies for of in study.attempts[which].values() for p in of]
        if little := too_little(len(known) - known.count(None), len(known), str(which)):
            return little
    return ""


def _shared(studies: Sequence[Earlier]) -> int:
    times = Counter(digest for study in studies for digest in set(study.digests.values()) if digest)
    return sum(many > 1 for many in times.values())
