"""From a test to a word, and the sentences that say why the word is no stronger."""

from fractions import Fraction

from labkit.fields import counted
from labkit.forecast import SIGNIFICANCE
from labkit.summary.judging import Judged
from labkit.summary.pair import Outcome
from labkit.summary.pairing import explain

LEAST_COVERAGE = Fraction(3, 5)


def outcome(direction: int, obstacle: str) -> Outcome:
    """Return the word: nothing is decided where something stands in the way."""
    if obstacle:
        return Outcome.INDECISIVE
    return Outcome.DETECTABLE if direction else Outcome.NOT_DETECTABLE


def too_little(graded: int, planned: int, whose: str) -> str:
    """Say that too few of the planned runs were measured; empty when they are enough."""
    if not planned or graded >= LEAST_COVERAGE * planned:
        return ""
    return (
        f"only {graded} of the {planned} planned runs of {whose} were measured, "
        f"and below {float(LEAST_COVERAGE):.0%} nothing is decided"
    )


def why_undone(judged: Judged, ahead: str) -> str:
    """Say that missing runs could undo a difference; empty when they could not."""
    if not judged.direction or judged.survives is not False:
        return ""
    return (
        f"on what was measured {ahead} is detectably ahead, but {_lost(judged)}, "
        "and had they gone the other way it would not be"
    )


def why_not(judged: Judged) -> str:
    """Say why a difference is not detectable, where that is more than the test."""
    if judged.direction:
        return ""
    reasons = [explain(judged.paired)]
    p, adjusted = judged.paired.p_mid, judged.p_adjusted
    if p is not None and adjusted is not None and p <= SIGNIFICANCE:
        reasons.append(
            f"by itself its mid-p of {p:.2g} would do, but it is one of {judged.tests} "
            f"comparisons, and Holm's correction makes {adjusted:.2g} of it"
        )
    if judged.survives is False:
        reasons.append(f"{_lost(judged)}, and had they all gone one way it could be detectable")
    return "; ".join(filter(None, reasons))


def _lost(judged: Judged) -> str:
    verb = "is" if judged.missing == 1 else "are"
    return f"{counted(judged.missing, 'run')} {verb} missing or ungraded"
