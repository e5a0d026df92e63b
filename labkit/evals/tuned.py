"""A candidate's test figure beside its last one on val: a sign of having learned val."""

import math

from labkit.evals.report import RunReport
from labkit.report.wording import percent, points

_CLEAR = 2
"""Standard errors of the difference beyond which it is hardly chance."""


def tuned_words(val: RunReport, test: RunReport) -> str:
    """Return a sentence on val beside test. The two are different cases: no pair is compared."""
    if val.reward is None or test.reward is None:
        return "val beside test: nothing to compare, one of them was not measured"
    told = f"val {percent(float(val.reward))}, test {percent(float(test.reward))}"
    difference = float(test.reward - val.reward)
    told += f": test is {points(difference)} from val" if difference else ": no difference"
    if val.candidate and val.candidate != test.candidate:
        told += f" (val is of {val.candidate})"
    errors = [report.figures.standard_error for report in (val, test) if not report.totals]
    if len(errors) < 2 or None in errors:  # noqa: PLR2004 - both
        return f"{told}; with so few cases nothing can be said of overfitting"
    noise = math.sqrt(sum(error**2 for error in errors if error is not None))
    if difference >= 0:
        return f"{told}: no sign of overfitting"
    if -difference > _CLEAR * noise:
        return (
            f"{told}, more than {_CLEAR} standard errors: overfitting (val was learned), "
            "or the test cases are harder"
        )
    return f"{told}, which may be noise: overfitting cannot be told from chance"
