"""Grades the tests that a run wrote: are they tests of the code, and do they catch every fault."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from labkit.archive import Entry, Kind
from labkit.errors import IntegrityError
from labkit.fields import counted, first_words
from labkit.patch.place import Tree, base_tree, shown
from labkit_grader.execute import Bench
from labkit_grader.made import Made, with_files
from labkit_grader.oracles.interface import Case, Finding, Work
from labkit_grader.oracles.sides import run_flags
from labkit_grader.oracles.suites import (
    Suite,
    failed,
    generated_faults,
    passed_tests,
    planted_faults,
    red,
)
from labkit_grader.protected import guard, in_test_folder
from labkit_grader.tamper import contradictions
from labkit_grader.testrun import BROKEN, MISSING, PASSED, TestRun

_REAL = "the real code"
_AGAIN = "the real code, once more"
_NEUTRAL = "the same code, written differently"
_GUTTED = "code whose functions all raise"


@dataclass(slots=True)
class _Steps:
    """What was found so far, step by step; a step that was not reached is missing."""

    outcomes: dict[str, str]
    reasons: list[str] = field(default_factory=list)

    def take(self, name: str, reason: str) -> bool:
        """Note a step's outcome and return whether it was good."""
        self.outcomes[name] = "failed" if reason else PASSED
        if reason:
            self.reasons.append(reason)
        return not reason


def grade_written(bench: Bench, case: Case, work: Work) -> Finding:
    """Grade the test files that a run added or changed, and nothing else of its diff."""
    base = base_tree(case.base)
    guarded = guard(base, work.applied.tree, case.task)
    is_test = case.command().is_test
    files = _added_tests(base, guarded.tree, is_test)
    targets = tuple(shown(entry.path) for entry in files if is_test(shown(entry.path)))
    made = _made(case)
    faults = _faults(case, made)
    steps = _Steps(dict.fromkeys(_names(made, faults), MISSING))
    if not targets:
        return Finding(
            passed=False,
            reason="no test file was added or changed",
            tests=steps.outcomes,
            neutralised=guarded.neutralised,
        )
    suite = Suite(bench=bench, case=case, files=files, targets=targets)
    real = suite.run(base)
    lies = contradictions(real, ())
    if steps.take(_REAL, "; ".join(lies) or _not_sound(real)):
        _on_other_code(suite, real, made, faults, steps)
    return Finding(
        passed=not steps.reasons,
        reason="; ".join(steps.reasons)
        or f"the tests pass on the real code and catch {counted(len(faults), 'fault')}",
        tests=steps.outcomes,
        flags=run_flags(real, lies),
        neutralised=guarded.neutralised,
        seconds=real.seconds,
        image_digest=real.image_digest,
    )


def _on_other_code(
    suite: Suite, real: TestRun, made: Made, faults: Mapping[str, Tree], steps: _Steps
) -> None:
    """Run tests that are good on the real code again, on its variants and on every fault.

    A test that fails on the same code written differently catches nothing: it would fail on any
    change. So the faults are not even tried then.
    """
    base = base_tree(suite.case.base)
    passed = passed_tests(real)
    if not steps.take(_AGAIN, _unstable(real, suite.run(base))):
        return
    short = suite.not_longer_than(real)
    if made.neutral:
        changed = red(short.run(with_files(base, made.neutral)), passed)
        if not steps.take(_NEUTRAL, _told_of_pinning(changed)):
            return
    if made.gutted:
        run = short.run(with_files(base, made.gutted))
        noticed = failed(run, passed) or run.collect_errors or run.trouble
        steps.take(_GUTTED, "" if noticed else _TAUTOLOGIES)
    caught = {name: short.catches(tree, passed) for name, tree in faults.items()}
    for name, is_caught in caught.items():
        steps.outcomes[name] = PASSED if is_caught else "failed"
    missed = [name for name, is_caught in caught.items() if not is_caught]
    if missed:
        steps.reasons.append(
            f"the tests catch {len(faults) - len(missed)} of {counted(len(faults), 'fault')}; "
            f"not caught: {first_words(missed)}"
        )


_TAUTOLOGIES = (
    "the tests check nothing of the code: all of them pass although every function of it raises"
)


def _told_of_pinning(tests: tuple[str, ...]) -> str:
    if not tests:
        return ""
    return (
        "the tests look at how the code is written, not at what it does: the same code written "
        f"differently fails {first_words(tests)}"
    )


def _unstable(first: TestRun, second: TestRun) -> str:
    """Return which tests did not do the same twice on the same code; empty when all did."""
    if second.trouble:
        return f"run once more on the real code, {second.trouble}"
    names = sorted(first.outcomes.keys() | second.outcomes.keys())
    differ = [name for name in names if first.outcome(name) != second.outcome(name)]
    return f"not the same twice on the real code: {first_words(differ)}" if differ else ""


def _made(case: Case) -> Made:
    evidence = case.material.evidence
    if evidence is None:
        raise IntegrityError(
            f"the bundle of {case.task.id} has no evidence of its validation",
            hint="its author validates the task and seals it again",
        )
    return evidence.made


def _faults(case: Case, made: Made) -> dict[str, Tree]:
    planted = {f"fault {name}": tree for name, tree in planted_faults(case).items()}
    generated = generated_faults(case, made).items()
    return planted | {f"generated fault {name}": tree for name, tree in generated}


def _names(made: Made, faults: Mapping[str, Tree]) -> list[str]:
    neutral = [_NEUTRAL] if made.neutral else []
    gutted = [_GUTTED] if made.gutted else []
    return [_REAL, _AGAIN, *neutral, *gutted, *faults]


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
