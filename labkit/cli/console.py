"""How labkit talks: standard output is data, standard error is for people."""

import os
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from labkit.errors import InputError, LabkitError

Value = TypeVar("Value")
_ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that a terminal obeys, or cannot be given: all controls but line ends and tabs."""


def data(text: str) -> None:
    """Write a result to standard output; when its reader has gone, the command goes on without."""
    try:
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def named(name: str, value: str) -> None:
    """Write one value to standard output; on a terminal with what it is."""
    data(f"{name}: {value}" if sys.stdout.isatty() else value)


def say(text: str) -> None:
    """Tell a person something, on standard error.

    What graded code printed or called its files can be in it, so nothing acts on the terminal.
    """
    shown = _ACTS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
    sys.stderr.write(f"{shown}\n")
    sys.stderr.flush()


def complain(error: LabkitError) -> None:
    """Tell a person every problem of an error, and its hint."""
    for problem in error.problems:
        say(f"labkit: error: {problem}")
    if error.hint:
        say(f"labkit: hint: {error.hint}")


def ask(question: str, parse: Callable[[str], Value]) -> Value:
    """Ask until `parse` takes the answer; raises InputError when there is nobody to answer."""
    while True:
        sys.stderr.write(f"{question}: ")
        sys.stderr.flush()
        try:
            return parse(input().strip())
        except EOFError as error:
            say("")
            raise InputError(
                "there is no answer any more", hint="the same command goes on from here"
            ) from error
        except InputError as error:
            complain(error)


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
