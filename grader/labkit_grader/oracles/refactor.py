"""Refactorings: a structural check begins to pass, the behaviour passes on both sides."""

from collections.abc import Callable, Iterator

from labkit.fields import first_words
from labkit_grader.execute import Bench
from labkit_grader.oracles.compared import Compared, compare
from labkit_grader.oracles.interface import Case, Finding, Proof, Work
from labkit_grader.oracles.sides import grade_tests, prove_sides, run_sides
from labkit_grader.place import NotApplied
from labkit_grader.repeats import Repeats


class Refactor:
    """The oracle of refactor tasks."""

    def prove(self, bench: Bench, case: Case, *, repeats: Repeats) -> Proof:
        """Prove that structure files fail and then pass, and that all other tests pass on both."""
        problems = tuple(_missing_files(case))
        if problems:
            return Proof(problems=problems)
        sides = run_sides(bench, case, repeats=repeats)
        if isinstance(sides, NotApplied):
            return Proof(problems=(f"the solution cannot be laid out: {sides.reason}",))
        command, structure = case.command(), case.material.rules.structure

        def more(compared: Compared) -> Iterator[str]:
            return _problems(compared, lambda test: command.is_of(test, structure))

        return prove_sides(case, sides, compare(sides), more=more)

    def grade(self, bench: Bench, case: Case, work: Work) -> Finding:
        """Grade a run by structure and behaviour together."""
        return grade_tests(bench, case, work)


def _missing_files(case: Case) -> Iterator[str]:
    structure = case.material.rules.structure
    if not structure:
        yield 'oracle.yaml names no structural check: add "structure:"'
    for path in structure:
        if path not in case.material.hidden:
            yield f"oracle.yaml names hidden/{path}, which is not there"
    if not set(case.test_files) - set(structure):
        yield "hidden/ holds no test of the behaviour beside the structural check"


def _problems(compared: Compared, structural: Callable[[str], bool]) -> Iterator[str]:
    changed = [test for test in compared.fail_to_pass if not structural(test)]
    if changed:
        yield (
            "tests of the behaviour have to pass at the base too, these do not: "
            f"{first_words(changed)}"
        )
    if len(changed) == len(compared.fail_to_pass):
        yield "no structural check fails at the base and passes at the solution"
    if all(structural(test) for test in compared.pass_to_pass):
        yield "no test of the behaviour passes on both sides"
