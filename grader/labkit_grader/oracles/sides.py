"""Hidden tests on two sides, the base and the solution: which must begin to pass, which stay.

The solution is laid out exactly as a run's diff is, so what validation proves is what grading does.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

from labkit.model import Ended, Flag
from labkit.patch.place import Applied, NotApplied, Tree, apply_to_base, base_tree
from labkit_grader.execute import Bench
from labkit_grader.material import Expected
from labkit_grader.oracles.compared import Compared, Sides
from labkit_grader.oracles.guarding import Guarding, find_guards
from labkit_grader.oracles.interface import Case, Proof
from labkit_grader.oracles.reasons import notes_of, problems_of
from labkit_grader.oracles.rounds import run_rounds
from labkit_grader.protected import Guarded, guard, lay
from labkit_grader.repeats import Repeats
from labkit_grader.testrun import TestRun
from labkit_grader.twins.guards import Guards


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
    bench: Bench,
    case: Case,
    sides: Sides,
    compared: Compared,
    *,
    more: Callable[[Compared], Iterable[str]],
) -> Proof:
    """Return the proof that two sides give; `more` adds a category's own problems."""
    counts = {
        "fail_to_pass": len(compared.fail_to_pass),
        "pass_to_pass": len(compared.pass_to_pass),
        "unstable": len(compared.unstable) + len(compared.unreliable) + len(compared.renamed),
    }
    if compared.skipped:
        counts["skipped"] = len(compared.skipped)
    problems = (*problems_of(case, sides, compared), *more(compared))
    expected = Expected(
        fail_to_pass=compared.fail_to_pass,
        pass_to_pass=compared.pass_to_pass,
        others=compared.others,
    )
    guarding = Guarding(guards=Guards())
    if not problems and expected.tests:
        guarding = find_guards(bench, case, sides.laid, sides.solution[-1], expected.tests)
        counts["guarded"] = len(guarding.guards.tests)
    return Proof(
        problems=problems,
        notes=(*notes_of(case, sides, compared), *guarding.notes),
        expected=replace(expected, guards=guarding.guards),
        counts=counts,
        runs=len(sides.solution),
        seconds=sides.base_seconds,
    )


def run_flags(run: TestRun, lies: tuple[str, ...], *, starved: bool = False) -> tuple[Flag, ...]:
    """Return the flags that one run of tests earns; `starved` when a test ran out of memory."""
    flags = {
        Flag.TIMEOUT: run.ended is Ended.TIMEOUT,
        Flag.OUT_OF_MEMORY: run.ended is Ended.OUT_OF_MEMORY or starved,
        Flag.TAMPERED: bool(lies),
    }
    return tuple(flag for flag, earned in flags.items() if earned)
