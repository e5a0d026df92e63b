"""A model of how often tasks are passed, from which a plan's power follows.

A task's chance to be passed is drawn from a beta distribution for each configuration; the two
chances are joined by a Gaussian copula, since a task that is hard for one is hard for the other.
Attempts at a task are independent given its chance.
"""

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

_NODES = 96
_HIGHEST_ICC = 0.9
"""Above, the chances crowd so much at 0 and 1 that they can no longer be integrated this way."""
_FARTHEST = 8.0
"""In standard deviations: beyond, chances are below 1e-15 and the beta quantile may give up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """What is assumed about tasks and attempts before there are data.

    Raises ValueError for fewer than one attempt, a mean that is not between 0 and 1, an icc that is
    not above 0 and at most .9, or a correlation outside -1 to 1.
    """

    attempts: int = 2
    mean: float = 0.5
    """The pass rate of the first configuration."""
    icc: float = 0.5
    """The intra-class correlation: which share of the variance of attempts lies between tasks."""
    second_icc: float | None = None
    """The second configuration's; None when it is the same."""
    correlation: float = 0.8
    """Of the difficulties for both configurations, on the normal scale of the copula."""

    def __post_init__(self) -> None:
        if self.attempts < 1 or self.attempts != int(self.attempts):
            raise ValueError(f"{self.attempts} attempts make no design")
        if not 0 < self.mean < 1:
            raise ValueError(f"the mean of a design lies between 0 and 1, not at {self.mean}")
        for icc in (self.icc, self._icc_of_second):
            if not 0 < icc <= _HIGHEST_ICC:
                raise ValueError(f"the icc of a design is above 0 and at most .9, not {icc}")
        if not -1 <= self.correlation <= 1:
            raise ValueError(f"a correlation of {self.correlation} is impossible")

    def shares(self, effect: float) -> Mapping[Fraction, float]:
        """Return the chances of each per-task difference if the pass rates differ by `effect`.

        Differences run from -1 to 1 in steps of 1/attempts. Integrated numerically: to
        five digits at an icc of .5, to a point at .9.
        Raises ValueError when the second pass rate would not lie between 0 and 1.
        """
        from scipy.special import betaincinv, ndtr, roots_hermitenorm  # noqa: PLC0415 - slow

        if not 0 < self.mean + effect < 1:
            raise ValueError(f"a pass rate of {self.mean:g} leaves no room for {effect:+g}")
        nodes, weights = roots_hermitenorm(_NODES)
        weights /= weights.sum()
        own = math.sqrt(1 - self.correlation**2)
        latent = self.correlation * nodes[:, None] + own * nodes[None, :]
        first, second = (
            betaincinv(*_shapes(mean, icc), ndtr(of.clip(-_FARTHEST, _FARTHEST)))
            for mean, icc, of in (
                (self.mean, self.icc, nodes),
                (self.mean + effect, self._icc_of_second, latent),
            )
        )
        found: defaultdict[Fraction, float] = defaultdict(float)
        for j, ways_j in enumerate(self._ways()):
            of_second = ways_j * (second**j * (1 - second) ** (self.attempts - j)) @ weights
            for i, ways_i in enumerate(self._ways()):
                of_first = ways_i * first**i * (1 - first) ** (self.attempts - i)
                share = float((of_first * of_second) @ weights)
                found[Fraction(j - i, self.attempts)] += share
        return found

    def spread(self, effect: float = 0.0) -> float:
        """Return the standard deviation of the per-task differences."""
        shares = self.shares(effect)
        mean = sum(float(level) * share for level, share in shares.items())
        return math.sqrt(sum((float(level) - mean) ** 2 * share for level, share in shares.items()))

    @property
    def _icc_of_second(self) -> float:
        return self.icc if self.second_icc is None else self.second_icc

    def _ways(self) -> list[int]:
        return [math.comb(self.attempts, passed) for passed in range(self.attempts + 1)]


def _shapes(mean: float, icc: float) -> tuple[float, float]:
    total = 1 / icc - 1
    return mean * total, (1 - mean) * total
