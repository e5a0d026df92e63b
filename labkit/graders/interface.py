"""What every grader does: look at one output of one case, and say what it is worth.

A grader is a total function. Whatever the output is, the answer is a `Verdict`: the output passed,
it failed, or the grader itself could not run. The last is missing data, never a 0, so an outage of
a judge or of a sandbox cannot look like a worse candidate.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self, TypeVar

from labkit.errors import LabkitError
from labkit.graders.values import raised, shown_type

_LONGEST_DETAIL = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a grader says of one output.

    Raises ValueError for a score that is not in 0..1, and for a verdict that is half missing: that
    is a mistake of the grader's code. `detail` is made printable and cut to 2000 characters.
    """

    passed: bool | None
    """True or False; None when the grader could not run."""
    score: float | None
    """From 0 (nothing) to 1 (everything); None when the grader could not run."""
    detail: str
    """Why, in a few words, for a person."""

    def __post_init__(self) -> None:
        if (self.passed is None) is not (self.score is None):
            raise ValueError("a verdict has both passed and score, or neither")
        if self.passed is not None and type(self.passed) is not bool:
            raise ValueError(f"passed must be True, False or None, not {shown_type(self.passed)}")
        if self.score is not None:
            if type(self.score) not in (int, float) or not 0 <= self.score <= 1:
                raise ValueError("a score is a number from 0 to 1")
            object.__setattr__(self, "score", float(self.score))
        object.__setattr__(self, "detail", _printable(self.detail))

    @property
    def graded(self) -> bool:
        """Whether there is a measurement at all."""
        return self.passed is not None

    @classmethod
    def passing(cls, detail: str, *, score: float = 1.0) -> Self:
        """Return the verdict of an output that is good enough."""
        return cls(passed=True, score=score, detail=detail)

    @classmethod
    def failing(cls, detail: str, *, score: float = 0.0) -> Self:
        """Return the verdict of an output that is not good enough."""
        return cls(passed=False, score=score, detail=detail)

    @classmethod
    def ungraded(cls, why: str) -> Self:
        """Return the verdict of a grader that could not run: missing, not 0."""
        return cls(passed=None, score=None, detail=f"not graded: {why}")


def _printable(text: str) -> str:
    """Return a text that any terminal and any JSON file can take, lines and tabs kept."""
    cut = text if len(text) <= _LONGEST_DETAIL else f"{text[:_LONGEST_DETAIL]}..."
    return "".join(
        each if each.isprintable() or each in "\n\t" else ascii(each)[1:-1] for each in cut
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a candidate left for one case. It may be anything: graders trust nothing in it."""

    value: object = None
    """What it answered: text, bytes, or any other Python value of a callable."""
    folder: Path | None = None
    """The folder it worked in; None when there was none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What a grader may know of a case. Its author is trusted."""

    id: str
    inputs: object = None
    """What the candidate was given."""
    reference: object = None
    """The right answer, for graders that are not given one of their own; None: there is none."""


class Grader(Protocol):
    """Judges outputs. Total: returns a verdict for any output, and never raises."""

    def __call__(self, output: Output, case: Case, /) -> Verdict:
        """Return the verdict on an output of a case."""
        ...


def lacking(grader: Grader, case: Case) -> str:
    """Return why a grader can judge no output of a case, as far as it knows beforehand.

    A grader that knows has a method `lacking` of the case, which returns this text; empty, nothing
    is missing.
    """
    asked = getattr(grader, "lacking", None)
    try:
        found = asked(case) if callable(asked) else ""
    except LabkitError as error:
        return error.message
    except Exception:  # noqa: BLE001 - a grader that somebody else wrote; grading it will tell
        return ""
    return found if isinstance(found, str) else ""


G = TypeVar("G")
Method = Callable[[G, Output, Case], Verdict]


def grade(grader: Grader, output: Output, case: Case) -> Verdict:
    """Return a grader's verdict; one that raises or answers anything else has not graded.

    The way to call a grader that somebody else wrote. Only Ctrl-C goes through.
    """
    try:
        verdict = grader(output, case)
    except KeyboardInterrupt:
        raise
    except LabkitError as error:
        return Verdict.ungraded(error.message)
    except BaseException as error:  # noqa: BLE001 - a broken grader is a missing measurement
        return Verdict.ungraded(f"the grader raised {raised(error)}")
    if type(verdict) is not Verdict:
        return Verdict.ungraded(f"the grader answered {shown_type(verdict)}, not a Verdict")
    return verdict


def total(method: Method[G]) -> Method[G]:
    """Make a grader's `__call__` total, as `grade` does from outside."""

    @functools.wraps(method)
    def call(self: G, output: Output, case: Case) -> Verdict:
        return grade(functools.partial(method, self), output, case)

    return call
