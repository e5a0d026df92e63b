"""Quantiles of the distributions behind the intervals; the only module here that needs scipy.

`scipy.special` is imported by the function that needs it: the import takes several tenths of a
second, and most commands draw no quantile.
"""

from statistics import NormalDist


def normal_quantile(probability: float) -> float:
    """Return the value below which a standard normal variable falls with `probability`."""
    return NormalDist().inv_cdf(probability)


def student_quantile(probability: float, degrees: float) -> float:
    """Return the quantile of Student's t with `degrees` of freedom (more than 0)."""
    from scipy.special import stdtrit  # noqa: PLC0415 - slow to import, see above

    return float(stdtrit(degrees, probability))


def beta_quantile(probability: float, *, alpha: float, beta: float) -> float:
    """Return the quantile of the beta distribution with shapes `alpha` and `beta` (above 0)."""
    from scipy.special import betaincinv  # noqa: PLC0415 - slow to import, see above

    return float(betaincinv(alpha, beta, probability))
