"""The pure summary of a study: `summarise(study)`, and the types of what it says."""

from labkit.summary.model import (
    Comparison,
    ConfigurationSummary,
    Coverage,
    Estimate,
    Group,
    Grouping,
    Limitation,
    Outcome,
    Rate,
    Safety,
    Strict,
    Summary,
    Tally,
    TaskRow,
    Topic,
    Total,
)
from labkit.summary.summarise import summarise

__all__ = [
    "Comparison",
    "ConfigurationSummary",
    "Coverage",
    "Estimate",
    "Group",
    "Grouping",
    "Limitation",
    "Outcome",
    "Rate",
    "Safety",
    "Strict",
    "Summary",
    "Tally",
    "TaskRow",
    "Topic",
    "Total",
    "summarise",
]
