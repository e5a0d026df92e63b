"""What the figures of labkit.stats cost, with scipy's on the same data beside them.

scipy draws 10,000 resamples or sign flips where labkit enumerates.
Run: python tests/bench/bench_stats.py
"""

import random
import statistics
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.stats import bootstrap, permutation_test

from labkit.forecast import Scheme, forecast
from labkit.stats import (
    Design,
    Power,
    bootstrap_interval,
    detectable_effect,
    paired_interval,
    power,
    sign_flip_test,
    wilson_interval,
)

ROUNDS = 5
RESAMPLES = 10_000


def milliseconds(work: Callable[[], object]) -> float:
    """Return the median time of a few rounds, after one to warm up."""
    took = []
    for _ in range(ROUNDS + 1):
        began = time.perf_counter()
        work()
        took.append(time.perf_counter() - began)
    return 1000 * statistics.median(took[1:])


def beside(what: str, ours: Callable[[], object], theirs: Callable[[], object]) -> None:
    """Print both times and their ratio."""
    mine, other = milliseconds(ours), milliseconds(theirs)
    print(f"{what:<44} {mine:9.2f} ms   scipy {other:9.2f} ms   ratio {mine / other:.4f}")


def alone(what: str, ours: Callable[[], object]) -> None:
    """Print a time for which scipy has nothing to compare."""
    print(f"{what:<44} {milliseconds(ours):9.2f} ms")


def twenty_points(n: int) -> Power:
    """Return the power against a true difference of 20 points."""
    return power(n, Design().shares(0.2))


def main() -> None:
    """Measure everything."""
    draw = random.Random(3)  # noqa: S311 - data, not secrets
    for n in (9, 200, 10_000):
        means = [draw.choice([0.0, 0.5, 1.0]) for _ in range(n)]
        moves = [draw.choice([-1.0, -0.5, 0.0, 0.5, 1.0]) for _ in range(n)]
        resample = partial(bootstrap, (means,), np.mean, n_resamples=RESAMPLES, batch=200, rng=1)
        beside(
            f"bootstrap, percentile, {n} task means",
            partial(bootstrap_interval, means),
            partial(resample, method="percentile"),
        )
        beside(
            f"bootstrap, BCa, {n} task means",
            partial(bootstrap_interval, means, method="bca"),
            partial(resample, method="BCa"),
        )
        flip = partial(
            permutation_test,
            (moves,),
            np.mean,
            permutation_type="samples",
            n_resamples=RESAMPLES,
            batch=200,
            rng=1,
        )
        beside(f"sign-flip test, {n} differences", partial(sign_flip_test, moves), flip)
        alone(f"paired interval, {n} differences", partial(paired_interval, moves))
        alone(f"Wilson interval, {n} task means", partial(wilson_interval, 0.5, n))
    marks = [round(draw.gauss(0.3, 1), 2) for _ in range(25)]
    alone("sign-flip test, 25 different sizes", partial(sign_flip_test, marks))
    for n in (9, 36, 100, 200):
        alone(f"power, {n} tasks x 2", partial(twenty_points, n))
    for n, attempts in ((36, 2), (100, 2), (200, 2), (36, 3), (60, 3)):
        alone(
            f"detectable effect, {n} tasks x {attempts}",
            partial(detectable_effect, n, Design(attempts=attempts)),
        )
    nine = Scheme(tasks=9, attempts=2, configurations=2)
    alone("what labkit plan power works out, 9 tasks x 2", partial(forecast, nine))


if __name__ == "__main__":
    main()
