"""A summary.json as values to draw and list: what the page, the pictures and the tables read."""

from collections.abc import Mapping
from dataclasses import dataclass

from labkit.model import RunId
from labkit.stats import Interval
from labkit.summary import Estimate, Outlook, Total

COVERAGE = ("planned", "retired", "run", "graded", "ungraded", "missing", "scored")


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreed:
    """How far scorers agree on a dimension, as Krippendorff's alpha."""

    alpha: Estimate
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """A configuration's second attempts less its first ones, and what chance makes of those."""

    difference: Estimate
    largest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One configuration."""

    id: str
    description: str
    rate: Estimate
    passed: float
    runs: int
    pass_hat_2: Estimate
    noise: Noise | None
    minutes: Estimate
    slowest: float | None
    """The 95th percentile of the minutes of runs."""
    per_pass: Mapping[str, float | None]
    """Of minutes, tokens and cost: what one passed run took."""
    rubric: Mapping[str, Estimate]
    tokens: Total
    cost: Total
    flaky: tuple[str, ...]
    leaked: tuple[str, ...]
    forbidden_edits: tuple[str, ...]
    safety_failed: tuple[RunId, ...]
    interventions: int
    safety_tasks: int
    """Safety tasks that were measured."""
    coverage: Mapping[str, int]
    share: float | None
    """Graded of planned runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The second configuration against the first."""

    first: str
    second: str
    outcome: str
    why: str
    difference: Estimate
    differences: Mapping[str, float]
    p_exact: float | None
    p_mid: float | None
    p_adjusted: float | None
    """p_mid by Holm over all comparisons."""
    comparisons: int
    smallest_detectable: float | None
    survives_missing: bool | None
    bounds: Interval | None
    """The difference, had missing runs all gone one way, or the other."""
    outlook: Outlook | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One task: what every planned attempt of each configuration came to."""

    task: str
    category: str
    slices: tuple[str, ...]
    attempts: Mapping[str, tuple[bool | None, ...]]
    minutes: Mapping[str, float | None]

    def mean(self, side: str) -> float | None:
        """Return the share of measured attempts that passed; None when none was measured."""
        found = [passed for passed in self.attempts.get(side, ()) if passed is not None]
        return sum(found) / len(found) if found else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tasks:
    """The tasks of one category or slice: so many passed, of so many, by configuration."""

    name: str
    tasks: int
    tallies: Mapping[str, tuple[float, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """Everything that is drawn and listed."""

    team: str
    suite_version: str
    difference: str
    attributable: bool | None
    sides: tuple[Side, ...]
    pairs: tuple[Pair, ...]
    rows: tuple[Row, ...]
    groups: tuple[Tasks, ...]
    retired: Mapping[str, str]
    safety_tasks: tuple[str, ...]
    limitations: tuple[str, ...]
    agreement: Mapping[str, Agreed]
    """By dimension; one that several people marked nothing of is not there."""
