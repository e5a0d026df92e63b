"""How labkit talks: standard output is data, standard error is for people."""

import sys
import time
from dataclasses import dataclass, field

from labkit.errors import LabkitError


def data(text: str) -> None:
    """Write a result to standard output."""
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
    sys.stdout.flush()


def say(text: str) -> None:
    """Tell a person something, on standard error."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def complain(error: LabkitError) -> None:
    """Tell a person every problem of an error, and its hint."""
    for problem in error.problems:
        say(f"labkit: error: {problem}")
    if error.hint:
        say(f"labkit: hint: {error.hint}")


@dataclass(slots=True)
class Pace:
    """Says how long the rest of some equal pieces of work will take."""

    total: int
    started: float = field(default_factory=time.monotonic)

    def left(self, done: int) -> str:
        """Return "about 3 min left" after `done` pieces; nothing when there is no rest."""
        if not 0 < done < self.total:
            return ""
        seconds = (time.monotonic() - self.started) / done * (self.total - done)
        minutes = round(seconds / 60)
        return (
            f", about {minutes} min left" if minutes else f", about {max(1, round(seconds))} s left"
        )
