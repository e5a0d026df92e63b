"""How far scorers agree, dimension by dimension, and whether they could tell who made a run."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from labkit.model import RunId
from labkit.rubric import HIGHEST, LOWEST, STEP
from labkit.stats import (
    Interval,
    blinding_index,
    blinding_interval,
    krippendorff_alpha,
    krippendorff_alpha_interval,
    raw_agreement,
    weighted_kappa,
    weighted_kappa_interval,
)
from labkit.study import Study
from labkit.summary.evidence import Evidence
from labkit.summary.whole import Agreed, Agreement, Blinding, Kappa

_LEVELS = tuple(LOWEST + STEP * step for step in range(int((HIGHEST - LOWEST) / STEP) + 1))
_SEVERAL = 2
_NOT_TWICE = "no run was marked by two scorers"

Given = Mapping[str, Mapping[RunId, float]]
"""Scorer -> run -> mark, for one dimension."""


def agreement(evidence: Evidence, dimensions: Sequence[str]) -> tuple[Agreement, ...]:
    """Return how far scorers agree on each dimension, on the runs of tasks that are not retired."""
    kept = [marks for marks in evidence.study.marks if marks.run.task not in evidence.retired]
    found: dict[str, dict[str, dict[RunId, float]]] = {name: {} for name in dimensions}
    for marks in kept:
        for name, value in marks.marks.items():
            found.setdefault(name, {}).setdefault(marks.scorer, {})[marks.run] = value
    return tuple(_agreement(name, given) for name, given in found.items() if given)


def _agreement(dimension: str, given: Given) -> Agreement:
    times: dict[RunId, int] = {}
    for of_scorer in given.values():
        for run in of_scorer:
            times[run] = times.get(run, 0) + 1
    runs = sorted(run for run, many in times.items() if many >= _SEVERAL)
    return Agreement(
        dimension=dimension,
        runs=len(runs),
        scorers=len(given),
        alpha=_alpha(given, runs),
        equal=_equal(given, runs),
        kappas=tuple(_kappas(given)),
    )


def _alpha(given: Given, runs: Sequence[RunId]) -> Agreed:
    ratings = [[marks.get(run) for run in runs] for _, marks in sorted(given.items())]
    value = krippendorff_alpha(ratings)
    interval = (
        krippendorff_alpha_interval(ratings, tasks=[run.task for run in runs])
        if value is not None
        else None
    )
    return _agreed(value, interval, runs)


def _agreed(value: float | None, interval: Interval | None, runs: Sequence[RunId]) -> Agreed:
    if not runs:
        why = _NOT_TWICE
    elif value is None:
        why = "all marks are equal: whether scorers would agree on others is not known"
    elif interval is None:
        why = "too few tasks, or too little disagreement, for an interval"
    else:
        why = ""
    return Agreed(value=value, interval=interval, why=why)


def _equal(given: Given, runs: Sequence[RunId]) -> float | None:
    pairs = [
        (one.get(run), other.get(run))
        for one, other in combinations(given.values(), 2)
        for run in runs
    ]
    return raw_agreement([one for one, _ in pairs], [other for _, other in pairs])


def _kappas(given: Given) -> Iterator[Kappa]:
    for one, other in combinations(sorted(given), 2):
        runs = sorted(given[one].keys() & given[other].keys())
        if not runs:
            continue
        left, right = ([given[scorer][run] for run in runs] for scorer in (one, other))
        value = weighted_kappa(left, right, _LEVELS)
        interval = (
            weighted_kappa_interval(left, right, _LEVELS, tasks=[run.task for run in runs])
            if value is not None
            else None
        )
        yield Kappa(scorers=(one, other), runs=len(runs), kappa=_agreed(value, interval, runs))


def blinding(study: Study) -> Blinding | None:
    """Return whether scorers guessed the configurations better than by chance.

    A scorer who marked a run without a guess said nothing, and is not counted.
    """
    choices = len(study.configurations)
    guesses = [str(m.run.configuration) == m.guess for m in study.marks if m.guess]
    if not guesses or choices < _SEVERAL:
        return None
    correct = sum(guesses)
    wrong = len(guesses) - correct
    return Blinding(
        correct=correct,
        wrong=wrong,
        index=blinding_index(correct, wrong, choices=choices),
        interval=blinding_interval(correct, wrong, choices=choices),
    )
