"""What a summary says of two sets of attempts at the same tasks: verdict, and what it rests on."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from labkit.model import ConfigurationId, TaskId
from labkit.stats import Interval
from labkit.summary.model import Estimate


class Outcome(StrEnum):
    """What a comparison can say."""

    DETECTABLE = "detectable"
    NOT_DETECTABLE = "no detectable difference"
    INDECISIVE = "indecisive"
    """Too little was measured, unequally, or what is missing could undo what was found."""


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
class Reach:
    """The smallest true difference that a plan of this kind detects with 80 % power."""

    tasks: int
    attempts: int
    smallest: float | None
    """By rule of thumb; None for one task, and above 1 out of reach."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chance:
    """How likely tasks like these detect a true difference of `effect`, by rule of thumb."""

    effect: float
    power: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What these tasks could have detected, and what more of them would buy."""

    here: Reach
    more_tasks: tuple[Reach, ...]
    """The same attempts at other numbers of tasks, from few to many."""
    more_attempts: Reach
    """One more attempt at the same tasks."""
    powers: tuple[Chance, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """Second less first, over the tasks measured for both."""

    differences: Mapping[TaskId, float]
    """Task mean of the second less task mean of the first."""
    difference: Estimate
    """Their mean, with the moment-matched Tango interval."""
    p_exact: float | None
    p_mid: float | None
    """Of the sign-flip test; at most .05 is detectable."""
    gained: tuple[TaskId, ...]
    """Tasks on which the second did better."""
    lost: tuple[TaskId, ...]
    """Tasks on which the first did better."""
    strict: Strict


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The second configuration against the first, on the tasks measured for both."""

    first: ConfigurationId
    second: ConfigurationId
    outcome: Outcome
    ahead: ConfigurationId | None
    """Who is ahead; None unless the outcome is detectable."""
    why: str
    """What the outcome rests on, where it is more than the test."""
    measured_ahead: ConfigurationId | None
    """Who the test finds ahead on the measured runs, whatever stands in the way of saying so."""
    veto: tuple[ConfigurationId, ...]
    """Which of the two failed a safety task: no rate outweighs that."""
    differences: Mapping[TaskId, float]
    """Task mean of the second less task mean of the first."""
    difference: Estimate
    """Their mean, with the moment-matched Tango interval."""
    p_exact: float | None
    p_mid: float | None
    """Of the sign-flip test, this comparison taken by itself."""
    p_adjusted: float | None
    """p_mid by Holm over all comparisons of the summary; at most .05 is detectable."""
    comparisons: int
    """How many comparisons that are."""
    gained: tuple[TaskId, ...]
    """Tasks on which the second did better."""
    lost: tuple[TaskId, ...]
    """Tasks on which the first did better."""
    strict: Strict
    smallest_detectable: float | None
    """The true difference that this many tasks detect with 80 % power, by rule of thumb."""
    spread: float | None
    """The standard deviation of the differences that it rests on."""
    spread_observed: bool
    """False when the observed one was too small to believe, and half of the usual one stands in."""
    outlook: Outlook | None
    """None with fewer than two tasks measured for both."""
    survives_missing: bool | None
    """Whether what the test says stays if missing runs had all gone one way or the other; None when
    none is missing. A difference that does not survive is never called detectable."""
    difference_bounds: Interval | None
    """The mean difference in those two cases, over all planned tasks: it need not hold the measured
    one. None when none is missing."""
    noise_as_large: float | None
    """How often the noise of single attempts alone makes a difference at least as large as this
    one: the larger of both configurations' shares, by `Noise`; None without two attempts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerun:
    """A configuration against itself in an earlier summary, on the tasks that both have.

    The earlier one is the first, this one the second.
    """

    configuration: ConfigurationId
    earlier: str
    """Description of the configuration then."""
    now: str
    outcome: Outcome
    ahead: str | None
    """`earlier` or `now`; None unless the outcome is detectable."""
    why: str
    paired: Paired
    p_adjusted: float | None
    """p_mid by Holm over all reruns."""
    changed: tuple[TaskId, ...]
    """Tasks of the same name whose prompt, fields or hidden tests changed: not compared."""
    only_earlier: tuple[TaskId, ...]
    only_now: tuple[TaskId, ...]
    smallest_detectable: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaderboard:
    """The order of the configurations here against their order on a public leaderboard."""

    scores: Mapping[ConfigurationId, float]
    tau: float | None
    """Kendall's tau: pairs in the same order less pairs in the opposite one, of all pairs that the
    leaderboard orders."""
    interval: Interval | None
    """What tau becomes if pairs without a detectable difference all go one way, or the other."""
    pairs: int
    agree: int
    """Pairs with a detectable difference here, in the leaderboard's order."""
    disagree: int
    """Pairs with a detectable difference here, in the opposite order."""
    open: int
    """Pairs without a detectable difference."""
    why: str = ""
