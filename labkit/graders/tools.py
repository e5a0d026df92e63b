"""What graders are given by whoever runs them, because a task's file cannot hold it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from labkit.fields import Fields
from labkit.graders.interface import Case, Grader, Output
from labkit.sandbox.interface import Limits, Sandbox

COMMAND_LIMITS = Limits(seconds=60.0)
"""What a command of a grader may use unless somebody says otherwise."""
Predicate = Callable[[Output, Case], object]
"""Asserts what an output must be, and returns True; see `labkit.graders.predicate`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One thing that a judge is asked about an output."""

    name: str
    question: str
    """What the judge is asked; what a score of 0 and of 1 means belongs here."""
    weight: float = 1.0
    """More than 0, against the other criteria's weights."""


Judge = Callable[[Criterion, Output, Case], object]
"""Answers a number from 0 to 1 (or a yes or no) for one criterion; raises when it cannot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What graders may use. A grader whose tool is missing is refused when it is built."""

    sandbox: Sandbox | None = None
    """Where commands run; without one, nothing runs a command."""
    image: str = ""
    """The image for commands; bubblewrap has none."""
    limits: Limits = COMMAND_LIMITS
    """What one command may use; a grader's own `timeout` goes before."""
    judge: Judge | None = None
    predicates: Mapping[str, Predicate] = field(default_factory=dict)
    """The predicates that a task's file may name."""


Builder = Callable[[Fields, Tools], Grader]
"""Makes a grader out of its mapping in a task's file.

It asks `fields` for what it needs, notes each problem with `fields.problem`, and returns a grader
in any case: one with a problem is never used. It need not look for unknown fields.
"""
