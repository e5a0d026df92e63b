"""One sample: one answer of a candidate to one case, and everything that is known of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from labkit.evals.case import EvalCase
from labkit.graders import Verdict


class Status(StrEnum):
    """How a sample came by its verdict."""

    GRADED = "graded"
    NOT_APPLIED = "not_applied"
    """A fail without execution: the candidate's patch does not fit."""
    FORBIDDEN = "forbidden"
    """A fail: the candidate changed what it may not change."""
    ESCAPED = "escaped"
    """A fail: the candidate wrote outside its scratch folder."""
    TIMEOUT = "timeout"
    """A fail: the candidate had not ended in its time."""
    ERRORED = "errored"
    """Missing: there is no answer, because something broke."""
    UNGRADED = "ungraded"
    """Missing: there is an answer, and the grader broke."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """One exact edit: the one place in a file where `search` stands becomes `replace`."""

    path: str
    search: str
    """Empty: the file is new."""
    replace: str
    problem: str = ""
    """Why no edit could be read here; such a one never applies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a candidate returns when it has more to say than a value."""

    output: object = None
    trace: Sequence[Mapping[str, Any]] = ()
    """What it did, one plain mapping a step."""
    latency_ms: float | None = None
    """None: what the harness measured."""
    cost: float | None = None
    success_self_reported: bool | None = None
    diff: str | None = None
    """A unified diff to apply to the scratch folder before grading."""
    replacements: Sequence[Replacement] | None = None
    """Exact edits to apply to the scratch folder before grading: all of them or none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What a candidate is given beside the case."""

    number: int
    """Which sample of the case this is, from 1."""
    seed: int
    scratch: Path
    """A fresh folder of its own; the case's files lie in it."""


Candidate = Callable[[EvalCase, Trial], object]
"""Answers a case: returns an `Answer`, or just its output. Raises when it could not answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One sample, as it is kept."""

    case: str
    number: int
    seed: int
    status: Status
    verdict: Verdict
    output: object = None
    """Plain values; of anything else its `repr`."""
    trace: tuple[Mapping[str, Any], ...] = ()
    latency_ms: float | None = None
    cost: float | None = None
    edits: tuple[str, ...] | None = None
    """Files that differ from the case's, as the harness found them; None: not looked at."""
    forbidden_edits: tuple[str, ...] = ()
    success_self_reported: bool | None = None
    rollout: str = ""
    """The folder that was kept of it, relative to the run's; empty: none."""

    @property
    def passed(self) -> bool | None:
        """Whether it passed; None: there is no measurement."""
        return self.verdict.passed

    @property
    def lied(self) -> bool:
        """Whether the candidate claimed a success that was none."""
        return self.success_self_reported is True and self.passed is False


class TimedOut(Exception):  # noqa: N818 - an outcome
    """Raised by a candidate that runs something itself: that had not ended in its time."""


class Escaped(Exception):  # noqa: N818 - an outcome
    """Raised by a candidate that saw something written outside the scratch folder."""
