"""What a set of tasks could have detected: planning figures, never "observed power"."""

import math

from labkit.stats.quantiles import student_quantile

_FEWEST_FOR_A_SPREAD = 2


def minimum_detectable_effect(
    n: int, spread: float, *, confidence: float = 0.95, power: float = 0.8
) -> float | None:
    """Return the smallest true mean difference that n tasks would detect with `power`.

    (t[(1+confidence)/2] + t[power]) * spread / sqrt(n), t with n-1 degrees of freedom; `spread` is
    the standard deviation of the per-task differences. A rule of thumb: against exact enumeration
    it is a few points too hopeful below twelve tasks. None for fewer than two tasks.
    Raises ValueError for a negative spread.
    """
    if spread < 0:
        raise ValueError(f"a standard deviation of {spread} is impossible")
    if n < _FEWEST_FOR_A_SPREAD:
        return None
    degrees = n - 1
    quantiles = student_quantile((1 + confidence) / 2, degrees) + student_quantile(power, degrees)
    return quantiles * spread / math.sqrt(n)


def expected_spread(attempts: float) -> float:
    """Return the standard deviation of per-task differences to expect before there are data.

    It assumes a pass rate of 50 %, half of the variance between tasks, and difficulties that
    correlate .8 between the configurations: .56, .43 and .38 at 1, 2 and 3 attempts.
    Raises ValueError below one attempt.
    """
    if attempts < 1:
        raise ValueError(f"{attempts} attempts are too few")
    bernoulli = 0.25
    between = 0.5
    shared = 0.0955  # covariance of the task means: a Gaussian copula with correlation .8
    return math.sqrt(2 * bernoulli * (between + (1 - between) / attempts) - 2 * shared)
