"""What the intervals of ordinal alpha hold: leaving out tasks, against resampling them.

Two scorers mark two runs of every task on five levels; runs of a task are alike (correlation .5).
The truth is alpha of 200,000 such tasks. Fixed seed.
Run: python tests/bench/bench_agreement.py [SAMPLES]    (1000 unless given)
"""

import math
import sys
from collections.abc import Iterator

import numpy as np

from labkit.stats import krippendorff_alpha, krippendorff_alpha_interval

LEVELS = 5
RESAMPLES = 400
Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def marks(draw: np.random.Generator, tasks: int, reliability: float) -> Array:
    """Return marks by run and scorer, two runs a task."""
    task = np.repeat(draw.normal(size=tasks), 2)
    quality = math.sqrt(0.5) * (task + draw.normal(size=2 * tasks))
    noise = draw.normal(size=(2 * tasks, 2))
    seen = math.sqrt(reliability) * quality[:, None] + math.sqrt(1 - reliability) * noise
    return np.digitize(seen, [-1.2, -0.4, 0.4, 1.2]).astype(np.float64)


def coincidences(given: Array) -> Array:
    """Return the table of coincidences of each run."""
    found = np.zeros((len(given), LEVELS, LEVELS))
    runs, first, second = np.arange(len(given)), given[:, 0].astype(int), given[:, 1].astype(int)
    np.add.at(found, (runs, first, second), 1)
    np.add.at(found, (runs, second, first), 1)
    return found


def alphas(tables: Array) -> Array:
    """Return ordinal alpha of each table, as an array."""
    counts = tables.sum(-1)
    place = np.cumsum(counts, -1) - counts / 2
    apart = (place[..., :, None] - place[..., None, :]) ** 2
    expected = (counts[..., :, None] * counts[..., None, :] * apart).sum((-1, -2))
    with np.errstate(all="ignore"):
        observed = (tables * apart).sum((-1, -2)) * (counts.sum(-1) - 1)
        return np.asarray(1 - observed / expected)


def bars(
    draw: np.random.Generator, tasks: int, reliability: float, samples: int
) -> Iterator[tuple[str, float, float]]:
    """Yield the bounds that each way finds in each sample; none is a bar from 1 to 1."""
    names = [number // 2 for number in range(2 * tasks)]
    for _ in range(samples):
        given = marks(draw, tasks, reliability)
        runs = coincidences(given)
        ours = krippendorff_alpha_interval(given.T.tolist(), tasks=names)
        yield ("leaving out tasks (default)", ours.low, ours.high) if ours else ("none", 1, 1)
        for way, units in (
            ("resampling tasks", runs.reshape(tasks, 2, LEVELS, LEVELS).sum(1)),
            ("resampling runs", runs),
        ):
            n = len(units)
            picked = draw.multinomial(n, [1 / n] * n, size=RESAMPLES)
            found = alphas(np.einsum("bt,tij->bij", picked, units))
            low, high = np.quantile(found[np.isfinite(found)], [0.025, 0.975])
            yield way, float(low), float(high)


def main() -> None:
    """Print coverage and width by reliability, number of tasks and way."""
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    draw = np.random.default_rng(11)
    for reliability in (0.6, 0.85, 0.95):
        truth = float(alphas(coincidences(marks(draw, 200_000, reliability)).sum(0)))
        check = marks(draw, 9, reliability)
        one = krippendorff_alpha(check.T.tolist())
        assert one is not None
        assert math.isclose(one, float(alphas(coincidences(check).sum(0))))
        for tasks in (9, 18):
            found: dict[str, list[tuple[bool, float]]] = {}
            for way, low, high in bars(draw, tasks, reliability, samples):
                found.setdefault(way, []).append((low <= truth <= high, high - low))
            print(f"alpha {truth:.2f}, {tasks} tasks x 2 runs x 2 scorers, nominal 95 %")
            for way, rows in found.items():
                held = 100 * sum(hit for hit, _ in rows) / len(rows)
                width = sum(w for _, w in rows) / len(rows)
                print(f"  {way:<28} {len(rows):5} bars {held:6.1f} %  width {width:.2f}")


if __name__ == "__main__":
    main()
