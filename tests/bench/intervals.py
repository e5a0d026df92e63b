"""The intervals of labkit.stats for many outcomes at once, checked against the library.

An outcome is a row of counts, one for each level that a task's figure can have.
"""

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from labkit.stats import (
    Interval,
    agresti_coull_interval,
    bootstrap_interval,
    effective_tasks,
    mean_interval,
    paired_interval,
    wald_standard_error,
    wilson_interval,
)

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Z = statistics.NormalDist().inv_cdf(0.975)
_BISECTIONS = 45
_CHECKED = 60
_SLACK = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """The bounds of many intervals."""

    low: Array
    high: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """What the intervals depend on."""

    n: int
    mean: Array
    spread: Array
    """The standard deviation of the tasks' figures, with n - 1."""

    @classmethod
    def of(cls, counts: Array, levels: Array) -> "Moments":
        n = int(counts[0].sum())
        total, squares = counts @ levels, counts @ levels**2
        variance = np.maximum(0.0, squares - total**2 / n) / (n - 1)
        variance[variance < 1e-12] = 0.0
        return cls(n=n, mean=total / n, spread=np.sqrt(variance))


def rate_bars(counts: Array, levels: Array, attempts: int) -> dict[str, Bars]:
    """Return the intervals of a pass rate, the default first."""
    found = Moments.of(counts, levels)
    n = np.full(len(counts), float(found.n))
    return {
        "Wilson, n = tasks (default)": _wilson(found.mean, n),
        "Wilson, repeats credited": _wilson(found.mean, _effective(found, attempts)),
        "Wilson, n = runs (wrong)": _wilson(found.mean, n * attempts),
        "Agresti-Coull": _agresti_coull(found.mean, found.n),
        "Wald (teaching)": _around(found.mean, Z * np.sqrt(found.mean * (1 - found.mean) / n)),
        "Student t": _student(found, 0.0, 1.0),
    }


def paired_bars(counts: Array, levels: Array, attempts: int) -> dict[str, Bars]:
    """Return the intervals of a mean difference, the default first."""
    del attempts
    found = Moments.of(counts, levels)
    return {
        "moment-matched Tango (default)": _tango(counts, levels, found.n),
        "paired Student t": _student(found, -1.0, 1.0),
    }


def slow_bars(counts: Array, levels: Array) -> dict[str, Bars]:
    """Return the bootstraps, by the library itself."""
    spelled = [_spelled(row, levels) for row in counts]
    return {
        f"bootstrap, {name}": point_bars(
            [bootstrap_interval(values, method=method) for values in spelled], spelled
        )
        for name, method in (("percentile", "percentile"), ("BCa", "bca"))
    }


def point_bars(bars: list[Interval | None], spelled: list[list[float]]) -> Bars:
    """Return bounds, with the mean itself where an interval has no width."""
    points = [statistics.fmean(values) for values in spelled]
    pairs = zip(bars, points, strict=True)
    bounds = [(bar.low, bar.high) if bar else (point, point) for bar, point in pairs]
    low, high = np.array(bounds).T
    return Bars(low=low, high=high)


def checked_against_labkit(
    counts: Array, levels: Array, attempts: int, bars: dict[str, Bars]
) -> None:
    """Compare some intervals of every method with those of labkit.stats; stop if any differs."""
    draw = np.random.default_rng([11, len(counts), len(levels)])
    for row in draw.choice(len(counts), size=min(_CHECKED, len(counts)), replace=False):
        values = _spelled(counts[row], levels)
        for name, found in bars.items():
            theirs = _library(attempts)[name](values)
            mean = statistics.fmean(values)
            expected = (theirs.low, theirs.high) if theirs else (mean, mean)
            got = (found.low[row], found.high[row])
            if not np.allclose(got, expected, rtol=0, atol=_SLACK):
                raise SystemExit(f"{name} of {values}: {got} here, {expected} in labkit.stats")


