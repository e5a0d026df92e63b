"""What one run of pytest gave, as seen from outside it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from labkit.model import Ended

PASSED = "passed"
MISSING = "missing"
"""The outcome of a test that was expected and not seen."""
BROKEN = frozenset({"failed", "error"})
OUTCOMES = BROKEN | {PASSED, "skipped", "xfail", "xpass"}
_USAGE, _NO_TESTS = 4, 5
"""pytest's exit codes for a command line or conftest that it cannot use, and for no tests."""


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
    reported_exit: int | None = None
    """The exit code in the report's last line; None when that line is missing."""
    problem: str = ""
    """Why the report could not be read, if so."""
    seconds: float
    image_digest: str
    log: str = ""

    @property
    def complete(self) -> bool:
        """Whether pytest came to its own end and the report tells of every collected test."""
        return (
            self.ended is Ended.EXITED
            and self.reported_exit is not None
            and self.outcomes.keys() >= set(self.collected)
        )

    @property
    def agrees(self) -> bool:
        """Whether exit code, last line and outcomes tell the same story."""
        bad = bool(self.collect_errors) or not BROKEN.isdisjoint(self.outcomes.values())
        allowed = {1, 2} if bad else {0 if self.collected else _NO_TESTS}
        return self.exit_code == self.reported_exit and self.exit_code in allowed

    @property
    def trouble(self) -> str:
        """Why the run cannot be taken at its word; empty when it was whole and agrees."""
        refused = self.exit_code == _USAGE == self.reported_exit
        reasons = (
            (self.ended is Ended.TIMEOUT, "the tests ran out of time"),
            (self.ended is Ended.OUT_OF_MEMORY, "the tests ran out of memory"),
            (bool(self.problem), self.problem),
            (
                self.reported_exit is None,
                f"the process ended with code {self.exit_code} before pytest had finished: "
                f"{self.last_words}",
            ),
            (refused, f"pytest could not start: {self._refusal}"),
            (not self.complete, "pytest ended before every collected test had run"),
            (
                not self.agrees,
                f"exit code {self.exit_code} does not go with the tests' outcomes",
            ),
        )
        return next((reason for holds, reason in reasons if holds), "")

    @property
    def _refusal(self) -> str:
        """What pytest says of a command line that it cannot use, before it tells where it is."""
        found = [line for line in self.log.splitlines() if " error: " in line]
        return found[0].partition(" error: ")[2].strip()[:200] if found else self.last_words

    @property
    def last_words(self) -> str:
        """The last line that the run printed."""
        lines = [line for line in self.log.splitlines() if line.strip()]
        return lines[-1].strip()[:200] if lines else "it printed nothing"

    def outcome(self, test: str) -> str:
        """Return a test's outcome, `missing` when it was not seen."""
        return self.outcomes.get(test, MISSING)
