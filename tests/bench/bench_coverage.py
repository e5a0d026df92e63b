"""What the intervals and tests of labkit.stats hold, at the numbers of tasks that labs have.

For every method: how often the interval holds the truth (mean and worst over the scenarios, and
which is the worst), how wide it is, and how often it has no width. Where labkit.stats gives None
for that reason, the point is taken that other tools print. Outcomes are enumerated with their exact
chances; where there are more than 350,000, 20,000 are drawn for each scenario with a fixed seed.
False findings come from `labkit.stats.power`, which enumerates.
Rates: tasks from a beta distribution, pass rates .05 to .95, intra-class correlations .1 to .9.
Differences: 27 nulls, 2 nulls with unlike attempts, 24 alternatives, by the model of `Design`.
Intervals are computed for all outcomes at once; in every table some are compared with labkit.stats.
Run: PYTHONPATH=tests python tests/bench/bench_coverage.py [TASKS ...]  (default: 6 9 12 20 50)
"""

import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from bench.intervals import (
    Array,
    Bars,
    checked_against_labkit,
    paired_bars,
    rate_bars,
    slow_bars,
)

from labkit.stats import Design, power

MOST_OUTCOMES = 350_000
MOST_FOR_BOOTSTRAPS = 800
DRAWN = 20_000
AIM_COVERAGE = 93.0
AIM_ERROR = 5.7


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A scenario: the chance of each level, and the true mean."""

    name: str
    shares: Sequence[float]
    truth: float


@dataclass(slots=True, kw_only=True)
class Tally:
    """What a method held in the scenarios so far."""

    coverage: list[float]
    width: list[float]
    flat: list[float]

    def add(self, bars: Bars, chances: Array, truth: float) -> None:
        held = (bars.low - 1e-9 <= truth) & (truth <= bars.high + 1e-9)
        wide = bars.high - bars.low
        self.coverage.append(100 * float(chances[held].sum()))
        self.width.append(float(chances @ wide))
        self.flat.append(100 * float(chances[wide < 1e-12].sum()))


def rate_cells(attempts: int) -> Iterator[Cell]:
    for mean, icc in product([step / 20 for step in range(1, 20)], [0.1, 0.3, 0.5, 0.7, 0.9]):
        total = 1 / icc - 1
        a, b = mean * total, (1 - mean) * total
        yield Cell(
            name=f"rate {mean:g}, icc {icc:g}",
            shares=[
                math.comb(attempts, c) * math.exp(_beta(a + c, b + attempts - c) - _beta(a, b))
                for c in range(attempts + 1)
            ],
            truth=mean,
        )


def _beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def designs(attempts: int) -> Iterator[tuple[str, Design, float]]:
    """Yield each scenario of two configurations: its kind, its design, the true difference."""
    iccs = [0.3, 0.5, 0.8]
    for mean, icc, r in product([0.5, 0.7, 0.9], iccs, [1.0, 0.8, 0.5]):
        yield "alike", Design(attempts=attempts, mean=mean, icc=icc, correlation=r), 0.0
    for mean in (0.7, 0.9):
        yield "unlike", Design(attempts=attempts, mean=mean, icc=0.9, second_icc=0.1), 0.0
    for mean, icc, effect in product([0.3, 0.5], iccs, [0.1, 0.2, 0.3, 0.4]):
        yield "different", Design(attempts=attempts, mean=mean, icc=icc), effect


def paired_cells(attempts: int) -> Iterator[Cell]:
    for kind, design, effect in designs(attempts):
        shares = design.shares(effect)
        yield Cell(
            name=f"{kind}: rate {design.mean:g} {effect:+g}, icc {design.icc:g}, "
            f"r {design.correlation:g}",
            shares=[max(0.0, shares[level]) for level in sorted(shares)],
            truth=effect,
        )


def outcomes(n: int, levels: int) -> Array:
    """Return every way in which n tasks can be of so many levels, a row each."""
    rows = np.zeros((1, 0), dtype=np.int64)
    for _ in range(levels - 1):
        left = n - rows.sum(axis=1)
        repeated = np.repeat(rows, left + 1, axis=0)
        many = np.concatenate([np.arange(most + 1) for most in left])
        rows = np.column_stack([repeated, many])
    return np.column_stack([rows, n - rows.sum(axis=1)])


def weighed(n: int, cells: Sequence[Cell]) -> Iterator[tuple[Cell, Array, Array, bool]]:
    """Yield each scenario with outcomes, their chances, and whether the outcomes are new ones."""
    levels = len(cells[0].shares)
    if math.comb(n + levels - 1, levels - 1) > MOST_OUTCOMES:
        draw = np.random.default_rng([7, n, levels])
        for cell in cells:
            shares = np.array(cell.shares) / sum(cell.shares)
            drawn = draw.multinomial(n, shares, size=DRAWN).astype(float)
            yield cell, drawn, np.full(DRAWN, 1 / DRAWN), True
        return
    found = outcomes(n, levels)
    factorials = np.array([math.lgamma(many + 1) for many in range(n + 1)])
    ways = factorials[n] - factorials[found].sum(axis=1)
    for place, cell in enumerate(cells):
        logs = np.log(np.maximum(cell.shares, 1e-300))
        yield cell, found, np.exp(ways + found @ logs), place == 0


Methods = Callable[[Array, Array, int], dict[str, Bars]]


def table(
    title: str, n: int, attempts: int, levels: Array, cells: Sequence[Cell], methods: Methods
) -> float:
    """Print what each method holds, and return the worst coverage of the first, the default."""
    tallies: dict[str, Tally] = {}
    bars: dict[str, Bars] = {}
    for cell, found, chances, new in weighed(n, cells):
        if new:
            bars = methods(found, levels, attempts)
            if not tallies:
                checked_against_labkit(found, levels, attempts, bars)
            if len(found) <= MOST_FOR_BOOTSTRAPS:
                bars |= slow_bars(found, levels)
        for name, found_bars in bars.items():
            empty = Tally(coverage=[], width=[], flat=[])
            tallies.setdefault(name, empty).add(found_bars, chances, cell.truth)
    print(f"{title}: {n} tasks x {attempts}")
    print(f"  {'method':<32}  mean    worst  width  no width  worst scenario")
    for name, tally in tallies.items():
        worst = min(range(len(cells)), key=tally.coverage.__getitem__)
        print(
            f"  {name:<32} {np.mean(tally.coverage):5.1f} %  {tally.coverage[worst]:5.1f} %"
            f"  {np.mean(tally.width):5.2f}  {np.mean(tally.flat):5.1f} %  {cells[worst].name}"
        )
    return min(next(iter(tallies.values())).coverage)


def errors(n: int, attempts: int) -> float:
    """Print how often the tests find a difference where there is none; return mid-p's worst."""
    print(f"false findings: {n} tasks x {attempts}")
    worst = 0.0
    for kind in ("alike", "unlike"):
        found = [
            power(n, design.shares(0.0)) for name, design, _ in designs(attempts) if name == kind
        ]
        for name, shares in (
            ("sign-flip, mid-p (default)", [100 * each.mid for each in found]),
            ("sign-flip, exact", [100 * each.exact for each in found]),
        ):
            print(f"  {f'{name}, {kind}':<34} {np.mean(shares):5.1f} %  {max(shares):5.1f} %")
        worst = max(worst, *(100 * each.mid for each in found))
    return worst


def main() -> None:
    """Print the tables for the numbers of tasks given, and the worst of each default."""
    began = time.perf_counter()
    worst = []
    for n, attempts in product(
        [int(word) for word in sys.argv[1:]] or [6, 9, 12, 20, 50], [1, 2, 3]
    ):
        levels = np.arange(attempts + 1) / attempts
        rate = table("rate", n, attempts, levels, list(rate_cells(attempts)), rate_bars)
        levels = np.arange(-attempts, attempts + 1) / attempts
        cells = list(paired_cells(attempts))
        paired = table("paired difference", n, attempts, levels, cells, paired_bars)
        worst.append((n, attempts, rate, paired, errors(n, attempts)))
    print("worst of the defaults                 rate   paired   false findings")
    for n, attempts, rate, paired, error in worst:
        low = min(rate, paired) < AIM_COVERAGE or error > AIM_ERROR
        print(
            f"  {n:3} tasks x {attempts}                    {rate:5.1f} %  {paired:5.1f} %"
            f"  {error:5.1f} %{'  *' if low else ''}"
        )
    print(f"  * below {AIM_COVERAGE:g} % or above {AIM_ERROR:g} %")
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
