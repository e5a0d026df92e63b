"""An interval, the one shape in which every error bar of the kit travels."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A closed interval, in the unit of the figure it belongs to."""

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


def upper_level(confidence: float) -> float:
    """Return the level of the upper bound: .975 for 95 %.

    Raises ValueError unless the confidence lies between 0 and 1, both left out.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence lies between 0 and 1, and {confidence} does not")
    return (1 + confidence) / 2
