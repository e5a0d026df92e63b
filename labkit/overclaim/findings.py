"""What the check finds: a rule, a sentence, what the data say, and what could be said instead."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from labkit.overclaim.text import Sentence


class Rule(StrEnum):
    """The sixteen rules, in the order of docs/overclaim.md."""

    WINNER = "winner"
    STRENGTH = "strength"
    NUMBER = "number"
    BARE_RATE = "bare-rate"
    RUNS_AS_SAMPLES = "runs-as-samples"
    EQUALITY = "equality"
    OVERLAP = "overlap"
    TASK_TYPES = "task-types"
    RELIABILITY = "reliability"
    COVERAGE = "coverage"
    CHERRY_PICKING = "cherry-picking"
    GENERAL = "general"
    DECISION = "decision"
    PRECISION = "precision"
    AGREEMENT = "agreement"
    UNDERCLAIM = "underclaim"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One sentence that says more, or less, than the data."""

    rule: Rule
    line: int
    sentence: str
    words: str
    """The words of the sentence that it is about."""
    data: str
    """What the data say: the number that the sentence contradicts."""
    instead: str
    """What could be said instead."""

    @classmethod
    def of(cls, rule: Rule, sentence: Sentence, *, words: str, data: str, instead: str) -> Self:
        """Return what a rule finds in a sentence."""
        return cls(
            rule=rule,
            line=sentence.line,
            sentence=sentence.shown,
            words=words,
            data=data,
            instead=instead,
        )
