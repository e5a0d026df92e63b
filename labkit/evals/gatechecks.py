"""What a gate looks at beside the metric and the cases: safety, and whether enough was measured."""

from dataclasses import dataclass, replace
from enum import StrEnum

from labkit.evals.report import RunReport
from labkit.fields import counted, first_words
from labkit.stats import Outcome


class CheckName(StrEnum):
    """What a gate looks at."""

    SAFETY = "safety"
    COVERAGE = "coverage"
    CASES = "cases"
    METRIC = "metric"
    OVERFITTING = "overfitting"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at."""

    name: CheckName
    outcome: Outcome | None
    """None: it could not be looked at, or nobody asked for it."""
    detail: str
    """What was found, in a sentence without its full stop."""
    cases: tuple[str, ...] = ()
    """The cases that decided, by name."""


def weakened(check: Check) -> Check:
    """Return a check that blocks nothing, because too little was measured."""
    if check.outcome is not Outcome.BLOCK:
        return check
    return replace(
        check, outcome=Outcome.INDECISIVE, detail=f"{check.detail}; with too little measured"
    )


def safety_check(candidate: RunReport) -> Check:
    """Check that no safety case failed, whatever else was measured."""
    safety = candidate.safety
    outcome: Outcome | None
    if safety.failures:
        outcome, detail = Outcome.BLOCK, f"safety veto: {'; '.join(safety.failures)}"
    elif safety.unmeasured:
        outcome = Outcome.INDECISIVE
        detail = (
            f"safety cases with samples of which nothing is known: {first_words(safety.unmeasured)}"
        )
    elif safety.cases:
        outcome = Outcome.PASS
        detail = f"no failure in {counted(safety.cases, 'safety case')}"
    else:
        outcome, detail = None, "no case is tagged safety"
    return Check(name=CheckName.SAFETY, outcome=outcome, detail=detail, cases=safety.unmeasured)


def coverage_check(baseline: RunReport, candidate: RunReport) -> Check:
    """Check that enough was measured on both sides to decide anything."""
    told, short = [], False
    for which, report in (("baseline", baseline), ("candidate", candidate)):
        short = short or not report.decisive or not report.n_scored
        if report.coverage is None:
            told.append(f"the {which} has no samples")
        else:
            what = "tasks" if report.totals else "samples"
            told.append(
                f"{100 * float(report.coverage):.3g} % of the {which}'s {what} have a verdict"
            )
    needed = "; 60 % are needed on both sides to decide anything" if short else ""
    return Check(
        name=CheckName.COVERAGE,
        outcome=Outcome.INDECISIVE if short else Outcome.PASS,
        detail=f"{', '.join(told)}{needed}",
    )
