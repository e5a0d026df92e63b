"""Graders: what says whether an output is good enough, from an equal text to a judge's rubric."""

from labkit.graders.compose import AllOf, AnyOf
from labkit.graders.execution import ShellExitZero
from labkit.graders.files import FileEquals
from labkit.graders.harbor import HarborTests
from labkit.graders.interface import Case, Grader, Output, Verdict, grade, lacking
from labkit.graders.likeness import EXACT_BYTES, Form, Likeness, LineEnds, Whitespace
from labkit.graders.predicate import PredicateGrader
from labkit.graders.pytests import PytestPasses
from labkit.graders.registry import GRADERS, Registry
from labkit.graders.rubric import RubricGrader
from labkit.graders.text import ContainsAll, Exact, RegexMatch
from labkit.graders.tools import Builder, Criterion, Judge, Predicate, Tools

__all__ = [
    "EXACT_BYTES",
    "GRADERS",
    "AllOf",
    "AnyOf",
    "Builder",
    "Case",
    "ContainsAll",
    "Criterion",
    "Exact",
    "FileEquals",
    "Form",
    "Grader",
    "HarborTests",
    "Judge",
    "Likeness",
    "LineEnds",
    "Output",
    "Predicate",
    "PredicateGrader",
    "PytestPasses",
    "RegexMatch",
    "Registry",
    "RubricGrader",
    "ShellExitZero",
    "Tools",
    "Verdict",
    "Whitespace",
    "grade",
    "lacking",
]
