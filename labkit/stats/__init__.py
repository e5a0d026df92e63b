"""The statistics of the lab: each default is the one with honest coverage at 8 to 15 tasks."""

from labkit.stats.agreement import (
    Weights,
    fleiss_kappa,
    raw_agreement,
    weighted_kappa,
    weighted_kappa_interval,
    weighted_kappa_standard_error,
)
from labkit.stats.alarms import Alarms, Alike, GateRules, false_alarms
from labkit.stats.alpha import Metric, krippendorff_alpha, krippendorff_alpha_interval
from labkit.stats.blinding import blinding_index, blinding_interval
from labkit.stats.bootstrap import BootstrapMethod, bootstrap_interval
from labkit.stats.clusters import clustered_interval, clustered_size
from labkit.stats.design import Design
from labkit.stats.exact_power import Power, detectable_effect, is_enumerable, power
from labkit.stats.gates import (
    Bar,
    DropRule,
    Outcome,
    bar_of,
    false_block_chance,
    false_drop_chance,
    standard_errors_bar,
)
from labkit.stats.interval import Interval
from labkit.stats.location import mean_interval, median_interval
from labkit.stats.multiple import holm
from labkit.stats.noise import chance_of_difference
from labkit.stats.paired import SignFlip, paired_interval, sign_flip_test
from labkit.stats.passk import pass_at_k, pass_hat_k, plug_in_pass_at_k
from labkit.stats.planning import (
    approximate_power,
    expected_spread,
    minimum_detectable_effect,
    rule_of_thumb_power,
    tasks_needed,
)
from labkit.stats.rates import (
    agresti_coull_interval,
    clopper_pearson_interval,
    effective_tasks,
    wald_standard_error,
    wilson_interval,
)
from labkit.stats.resplit import largest_noise, noise_at_least, typical_noise
from labkit.stats.tables import (
    ChiSquared,
    bonett_price_interval,
    mcnemar_chi_squared,
    mcnemar_test,
    newcombe_interval,
    tango_interval,
)
from labkit.stats.variance import (
    VarianceParts,
    combined_standard_error,
    intraclass_correlation,
    standard_error,
    variance_parts,
)

__all__ = [
    "Alarms",
    "Alike",
    "Bar",
    "BootstrapMethod",
    "ChiSquared",
    "Design",
    "DropRule",
    "GateRules",
    "Interval",
    "Metric",
    "Outcome",
    "Power",
    "SignFlip",
    "VarianceParts",
    "Weights",
    "agresti_coull_interval",
    "approximate_power",
    "bar_of",
    "blinding_index",
    "blinding_interval",
    "bonett_price_interval",
    "bootstrap_interval",
    "chance_of_difference",
    "clopper_pearson_interval",
    "clustered_interval",
    "clustered_size",
    "combined_standard_error",
    "detectable_effect",
    "effective_tasks",
    "expected_spread",
    "false_alarms",
    "false_block_chance",
    "false_drop_chance",
    "fleiss_kappa",
    "holm",
    "intraclass_correlation",
    "is_enumerable",
    "krippendorff_alpha",
    "krippendorff_alpha_interval",
    "largest_noise",
    "mcnemar_chi_squared",
    "mcnemar_test",
    "mean_interval",
    "median_interval",
    "minimum_detectable_effect",
    "newcombe_interval",
    "noise_at_least",
    "paired_interval",
    "pass_at_k",
    "pass_hat_k",
    "plug_in_pass_at_k",
    "power",
    "raw_agreement",
    "rule_of_thumb_power",
    "sign_flip_test",
    "standard_error",
    "standard_errors_bar",
    "tango_interval",
    "tasks_needed",
    "typical_noise",
    "variance_parts",
    "wald_standard_error",
    "weighted_kappa",
    "weighted_kappa_interval",
    "weighted_kappa_standard_error",
    "wilson_interval",
]
