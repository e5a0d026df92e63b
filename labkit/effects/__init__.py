"""Flags are not effects: what of a declared difference was seen in the runs, and what else was.

Two configurations are declared to differ in one thing. What their agents really asked the model is
known from the wire, run by run, so both can be held against each other: nothing may differ but what
was declared, and that must differ. What is not known is said as not known, never as equal.
"""

from labkit.effects.finding import Finding, Kind, Weight, attributable
from labkit.effects.independence import same_answers, same_trees
from labkit.effects.pairs import digits, one_line, parts_of, short
from labkit.effects.seen import effects
from labkit.effects.told import compared, effort_of, first_pair

__all__ = [
    "Finding",
    "Kind",
    "Weight",
    "attributable",
    "compared",
    "digits",
    "effects",
    "effort_of",
    "first_pair",
    "one_line",
    "parts_of",
    "same_answers",
    "same_trees",
    "short",
]
