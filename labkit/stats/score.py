"""The score interval behind the paired interval, Tango's table and the blinding index.

Of n units some gain 1, some lose `loss`, the rest stay; the figure is the mean. Its variance is not
estimated from the data but is the one that holds if the bound itself were true, so that it does not
vanish where all units agree.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from labkit.stats.interval import Interval

_BISECTIONS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Moves:
    """How many of `n` units gained 1 and how many lost `loss`; the numbers may be fractional."""

    gains: float
    losses: float
    n: float
    loss: float = 1.0

    @property
    def mean(self) -> float:
        """The mean gain, from -loss to 1."""
        return (self.gains - self.loss * self.losses) / self.n

    def deviation(self, mean: float) -> float:
        """Return the standard deviation of the mean if the true mean is `mean`.

        The share of losses is the maximum-likelihood one under that restriction, the larger root of
        a quadratic; with loss = 1 it is equation 4 of Tango (1998).
        """
        loss, n = self.loss, self.n
        stayed = n - self.gains - self.losses
        square = n * loss * (1 + loss)
        linear = (
            (1 + loss) * mean * (stayed + self.losses)
            - (self.gains + self.losses) * loss * (1 - mean)
        )  # fmt: skip
        constant = -self.losses * mean * (1 - mean)
        root = math.sqrt(max(0.0, linear * linear - 4 * square * constant))
        share = (root - linear) / (2 * square)
        return math.sqrt(max(0.0, (loss * (1 + loss) * share + mean * (1 - mean)) / n))


def matched(differences: Sequence[float], squares: float) -> Moves:
    """Return the moves whose variance under "no difference" is `squares` / n^2, n differences.

    With b the sum of gains, c the sum of losses and f = `squares` / (b + c): b/f, c/f and n/f.
    """
    moved = math.fsum(map(abs, differences))
    match = squares / moved if moved else 1.0
    return Moves(
        gains=math.fsum(number for number in differences if number > 0) / match,
        losses=math.fsum(-number for number in differences if number < 0) / match,
        n=len(differences) / match,
    )


def score_interval(moves: Moves, z: float) -> Interval:
    """Return the means that lie within z of their own standard deviations of the observed mean."""
    observed = moves.mean

    def refuted(mean: float) -> bool:
        return abs(observed - mean) > z * moves.deviation(mean)

    return Interval(
        low=_last_kept(observed, -moves.loss, refuted=refuted),
        high=_last_kept(observed, 1.0, refuted=refuted),
    )


def _last_kept(inside: float, outside: float, *, refuted: Callable[[float], bool]) -> float:
    for _ in range(_BISECTIONS):
        middle = (inside + outside) / 2
        if refuted(middle):
            outside = middle
        else:
            inside = middle
    return inside
