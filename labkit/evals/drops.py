"""How far a figure dropped from one report to another, with its standard error, both exact."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from labkit.evals.gaterules import Metric
from labkit.evals.report import RunReport

_FEWEST_FOR_A_SPREAD = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """The baseline's figure less the candidate's: below 0, it rose."""

    before: Fraction | None
    after: Fraction | None
    squared_error: Fraction | None
    """Of the difference; None for fewer than two tasks."""
    tasks: int
    """How many tasks it is over; the fewer where the sides differ."""
    trials: tuple[tuple[int, int], ...]
    """The valid trials of each task before and after."""
    moved: int | None
    """How many tasks differ; None when they are not paired."""

    @property
    def value(self) -> Fraction | None:
        """The drop; None without a task on either side."""
        if self.before is None or self.after is None:
            return None
        return self.before - self.after


def paired_drop(metric: Metric, baseline: RunReport, candidate: RunReport) -> Drop:
    """Return the drop over the tasks that have the figure in both reports."""
    after = {case.id: case for case in candidate.cases}
    pairs = [
        (one, other, case, after[case.id])
        for case in baseline.cases
        if case.id in after
        and (one := metric.of(case)) is not None
        and (other := metric.of(after[case.id])) is not None
    ]
    differences = [one - other for one, other, _, _ in pairs]
    return Drop(
        before=_mean([one for one, _, _, _ in pairs]),
        after=_mean([other for _, other, _, _ in pairs]),
        squared_error=_squared_error(differences),
        tasks=len(pairs),
        trials=tuple((case.valid_trials, later.valid_trials) for _, _, case, later in pairs),
        moved=sum(difference != 0 for difference in differences),
    )


def unpaired_drop(metric: Metric, baseline: RunReport, candidate: RunReport) -> Drop:
    """Return the drop between the figures of both reports, each over its own tasks."""
    before, before_error, before_trials = _side(metric, baseline)
    after, after_error, after_trials = _side(metric, candidate)
    known = before_error is not None and after_error is not None
    return Drop(
        before=before,
        after=after,
        squared_error=(before_error or 0) + (after_error or Fraction()) if known else None,
        tasks=min(len(before_trials), len(after_trials)),
        trials=tuple(zip(sorted(before_trials), sorted(after_trials), strict=False)),
        moved=None,
    )


def _side(
    metric: Metric, report: RunReport
) -> tuple[Fraction | None, Fraction | None, Sequence[int]]:
    """Return a report's figure, its squared standard error, and the valid trials of its tasks."""
    if report.totals:
        error = report.totals.standard_error
        few = error is None or report.n_scored < _FEWEST_FOR_A_SPREAD
        squared = None if error is None or few else error**2
        return report.reward, squared, [max(1, report.n)] * max(0, report.n_scored)
    found = [
        (value, case.valid_trials)
        for case in report.cases
        if (value := metric.of(case)) is not None
    ]
    values = [value for value, _ in found]
    return _mean(values), _squared_error(values), [trials for _, trials in found]


def _mean(values: Sequence[Fraction]) -> Fraction | None:
    return sum(values, Fraction()) / len(values) if values else None


def _squared_error(values: Sequence[Fraction]) -> Fraction | None:
    """Return s^2/n: (nQ - S^2) / (n^2 (n-1)), with S the sum and Q the sum of squares."""
    n = len(values)
    if n < _FEWEST_FOR_A_SPREAD:
        return None
    total, squares = sum(values, Fraction()), sum((each**2 for each in values), Fraction())
    return (n * squares - total**2) / (n**2 * (n - 1))
