"""What is found when runs are held against what was declared: a sentence, and its weight."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from labkit.model import ConfigurationId


class Weight(StrEnum):
    """What a finding means for the comparison."""

    BREAKS = "breaks"
    """The arms differ in something else, or in nothing: no result is due to what was declared."""
    UNKNOWN = "unknown"
    """It cannot be told whether the arms differ in what was declared, and in nothing else."""
    CAUTION = "caution"
    NOTE = "note"
    """Nothing to do: it is so of every comparison of that kind."""


class Kind(StrEnum):
    """What a finding is about."""

    NO_EFFECT = "no_effect"
    """Something was declared to differ, and did not."""
    MORE = "differs_in_more"
    FOLLOWS = "differs_along"
    """More differs than was declared, and the agent may make it so because of that."""
    OTHER_MODEL = "other_model"
    OTHER_VERSION = "other_version"
    CHANGED = "changed_in_mid_study"
    INCONSTANT = "not_constant"
    DAYS = "different_days"
    BY_HAND = "by_hand"
    UNKNOWN = "not_seen"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that people should know before they believe a comparison."""

    kind: Kind
    weight: Weight
    about: tuple[ConfigurationId, ...]
    """One configuration, or two that are compared."""
    text: str
    """A sentence."""
    subject: str = ""
    """What it is about: the name of a part, of a value; the same however many runs there are."""

    @property
    def identity(self) -> tuple[object, ...]:
        """What stays the same of it when more runs come, and only its figures change."""
        return (self.kind, self.weight, self.about, self.subject)


def attributable(findings: Iterable[Finding]) -> bool | None:
    """Return whether a difference in results can be due to what was declared to differ.

    None where that is not known.
    """
    weights = {finding.weight for finding in findings}
    if Weight.BREAKS in weights:
        return False
    return None if Weight.UNKNOWN in weights else True
