"""Some tests, run on the real code, on faulty code and on variants of it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from labkit.archive import Entry
from labkit.errors import IntegrityError
from labkit.patch.place import NotApplied, Tree, apply_to_base, base_tree, shown
from labkit_grader.execute import Bench, run_tests
from labkit_grader.made import Made, with_fault
from labkit_grader.oracles.interface import Case
from labkit_grader.protected import in_test_folder, lay
from labkit_grader.pysource import Source, UnreadableError, read_source
from labkit_grader.testrun import BROKEN, MISSING, PASSED, TestRun

_RED = BROKEN | {MISSING}
_LONGER, _AT_LEAST = 10, 30.0
"""How much longer a run on faulty code may take than one on the real code, and seconds on top."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """Some test files, and what they are run on; without targets the project's own suite."""

    bench: Bench
    case: Case
    files: tuple[Entry, ...] = ()
    targets: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def run(self, tree: Tree) -> TestRun:
        """Run these tests on a tree; they replace what stands at their paths."""
        laid = lay(tree, self.files, removed=self.removed).tree
        return run_tests(self.bench, laid, self.case.command(), self.targets)

    def not_longer_than(self, real: TestRun) -> "Suite":
        """Return the same tests, given up early where a fault makes them hang."""
        seconds = min(self.bench.limits.seconds, _AT_LEAST + _LONGER * real.seconds)
        limits = replace(self.bench.limits, seconds=seconds)
        return replace(self, bench=replace(self.bench, limits=limits))

    def catches(self, tree: Tree, passed: Iterable[str]) -> bool:
        """Return whether a test that passes on the real code does not on this tree."""
        return bool(red(self.run(tree), passed))


def passed_tests(run: TestRun) -> tuple[str, ...]:
    """Return the tests that passed in a run."""
    return tuple(test for test, outcome in run.outcomes.items() if outcome == PASSED)


def red(run: TestRun, passed: Iterable[str]) -> tuple[str, ...]:
    """Return those of `passed` that a run does not pass: a test that could not run is one."""
    return tuple(test for test in passed if run.outcome(test) in _RED)


def failed(run: TestRun, passed: Iterable[str]) -> tuple[str, ...]:
    """Return those of `passed` that ran and failed; one that could not be imported did not run."""
    return tuple(test for test in passed if run.outcome(test) in BROKEN)


def planted_faults(case: Case) -> dict[str, Tree]:
    """Return the base with each planted fault; raises IntegrityError when one does not apply."""
    trees: dict[str, Tree] = {}
    for name, patch in case.material.mutations.items():
        applied = apply_to_base(case.repository, case.base, patch)
        if isinstance(applied, NotApplied):
            raise IntegrityError(
                f"the fault {name} does not apply to the base: {applied.reason}",
                hint="make it with git diff against the base commit",
            )
        if not applied.changed:
            raise IntegrityError(f"the fault {name} changes nothing")
        trees[name] = applied.tree
    return trees


def generated_faults(case: Case, made: Made) -> dict[str, Tree]:
    """Return the base with each generated fault."""
    base = base_tree(case.base)
    for mutant in made.mutants:
        if mutant.path.encode() not in base:
            raise IntegrityError(f"the base has no {mutant.path}, in which a fault was generated")
    return {str(mutant): with_fault(base, mutant) for mutant in made.mutants}


def faulty_sources(case: Case, faults: Mapping[str, Tree]) -> dict[str, Source]:
    """Return the Python files that faults are in: the code that the tests are about.

    A file that cannot be parsed is left out; no variant can be made of it.
    """
    base = base_tree(case.base)
    paths = {path for tree in faults.values() for path in tree if base.get(path) != tree[path]}
    wanted = {shown(path) for path in paths} | set(case.material.rules.generated.files)
    found: dict[str, Source] = {}
    for path in sorted(wanted):
        if not path.endswith(".py") or in_test_folder(path):
            continue
        try:
            source = read_source(base, path)
        except UnreadableError:
            continue
        if source is not None:
            found[path] = source
    return found
