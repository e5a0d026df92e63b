"""What one run of tests gave, as seen from outside it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from typing import assert_never

from labkit import junit
from labkit.model import Ended
from labkit_grader.refusals import refusal

PASSED = junit.PASSED
MISSING = "missing"
"""The outcome of a test that was expected and not seen."""
BROKEN = frozenset({"failed", "error"})
OUTCOMES = BROKEN | {PASSED, "skipped", "xfail", "xpass"}
NO_REPORT = "there is no report"
ENDS_IN_0 = "the command ends in 0"
"""The one test of a command that tells nothing but its exit code."""
_USAGE, _NO_TESTS = 4, 5
"""The exit codes of pytest, and of our unittest, for what they cannot use, and for no tests."""


class Runner(StrEnum):
    """What runs the tests: it decides how its report and its exit code are read."""

    PYTEST = "pytest"
    UNITTEST = "unittest"
    JUNIT = "the command"
    """Any command that writes JUnit XML."""
    EXIT_CODE = "the exit code"
    """Any command at all: that it ends in 0 is the one test."""


OURS = frozenset({Runner.PYTEST, Runner.UNITTEST})
"""The runners that report by a file of ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestRun:
    """What was seen of one run: its end, its report, and the end of what it printed."""

    __test__ = False  # the name is for people; pytest must not collect it

    ended: Ended
    exit_code: int | None
    outcomes: Mapping[str, str] = field(default_factory=dict)
    """passed, failed, error, skipped, xfail or xpass, by test id."""
    messages: Mapping[str, str] = field(default_factory=dict)
    """The end of what each broken test complained of, by test id."""
    collected: tuple[str, ...] = ()
    collect_errors: Mapping[str, str] = field(default_factory=dict)
    """The end of the complaint, by the id of the file."""
    sentinel: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Outcomes of the tests that have to fail, by their kind; apart from the others.

    `missing` where one was collected and not seen.
    """
    sites: Mapping[tuple[str, str], Mapping[int, bool]] = field(default_factory=dict)
    """At validation: by test and file, whether the wrong expectation at each place was noticed."""
    digests: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of the files of tests when all tests had run, as the runner saw them."""
    altered: tuple[str, ...] = ()
    """Test files that were not at the end what was laid out."""
    forged: bool = False
    """Whether somebody else than our plugin wrote to the report."""
    counted: tuple[int, int] | None = None
    """How many tests pytest itself says that it collected, and how many reports of failures."""
    reported_exit: int | None = None
    """The exit code in the report's last line; None when that line is missing."""
    problem: str = ""
    """Why the report could not be read, if so."""
    garbled: bool = False
    """Whether that is a report as an honest runner may write it too: no well-formed XML."""
    seconds: float
    image_digest: str
    log: str = ""
    runner: Runner = Runner.PYTEST

    @property
    def complete(self) -> bool:
        """Whether the runner came to its own end and the report tells of every collected test.

        JUnit XML has no last line of its own: a report that is well-formed to its end is whole.
        """
        whole = self.ended is Ended.EXITED and not self.problem
        if self.runner not in OURS:
            return whole
        seen = self.outcomes.keys() >= set(self.collected) and MISSING not in self._all_outcomes
        return whole and self.reported_exit is not None and seen

    @property
    def _all_outcomes(self) -> tuple[str, ...]:
        """The outcomes of every test, the sentinel's included."""
        return (*self.outcomes.values(), *chain.from_iterable(self.sentinel.values()))

    @property
    def agrees(self) -> bool:
        """Whether exit code, last line and outcomes tell the same story."""
        bad = bool(self.collect_errors) or not BROKEN.isdisjoint(self._all_outcomes)
        match self.runner:
            case Runner.JUNIT:
                return (self.exit_code == 0) is not bad
            case Runner.EXIT_CODE:
                return True
            case Runner.PYTEST:
                broken = {1, 2}
            case Runner.UNITTEST:
                broken = {1}
            case _:
                assert_never(self.runner)
        allowed = broken if bad else {0 if self.collected or self.sentinel else _NO_TESTS}
        return (
            self.exit_code == self.reported_exit
            and self.exit_code in allowed
            and self._counts_agree
        )

    @property
    def _counts_agree(self) -> bool:
        """Whether pytest's own counts fit; one test can be reported as failed more than once."""
        if self.counted is None:
            return True
        collected, failures = self.counted
        broken = sum(outcome in BROKEN for outcome in self._all_outcomes)
        least = broken + len(self.collect_errors)
        told = len(self.collected) + sum(map(len, self.sentinel.values()))
        return collected == told and failures >= least and bool(failures) is bool(least)

    @property
    def trouble(self) -> str:
        """Why the run cannot be taken at its word; empty when it was whole and agrees."""
        refused = self.exit_code == _USAGE == self.reported_exit
        early = self.reported_exit is None and self.runner in OURS
        ended = f"and the process ended with code {self.exit_code}: {self.last_words}"
        reasons = (
            (self.ended is Ended.TIMEOUT, "the tests ran out of time"),
            (self.ended is Ended.OUT_OF_MEMORY, "the tests ran out of memory"),
            (self.problem == NO_REPORT, f"{NO_REPORT}, {ended}"),
            (bool(self.problem), self.problem),
            (
                early,
                f"the process ended with code {self.exit_code} before {self.runner} had finished: "
                f"{self.last_words}",
            ),
            (refused, f"{self.runner} could not start: {refusal(self.log) or self.last_words}"),
            (not self.complete, f"{self.runner} ended before every collected test had run"),
            (
                not self.agrees,
                f"exit code {self.exit_code} does not go with the tests' outcomes",
            ),
        )
        return next((reason for holds, reason in reasons if holds), "")

    @property
    def last_words(self) -> str:
        """The last line that the run printed."""
        lines = [line for line in self.log.splitlines() if line.strip()]
        return lines[-1].strip()[:200] if lines else "it printed nothing"

    def starved(self, test: str) -> bool:
        """Whether a broken test complained of too little memory, in the last it said."""
        return self.messages.get(test, "").rstrip().endswith("MemoryError")

    def outcome(self, test: str) -> str:
        """Return a test's outcome, `missing` when it was not seen."""
        return self.outcomes.get(test, MISSING)
