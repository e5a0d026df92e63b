"""The whole summary: its configurations, comparisons, tasks, and what limits them."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from labkit.model import Category, ConfigurationId, TaskId
from labkit.stats import Interval
from labkit.summary.model import ConfigurationSummary
from labkit.summary.pair import Comparison, Leaderboard, Rerun


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRow:
    """One task that counts, with every planned attempt: passed, failed, or None for missing."""

    task: TaskId
    category: Category | None
    """None when the task has no result at all."""
    slices: tuple[str, ...]
    attempts: Mapping[ConfigurationId, tuple[bool | None, ...]]
    means: Mapping[ConfigurationId, float | None]
    """The share of measured attempts that passed; None when none was measured."""
    minutes: Mapping[ConfigurationId, float | None]
    """The median over measured attempts."""
    cost: Mapping[ConfigurationId, float | None]
    """The mean over measured attempts that recorded it."""
    digest: str
    """What tells whether the task is the same in another summary; empty when it is not known."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreed:
    """A figure of how far scorers agree, from -1 or 0 to 1."""

    value: float | None
    interval: Interval | None
    why: str = ""
    """Why the value, or else its interval, is not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kappa:
    """Two scorers: kappa with quadratic weights on the rubric's whole scale."""

    scorers: tuple[str, str]
    runs: int
    kappa: Agreed


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How far scorers agree on one dimension of the rubric, on the runs that several marked."""

    dimension: str
    runs: int
    """Runs with marks of at least two scorers."""
    scorers: int
    alpha: Agreed
    """Krippendorff's, ordinal; its interval leaves out one task at a time."""
    equal: float | None
    """The share of pairs of marks on the same run that are equal; None without any."""
    kappas: tuple[Kappa, ...]
    """For every two scorers with runs in common."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Blinding:
    """Whether scorers could tell the configurations apart: Bang's index, 0 being pure guessing."""

    correct: int
    wrong: int
    index: float | None
    interval: Interval | None


class Topic(StrEnum):
    """What a limitation is about."""

    PILOT = "pilot"
    SOLO = "solo"
    UNEQUAL_PLAN = "unequal_plan"
    INCOMPLETE = "incomplete"
    UNEQUAL_LOSS = "unequal_loss"
    BROKEN_TRIES = "broken_tries"
    CEILING = "ceiling"
    FLOOR = "floor"
    SEPARATES_LITTLE = "separates_little"
    IDENTICAL_ATTEMPTS = "identical_attempts"
    SINGLE_ATTEMPT = "single_attempt"
    REDUCED_PLAN = "reduced_plan"
    CORRECTED = "corrected"
    FLAKY_GRADE = "flaky_grade"
    TAMPERED = "tampered"
    SUSPICIOUS = "suspicious"
    WEAK = "weak"
    UNREAD = "unread"
    MIXED_SANDBOXES = "mixed_sandboxes"
    UNEQUAL_SCORING = "unequal_scoring"
    UNBLINDED = "unblinded"
    NO_EFFECT = "no_effect"
    """What was declared to differ was not seen to; this and what follows as in `labkit.effects`."""
    DIFFERS_IN_MORE = "differs_in_more"
    DIFFERS_ALONG = "differs_along"
    OTHER_MODEL = "other_model"
    OTHER_VERSION = "other_version"
    CHANGED_IN_MID_STUDY = "changed_in_mid_study"
    NOT_CONSTANT = "not_constant"
    DIFFERENT_DAYS = "different_days"
    BY_HAND = "by_hand"
    NOT_SEEN = "not_seen"


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
    pilot: bool
    configurations: tuple[ConfigurationSummary, ...]
    comparisons: tuple[Comparison, ...]
    """Every two configurations; empty when there is one only."""
    tasks: tuple[TaskRow, ...]
    groups: tuple[Group, ...]
    agreement: tuple[Agreement, ...]
    """A dimension each; empty when nothing was marked by anybody."""
    blinding: Blinding | None
    """None when nobody guessed."""
    retired: Mapping[TaskId, str]
    safety_tasks: tuple[TaskId, ...]
    limitations: tuple[Limitation, ...]
    attributable: bool | None = True
    """Whether a difference can be due to what was declared: false where the runs show that more
    differed, or nothing, and None where that is not known."""
    reruns: tuple[Rerun, ...] = ()
    """Configurations against themselves in an earlier summary, where one was given."""
    leaderboard: Leaderboard | None = None
    """None when none was given."""
