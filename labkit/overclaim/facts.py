"""The facts that a sentence is checked against, filled from the data of summary.json.

The only place that knows how summary.json is laid out: the rules read nothing but these facts.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from labkit.errors import IntegrityError
from labkit.report.wording import differ_in
from labkit.stats import Interval
from labkit.summary import Outcome

Values = Mapping[str, Any]
_APART = ("no_effect", "differs_in_more", "other_model")
"""Topics of limitations that tell why a difference is not due to what was varied."""
_NO_NAMES = frozenset(
    {
        "agent", "model", "code", "test", "tests", "high", "low", "medium", "max", "min",
        "fast", "slow", "new", "old", "best", "good", "better", "none", "default", "auto",
        "the", "and", "with", "for", "command", "scripted", "manual", "other", "trap", "feature",
        "bugfix", "refactor",
    }
)  # fmt: skip
"""Words of a configuration's description that are no name for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure with its error bar and the number of tasks behind it."""

    value: float | None
    interval: Interval | None
    tasks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """A total over the runs that recorded it."""

    value: float | None
    runs: int

    @property
    def per_run(self) -> float | None:
        """The mean over those runs."""
        return self.value / self.runs if self.value is not None and self.runs else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What is known of one configuration."""

    id: str
    names: tuple[str, ...]
    """Other words for it, in lower case: those of its description that no other one has."""
    rate: Figure
    runs: int
    passed: float
    """The sum of the task means."""
    passed_runs: int
    bounds: Interval | None
    """The rate if missing runs had failed, or had passed."""
    with_leaks: Figure
    strict: Figure
    """pass^2, on the tasks with two measured attempts."""
    minutes: Figure
    other_minutes: tuple[float, ...]
    """Of one passed run, and of the slowest."""
    safety: tuple[int, int]
    """Safety tasks held, of so many."""
    vetoes: tuple[str, ...]
    """Leaks, forbidden edits and failed safety tasks, in words."""
    planned: int
    """Runs, those of retired tasks left out."""
    measured: int
    tokens: Sum
    cost: Sum

    @property
    def missing(self) -> int:
        """Planned runs without a measurement."""
        return self.planned - self.measured


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """What is known of the difference second - first."""

    first: str
    second: str
    outcome: Outcome
    ahead: str | None
    difference: Figure
    p_mid: float | None
    p_exact: float | None
    smallest_detectable: float | None
    survives_missing: bool | None
    both: int
    """Tasks of which every attempt passed for both."""

    @property
    def detectable(self) -> bool:
        """Whether the test tells the two apart."""
        return self.outcome is Outcome.DETECTABLE

    @property
    def sides(self) -> frozenset[str]:
        """The two, in no order."""
        return frozenset((self.first, self.second))


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """The tasks of one type or slice: how many each configuration passed, of how many."""

    name: str
    tasks: int
    passed: Mapping[str, tuple[float, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything that a text about a study may be held against."""

    sides: tuple[Side, ...]
    pairs: tuple[Pair, ...]
    kinds: tuple[Kind, ...]
    varied: str
    """The one field in which the configurations differ."""
    tasks: int
    attributable: bool | None
    """Whether a difference can be due to what was varied; None: not known."""
    apart: tuple[str, ...]
    """Why it cannot be, where it cannot."""
    own: frozenset[str]
    """Paragraphs that quote what is no claim: descriptions, reasons, limitations."""

    def side(self, name: str) -> Side:
        """Return a configuration by its letter."""
        return next(side for side in self.sides if side.id == name)

    @property
    def missing(self) -> int:
        """Planned runs without a measurement, of all configurations."""
        return sum(side.missing for side in self.sides)


def facts_of(values: Values, place: str = "summary.json") -> Facts:
    """Read the facts out of the data of a summary; raises IntegrityError if they are damaged."""
    try:
        return _facts(values)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise IntegrityError(
            f"{place} is damaged: {error!r}", hint="write it again: labkit summary"
        ) from error


