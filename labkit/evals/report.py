"""The report of one run of a suite: figures that are never 0 for want of data."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from labkit.evals.metrics import (
    Figures,
    Noise,
    Safety,
    figures_of,
    noise_of,
    safety_of,
)
from labkit.evals.results import CaseResult, Policy
from labkit.fields import counted, first_words, json_text
from labkit.report.wording import percent

LEAST_COVERAGE = Fraction(3, 5)
_FEWEST_TO_ESTIMATE = 2
_FEWEST_TO_TRUST = 5


NOTHING_KNOWN = Safety(cases=0, failures=(), unmeasured=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """The figures of a report that came without its cases."""

    reward: Fraction | None
    standard_error: Fraction | None
    n_tasks: int
    n_scored: int
    safety: Safety = NOTHING_KNOWN


def with_code(name: str, code: str) -> str:
    """Return a candidate's name with the first digits of its code's digest, where that is known."""
    return f"{name} ({code})" if code else name


@dataclass(frozen=True, kw_only=True)
class RunReport:
    """One candidate on one suite."""

    suite: str
    suite_version: str
    candidate: str
    """What was measured, in words."""
    code: str = ""
    """The first digits of the digest of its own code; empty: not known."""
    n: int
    """Samples planned for each case."""
    cases: tuple[CaseResult, ...]
    """In the order of their ids."""
    split: str = "all"
    """Empty: not known, in a report without its cases."""
    subset: bool = False
    """Whether only some cases were asked for: then it is good for no gate."""
    seed: int = 0
    """Sample k of every case was given `seed + k - 1`."""
    policy: Policy = Policy.ALL
    ks: tuple[int, ...] = ()
    """Empty: 1 to n."""
    totals: Totals | None = None
    """Instead of cases, where somebody else's report has none."""
    notes: tuple[str, ...] = ()
    """What people should know of how it was made, a sentence each."""
    folder: Path | None = field(default=None, compare=False)
    """Where the samples and the kept rollouts lie."""
    source: Path | None = field(default=None, compare=False)
    """The file or folder that it was read from, as it was given."""

    @property
    def told(self) -> str:
        """The candidate with its code, by which two versions of one name can be told apart."""
        return with_code(self.candidate, self.code)

    @cached_property
    def figures(self) -> Figures:
        """The figures of all cases."""
        return figures_of(self.cases, self.ks or range(1, self.n + 1))

    @cached_property
    def slices(self) -> Mapping[str, Figures]:
        """The figures of each slice, by name."""
        names = sorted({name for case in self.cases for name in case.slices})
        return {
            name: figures_of(
                [case for case in self.cases if name in case.slices],
                self.ks or range(1, self.n + 1),
            )
            for name in names
        }

    @cached_property
    def noise(self) -> Noise:
        """Where the standard error of the reward comes from."""
        return noise_of(self.cases)

    @cached_property
    def safety(self) -> Safety:
        """The safety verdict, beside the figures and never averaged into them."""
        return self.totals.safety if self.totals else safety_of(self.cases)

    @property
    def reward(self) -> Fraction | None:
        """The mean over scored tasks of the mean score of their valid trials."""
        return self.totals.reward if self.totals else self.figures.reward

    @property
    def n_tasks(self) -> int:
        """How many tasks there are."""
        return self.totals.n_tasks if self.totals else self.figures.n_tasks

    @property
    def n_scored(self) -> int:
        """How many tasks have at least one valid trial."""
        return self.totals.n_scored if self.totals else self.figures.n_scored

    @property
    def coverage(self) -> Fraction | None:
        """The share of planned samples that have a verdict; None when nothing was planned."""
        if self.totals:
            return Fraction(self.n_scored, self.n_tasks) if self.n_tasks else None
        return self.figures.coverage

    @property
    def decisive(self) -> bool:
        """Whether enough was measured to decide by."""
        return self.coverage is not None and self.coverage >= LEAST_COVERAGE

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values: what report.json holds."""
        from labkit.evals.reportfile import to_dict  # noqa: PLC0415 - it reads reports, too

        return to_dict(self)

    def to_json(self) -> str:
        """Return report.json's text."""
        return json_text(self.to_dict())

    def to_junit(self) -> str:
        """Return the report as JUnit XML."""
        from labkit.evals.junit import to_junit  # noqa: PLC0415 - it knows reports

        return to_junit(self)

    def to_markdown(self) -> str:
        """Return the report as a page of Markdown."""
        from labkit.evals.markdown import to_markdown  # noqa: PLC0415 - it knows reports

        return to_markdown(self)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What the figures cannot carry, a sentence each."""
        return tuple(warnings_of(self))

    def case(self, name: str) -> CaseResult:
        """Return one case's result; raises KeyError."""
        for case in self.cases:
            if case.id == name:
                return case
        raise KeyError(name)


def warnings_of(report: RunReport) -> Iterator[str]:
    """Yield what a reader of the figures should know first."""
    if not report.n_scored:
        yield "No task was measured: there is nothing to read off here."
    elif report.n_scored < _FEWEST_TO_ESTIMATE:
        yield f"{counted(report.n_scored, 'scored task')}: no error can be estimated."
    elif report.n_scored < _FEWEST_TO_TRUST:
        yield f"{counted(report.n_scored, 'scored task')}: too few for a figure to lean on."
    if report.coverage is None:
        yield "Nothing was planned, so nothing is known."
    elif not report.decisive:
        yield (
            f"Only {percent(float(report.coverage))} of the samples have a verdict "
            "(60 % are needed): these figures decide nothing."
        )
    broken = [case.id for case in report.cases if case.problem]
    if broken:
        verb = "is a case" if len(broken) == 1 else "are cases"
        yield f"{first_words(broken)} {verb} that cannot be used: labkit suite check says why."
    if report.figures.lies:
        yield f"{counted(report.figures.lies, 'failed sample')} claimed success."
