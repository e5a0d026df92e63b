"""What repeated attempts tell: reliability, flakiness, and the differences that noise makes."""

import math
import statistics
from collections.abc import Callable, Iterator
from itertools import islice

from labkit.model import TaskId
from labkit.stats import (
    largest_noise,
    paired_interval,
    pass_at_k,
    pass_hat_k,
    typical_noise,
    variance_parts,
    wilson_interval,
)
from labkit.summary.evidence import Attempts
from labkit.summary.model import ErrorParts, Estimate, Noise, Repeat

_PAIR = 2
_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine"}


def pass_hat_2(attempts: Attempts) -> Estimate:
    """Return how likely two attempts both pass."""
    return _repeated(attempts, _PAIR, pass_hat_k)


def repeats(attempts: Attempts) -> tuple[Repeat, ...]:
    """Return pass@k and pass^k for every k from 2 to the most attempts that were planned."""
    most = max(map(len, attempts.values()), default=0)
    return tuple(
        Repeat(
            k=k,
            pass_at=_repeated(attempts, k, pass_at_k),
            pass_hat=_repeated(attempts, k, pass_hat_k),
        )
        for k in range(_PAIR, most + 1)
    )


def _repeated(attempts: Attempts, k: int, figure: Callable[[int, int, int], float]) -> Estimate:
    counts = [(len(of) - of.count(None), of.count(True)) for of in attempts.values()]
    values = [figure(n, c, k) for n, c in counts if n >= k]
    if not values:
        why = f"no task has {_NUMBERS[k]} measured attempts"
        return Estimate(value=None, interval=None, tasks=0, why=why)
    # A sum of many small shares may round to more than 1.
    value = min(1.0, statistics.fmean(values))
    return Estimate(value=value, interval=wilson_interval(value, len(values)), tasks=len(values))


def noise(attempts: Attempts) -> Noise | None:
    """Compare the second measured attempt at each task with the first."""
    pairs = dict(_first_two(attempts))
    if not pairs:
        return None
    moved = tuple(task for task, (one, other) in pairs.items() if one != other)
    n = len(pairs)
    differences = [float(other) - float(one) for one, other in pairs.values()]
    return Noise(
        tasks=n,
        moved=moved,
        difference=Estimate(
            value=statistics.fmean(differences), interval=paired_interval(differences), tasks=n
        ),
        typical=typical_noise(len(moved)) / n,
        largest=largest_noise(len(moved)) / n,
    )


def _first_two(attempts: Attempts) -> Iterator[tuple[TaskId, tuple[bool, bool]]]:
    for task, of in attempts.items():
        known = tuple(islice((passed for passed in of if passed is not None), _PAIR))
        if len(known) == _PAIR:
            yield task, (known[0], known[1])


def error_parts(attempts: Attempts) -> ErrorParts | None:
    """Split the squared standard error of the rate between tasks and attempts."""
    known = [[float(passed) for passed in of if passed is not None] for of in attempts.values()]
    parts = variance_parts([of for of in known if of])
    if parts is None or not parts.total:
        return None
    return ErrorParts(
        standard_error=math.sqrt(parts.total),
        between=parts.between / parts.total,
        within=parts.within / parts.total,
    )
