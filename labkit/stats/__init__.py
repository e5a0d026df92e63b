"""The statistics of the lab: each default is the one with honest coverage at 8 to 15 tasks."""

from labkit.stats.interval import Interval
from labkit.stats.location import mean_interval, median_interval
from labkit.stats.paired import SignFlip, paired_interval, sign_flip_test
from labkit.stats.passk import pass_at_k, pass_hat_k
from labkit.stats.power import expected_spread, minimum_detectable_effect
from labkit.stats.rates import clopper_pearson_interval, wald_standard_error, wilson_interval

__all__ = [
    "Interval",
    "SignFlip",
    "clopper_pearson_interval",
    "expected_spread",
    "mean_interval",
    "median_interval",
    "minimum_detectable_effect",
    "paired_interval",
    "pass_at_k",
    "pass_hat_k",
    "sign_flip_test",
    "wald_standard_error",
    "wilson_interval",
]
