"""Quantiles of the distributions behind the intervals.

`scipy.special` is imported by the function that needs it. The import takes several tenths of a
second, longer than a whole summary, whose few quantiles are worked out here instead.
"""

import math
from statistics import NormalDist

_MANY = 200
_BISECTIONS = 60


def normal_quantile(probability: float) -> float:
    """Return the value below which a standard normal variable falls with `probability`."""
    return NormalDist().inv_cdf(probability)


def student_quantile(probability: float, degrees: int) -> float:
    """Return the quantile of Student's t with `degrees` of freedom (1 or more).

    By bisection of `student_probability`; from 200 degrees on by the expansion of Cornish and
    Fisher (Abramowitz and Stegun 1964, 26.7.5), which there is good to ten digits.
    """
    if degrees >= _MANY:
        return _expanded(normal_quantile(probability), degrees)
    if probability < 0.5:  # noqa: PLR2004 - the middle of a distribution
        return -student_quantile(1 - probability, degrees)
    low, high = 0.0, math.pi / 2
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if _within(middle, degrees) < 2 * probability - 1:
            low = middle
        else:
            high = middle
    return math.sqrt(degrees) * math.tan((low + high) / 2)


def student_probability(value: float, degrees: int) -> float:
    """Return the chance that Student's t with `degrees` of freedom stays below `value`.

    A finite sum (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4).
    """
    angle = math.atan(abs(value) / math.sqrt(degrees))
    within = _within(angle, degrees)
    return (1 + math.copysign(within, value)) / 2


def _within(angle: float, degrees: int) -> float:
    """Return the chance that t lies within +-sqrt(degrees) tan(angle)."""
    sine, square = math.sin(angle), math.cos(angle) ** 2
    odd = degrees % 2
    term = math.cos(angle) if odd else 1.0
    total = term if degrees > 1 else 0.0
    for step in range(2 + odd, degrees - 1, 2):
        term *= square * (step - 1) / step
        total += term
    return 2 / math.pi * (angle + sine * total) if odd else sine * total


def _expanded(x: float, degrees: int) -> float:
    terms = (
        (x**3 + x) / 4,
        (5 * x**5 + 16 * x**3 + 3 * x) / 96,
        (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
        (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160,
    )
    return x + math.fsum(term / float(degrees) ** power for power, term in enumerate(terms, 1))


def beta_quantile(probability: float, *, alpha: int, beta: int) -> float:
    """Return the quantile of the beta distribution with shapes `alpha` and `beta` (1 or more).

    It is the rate at which `alpha` or more of (alpha + beta - 1) draws succeed with `probability`,
    found by bisection; for many draws it is scipy's.
    """
    draws = alpha + beta - 1
    if draws > _MANY:
        from scipy.special import betaincinv  # noqa: PLC0415 - slow to import, see above

        return float(betaincinv(alpha, beta, probability))
    ways = [float(math.comb(draws, many)) for many in range(alpha, draws + 1)]
    low, high = 0.0, 1.0
    for _ in range(_BISECTIONS):
        rate = (low + high) / 2
        reached = math.fsum(
            way * rate**many * (1 - rate) ** (draws - many) for many, way in enumerate(ways, alpha)
        )
        if reached < probability:
            low = rate
        else:
            high = rate
    return high
