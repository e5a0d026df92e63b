"""Bug fixes, features and other changes: hidden tests fail at the base and pass at the solution."""

from collections.abc import Iterator

from labkit_grader.execute import Bench
from labkit_grader.oracles.interface import Case, Finding, Proof, Work
from labkit_grader.oracles.sides import Compared, compare, grade_tests, prove_sides, run_sides
from labkit_grader.place import NotApplied


class Behaviour:
    """The oracle of bugfix, feature and other tasks."""

    def prove(self, bench: Bench, case: Case, *, repeats: int) -> Proof:
        """Find which hidden tests begin to pass and which still pass."""
        if not case.test_files:
            return Proof(problems=("hidden/ holds no test file",))
        sides = run_sides(bench, case, repeats=repeats)
        if isinstance(sides, NotApplied):
            return Proof(problems=(f"the solution cannot be laid out: {sides.reason}",))
        return prove_sides(sides, compare(sides), more=_problems)

    def grade(self, bench: Bench, case: Case, work: Work) -> Finding:
        """Grade a run by its hidden tests."""
        return grade_tests(bench, case, work)


def _problems(compared: Compared) -> Iterator[str]:
    if not compared.fail_to_pass:
        yield "no hidden test fails at the base and passes at the solution"
