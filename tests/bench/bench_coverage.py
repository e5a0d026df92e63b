"""What the intervals and tests of labkit.stats hold, at nine tasks and around.

For every method: how often the interval holds the truth (mean and worst over the scenarios), how
wide it is, and how often it has no width. Where labkit.stats gives None for that reason, the point
is taken that other tools print. Outcomes are enumerated with their exact chances; where there are
more than 25,000, some are drawn with a fixed seed. The bootstraps are left out above twelve tasks.
Rates: tasks from a beta distribution, pass rates .05 to .95, intra-class correlations .1 to .9.
Differences: 27 nulls, 2 nulls with unlike attempts, 24 alternatives, by the model of `Design`.
Run: python tests/bench/bench_coverage.py [TASKS ...]    (9 unless given)
"""

import math
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from labkit.stats import (
    Design,
    Interval,
    agresti_coull_interval,
    bootstrap_interval,
    effective_tasks,
    mean_interval,
    paired_interval,
    sign_flip_test,
    wald_standard_error,
    wilson_interval,
)

NOMINAL = 0.95
MOST_OUTCOMES = 25_000
MOST_FOR_BOOTSTRAPS = 12
Z = statistics.NormalDist().inv_cdf((1 + NOMINAL) / 2)
Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Method = Callable[[list[float]], Interval | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A scenario: the chance of each level, and the true mean."""

    shares: Sequence[float]
    truth: float


def wald(values: list[float]) -> Interval:
    mean = statistics.fmean(values)
    reach = Z * wald_standard_error(mean, len(values))
    return Interval(low=mean - reach, high=mean + reach)


def wilson(values: list[float]) -> Interval:
    return wilson_interval(min(1.0, statistics.fmean(values)), len(values))


def credited(attempts: int) -> Method:
    return lambda values: wilson_interval(
        min(1.0, statistics.fmean(values)), effective_tasks(values, attempts)
    )


def runs_as_units(attempts: int) -> Method:
    return lambda values: wilson_interval(
        min(1.0, statistics.fmean(values)), len(values) * attempts
    )


def rate_methods(attempts: int) -> dict[str, Method]:
    return {
        "Wilson, n = tasks (default)": wilson,
        "Wilson, repeats credited": credited(attempts),
        "Wilson, n = runs (wrong)": runs_as_units(attempts),
        "Agresti-Coull": lambda v: agresti_coull_interval(min(1.0, statistics.fmean(v)), len(v)),
        "Wald (teaching)": wald,
        "Student t": lambda v: mean_interval(v, 0, 1),
        "bootstrap, percentile": bootstrap_interval,
        "bootstrap, BCa": lambda v: bootstrap_interval(v, method="bca"),
    }


PAIRED_METHODS: dict[str, Method] = {
    "moment-matched Tango (default)": paired_interval,
    "paired Student t": lambda v: mean_interval(v, -1, 1),
    "bootstrap, percentile": bootstrap_interval,
    "bootstrap, BCa": lambda v: bootstrap_interval(v, method="bca"),
}


def rate_cells(attempts: int) -> Iterator[Cell]:
    for mean, icc in product([step / 20 for step in range(1, 20)], [0.1, 0.3, 0.5, 0.7, 0.9]):
        total = 1 / icc - 1
        a, b = mean * total, (1 - mean) * total
        yield Cell(
            shares=[
                math.comb(attempts, c) * math.exp(_beta(a + c, b + attempts - c) - _beta(a, b))
                for c in range(attempts + 1)
            ],
            truth=mean,
        )


def _beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def paired_cells(attempts: int) -> Iterator[tuple[str, Cell]]:
    def cell(design: Design, effect: float = 0.0) -> Cell:
        shares = design.shares(effect)
        return Cell(shares=[shares[level] for level in sorted(shares)], truth=effect)

    iccs = [0.3, 0.5, 0.8]
    for mean, icc, r in product([0.5, 0.7, 0.9], iccs, [1.0, 0.8, 0.5]):
        yield "null", cell(Design(attempts=attempts, mean=mean, icc=icc, correlation=r))
    for mean in (0.7, 0.9):
        yield "skewed", cell(Design(attempts=attempts, mean=mean, icc=0.9, second_icc=0.1))
    for mean, icc, effect in product([0.3, 0.5], iccs, [0.1, 0.2, 0.3, 0.4]):
        yield "alternative", cell(Design(attempts=attempts, mean=mean, icc=icc), effect)


def outcomes(n: int, levels: int) -> Iterator[tuple[int, ...]]:
    if levels == 1:
        yield (n,)
        return
    for many in range(n + 1):
        for rest in outcomes(n - many, levels - 1):
            yield (many, *rest)


def weighed(n: int, cells: Sequence[Cell]) -> tuple[list[tuple[int, ...]], Array]:
    """Return the outcomes, and a row of their chances for every cell."""
    levels = len(cells[0].shares)
    if math.comb(n + levels - 1, levels - 1) <= MOST_OUTCOMES:
        found = list(outcomes(n, levels))
        counts = np.array(found)
        ways = math.lgamma(n + 1) - np.array(
            [sum(math.lgamma(many + 1) for many in outcome) for outcome in found]
        )
        logs = np.log(np.maximum([cell.shares for cell in cells], 1e-300))
        return found, np.exp(ways[None, :] + logs @ counts.T)
    draw = np.random.default_rng([7, n, levels])
    index: dict[tuple[int, ...], int] = {}
    rows = []
    for cell in cells:
        shares = np.maximum(cell.shares, 0)
        drawn = draw.multinomial(n, shares / shares.sum(), size=MOST_OUTCOMES // 5)
        rows.append([index.setdefault(tuple(map(int, one)), len(index)) for one in drawn])
    chances = np.zeros((len(cells), len(index)))
    for row, drawn_indexes in enumerate(rows):
        np.add.at(chances[row], drawn_indexes, 1 / len(drawn_indexes))
    return list(index), chances


def table(
    n: int, levels: Sequence[float], cells: Sequence[Cell], methods: dict[str, Method]
) -> None:
    found, chances = weighed(n, cells)
    truths = np.array([cell.truth for cell in cells])
    for name, method in methods.items():
        if name.startswith("bootstrap") and n > MOST_FOR_BOOTSTRAPS:
            continue
        values = [spelled(levels, outcome) for outcome in found]
        bars = [method(one) or point(one) for one in values]
        flat = np.array([bar.high - bar.low < 1e-12 for bar in bars])
        low = np.array([bar.low - 1e-9 for bar in bars])
        high = np.array([bar.high + 1e-9 for bar in bars])
        held = (low[None, :] <= truths[:, None]) & (truths[:, None] <= high[None, :])
        coverage = (chances * held).sum(1)
        width = chances @ (high - low)
        print(
            f"  {name:<32} {100 * NOMINAL:4.0f} %  {100 * coverage.mean():5.1f} %"
            f"  {100 * coverage.min():5.1f} %  {width.mean():5.2f}"
            f"  {100 * (chances @ flat).mean():5.1f} %"
        )


def spelled(levels: Sequence[float], outcome: tuple[int, ...]) -> list[float]:
    return [level for level, many in zip(levels, outcome, strict=True) for _ in range(many)]


def point(values: list[float]) -> Interval:
    mean = statistics.fmean(values)
    return Interval(low=mean, high=mean)


def errors(n: int, attempts: int, named: Sequence[tuple[str, Cell]]) -> None:
    """Print how often the tests find a difference where there is none."""
    levels = [Fraction(step, attempts) for step in range(-attempts, attempts + 1)]
    for kind in ("null", "skewed"):
        cells = [cell for name, cell in named if name == kind]
        found, chances = weighed(n, cells)
        tests = [
            sign_flip_test(
                [x for x, many in zip(levels, outcome, strict=True) for _ in range(many)]
            )
            for outcome in found
        ]
        for name, rejected in (
            ("sign-flip, mid-p (default)", np.array([test.p_mid <= 0.05 for test in tests])),
            ("sign-flip, exact", np.array([test.p_exact <= 0.05 for test in tests])),
        ):
            share = 100 * (chances @ rejected)
            print(f"  {name + ', ' + kind:<32}    5 %  {share.mean():5.1f} %  {share.max():5.1f} %")


def main() -> None:
    """Print the tables for the numbers of tasks given."""
    began = time.perf_counter()
    head = f"  {'method':<32} nominal    mean    worst  width  no width"
    for n, attempts in product([int(word) for word in sys.argv[1:]] or [9], [1, 2, 3]):
        print(f"rate: {n} tasks x {attempts}\n{head}")
        levels = [c / attempts for c in range(attempts + 1)]
        table(n, levels, list(rate_cells(attempts)), rate_methods(attempts))
        print(f"paired difference: {n} tasks x {attempts}\n{head}")
        named = list(paired_cells(attempts))
        levels = [step / attempts for step in range(-attempts, attempts + 1)]
        table(n, levels, [cell for _, cell in named], PAIRED_METHODS)
        print(f"false findings: {n} tasks x {attempts}")
        errors(n, attempts, named)
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
