"""Tests of our own among the hidden ones that have to fail: who passes them forges passes.

They have random names and stand in a random file beside the hidden tests, so that the code under
test meets them like any other test.
"""

import posixpath
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from labkit.archive import Entry, Kind
from labkit_grader.command import Command
from labkit_grader.testrun import BROKEN, OURS, Runner
from labkit_grader.twins.wrong import word

FUNCTION, METHOD = "function", "method"
"""The two kinds of tests that a sentinel has; a runner and its settings may know one of them."""

_FUNCTIONS = """\
import pytest


def test_{0}():
    {1} = {2}
    assert {1} == {3}


def test_{4}():
    raise {5}("{1}")


def test_{6}():
    with pytest.raises({5}):
        {1} = {2}


"""
_METHODS = """\
import unittest


class Test{0}(unittest.TestCase):
    def test_{1}(self):
        self.assertEqual({2}, {3})

    def test_{4}(self):
        self.assertTrue({2} > {3})

    def test_{5}(self):
        with self.assertRaises({6}):
            self.assertIn({2}, [{2}, {3}])
"""
_EXCEPTIONS = ("ValueError", "KeyError", "RuntimeError", "TypeError", "LookupError")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentinel:
    """A file of tests that have to fail."""

    entry: Entry

    @property
    def path(self) -> str:
        """Where it stands in the tree."""
        return self.entry.path.decode()

    def kind(self, test: str) -> str:
        """Return which kind a test of this file is, by its id."""
        return METHOD if "Test" in test.rpartition(".py")[2] else FUNCTION


def make_sentinel(command: Command, targets: tuple[str, ...]) -> Sentinel | None:
    """Return new tests that fail, for a folder of the hidden ones; None for other runners."""
    if command.runner not in OURS or not targets:
        return None
    chance = secrets.SystemRandom()
    text = _methods(chance)
    if command.runner is Runner.PYTEST:
        text = _functions(chance) + text
    folder = posixpath.dirname(targets[-1])
    path = posixpath.join(folder, f"test_{word(chance)}_{word(chance)}.py")
    return Sentinel(entry=Entry(path=path.encode(), kind=Kind.FILE, data=text.encode()))


def kinds_that_fail(sentinel: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the kinds of which tests were seen and none but failing ones."""
    return tuple(sorted(kind for kind, said in sentinel.items() if BROKEN.issuperset(said)))


def _functions(chance: Random) -> str:
    small, large = _numbers(chance)
    return _FUNCTIONS.format(
        word(chance),
        word(chance),
        small,
        large,
        word(chance),
        chance.choice(_EXCEPTIONS),
        word(chance),
    )


def _methods(chance: Random) -> str:
    small, large = _numbers(chance)
    return _METHODS.format(
        word(chance).title(),
        word(chance),
        small,
        large,
        word(chance),
        word(chance),
        chance.choice(_EXCEPTIONS),
    )


def _numbers(chance: Random) -> tuple[int, int]:
    small = chance.randint(1, 40)
    return small, small + chance.randint(1, 40)
