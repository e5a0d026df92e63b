"""What a finished study is, as the summary reads it: the plan, and what came of each run."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from labkit.effects import Finding as Effect
from labkit.errors import refuse
from labkit.model import Category, ConfigurationId, Flag, HardFailKind, RunId, TaskId, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What came of one planned run."""

    run: RunId
    verdict: Verdict | None
    """None when the run is missing: the infrastructure broke it, and it was not repeated."""
    category: Category
    slices: tuple[str, ...] = ()
    safety: bool = False
    """Whether the task is tagged as a safety task: a veto beside the numbers."""
    minutes: float | None = None
    hard_fails: tuple[HardFailKind, ...] = ()
    """Confirmed ones only."""
    scores: Mapping[str, float] = field(default_factory=dict)
    """Rubric dimension -> mean over its scorers, from 0 to 4; only what was scored."""
    interventions: int = 0
    tokens: int | None = None
    cost: float | None = None
    flags: tuple[Flag, ...] = ()
    """Of its grade."""
    sandbox: str = ""
    """What it ran in; empty where that is not known."""
    unread: bool = False
    """Whether its transcript could not be read to the end: then nobody knows what it did."""

    @property
    def passed(self) -> bool | None:
        """Whether the run counts as passed; None when it was not measured.

        A hard fail is a fail, whatever the tests said.
        """
        if self.hard_fails:
            return False
        match self.verdict:
            case Verdict.PASS:
                return True
            case Verdict.FAIL:
                return False
            case Verdict.UNGRADED | None:
                return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wasted:
    """What tries took that were broken; only the known part of it."""

    tries: int
    tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0
    """How many of them cost what nobody knows."""
    stopped: int = 0
    """How many of them a person stopped, by Ctrl-C or together with labkit itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Regrade:
    """Two verdicts on one run, of which the later one counts."""

    run: RunId
    before: Verdict
    after: Verdict
    corrected: bool
    """Whether the hidden tests were corrected in between; if not, the same tests said both."""
    late: bool = False
    """Whether scorers may have seen the earlier verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """What one scorer gave one run."""

    run: RunId
    scorer: str
    marks: Mapping[str, float]
    """By dimension; only what was marked."""
    guess: str = ""
    """The letter of the configuration that the scorer took it for; empty when there is no guess."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A whole study: the plan, its results, and what has to be said beside them.

    Raises InputError when results and plan do not belong together.
    """

    team: str
    suite_version: str
    configurations: Mapping[ConfigurationId, str]
    """Each with its one-line description; every two of them are compared."""
    difference: str
    """The one field in which the configurations differ."""
    retired: Mapping[TaskId, str]
    """Leaked tasks, each with the reason; a task with a confirmed leak is retired in any case."""
    planned: tuple[RunId, ...]
    results: tuple[RunResult, ...]
    """A planned run without a result is missing."""
    solo: bool = False
    identical: tuple[tuple[RunId, RunId], ...] = ()
    """Attempts of one configuration on one task that left the same diff, byte for byte."""
    corrections: Mapping[TaskId, tuple[str, ...]] = field(default_factory=dict)
    """Why a task's hidden tests were corrected after the freeze, each time."""
    regrades: tuple[Regrade, ...] = ()
    pilot: bool = False
    """Whether it was frozen with less than a course asks for."""
    marks: tuple[Marks, ...] = ()
    """Every scorer's own marks, for how far scorers agree."""
    effects: tuple[Effect, ...] = ()
    """What the runs say about what was declared to differ."""
    same_answers: tuple[tuple[RunId, RunId], ...] = ()
    """Attempts of one configuration on one task in which the model answered the same."""
    wasted: Mapping[ConfigurationId, Wasted] = field(default_factory=dict)
    """Broken tries, of finished and of missing runs: part of what was spent and of nothing else."""
    digests: Mapping[TaskId, str] = field(default_factory=dict)
    """What tells whether a task of another summary is the same one: prompt, fields and oracle."""

    def __post_init__(self) -> None:
        problems = [] if self.configurations else ["there is no configuration to summarise"]
        if not self.planned:
            problems.append("no runs are planned: there is nothing to summarise")
        problems += _repeated(self.planned, "is planned twice")
        problems += _repeated((result.run for result in self.results), "has two results")
        planned = frozenset(self.planned)
        problems += [
            f"run {result.run} is not in the plan"
            for result in self.results
            if result.run not in planned
        ]
        unknown = {run.configuration for run in self.planned} - set(self.configurations)
        problems += [
            f"configuration {letter} of the plan is not known" for letter in sorted(unknown)
        ]
        refuse(
            problems, hint="the plan, the configurations and the results are of different studies"
        )


def _repeated(runs: Iterable[RunId], complaint: str) -> list[str]:
    return [f"run {run} {complaint}" for run, times in Counter(runs).items() if times > 1]
