"""What runs took: minutes, tokens, money, in all and for each run that passed."""

import math
import statistics
from collections.abc import Callable, Iterable

from labkit.model import ConfigurationId
from labkit.stats import median_interval
from labkit.study import RunResult, Wasted
from labkit.summary.evidence import Evidence, known_values, task_values
from labkit.summary.model import Estimate, PerPass, Ratio, Tail, Total

_FEWEST_FOR_A_MEDIAN = 6
_SLOWEST = 95
NO_WASTE = Wasted(tries=0)
_UNPRICED = "what a broken try cost is not known"
_NO_MINUTES = "no minutes were recorded"


def minutes(evidence: Evidence, configuration: ConfigurationId) -> Estimate:
    """Return the median over tasks of the median over attempts."""
    values = task_values(evidence, configuration, read=_minutes, reduce=statistics.median)
    if not values:
        return Estimate(value=None, interval=None, tasks=0, why=_NO_MINUTES)
    interval = median_interval(values)
    return Estimate(
        value=statistics.median(values),
        interval=interval,
        tasks=len(values),
        why="" if interval else _no_median_interval(len(values)),
    )


def _no_median_interval(tasks: int) -> str:
    if tasks < _FEWEST_FOR_A_MEDIAN:
        return "a median of fewer than six tasks has none"
    return "the minutes of these tasks hardly differ"


def slowest(evidence: Evidence, configuration: ConfigurationId) -> Tail:
    """Return the 95th percentile of the minutes of measured runs."""
    runs = (run for of_task in evidence.measured_results(configuration) for run in of_task)
    values = sorted(known_values(runs, _minutes))
    if not values:
        return Tail(value=None, runs=0, why=_NO_MINUTES)
    rank = math.ceil(_SLOWEST * len(values) / 100)
    return Tail(value=values[rank - 1], runs=len(values))


def per_pass(evidence: Evidence, configuration: ConfigurationId) -> PerPass:
    """Return what it took to get one passed run; tokens and money of broken tries count too."""
    wasted = evidence.study.wasted.get(configuration, NO_WASTE)
    runs = [run for of_task in evidence.measured_results(configuration) for run in of_task]
    return PerPass(
        minutes=_ratio(runs, _minutes),
        tokens=_ratio(runs, lambda run: run.tokens, wasted.tokens),
        cost=(
            Ratio(value=None, passes=0, runs=0, why=_UNPRICED)
            if wasted.unpriced
            else _ratio(runs, lambda run: run.cost, wasted.cost)
        ),
    )


def _ratio(
    runs: Iterable[RunResult], read: Callable[[RunResult], float | None], wasted: float = 0.0
) -> Ratio:
    known = [(value, run.passed) for run in runs if (value := read(run)) is not None]
    passes = sum(passed is True for _, passed in known)
    why = "" if passes else "no run passed" if known else "not recorded"
    everything = math.fsum([wasted, *(value for value, _ in known)])
    value = everything / passes if passes else None
    return Ratio(value=value, passes=passes, runs=len(known), why=why)


def total(amounts: Iterable[float | None], wasted: float = 0.0, *, unpriced: int = 0) -> Total:
    """Add up what was recorded, and what broken tries took; unknown where one of these is."""
    everything = list(amounts)
    known = [amount for amount in everything if amount is not None]
    value = math.fsum([wasted, *known]) if (known or wasted) and not unpriced else None
    return Total(value=value, known=len(known), runs=len(everything))


def _minutes(run: RunResult) -> float | None:
    return run.minutes
