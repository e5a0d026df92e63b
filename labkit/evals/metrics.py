"""The figures of a set of cases: rates, reliability, time, cost, coverage, safety."""

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from labkit.evals.results import CaseResult
from labkit.fields import counted
from labkit.stats import (
    Interval,
    VarianceParts,
    combined_standard_error,
    pass_at_k,
    pass_hat_k,
    standard_error,
    variance_parts,
    wilson_interval,
)

_TAIL = Fraction(95, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class AtK:
    """A figure of k samples, over the tasks that have as many."""

    k: int
    value: float
    tasks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The mean and the 95th percentile (nearest rank) of what is known of the samples."""

    mean: float
    p95: float
    known: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The figures of some cases. None is "not estimable", and 0 is 0."""

    n_tasks: int
    n_scored: int
    """Tasks with at least one valid trial; no other enters any figure."""
    reward: Fraction | None
    """The mean over scored tasks of the mean score of their valid trials, exact."""
    interval: Interval | None
    """Wilson's 95 % interval of pass@1, n being the scored tasks; None without one."""
    standard_error: float | None
    """s/sqrt(n) of the tasks' rewards; None for fewer than two scored tasks."""
    pass_at: tuple[AtK, ...]
    """A k above every task's valid trials is left out."""
    pass_hat: tuple[AtK, ...]
    passed: int
    """Cases passed under the policy."""
    undecided: int
    """Scored cases that missing trials could still turn."""
    flakes: int
    """Cases with passes and fails."""
    latency_ms: Spread | None
    cost: Spread | None
    planned: int
    """Samples planned."""
    valid: int
    """Samples with a verdict."""
    lies: int
    """Failed samples whose candidate claimed success."""
    statuses: Mapping[str, int]
    """Samples by how they came by their verdict."""

    @property
    def coverage(self) -> Fraction | None:
        """The share of planned samples that have a verdict; None when nothing was planned."""
        return Fraction(self.valid, self.planned) if self.planned else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """Where the standard error of pass@1 comes from."""

    parts: VarianceParts | None
    """Squared; None for fewer than two scored tasks, or when none has two valid trials."""
    combined: float | None
    """The legacy figure that counts the noise within tasks twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Safety:
    """What vetoes a candidate, whatever its figures."""

    cases: int
    """Cases tagged `safety`."""
    failures: tuple[str, ...]
    """One sentence each: `delete-nothing: 1 of 5 samples failed`."""
    unmeasured: tuple[str, ...]
    """Safety cases with missing trials and no failure: nothing is known of those trials."""

    @property
    def ok(self) -> bool | None:
        """False after a failure; None when safety cases are unmeasured, or when there are none."""
        if self.failures:
            return False
        return True if self.cases and not self.unmeasured else None


def figures_of(cases: Sequence[CaseResult], ks: Iterable[int]) -> Figures:
    """Return the figures of some cases."""
    scored = [case for case in cases if case.valid_trials]
    rewards = [case.reward for case in scored if case.reward is not None]
    counts = [(case.valid_trials, case.passes) for case in scored]
    rates = [Fraction(passes, trials) for trials, passes in counts]
    rate = float(sum(rates, Fraction()) / len(rates)) if rates else None
    trials = [trial for case in cases for trial in case.trials]
    wanted = tuple(sorted(set(ks)))
    statuses = Counter(str(trial.status) for trial in trials)
    return Figures(
        n_tasks=len(cases),
        n_scored=len(scored),
        reward=sum(rewards, Fraction()) / len(rewards) if rewards else None,
        interval=None if rate is None else wilson_interval(rate, len(rates)),
        standard_error=standard_error([float(reward) for reward in rewards]),
        pass_at=_at(counts, wanted, pass_at_k),
        pass_hat=_at(counts, wanted, pass_hat_k),
        passed=sum(case.passed is True for case in scored),
        undecided=sum(case.passed is None for case in scored),
        flakes=sum(case.flaky for case in scored),
        latency_ms=_spread(trial.latency_ms for case in scored for trial in case.valid),
        cost=_spread(trial.cost for case in scored for trial in case.valid),
        planned=sum(case.planned for case in cases),
        valid=sum(case.valid_trials for case in cases),
        lies=sum(trial.lied for trial in trials),
        statuses=dict(sorted(statuses.items())),
    )


def _at(
    counts: Sequence[tuple[int, int]], ks: Sequence[int], estimate: Callable[[int, int, int], float]
) -> tuple[AtK, ...]:
    """Return a figure for each k, over the tasks with k valid trials; none for a k too large."""
    found = []
    for k in ks:
        values = [estimate(trials, passes, k) for trials, passes in counts if trials >= k]
        if values:
            found.append(AtK(k=k, value=statistics.fmean(values), tasks=len(values)))
    return tuple(found)


def _spread(values: Iterable[float | None]) -> Spread | None:
    known = sorted(value for value in values if value is not None)
    if not known:
        return None
    rank = math.ceil(_TAIL * len(known))
    return Spread(mean=statistics.fmean(known), p95=known[rank - 1], known=len(known))


def noise_of(cases: Sequence[CaseResult]) -> Noise:
    """Split the squared standard error of the reward into its shares."""
    attempts = [
        [trial.score for trial in case.valid if trial.score is not None]
        for case in cases
        if case.valid_trials
    ]
    return Noise(parts=variance_parts(attempts), combined=combined_standard_error(attempts))


def safety_of(cases: Sequence[CaseResult]) -> Safety:
    """Return the safety verdict: failures of cases tagged `safety`, forbidden edits of any."""
    tagged = [case for case in cases if case.safety]
    return Safety(
        cases=len(tagged),
        failures=tuple(told for case in cases for told in _vetoes(case)),
        unmeasured=tuple(
            case.id
            for case in tagged
            if case.valid_trials < case.planned
            and not any(trial.passed is False for trial in case.trials)
        ),
    )


def _vetoes(case: CaseResult) -> Iterator[str]:
    samples = counted(case.planned, "sample")
    forbidden = sum(trial.forbidden for trial in case.trials)
    failed = sum(trial.passed is False and not trial.forbidden for trial in case.trials)
    if forbidden:
        yield f"{case.id}: forbidden edits in {forbidden} of {samples}"
    if failed and case.safety:
        yield f"{case.id}: {failed} of {samples} failed"
