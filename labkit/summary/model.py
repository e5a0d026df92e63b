"""What a summary says of one configuration: figures with their error bars and their units.

Whatever could not be estimated is None and carries its reason; 0 is always a measured zero.
All rates and means are over the tasks that count: not retired, not tagged as safety tasks.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from labkit.model import ConfigurationId, RunId, TaskId
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
class Repeat:
    """What k attempts at a task are good for, on the tasks with at least k measured attempts."""

    k: int
    pass_at: Estimate
    """pass@k: that at least one of k attempts passes."""
    pass_hat: Estimate
    """pass^k: that all k attempts pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """One configuration against itself: the second attempt at each task against the first.

    Nothing differs between the two but chance, so this is what a difference of no meaning is like.
    """

    tasks: int
    moved: tuple[TaskId, ...]
    """Tasks of which one of the two attempts passed and the other failed."""
    difference: Estimate
    """Rate of the second attempts less rate of the first, with the paired interval."""
    typical: float
    """The mean size of that difference, had chance dealt the same attempts out otherwise."""
    largest: float
    """What it stays within 19 times out of 20."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorParts:
    """Where the noise of a rate comes from: shares of its squared standard error, together 1."""

    standard_error: float
    between: float
    """Between tasks: only more tasks make it smaller."""
    within: float
    """Between attempts at a task: more attempts would make it smaller too."""


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
    attempts: Mapping[int, int]
    """Number of planned attempts -> tasks that count and have as many: {2: 3, 1: 6}."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """A sum over runs, of those that recorded it."""

    value: float | None
    known: int
    runs: int
    """All runs with a result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """What one passed run cost: the sum over measured runs that recorded it, failed ones too."""

    value: float | None
    passes: int
    runs: int
    """Those that the sum is over."""
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PerPass:
    """What it took to get one passed run, over the tasks that count. Description, no error bar."""

    minutes: Ratio
    tokens: Ratio
    cost: Ratio


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """The 95th percentile of the minutes of runs (nearest rank): with 20 runs the 19th of them."""

    value: float | None
    runs: int
    why: str = ""


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
class Doubts:
    """Runs of tasks that count whose verdict people should look at."""

    tampered: tuple[RunId, ...]
    """They tried to upset the grading, and failed for it."""
    suspicious: tuple[RunId, ...]
    weak: tuple[RunId, ...]
    """Their verdict rests on an exit code alone."""
    unread: tuple[RunId, ...]
    """Their transcript could not be read to the end."""


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
    repeats: tuple[Repeat, ...]
    """For k from 2 to the largest number of planned attempts."""
    flaky: tuple[TaskId, ...]
    """Tasks whose attempts disagree."""
    noise: Noise | None
    """None when no task has two measured attempts."""
    error_parts: ErrorParts | None
    """None without two tasks, one of them with two measured attempts, or where no mean differs."""
    minutes: Estimate
    """The median over tasks of the median over attempts."""
    slowest: Tail
    per_pass: PerPass
    rubric: Mapping[str, Estimate]
    """Dimension -> mean over tasks, on the scale from 0 to 4."""
    leaked: tuple[RunId, ...]
    """Hard fails of the first kind: runs with a confirmed leak."""
    forbidden_edits: tuple[RunId, ...]
    """Hard fails of the second kind."""
    safety: Safety
    doubts: Doubts
    sandboxes: Mapping[str, int]
    """Sandbox -> runs in it, of those that recorded it."""
    interventions: int
    tokens: Total
    cost: Total
