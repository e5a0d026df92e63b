"""What a plan could detect, before any run: never from the outcome of the runs it plans."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product

from labkit.plan import MOST_ATTEMPTS
from labkit.stats import (
    Design,
    approximate_power,
    chance_of_difference,
    detectable_effect,
    is_enumerable,
    minimum_detectable_effect,
    power,
)

SIGNIFICANCE = 0.05
AIM = 0.8
"""The power to plan for."""
DIFFERENCES = (0.1, 0.2, 0.3, 0.4)
GAPS = (0.1, 0.2)
USUAL_RATE = 0.5
_LOWEST_RATE = 0.05
_ICCS = (0.3, 0.8)
_CORRELATIONS = (0.5, 0.95)
MORE_TASKS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme:
    """How much is planned."""

    tasks: int
    """Those that count in the rates."""
    safety: int = 0
    """Those that are run as well and set apart."""
    attempts: int
    configurations: int

    @property
    def runs(self) -> int:
        """How many runs that is."""
        return (self.tasks + self.safety) * self.attempts * self.configurations

    @property
    def comparisons(self) -> int:
        """How many pairs of configurations there are."""
        return self.configurations * (self.configurations - 1) // 2

    @property
    def significance(self) -> float:
        """The level at which the first of Holm's steps tests each pair."""
        return SIGNIFICANCE / self.comparisons


@dataclass(frozen=True, slots=True, kw_only=True)
class Prospect:
    """What one scheme could detect."""

    scheme: Scheme
    detectable: float | None
    """The smallest true difference found with a power of AIM; None: none that the rate allows."""
    powers: Mapping[float, float]
    """True difference -> how likely it is found."""
    exact: bool
    """Whether outcomes were enumerated; else the normal curve stands in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What a plan could detect, and what other plans would."""

    rate: float
    """What one configuration is supposed to pass; the other passes more, or fewer."""
    icc: float
    correlation: float
    planned: Prospect
    detectable_range: tuple[float | None, float | None]
    """The smallest and the largest with other guesses of the noise; None as in `Prospect`."""
    gaps: Mapping[float, float]
    """Difference -> how often two configurations that are the same show as much, or more."""
    more_attempts: Prospect | None
    """With one attempt more; None where there are the most possible."""
    more_tasks: Prospect
    """With nine tasks more."""


def forecast(scheme: Scheme, rate: float = USUAL_RATE) -> Forecast:
    """Work out what a scheme could detect if one configuration passes at `rate`.

    A rate above one half is taken as the same distance below: a difference then goes the way that
    leaves room for it, and chances are the same either way.
    """
    design = Design(attempts=scheme.attempts, mean=max(_LOWEST_RATE, min(rate, 1 - rate)))
    attempts, tasks = scheme.attempts + 1, scheme.tasks + MORE_TASKS
    more = None
    if attempts <= MOST_ATTEMPTS:
        more = _prospect(replace(scheme, attempts=attempts), replace(design, attempts=attempts))
    return Forecast(
        rate=rate,
        icc=design.icc,
        correlation=design.correlation,
        planned=_prospect(scheme, design),
        detectable_range=_range(scheme, design),
        gaps={gap: chance_of_difference(scheme.tasks, design.shares(0.0), gap) for gap in GAPS},
        more_attempts=more,
        more_tasks=_prospect(replace(scheme, tasks=tasks), design),
    )


def _prospect(scheme: Scheme, design: Design) -> Prospect:
    return Prospect(
        scheme=scheme,
        detectable=_detectable(scheme, design),
        powers={effect: _power(scheme, design, effect) for effect in DIFFERENCES},
        exact=is_enumerable(scheme.tasks, design.attempts),
    )


def _power(scheme: Scheme, design: Design, effect: float) -> float:
    if is_enumerable(scheme.tasks, design.attempts):
        return power(scheme.tasks, design.shares(effect), scheme.significance).mid
    spread = design.spread(effect)
    return approximate_power(scheme.tasks, effect, spread, 1 - scheme.significance)


def _detectable(scheme: Scheme, design: Design) -> float | None:
    if is_enumerable(scheme.tasks, design.attempts):
        return detectable_effect(scheme.tasks, design, scheme.significance, AIM)
    spread = design.spread()
    found = minimum_detectable_effect(scheme.tasks, spread, 1 - scheme.significance, AIM)
    return found if found is not None and found < 1 - design.mean else None


def _range(scheme: Scheme, design: Design) -> tuple[float | None, float | None]:
    """Return the smallest and the largest that other guesses of the noise would detect."""
    guesses = (
        replace(design, icc=icc, correlation=correlation)
        for icc, correlation in product(_ICCS, _CORRELATIONS)
    )
    found = [_detectable(scheme, guess) for guess in (design, *guesses)]
    reached = [effect for effect in found if effect is not None]
    return min(reached, default=None), None if None in found else max(reached)
