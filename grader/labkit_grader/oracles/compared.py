"""What the runs of two sides say of each hidden test: which must begin to pass, which stay."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from labkit.sandbox.interface import Limits
from labkit_grader.protected import Guarded
from labkit_grader.testrun import BROKEN, MISSING, PASSED, TestRun

_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]{4,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """All runs of the hidden tests on both sides."""

    base: tuple[TestRun, ...]
    solution: tuple[TestRun, ...]
    turned: TestRun | None = None
    """The solution's tests in the reverse order, if that was run."""
    stuck: Mapping[str, str] = field(default_factory=dict)
    """Tests that cut a run of the base off, and how; they ran at the base once."""
    base_seconds: float = 0.0
    """The time limit that the base had."""
    limits: Limits
    """What the solution was allowed."""
    laid: Guarded
    """The solution as it was laid out."""

    def tests(self) -> tuple[str, ...]:
        """Return every test that any run saw, sorted."""
        seen = {test for run in (*self.base, *self.solution) for test in run.outcomes}
        return tuple(sorted(seen | self.stuck.keys()))


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
    renamed: tuple[str, ...]
    """Have another id in every run (an address, a time, a random name): never counted."""
    skipped: tuple[str, ...]
    """Skipped at the solution."""
    uncounted: tuple[str, ...]
    """Expected to fail or not there at the solution: neither passed nor failed."""

    @property
    def others(self) -> tuple[str, ...]:
        """Return the tests that may run and do not count, sorted."""
        return tuple(sorted((*self.unstable, *self.skipped, *self.uncounted)))


def compare(sides: Sides) -> Compared:
    """Sort the tests of two sides; without a run of each there is nothing to compare."""
    found: dict[str, list[str]] = {name: [] for name in Compared.__slots__}
    for test in sides.tests() if sides.base else ():
        before = {run.outcome(test) for run in sides.base}
        after = {run.outcome(test) for run in sides.solution}
        meaning = _meaning(before, after)
        if meaning != "failing" and _is_renamed(test, sides):
            meaning = "renamed"
        found[meaning].append(test)
    return Compared(**{name: tuple(tests) for name, tests in found.items()})


def _meaning(before: set[str], after: set[str]) -> str:
    if after == {PASSED}:
        if PASSED not in before:
            return "fail_to_pass"
        return "pass_to_pass" if before == {PASSED} else "unstable"
    if PASSED in after:
        return "unstable" if PASSED in before else "unreliable"
    if BROKEN & after:
        return "failing"
    return "skipped" if "skipped" in after else "uncounted"


def _is_renamed(test: str, sides: Sides) -> bool:
    """Return whether a test's id is another one each time.

    An address is told by its look too: without much else in the process it can come back.
    """
    if _ADDRESS.search(test):
        return True
    before, after = _times_seen(test, sides.base), _times_seen(test, sides.solution)
    once = before <= 1 and after <= 1
    return once and len(sides.solution) > 1 and (after == 1 or len(sides.base) > 1)


def _times_seen(test: str, runs: Iterable[TestRun]) -> int:
    return sum(run.outcome(test) != MISSING for run in runs)
