"""Tries out wrong expectations while validation runs: which of them are noticed.

The tests are a copy in which every assertion that has a wrong counterpart asks for that one, tells
of its outcome here, and goes on whatever it was.

A plain file that knows nothing of labkit: standard library only, Python 3.6 or newer.
"""

import builtins
import os
from typing import TYPE_CHECKING, Any, Callable, Dict, Tuple

if TYPE_CHECKING:
    from labkit_grader.plugin.labkit_lines import Report

_MOST_LINES = 50_000


class Trial:
    """Which test is running, and what its assertions have told so far."""

    def __init__(self, report: "Report") -> None:
        self._report = report
        self._test = ""
        self._told: Dict[Tuple[str, str, int], bool] = {}

    def begin(self, test: str) -> None:
        """Note the test that begins."""
        self._test = test

    def tell(self, file: str, site: int, *, noticed: bool) -> None:
        """Write what an assertion noticed; a test's sites are told of once, or again when blunt."""
        key = (self._test, file, site)
        known = self._told.get(key)
        is_new = known is None and len(self._told) < _MOST_LINES
        if is_new or (known and not noticed):
            self._told[key] = noticed
            self._report.write("site", id=self._test, file=file, site=site, noticed=noticed)

    def truth(self, file: str, site: int, wrong: Callable[[], Any]) -> None:
        """Try a wrong expression: noticed when it is not true, or cannot be told."""
        try:
            noticed = not wrong()
        except Exception:  # noqa: BLE001 - the assertion would have failed by it
            noticed = True
        self.tell(file, site, noticed=noticed)

    def value(self, file: str, site: int, wrong: Any) -> None:
        """Note a wrong expression that had to be worked out in its own place."""
        self.tell(file, site, noticed=not wrong)

    def call(self, file: str, site: int, wrong: Callable[[], Any]) -> None:
        """Try a wrong call of an assertion's method: noticed when it raises."""
        try:
            wrong()
        except Exception:  # noqa: BLE001
            self.tell(file, site, noticed=True)
        else:
            self.tell(file, site, noticed=False)

    def reach(self, file: str, site: int) -> None:
        """Note a place where a wrong statement would certainly be noticed."""
        self.tell(file, site, noticed=True)


def open_trial(report: "Report") -> Trial:
    """Make a trial; the tests can call it when the environment asks for one."""
    trial = Trial(report)
    if os.environ.pop("LABKIT_TRIAL", ""):
        builtins._labkit_trial = trial  # type: ignore[attr-defined] # noqa: SLF001
    return trial
