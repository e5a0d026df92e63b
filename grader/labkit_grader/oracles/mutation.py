"""Test writing: tests are good when they pass on the real code and catch every planted fault."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from labkit.archive import Entry, Kind
from labkit.errors import IntegrityError
from labkit.fields import first_words
from labkit_grader.execute import Bench, run_tests
from labkit_grader.material import Expected
from labkit_grader.oracles.interface import Case, Finding, Proof, Work
from labkit_grader.oracles.sides import run_flags
from labkit_grader.place import NotApplied, Tree, apply_to_base, base_tree, shown
from labkit_grader.protected import guard, in_test_folder, lay
from labkit_grader.repeats import Repeats
from labkit_grader.tamper import contradictions
from labkit_grader.testrun import BROKEN, MISSING, PASSED, TestRun

_REAL = "the real code"
_RED = BROKEN | {MISSING}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Suite:
    """Some test files, and what they are run on; without targets the project's own suite."""

    bench: Bench
    case: Case
    files: tuple[Entry, ...] = ()
    targets: tuple[str, ...] = ()

    def run(self, tree: Tree) -> TestRun:
        """Run these tests on a tree; they replace what stands at their paths."""
        laid = lay(tree, self.files).tree
        return run_tests(self.bench, laid, self.case.command(), self.targets)

    def catches(self, tree: Tree, passed: Iterable[str]) -> bool:
        """Return whether a test that passes on the real code does not on this tree."""
        run = self.run(tree)
        return any(run.outcome(test) in _RED for test in passed)


class Mutation:
    """The oracle of tests tasks: hidden/ holds reference tests, mutations/ the planted faults."""

    def prove(self, bench: Bench, case: Case, *, repeats: Repeats) -> Proof:
        """Prove that each fault survives the base's own tests and is caught by the reference."""
        try:
            faults = _faults(case)
        except IntegrityError as error:
            return Proof(problems=(error.message,))
        if not faults or not case.test_files:
            return Proof(problems=("a tests task needs mutations/ and reference tests in hidden/",))
        material = case.material
        reference = _Suite(
            bench=bench, case=case, files=material.hidden_entries, targets=case.test_files
        )
        base = base_tree(case.base)
        runs = tuple(reference.run(base) for _ in repeats.rounds())
        problems = _reference_problems(runs)
        if problems:
            return Proof(problems=problems)
        seen = {test for run in runs for test in run.outcomes}
        stable = sorted(t for t in seen if all(run.outcome(t) == PASSED for run in runs))
        notes = _dropped(sorted(seen - set(stable)))
        own = _Suite(bench=bench, case=case)
        first = own.run(base)
        own_passed = [test for test, outcome in first.outcomes.items() if outcome == PASSED]
        if not own_passed:
            notes += (f"no test of the base's own passes: {first.trouble or first.last_words}",)
        for name, tree in faults.items():
            if own.catches(tree, own_passed):
                problems += (f"the fault {name} is caught by the base's own tests already",)
            if not reference.catches(tree, stable):
                problems += (f"the fault {name} is not caught by the reference tests",)
        return Proof(
            problems=problems,
            notes=notes,
            expected=Expected(pass_to_pass=tuple(stable)),
            counts={"pass_to_pass": len(stable), "mutations": len(faults)},
            runs=len(runs),
        )

    def grade(self, bench: Bench, case: Case, work: Work) -> Finding:
        """Grade the tests that a run added or changed, and nothing else of its diff."""
        base = base_tree(case.base)
        guarded = guard(base, work.applied.tree, case.task)
        is_test = case.command().is_test
        files = _added_tests(base, guarded.tree, is_test)
        targets = tuple(shown(entry.path) for entry in files if is_test(shown(entry.path)))
        faults = _faults(case)
        steps = dict.fromkeys((_REAL, *(f"fault {name}" for name in faults)), MISSING)
        if not targets:
            return Finding(
                passed=False,
                reason="no test file was added or changed",
                tests=steps,
                neutralised=guarded.neutralised,
            )
        suite = _Suite(bench=bench, case=case, files=files, targets=targets)
        real = suite.run(base)
        lies = contradictions(real, ())
        reason = "; ".join(lies) or _not_sound(real)
        steps[_REAL] = "failed" if reason else PASSED
        if not reason:
            passed = [test for test, outcome in real.outcomes.items() if outcome == PASSED]
            for name, tree in faults.items():
                caught = suite.catches(tree, passed)
                steps[f"fault {name}"] = PASSED if caught else "failed"
            missed = list(steps.values()).count("failed")
            reason = f"{missed} of {len(faults)} planted faults are not caught" if missed else ""
        return Finding(
            passed=not reason,
            reason=reason or f"the tests pass on the real code and catch {len(faults)} faults",
            tests=steps,
            flags=run_flags(real, lies),
            neutralised=guarded.neutralised,
            seconds=real.seconds,
            image_digest=real.image_digest,
        )


def _faults(case: Case) -> dict[str, Tree]:
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


def _reference_problems(runs: tuple[TestRun, ...]) -> tuple[str, ...]:
    """Return what is wrong with the reference tests on the real code."""
    problems = sorted({run.trouble for run in runs if run.trouble})
    problems += sorted(
        {f"{name} cannot be collected" for run in runs for name in run.collect_errors}
    )
    always = [t for t in runs[0].outcomes if all(run.outcome(t) in BROKEN for run in runs)]
    if always:
        problems.append(f"reference tests fail on the real code: {first_words(always)}")
    if not any(PASSED in run.outcomes.values() for run in runs):
        problems.append("no reference test passes on the real code")
    return tuple(problems)


def _dropped(tests: list[str]) -> tuple[str, ...]:
    if not tests:
        return ()
    return (f"{len(tests)} reference tests do not always pass and are dropped: "
            f"{first_words(tests)}",)  # fmt: skip


def _added_tests(base: Tree, tree: Tree, is_test: Callable[[str], bool]) -> tuple[Entry, ...]:
    """Return the files for tests in which a tree differs from the base."""
    return tuple(
        entry
        for path, entry in sorted(tree.items())
        if base.get(path) != entry
        and entry.kind in (Kind.FILE, Kind.EXECUTABLE)
        and (in_test_folder(shown(path)) or is_test(shown(path)))
    )


def _not_sound(run: TestRun) -> str:
    """Return why added tests are not good tests of the real code; empty when they are."""
    broken = [test for test, outcome in run.outcomes.items() if outcome in BROKEN]
    if run.trouble:
        return run.trouble
    if broken or run.collect_errors:
        return f"{len(broken) + len(run.collect_errors)} added tests fail on the real code"
    if PASSED not in run.outcomes.values():
        return "no added test was seen to pass on the real code"
    return ""
