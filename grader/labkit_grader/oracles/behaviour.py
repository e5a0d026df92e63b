"""Bug fixes, features and other changes: hidden tests fail at the base and pass at the solution."""

from collections.abc import Iterator

from labkit.patch.place import NotApplied
from labkit_grader.execute import Bench
from labkit_grader.oracles.compared import Compared, Sides, compare
from labkit_grader.oracles.confirmed import grade_tests
from labkit_grader.oracles.interface import Case, Finding, Proof, Work
from labkit_grader.oracles.reasons import tests
from labkit_grader.oracles.sides import prove_sides, run_sides
from labkit_grader.repeats import Repeats
from labkit_grader.testrun import BROKEN, PASSED

_MOSTLY = 20


class Behaviour:
    """The oracle of bugfix, feature and other tasks."""

    def prove(self, bench: Bench, case: Case, *, repeats: Repeats) -> Proof:
        """Find which hidden tests begin to pass and which still pass."""
        if not case.test_files:
            return Proof(problems=("hidden/ holds no test file",))
        sides = run_sides(bench, case, repeats=repeats)
        if isinstance(sides, NotApplied):
            return Proof(problems=(f"the solution cannot be laid out: {sides.reason}",))

        def more(compared: Compared) -> Iterator[str]:
            return _problems(case, sides, compared)

        return prove_sides(bench, case, sides, compare(sides), more=more)

    def grade(self, bench: Bench, case: Case, work: Work) -> Finding:
        """Grade a run by its hidden tests."""
        return grade_tests(bench, case, work)


def _problems(case: Case, sides: Sides, compared: Compared) -> Iterator[str]:
    """Say why no test begins to pass, where that is not said by another problem already."""
    troubled = any(run.trouble or run.collect_errors for run in sides.solution)
    if compared.fail_to_pass or compared.failing or compared.unreliable or troubled:
        return
    if not any(run.outcomes for run in sides.solution):
        yield "no hidden test can be collected at the solution"
    elif _is_green(sides):
        only = "; the solution does little but delete" if _deletes(case) else ""
        yield f"nothing to solve: every hidden test passes at the base too{only}"
    else:
        yield "no hidden test fails at the base and passes at the solution"
    if compared.skipped:
        yield (
            f"{tests(compared.skipped, 'is', 'are')} skipped at the solution: a build step or a "
            "package is missing"
        )


def _is_green(sides: Sides) -> bool:
    """Return whether something passes at the base and nothing fails there."""
    whole = [run for run in sides.base if not run.trouble and not run.collect_errors]
    outcomes = {outcome for run in sides.base for outcome in run.outcomes.values()}
    return len(whole) == len(sides.base) and PASSED in outcomes and not BROKEN & outcomes


def _deletes(case: Case) -> bool:
    """Return whether the solution takes away at least twenty times what it adds."""
    solution = case.repository.commit(case.task.solution).tree
    words = ("diff", "--numstat", "--no-renames", "--no-ext-diff", "--no-textconv")
    listed = case.repository.git(*words, case.base.tree, solution).stdout.splitlines()
    figures = [line.split(b"\t")[:2] for line in listed]
    added, removed = (sum(int(x[at]) for x in figures if x[at] != b"-") for at in (0, 1))
    return removed > 0 and removed >= _MOSTLY * added
