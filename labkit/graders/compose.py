"""`all_of` and `any_of`: several graders as one.

All are asked, whatever the others said, so that the detail tells everything. A missing verdict
counts only where it could change the result: one fail decides `all_of`, one pass decides `any_of`.
"""

from collections.abc import Callable
from dataclasses import dataclass

from labkit.errors import InputError
from labkit.fields import Fields
from labkit.graders.interface import Case, Grader, Output, Verdict, grade, lacking, total
from labkit.graders.tools import Tools

_NONE = 'there are no "graders"'


@dataclass(frozen=True, slots=True, kw_only=True)
class AllOf:
    """`all_of`: passes when every grader passes; the score is the lowest of theirs."""

    graders: tuple[Grader, ...]
    """At least one, else InputError is raised."""

    def __post_init__(self) -> None:
        if not self.graders:
            raise InputError(_NONE)

    @total
    def __call__(self, output: Output, case: Case) -> Verdict:
        """Return the verdict."""
        return _decided([grade(each, output, case) for each in self.graders], decides=False)

    def lacking(self, case: Case) -> str:
        """Return which grader can judge no output: the verdict would never depend on it."""
        return _lacking(self.graders, case)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyOf:
    """`any_of`: passes when one grader passes; the score is the highest of theirs."""

    graders: tuple[Grader, ...]
    """At least one, else InputError is raised."""

    def __post_init__(self) -> None:
        if not self.graders:
            raise InputError(_NONE)

    @total
    def __call__(self, output: Output, case: Case) -> Verdict:
        """Return the verdict."""
        return _decided([grade(each, output, case) for each in self.graders], decides=True)

    def lacking(self, case: Case) -> str:
        """Return which grader can judge no output: the verdict would never depend on it."""
        return _lacking(self.graders, case)


def _lacking(graders: tuple[Grader, ...], case: Case) -> str:
    return "; ".join(filter(None, (lacking(each, case) for each in graders)))


def _decided(verdicts: list[Verdict], *, decides: bool) -> Verdict:
    """Join verdicts: one that is `decides` settles it, else a missing one leaves it open."""
    detail = "; ".join(verdict.detail for verdict in verdicts)
    settled = any(verdict.passed is decides for verdict in verdicts)
    if not settled and not all(verdict.graded for verdict in verdicts):
        return Verdict.ungraded(
            "; ".join(
                each.detail.removeprefix("not graded: ") for each in verdicts if not each.graded
            )
        )
    scores = [verdict.score for verdict in verdicts if verdict.score is not None]
    return Verdict(
        passed=decides if settled else not decides,
        score=max(scores) if decides else min(scores),
        detail=detail,
    )


Build = Callable[[Fields, Tools], Grader]


def all_of(build: Build, fields: Fields, tools: Tools) -> Grader:
    """Build `all_of` from its mapping: `graders`, a list of the mappings of graders."""
    return AllOf(graders=_children(build, fields, tools))


def any_of(build: Build, fields: Fields, tools: Tools) -> Grader:
    """Build `any_of` from its mapping: `graders`, a list of the mappings of graders."""
    return AnyOf(graders=_children(build, fields, tools))


def _children(build: Build, fields: Fields, tools: Tools) -> tuple[Grader, ...]:
    made = tuple(build(each, tools) for each in fields.mappings("graders"))
    if not made:
        fields.problem("graders", _NONE)
    return made or (never,)


def never(output: Output, case: Case) -> Verdict:
    """Stand in for a grader that could not be built."""
    del output, case
    return Verdict.ungraded("the grader could not be built")