def _library(attempts: int) -> dict[str, Callable[[list[float]], Interval | None]]:
    def mean(values: list[float]) -> float:
        return min(1.0, statistics.fmean(values))

    def wald(values: list[float]) -> Interval:
        reach = Z * wald_standard_error(mean(values), len(values))
        return Interval(low=mean(values) - reach, high=mean(values) + reach)

    return {
        "Wilson, n = tasks (default)": lambda v: wilson_interval(mean(v), len(v)),
        "Wilson, repeats credited": lambda v: wilson_interval(
            mean(v), effective_tasks(v, attempts)
        ),
        "Wilson, n = runs (wrong)": lambda v: wilson_interval(mean(v), len(v) * attempts),
        "Agresti-Coull": lambda v: agresti_coull_interval(mean(v), len(v)),
        "Wald (teaching)": wald,
        "Student t": lambda v: mean_interval(v, 0, 1),
        "moment-matched Tango (default)": paired_interval,
        "paired Student t": lambda v: mean_interval(v, -1, 1),
    }


def _spelled(row: Array, levels: Array) -> list[float]:
    pairs = zip(levels.tolist(), row.tolist(), strict=True)
    return [level for level, many in pairs for _ in range(int(many))]


def _around(centre: Array, reach: Array) -> Bars:
    return Bars(low=centre - reach, high=centre + reach)


def _wilson(mean: Array, n: Array) -> Bars:
    shrink = 1 + Z * Z / n
    centre = (mean + Z * Z / (2 * n)) / shrink
    return _around(centre, Z * np.sqrt(mean * (1 - mean) / n + (Z / (2 * n)) ** 2) / shrink)


def _effective(found: Moments, attempts: int) -> Array:
    variance = found.spread**2
    safe = np.where(variance > 0, variance, 1.0)
    credited = found.mean * (1 - found.mean) * found.n / safe
    clipped = np.clip(credited, found.n, found.n * attempts)
    return np.where(variance > 0, clipped, float(found.n))


def _agresti_coull(mean: Array, n: int) -> Bars:
    trials = n + Z * Z
    centre = (n * mean + Z * Z / 2) / trials
    bars = _around(centre, Z * np.sqrt(centre * (1 - centre) / trials))
    return Bars(low=np.maximum(0.0, bars.low), high=np.minimum(1.0, bars.high))


def _student(found: Moments, low: float, high: float) -> Bars:
    from scipy.special import stdtrit  # noqa: PLC0415 - as in labkit.stats

    reach = float(stdtrit(found.n - 1, 0.975)) * found.spread / math.sqrt(found.n)
    bars = _around(found.mean, reach)
    return Bars(low=np.maximum(low, bars.low), high=np.minimum(high, bars.high))


def _tango(counts: Array, levels: Array, n: int) -> Bars:
    """Return the moment-matched score interval, both bounds by bisection."""
    gains, losses = counts @ np.maximum(levels, 0), counts @ np.maximum(-levels, 0)
    moved = gains + losses
    match = np.where(moved > 0, counts @ levels**2 / np.where(moved > 0, moved, 1.0), 1.0)
    b, c, m = gains / match, losses / match, n / match
    observed = (b - c) / m

    def refuted(mean: Array) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        linear = 2 * mean * (m - b) - (b + c) * (1 - mean)
        root = np.sqrt(np.maximum(0.0, linear**2 + 8 * m * c * mean * (1 - mean)))
        share = (root - linear) / (4 * m)
        variance = np.maximum(0.0, (2 * share + mean * (1 - mean)) / m)
        return np.abs(observed - mean) > Z * np.sqrt(variance)

    def last_kept(end: float) -> Array:
        inside, outside = observed.copy(), np.full(len(observed), end)
        for _ in range(_BISECTIONS):
            middle = (inside + outside) / 2
            out = refuted(middle)
            outside = np.where(out, middle, outside)
            inside = np.where(out, inside, middle)
        return inside

    return Bars(low=last_kept(-1.0), high=last_kept(1.0))
