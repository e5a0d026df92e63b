"""The pure summary of a study: `summarise(study)`, and the types of it that others name."""

from labkit.summary.model import (
    ConfigurationSummary,
    Coverage,
    Estimate,
    Noise,
    Rate,
    Ratio,
    Repeat,
    Safety,
    Total,
)
from labkit.summary.pair import (
    Chance,
    Comparison,
    Leaderboard,
    Outcome,
    Outlook,
    Reach,
    Rerun,
)
from labkit.summary.summarise import summarise
from labkit.summary.whole import (
    Blinding,
    Group,
    Grouping,
    Summary,
    TaskRow,
    Topic,
)

__all__ = [
    "Blinding",
    "Chance",
    "Comparison",
    "ConfigurationSummary",
    "Coverage",
    "Estimate",
    "Group",
    "Grouping",
    "Leaderboard",
    "Noise",
    "Outcome",
    "Outlook",
    "Rate",
    "Ratio",
    "Reach",
    "Repeat",
    "Rerun",
    "Safety",
    "Summary",
    "TaskRow",
    "Topic",
    "Total",
    "summarise",
]
