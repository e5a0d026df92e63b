"""Grades a run by its hidden tests: every one has to pass, and the pass has to be believable."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from labkit.errors import IntegrityError
from labkit.fields import counted, first_words
from labkit.model import Ended, Flag
from labkit_grader.execute import Bench
from labkit_grader.material import Expected
from labkit_grader.oracles.guarding import new_twin, passed_wrongly, run_twin
from labkit_grader.oracles.interface import Case, Finding, Work
from labkit_grader.oracles.rounds import run_hidden
from labkit_grader.oracles.sides import run_flags, stage
from labkit_grader.protected import Guarded
from labkit_grader.sentinel import kinds_that_fail
from labkit_grader.tamper import contradictions, strangers
from labkit_grader.testrun import OURS, PASSED, TestRun
from labkit_grader.twins.guards import Twin

_CUT = {Ended.TIMEOUT: "ran out of time", Ended.OUT_OF_MEMORY: "ran out of memory"}
_NONE = "not run: no expectation of these tests can be made wrong"


def grade_tests(bench: Bench, case: Case, work: Work) -> Finding:
    """Grade a run by the hidden tests that validation found.

    They are run once more with wrong expectations, which cannot pass too: before or after, by
    chance. What a sandbox leaves in the machine's caches tells the next one that it is not the
    first; so being the first must not tell which of the two it is.
    """
    expected = case.material.evidence
    if expected is None or not expected.tests:
        raise IntegrityError(
            f"the bundle of {case.task.id} names no expected tests",
            hint="its author validates the task and seals it again",
        )
    staged = stage(case, work.applied.tree)
    twin = new_twin(case, expected.tests)
    before = run_twin(bench, case, staged, twin) if twin and secrets.randbelow(2) else None
    run = run_hidden(bench, case, staged)
    tests = {test: run.outcome(test) for test in expected.tests}
    injected, unexpected = strangers(run, case.command(), case.tests, expected)
    lies = (*contradictions(run, expected.tests, expected.guards.sentinel), *injected)
    reason = _reason(run, tests, lies) or _without_sentinel(run, expected)
    starved = any(map(run.starved, expected.tests))
    second = _Second()
    if not reason and twin is None:
        second = _Second(checks={"twin": _NONE})
    elif not reason and twin is not None:
        if before is None or before.ended is not Ended.EXITED:
            before = _ask_patiently(bench, case, staged, twin)
        second = _compare(run, before, twin, expected)
    return Finding(
        passed=not (reason or second.reason),
        reason=reason or second.reason or _all_passed(len(tests)),
        tests=tests,
        flags=tuple(dict.fromkeys((*run_flags(run, lies, starved=starved), *second.flags))),
        checks={**_checks(run, expected), **second.checks},
        unexpected=unexpected,
        neutralised=staged.neutralised,
        seconds=run.seconds,
        image_digest=run.image_digest,
    )


def _all_passed(count: int) -> str:
    return "the one expected test passed" if count == 1 else f"all {count} expected tests passed"


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


def _without_sentinel(run: TestRun, expected: Expected) -> str:
    """Return a reason when tests that have to fail were not seen at all."""
    seen = kinds_that_fail(run.sentinel)
    if set(expected.guards.sentinel) <= set(seen):
        return ""
    return "the tests of labkit's own that have to fail beside the hidden ones did not run"


def _checks(run: TestRun, expected: Expected) -> dict[str, str]:
    """Return what the run itself shows."""
    checks = {"process": _told_of_process(run)}
    if run.runner in OURS:
        kinds = expected.guards.sentinel
        count = counted(sum(map(len, run.sentinel.values())), "test")
        told = f"{count} that had to fail did" if run.sentinel else "its tests were not seen"
        checks["sentinel"] = told if kinds else "not run: the project's settings keep it out"
    return checks


def _told_of_process(run: TestRun) -> str:
    if run.ended is not Ended.EXITED:
        return f"it {_CUT.get(run.ended, 'was ended from outside')}"
    ended = f"it ended with code {run.exit_code}"
    if run.trouble:
        return ended
    why = ", as it must beside the sentinel's failures" if run.sentinel else ""
    return f"{ended}{why}, and the report agrees"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Second:
    """What the run with wrong expectations showed."""

    reason: str = ""
    flags: tuple[Flag, ...] = ()
    checks: Mapping[str, str] = field(default_factory=dict)


def _ask_patiently(bench: Bench, case: Case, staged: Guarded, twin: Twin) -> TestRun:
    """Run the tests with wrong expectations, with twice the time.

    A run that was just in time is not lost by it.
    """
    limits = bench.limits
    patient = replace(bench, limits=replace(limits, seconds=2 * limits.seconds))
    return run_twin(patient, case, staged, twin)


def _compare(real: TestRun, run: TestRun, twin: Twin, expected: Expected) -> _Second:
    """Hold a run with wrong expectations against the real one: no test that has one may pass."""
    passed = passed_wrongly(real, run, twin)
    lies = contradictions(run, (), expected.guards.sentinel)
    asked = f"{counted(len(twin.tests), 'test')} of {len(expected.tests)} asked for a wrong result"
    if passed:
        names = first_words(passed)
        reason = f"{counted(len(passed), 'test')} passed with a wrong expectation too: {names}"
        return _Second(
            reason=reason,
            flags=(Flag.TAMPERED,),
            checks={"twin": f"{asked}, {len(passed)} passed all the same"},
        )
    if why := "; ".join(lies) or run.trouble or _without_sentinel(run, expected):
        return _Second(
            reason=f"the tests passed, but run once more with wrong expectations {why}",
            flags=run_flags(run, lies),
            checks={"twin": f"{asked}, but {why}"},
        )
    return _Second(checks={"twin": f"{asked}, and none passed"})
