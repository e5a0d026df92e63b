"""Hidden tests on two sides, the base and the solution: which must begin to pass, which stay.

The solution is laid out exactly as a run's diff is, so what validation proves is what grading does.
"""

from collections.abc import Callable, Iterable

from labkit.errors import IntegrityError
from labkit.model import Ended, Flag
from labkit_grader.execute import Bench
from labkit_grader.material import Expected
from labkit_grader.oracles.compared import Compared, Sides
from labkit_grader.oracles.interface import Case, Finding, Proof, Work
from labkit_grader.oracles.reasons import notes_of, problems_of
from labkit_grader.oracles.rounds import run_hidden, run_rounds
from labkit_grader.place import Applied, NotApplied, Tree, apply_to_base, base_tree
from labkit_grader.protected import Guarded, guard, lay
from labkit_grader.repeats import Repeats
from labkit_grader.tamper import contradictions
from labkit_grader.testrun import PASSED, TestRun


def run_sides(bench: Bench, case: Case, *, repeats: Repeats) -> Sides | NotApplied:
    """Run the hidden tests on base and solution; NotApplied when the solution is no usable diff."""
    solution = solution_tree(case)
    if isinstance(solution, NotApplied):
        return solution
    return run_rounds(
        bench,
        case,
        base=stage(case, base_tree(case.base)),
        solution=stage(case, solution.tree),
        repeats=repeats,
    )


def solution_tree(case: Case) -> Applied | NotApplied:
    """Return the base with the solution's difference applied as if an agent had made it."""
    solution = case.repository.commit(case.task.solution).tree
    patch = case.repository.diff(case.base.tree, solution)
    return apply_to_base(case.repository, case.base, patch)


def stage(case: Case, tree: Tree) -> Guarded:
    """Make a tree fit for grading: restore what is protected, then lay the hidden files."""
    guarded = guard(base_tree(case.base), tree, case.task)
    material = case.material
    laid = lay(guarded.tree, material.hidden_entries, removed=material.layout.removed)
    return Guarded(tree=laid.tree, neutralised=guarded.neutralised + laid.neutralised)


def prove_sides(
    case: Case, sides: Sides, compared: Compared, *, more: Callable[[Compared], Iterable[str]]
) -> Proof:
    """Return the proof that two sides give; `more` adds a category's own problems."""
    counts = {
        "fail_to_pass": len(compared.fail_to_pass),
        "pass_to_pass": len(compared.pass_to_pass),
        "unstable": len(compared.unstable) + len(compared.unreliable) + len(compared.renamed),
    }
    if compared.skipped:
        counts["skipped"] = len(compared.skipped)
    return Proof(
        problems=(*problems_of(case, sides, compared), *more(compared)),
        notes=tuple(notes_of(case, sides, compared)),
        expected=Expected(fail_to_pass=compared.fail_to_pass, pass_to_pass=compared.pass_to_pass),
        counts=counts,
        runs=len(sides.solution),
        seconds=sides.base_seconds,
    )


def grade_tests(bench: Bench, case: Case, work: Work) -> Finding:
    """Grade a run by the hidden tests that validation found: every one of them has to pass."""
    expected = case.material.evidence
    if expected is None or not expected.tests:
        raise IntegrityError(
            f"the bundle of {case.task.id} names no expected tests",
            hint="its author validates the task and seals it again",
        )
    staged = stage(case, work.applied.tree)
    run = run_hidden(bench, case, staged)
    tests = {test: run.outcome(test) for test in expected.tests}
    lies = contradictions(run, expected.tests)
    reason = _reason(run, tests, lies)
    return Finding(
        passed=not reason,
        reason=reason or f"all {len(tests)} expected tests passed",
        tests=tests,
        flags=run_flags(run, lies, starved=any(map(run.starved, expected.tests))),
        neutralised=staged.neutralised,
        seconds=run.seconds,
        image_digest=run.image_digest,
    )


def _reason(run: TestRun, tests: dict[str, str], lies: tuple[str, ...]) -> str:
    """Return why a run did not pass; empty when it did."""
    if lies or run.trouble:
        return "; ".join(lies) or run.trouble
    not_passed = [test for test, outcome in tests.items() if outcome != PASSED]
    if not_passed:
        starved = sum(map(run.starved, not_passed))
        memory = f", {starved} of them for want of memory" if starved else ""
        return f"{len(not_passed)} of {len(tests)} expected tests did not pass{memory}"
    return ""


def run_flags(run: TestRun, lies: tuple[str, ...], *, starved: bool = False) -> tuple[Flag, ...]:
    """Return the flags that one run of tests earns; `starved` when a test ran out of memory."""
    flags = {
        Flag.TIMEOUT: run.ended is Ended.TIMEOUT,
        Flag.OUT_OF_MEMORY: run.ended is Ended.OUT_OF_MEMORY or starved,
        Flag.TAMPERED: bool(lies),
    }
    return tuple(flag for flag, earned in flags.items() if earned)
