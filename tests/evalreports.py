"""Run reports out of a few letters: P passed, F failed, ? missing; or out of scores."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from evalruns import trial_of

from labkit.evals.report import RunReport, Totals
from labkit.evals.results import CaseResult, TrialResult

VERSION = "0123456789abcdef"
Trials = str | Sequence[float | None]


def trial(number: int, score: float | None) -> TrialResult:
    if score is None:
        return trial_of("?", number)
    return replace(trial_of("+", number), passed=score == 1, score=score)


def case(name: str, trials: Trials, *, tags: Iterable[str] = (), slices: str = "") -> CaseResult:
    scores = [
        {"P": 1.0, "F": 0.0, "?": None}[each] if isinstance(each, str) else each for each in trials
    ]
    return CaseResult(
        id=name,
        planned=len(scores),
        trials=tuple(trial(number, score) for number, score in enumerate(scores, 1)),
        tags=tuple(tags),
        slices=tuple(slices.split()),
    )


def report(cases: Mapping[str, Trials] | Sequence[CaseResult], **more: object) -> RunReport:
    """Return a report of cases by name, or of cases that were made with `case`."""
    made = (
        tuple(case(name, trials) for name, trials in sorted(cases.items()))
        if isinstance(cases, Mapping)
        else tuple(cases)
    )
    found = RunReport(
        suite="calc",
        suite_version=VERSION,
        candidate="somebody",
        n=max((each.planned for each in made), default=1),
        cases=made,
    )
    return replace(found, **more)  # type: ignore[arg-type]


def totals(
    reward: str | None, error: str | None, tasks: int, scored: int | None = None
) -> RunReport:
    """Return somebody's report that came without its cases."""
    return report(
        {},
        totals=Totals(
            reward=None if reward is None else Fraction(reward),
            standard_error=None if error is None else Fraction(error),
            n_tasks=tasks,
            n_scored=tasks if scored is None else scored,
        ),
    )
