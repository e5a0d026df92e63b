"""Hidden tests on two sides, the base and the solution: which must begin to pass, which stay.

The solution is laid out exactly as a run's diff is, so what validation proves is what grading does.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from labkit.errors import IntegrityError
from labkit.fields import first_words
from labkit.model import Ended, Flag
from labkit_grader.execute import Bench, run_tests
from labkit_grader.material import Expected
from labkit_grader.oracles.interface import Case, Finding, Proof, Work
from labkit_grader.place import Applied, NotApplied, Tree, apply_to_base, base_tree
from labkit_grader.protected import Guarded, guard, lay
from labkit_grader.tamper import contradictions
from labkit_grader.testrun import BROKEN, PASSED, TestRun


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """All runs of the hidden tests on both sides."""

    base: tuple[TestRun, ...]
    solution: tuple[TestRun, ...]

    def tests(self) -> tuple[str, ...]:
        """Return every test that any run saw, sorted."""
        return tuple(
            sorted({test for run in (*self.base, *self.solution) for test in run.outcomes})
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Every test of two sides, sorted into what its outcomes mean."""

    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    unstable: tuple[str, ...]
    """Vary, but passed at the base at least once: dropped."""
    unreliable: tuple[str, ...]
    """Never pass at the base and only sometimes at the solution: nothing can be proved by them."""
    failing: tuple[str, ...]
    """Fail at the solution."""
    uncounted: tuple[str, ...]
    """Skipped, expected to fail or not there at the solution: neither passed nor failed."""


def run_sides(bench: Bench, case: Case, *, repeats: int) -> Sides | NotApplied:
    """Run the hidden tests on base and solution; NotApplied when the solution is no usable diff."""
    solution = solution_tree(case)
    if isinstance(solution, NotApplied):
        return solution
    trees = (base_tree(case.base), solution.tree)
    base_runs, solution_runs = (
        tuple(run_hidden(bench, case, stage(case, tree)) for _ in range(repeats)) for tree in trees
    )
    return Sides(base=base_runs, solution=solution_runs)


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


def run_hidden(bench: Bench, case: Case, staged: Guarded) -> TestRun:
    """Run every hidden test file in one process."""
    return run_tests(bench, staged.tree, case.command(), case.test_files)


def compare(sides: Sides) -> Compared:
    """Sort the tests of two sides."""
    found: dict[str, list[str]] = {name: [] for name in Compared.__slots__}
    for test in sides.tests():
        before = {run.outcome(test) for run in sides.base}
        after = {run.outcome(test) for run in sides.solution}
        found[_meaning(before, after)].append(test)
    return Compared(**{name: tuple(tests) for name, tests in found.items()})


def _meaning(before: set[str], after: set[str]) -> str:
    if after == {PASSED}:
        if PASSED not in before:
            return "fail_to_pass"
        return "pass_to_pass" if before == {PASSED} else "unstable"
    if PASSED in after:
        return "unstable" if PASSED in before else "unreliable"
    return "failing" if BROKEN & after else "uncounted"


def prove_sides(
    sides: Sides, compared: Compared, *, more: Callable[[Compared], Iterable[str]]
) -> Proof:
    """Return the proof that two sides give; `more` adds a category's own problems."""
    troubles = sorted({run.trouble for run in sides.solution if run.trouble})
    errors = {name: text for run in sides.solution for name, text in run.collect_errors.items()}
    problems = [f"at the solution: {trouble}" for trouble in troubles]
    problems += [
        f"at the solution {name} cannot be collected: {_last_line(text)}"
        for name, text in errors.items()
    ]
    problems += _told("fail at the solution", compared.failing)
    problems += _told(
        "fail at the base but do not always pass at the solution, or have another name in every "
        "run",
        compared.unreliable,
    )
    return Proof(
        problems=(*problems, *more(compared)),
        notes=_notes(sides, compared),
        expected=Expected(fail_to_pass=compared.fail_to_pass, pass_to_pass=compared.pass_to_pass),
        counts={
            "fail_to_pass": len(compared.fail_to_pass),
            "pass_to_pass": len(compared.pass_to_pass),
            "unstable": len(compared.unstable) + len(compared.unreliable),
        },
    )


def _notes(sides: Sides, compared: Compared) -> tuple[str, ...]:
    troubles = sorted({run.trouble for run in sides.base if run.trouble})
    errors = {name: text for run in sides.base for name, text in run.collect_errors.items()}
    notes = [f"at the base: {trouble}; tests not seen count as failing" for trouble in troubles]
    notes += [
        f"at the base {name} cannot be collected, so its tests fail without running: "
        f"{_last_line(text)}"
        for name, text in errors.items()
    ]
    notes += _told("are unstable and dropped", compared.unstable)
    notes += _told("do not run at the solution and are not counted", compared.uncounted)
    return tuple(notes)


def _told(what: str, tests: tuple[str, ...]) -> list[str]:
    return [f"{len(tests)} hidden tests {what}: {first_words(tests)}"] if tests else []


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip()[:200] if lines else "no reason given"


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
        flags=run_flags(run, lies),
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
        return f"{len(not_passed)} of {len(tests)} expected tests did not pass"
    return ""


def run_flags(run: TestRun, lies: tuple[str, ...]) -> tuple[Flag, ...]:
    """Return the flags that one run of tests earns."""
    flags = {
        Flag.TIMEOUT: run.ended is Ended.TIMEOUT,
        Flag.OUT_OF_MEMORY: run.ended is Ended.OUT_OF_MEMORY,
        Flag.TAMPERED: bool(lies),
    }
    return tuple(flag for flag, earned in flags.items() if earned)
