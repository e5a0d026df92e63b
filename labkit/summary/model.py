"""What a summary says: figures with their error bars and the number of tasks behind them.

Whatever could not be estimated is None and carries its reason; 0 is always a measured zero.
All rates and means are over the tasks that count: not retired, not tagged as safety tasks.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from labkit.model import Category, ConfigurationId, RunId, TaskId
from labkit.stats import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A figure over tasks."""

    value: float | None
    interval: Interval | None
    tasks: int
    why: str = ""
    """Why the value, or else its interval, is not there; empty when both are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A pass rate: the mean of the task means, each task's attempts averaged first."""

    value: float | None
    interval: Interval | None
    """Wilson's, with the number of tasks as n."""
    tasks: int
    runs: int
    passed: float
    """The sum of the task means: 6.5 of 9 tasks."""
    teaching_error: float | None
    """sqrt(p(1-p)/n); None at rates of 0 and 1, where it would claim certainty."""
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How much of the plan was measured, in runs.

    planned = retired + run + missing, and run = graded + ungraded.
    """

    planned: int
    retired: int
    """Runs of retired tasks, whatever came of them; they are in none of the counts below."""
    run: int
    graded: int
    ungraded: int
    """They ran, but the grader could not."""
    missing: int
    """The infrastructure broke them, or they were never started."""
    scored: int
    """Graded runs with rubric marks."""
    share: float | None
    """Graded of planned, retired runs left out of both; None when all are retired."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """A sum over runs, of those that recorded it."""

    value: float | None
    known: int
    runs: int
    """All runs with a result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Safety:
    """The veto: safety tasks stand beside the rates, never in them."""

    held: int
    """Tasks of which every measured attempt passed."""
    tasks: int
    interval: Interval | None
    """Clopper and Pearson's, for any sentence with "never" in it."""
    failed: tuple[RunId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigurationSummary:
    """All figures of one configuration."""

    id: ConfigurationId
    description: str
    coverage: Coverage
    rate: Rate
    rate_bounds: Interval | None
    """The rate if every missing run had failed, or had passed; None when none is missing."""
    rate_with_leaks: Rate | None
    """With retired tasks back in and leaked runs as fails; None when no task is retired."""
    pass_hat_2: Estimate
    """The chance that two attempts both pass, on tasks with at least two measured attempts."""
    flaky: tuple[TaskId, ...]
    """Tasks whose attempts disagree."""
    minutes: Estimate
    """The median over tasks of the median over attempts."""
    rubric: Mapping[str, Estimate]
    """Dimension -> mean over tasks, on the scale from 0 to 4."""
    leaked: tuple[RunId, ...]
    """Hard fails of the first kind: runs with a confirmed leak."""
    forbidden_edits: tuple[RunId, ...]
    """Hard fails of the second kind."""
    safety: Safety
    interventions: int
    tokens: Total
    cost: Total


class Outcome(StrEnum):
    """What a comparison can say."""

    DETECTABLE = "detectable"
    NOT_DETECTABLE = "no detectable difference"
    INDECISIVE = "indecisive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Strict:
    """The two-by-two table, a task being passed when every measured attempt passed.

    It speaks of pass^k, not of the pass rate: a configuration can win the one and not the other.
    """

    first_only: tuple[TaskId, ...]
    second_only: tuple[TaskId, ...]
    both: tuple[TaskId, ...]
    neither: tuple[TaskId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The second configuration against the first, on the tasks measured for both."""

    first: ConfigurationId
    second: ConfigurationId
    outcome: Outcome
    ahead: ConfigurationId | None
    """Who is ahead; None unless the difference is detectable."""
    why: str
    """What the outcome rests on, where it is more than the test."""
    differences: Mapping[TaskId, float]
    """Task mean of the second less task mean of the first."""
    difference: Estimate
    """Their mean, with the moment-matched Tango interval."""
    p_exact: float | None
    p_mid: float | None
    """Of the sign-flip test; at most .05 is detectable."""
    strict: Strict
    smallest_detectable: float | None
    """The true difference that this many tasks detect with 80 % power, by rule of thumb."""
    spread: float | None
    """The standard deviation of the differences that it rests on."""
    spread_observed: bool
    """False when the observed one was too small to believe, and half of the usual one stands in."""
    survives_missing: bool | None
    """Whether the outcome stays if missing runs had all gone one way; None when none is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRow:
    """One task that counts, with every planned attempt: passed, failed, or None for missing."""

    task: TaskId
    category: Category | None
    """None when the task has no result at all."""
    slices: tuple[str, ...]
    attempts: Mapping[ConfigurationId, tuple[bool | None, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """So many tasks passed (the sum of task means) of so many measured."""

    passed: float
    tasks: int


class Grouping(StrEnum):
    """By what tasks are grouped."""

    CATEGORY = "category"
    SLICE = "slice"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The tasks of one category or slice: description, never inference."""

    grouping: Grouping
    name: str
    tasks: int
    tallies: Mapping[ConfigurationId, Tally]


class Topic(StrEnum):
    """What a limitation is about."""

    SOLO = "solo"
    INCOMPLETE = "incomplete"
    CEILING = "ceiling"
    FLOOR = "floor"
    IDENTICAL_ATTEMPTS = "identical_attempts"
    SINGLE_ATTEMPT = "single_attempt"
    CORRECTED = "corrected"
    FLAKY_GRADE = "flaky_grade"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limitation:
    """Something a reader has to know before believing the figures."""

    topic: Topic
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The result of a study."""

    team: str
    suite_version: str
    difference: str
    """The one field in which the configurations differ."""
    configurations: tuple[ConfigurationSummary, ...]
    comparisons: tuple[Comparison, ...]
    """Each configuration against the first; empty when there is one only."""
    tasks: tuple[TaskRow, ...]
    groups: tuple[Group, ...]
    retired: Mapping[TaskId, str]
    safety_tasks: tuple[TaskId, ...]
    limitations: tuple[Limitation, ...]
