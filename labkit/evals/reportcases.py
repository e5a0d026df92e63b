"""The cases of a report.json, checked: their trials can be reckoned with, and fit what it says."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from labkit.evals.answers import is_amount
from labkit.evals.report import RunReport
from labkit.evals.results import CaseResult, Policy, TrialResult
from labkit.evals.sample import Status

_MISSING = frozenset({Status.ERRORED, Status.UNGRADED})
_CLOSE = 1e-9


def read_case(values: Mapping[str, Any], policy: Policy) -> CaseResult:
    """Return one case; raises KeyError, TypeError or ValueError for what labkit never writes."""
    planned = int(values["planned"])
    trials = tuple(
        TrialResult(**(trial | {"status": Status(trial["status"])})) for trial in values["trials"]
    )
    name = _text(values["id"])
    if len({trial.number for trial in trials}) < len(trials) or planned < len(trials):
        raise ValueError(
            f"case {name} has {len(trials)} trials, some twice, or more than the {planned} planned"
        )
    for trial in trials:
        if problem := trial_problem(trial, planned):
            raise ValueError(f"case {name}, trial {trial.number!r} {problem}")
    return CaseResult(
        id=name,
        planned=planned,
        slices=_texts(values["slices"]),
        tags=_texts(values["tags"]),
        problem=_text(values["problem"]),
        policy=policy,
        trials=trials,
    )


def trial_problem(trial: TrialResult, planned: int) -> str:
    """Return what no trial of labkit's can be, of this one; empty when it is fine."""
    return next(_problems(trial, planned), "")


def _problems(trial: TrialResult, planned: int) -> Iterator[str]:
    if type(trial.number) is not int or not 1 <= trial.number <= planned:
        yield f"is none of the {planned} planned"
    missing = trial.passed is None and trial.score is None
    if not missing and not (type(trial.passed) is bool and _is_share(trial.score)):
        yield "has no verdict that labkit gives"
    if trial.status in _MISSING and not missing:
        yield f"is {trial.status}, and has a verdict"
    if trial.status not in {*_MISSING, Status.GRADED} and trial.passed is True:
        yield f"is {trial.status}, and passed"
    if not is_amount(trial.latency_ms) or not is_amount(trial.cost):
        yield "has a latency or a cost that is no amount"
    if not (_is_truth(trial.lied) and _is_truth(trial.forbidden)):
        yield "has a lie or a forbidden edit that is neither true nor false"


def _is_truth(value: object) -> bool:
    return type(value) is bool


def _is_share(score: object) -> bool:
    return type(score) in (int, float) and 0 <= float(str(score)) <= 1


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{str(value)[:80]!r} is no text")
    return value


def _texts(values: object) -> tuple[str, ...]:
    if not isinstance(values, list | tuple):
        raise TypeError(f"{str(values)[:80]!r} is no list")
    return tuple(map(_text, values))


def require_consistent(values: Mapping[str, Any], report: RunReport) -> None:
    """Raise ValueError when what a report says of itself is not what its trials make.

    What is not said is not checked. Figures that another version of labkit may round or put in
    other words are left alone: a gate reckons with the trials anyway.
    """
    figures = report.figures
    counts = {
        "n_tasks": figures.n_tasks,
        "n_scored": figures.n_scored,
        "planned": figures.planned,
        "valid": figures.valid,
    }
    _require(values, counts, "the report")
    _require_reward(values, figures.reward, "the report")
    if (values.get("safety") or {}).get("ok") is False and report.safety.ok is not False:
        raise ValueError("a safety failure is told that is in none of the trials")
    for said, case in zip(values["cases"], report.cases, strict=True):
        counts = {"valid_trials": case.valid_trials, "passes": case.passes}
        _require(said, counts, f"case {case.id}")
        _require_reward(said, case.reward, f"case {case.id}")


def _require(said: Mapping[str, Any], made: Mapping[str, int], where: str) -> None:
    for name, count in made.items():
        if name in said and (type(said[name]) is not int or said[name] != count):
            raise ValueError(f"{where} says {name} {said[name]!r}, and its trials make {count}")


def _require_reward(said: Mapping[str, Any], made: Fraction | None, where: str) -> None:
    found = said.get("reward", made)
    if made is None or type(found) not in (int, float, Fraction):
        fits = found is made
    else:
        fits = abs(found - made) < _CLOSE
    if not fits:
        raise ValueError(f"{where} says reward {found!r}, and its trials make another")