def _facts(values: Values) -> Facts:
    configurations = values["configurations"]
    return Facts(
        sides=tuple(_side(values, side) for side in configurations),
        pairs=tuple(map(_pair, values["comparisons"])),
        kinds=tuple(map(_kind, values["groups"])),
        varied=values["difference"],
        tasks=len(values["tasks"]),
        attributable=values.get("attributable"),
        apart=tuple(each["text"] for each in values["limitations"] if each["topic"] in _APART),
        own=frozenset(" ".join(text.split()) for text in _own(values)),
    )


def _own(values: Values) -> Iterator[str]:
    yield f"Summary of team {values['team']}"
    yield from (differ_in(values["difference"], each) for each in (True, False, None))
    for side in values["configurations"]:
        yield f"{side['id']}: {side['description']}"
    for task, reason in values["retired"].items():
        yield f"{task}: {reason}"
    for limitation in values["limitations"]:
        yield limitation["text"]


def _interval(found: Values | None) -> Interval | None:
    return Interval(low=found["low"], high=found["high"]) if found else None


def _figure(found: Values | None) -> Figure:
    if found is None:
        return Figure(value=None, interval=None, tasks=0)
    return Figure(
        value=found["value"], interval=_interval(found["interval"]), tasks=int(found["tasks"])
    )


def _sum(found: Values) -> Sum:
    return Sum(value=found["value"], runs=int(found["known"]))


def _side(values: Values, side: Values) -> Side:
    rate, coverage, safety = side["rate"], side["coverage"], side["safety"]
    attempts = [row["attempts"].get(side["id"], ()) for row in values["tasks"]]
    return Side(
        id=side["id"],
        names=_names(values["configurations"], side),
        rate=_figure(rate),
        runs=int(rate["runs"]),
        passed=float(rate["passed"]),
        passed_runs=sum(passed is True for of_task in attempts for passed in of_task),
        bounds=_interval(side["rate_bounds"]),
        with_leaks=_figure(side["rate_with_leaks"]),
        strict=_figure(side["pass_hat_2"]),
        minutes=_figure(side["minutes"]),
        other_minutes=tuple(
            float(found["value"])
            for found in (side["per_pass"]["minutes"], side["slowest"])
            if found["value"] is not None
        ),
        safety=(int(safety["held"]), int(safety["tasks"])),
        vetoes=tuple(_vetoes(side)),
        planned=int(coverage["planned"]) - int(coverage["retired"]),
        measured=int(coverage["graded"]),
        tokens=_sum(side["tokens"]),
        cost=_sum(side["cost"]),
    )


def _vetoes(side: Values) -> Iterator[str]:
    for name, runs in (
        ("leaked", side["leaked"]),
        ("forbidden edits in", side["forbidden_edits"]),
        ("failed safety tasks in", side["safety"]["failed"]),
    ):
        if runs:
            yield f"{name} {', '.join(runs)}"


def _names(configurations: list[Values], side: Values) -> tuple[str, ...]:
    def words(one: Values) -> set[str]:
        text = one["description"].lower()
        return {*text.split(), *re.findall(r"[^\W\d_]{3,}", text)}

    others = [words(other) for other in configurations if other["id"] != side["id"]]
    mine = words(side).difference(*others) - _NO_NAMES
    return tuple(sorted(word for word in mine if re.search(r"[^\W\d_]{3}", word)))


def _pair(found: Values) -> Pair:
    # Who says that runs are missing may say what was measured: a rule of its own asks for that.
    undone = found["survives_missing"] is False and found["measured_ahead"] is not None
    return Pair(
        first=found["first"],
        second=found["second"],
        outcome=Outcome.DETECTABLE if undone else Outcome(found["outcome"]),
        ahead=found["measured_ahead"] if undone else found["ahead"],
        difference=_figure(found["difference"]),
        p_mid=found["p_mid"],
        p_exact=found["p_exact"],
        smallest_detectable=found["smallest_detectable"],
        survives_missing=found["survives_missing"],
        both=len(found["strict"]["both"]),
    )


def _kind(found: Values) -> Kind:
    return Kind(
        name=found["name"],
        tasks=int(found["tasks"]),
        passed={
            side: (float(tally["passed"]), int(tally["tasks"]))
            for side, tally in found["tallies"].items()
        },
    )
