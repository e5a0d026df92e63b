"""`predicate`: a Python function of the author's asserts what an output must be."""

from dataclasses import dataclass

from labkit.fields import Fields
from labkit.graders.interface import Case, Output, Verdict, total
from labkit.graders.tools import Predicate, Tools
from labkit.graders.values import raised, shown_type


@dataclass(frozen=True, slots=True, kw_only=True)
class PredicateGrader:
    """`predicate`: passes when a function returns True; score 1 or 0.

    An `assert` that fires fails the output, with the exception's name in the detail. So does any
    other exception (`SystemExit` and what pytest raises too), and any answer but True: an output
    that upsets the function must not count as missing. Only Ctrl-C goes through.

    The function runs here, in labkit's own process and without a time limit: one that can hang on
    an output hangs grading. What has to be bounded belongs into `shell_exit_zero`.
    """

    function: Predicate

    @total
    def __call__(self, output: Output, case: Case) -> Verdict:
        """Return the verdict."""
        try:
            answer = self.function(output, case)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever it is, the output did not hold
            return Verdict.failing(raised(error))
        if answer is True:
            return Verdict.passing("holds")
        if answer is False:
            return Verdict.failing("does not hold")
        return Verdict.failing(
            f"the predicate returned {shown_type(answer)}: it must return True or False"
        )


def predicate(fields: Fields, tools: Tools) -> PredicateGrader:
    """Build `predicate` from its mapping: `function` names one that the caller gave."""
    known = tuple(tools.predicates)
    if not known:
        fields.text("function")
        fields.problem("name", "predicate needs functions, and none is given")
        return PredicateGrader(function=_unknown)
    name = fields.word("function", known, instead=known[0])
    return PredicateGrader(function=tools.predicates[name])


def _unknown(output: Output, case: Case) -> bool:
    """Stand in for a predicate that is not there."""
    del output, case
    return False
