"""What a set of tasks could have detected: planning figures, never "observed power"."""

import math
from statistics import NormalDist

from labkit.stats.interval import upper_level
from labkit.stats.quantiles import normal_quantile, student_probability, student_quantile

_FEWEST_FOR_A_SPREAD = 2


def minimum_detectable_effect(
    n: int, spread: float, confidence: float = 0.95, power: float = 0.8
) -> float | None:
    """Return the smallest true mean difference that n tasks would detect with `power`.

    (t[(1+confidence)/2] + t[power]) * spread / sqrt(n), t with n-1 degrees of freedom; `spread` is
    the standard deviation of the per-task differences. A rule of thumb: against exact enumeration
    (`detectable_effect`) it is a few points too hopeful below twelve tasks. None for fewer than two
    tasks. Raises ValueError for a negative spread, or a power that is not from .5 to below 1.
    """
    upper = upper_level(confidence)
    _check_plan(spread, power)
    if n < _FEWEST_FOR_A_SPREAD:
        return None
    degrees = n - 1
    quantiles = student_quantile(upper, degrees) + student_quantile(power, degrees)
    return quantiles * spread / math.sqrt(n)


def rule_of_thumb_power(
    n: int, spread: float, effect: float, confidence: float = 0.95
) -> float | None:
    """Return how likely n tasks detect a true mean difference of `effect`, by rule of thumb.

    P(t < |effect| sqrt(n) / spread - t[(1+confidence)/2]), t with n-1 degrees of freedom: the
    inverse of `minimum_detectable_effect`, which it is as hopeful as; `power` is exact. Only a plan
    is worth asking about: the power at the difference that was observed says no more than its p.
    None for fewer than two tasks. Raises ValueError unless the spread is above 0.
    """
    upper = upper_level(confidence)
    if not 0 < spread < math.inf:
        raise ValueError(f"a standard deviation of {spread} leaves no room for chance")
    if n < _FEWEST_FOR_A_SPREAD:
        return None
    degrees = n - 1
    reach = abs(effect) * math.sqrt(n) / spread
    return student_probability(reach - student_quantile(upper, degrees), degrees)


def tasks_needed(
    effect: float, spread: float, confidence: float = 0.95, power: float = 0.8
) -> float:
    """Return how many tasks detect a true mean difference of `effect` with `power`; round it up.

    ((z[(1+confidence)/2] + z[power]) * spread / effect)^2, where spread^2 is the variance of the
    per-task differences: of true difficulty plus both configurations' noise by their attempts
    (Miller 2024, arXiv 2411.00640). Too few below 30 tasks, where the quantiles of t are larger.
    Raises ValueError as `minimum_detectable_effect` does, and for an effect of 0.
    """
    upper = upper_level(confidence)
    _check_plan(spread, power)
    if not effect or not math.isfinite(effect):
        raise ValueError(f"no number of tasks detects a difference of {effect}")
    return ((normal_quantile(upper) + normal_quantile(power)) * spread / effect) ** 2


def approximate_power(n: int, effect: float, spread: float, confidence: float = 0.95) -> float:
    """Return how likely n tasks detect a true mean difference of `effect`, by rule of thumb.

    The normal curve at |effect| * sqrt(n) / spread - t[(1+confidence)/2], t with n-1 degrees of
    freedom. For sets too large for `power`, to which it is within three points from 36 tasks on.
    Raises ValueError for fewer than two tasks, or a spread that is not above 0.
    """
    upper = upper_level(confidence)
    if n < _FEWEST_FOR_A_SPREAD or not 0 < spread < math.inf:
        raise ValueError(f"{n} tasks with a standard deviation of {spread} have no power")
    reach = abs(effect) * math.sqrt(n) / spread
    return NormalDist().cdf(reach - student_quantile(upper, n - 1))


def expected_spread(attempts: float) -> float:
    """Return the standard deviation of per-task differences to expect before there are data.

    sqrt(2m(1-m)(r + (1-r)/attempts) - 2 cov). It assumes a pass rate of m = 50 %, half of the
    variance between tasks (r), and difficulties that correlate .8 between the configurations: .56,
    .43 and .38 at 1, 2 and 3 attempts. For other assumptions see `Design`.
    Raises ValueError below one attempt.
    """
    if not 1 <= attempts < math.inf:
        raise ValueError(f"{attempts} attempts are too few")
    bernoulli = 0.25
    between = 0.5
    shared = 0.0955  # covariance of the task means: a Gaussian copula with correlation .8
    return math.sqrt(2 * bernoulli * (between + (1 - between) / attempts) - 2 * shared)


def _check_plan(spread: float, power: float) -> None:
    if not 0 <= spread < math.inf:
        raise ValueError(f"a standard deviation of {spread} is impossible")
    if not 0.5 <= power < 1:  # noqa: PLR2004 - below, the formulas promise the impossible
        raise ValueError(f"a power to plan for lies from .5 to below 1, and {power} does not")
