"""Turns the grading command of a task into the command line that runs our plugin instead."""

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass, field

from labkit.errors import InputError

PLUGIN = "/labkit/labkit_report.py"
_OURS = ("-p", "no:cacheprovider", "--rootdir=/workspace", "--continue-on-collection-errors")
_PYTHON = re.compile(r"(?:.*/)?python[0-9.]*")
_PYTEST = re.compile(r"(?:.*/)?(?:pytest|py\.test)")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_TAKES_A_VALUE = frozenset(
    {"-c", "-k", "-m", "-o", "-p", "-r", "-W", "--tb", "--maxfail", "--rootdir", "--confcutdir"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """How to start pytest for one task."""

    program: tuple[str, ...]
    """The interpreter and its own options."""
    options: tuple[str, ...]
    """The author's options for pytest."""
    environment: Mapping[str, str] = field(default_factory=dict)

    def argv(self, targets: tuple[str, ...]) -> tuple[str, ...]:
        """Return the command line that runs the test files `targets`, or the project's own."""
        files = (f"/workspace/{target}" for target in targets)
        return (*self.program, PLUGIN, *_OURS, *self.options, *files)


def read_command(words: tuple[str, ...], *, paths: Container[str] = ()) -> Command:
    """Take a grading command apart; raises InputError when it does not run pytest.

    Words that name one of `paths` (files and folders of the project) are dropped: what is run is
    decided by the oracle.
    """
    environment: dict[str, str] = {}
    rest = list(words)
    while rest and (match := _ASSIGNMENT.fullmatch(rest[0])):
        environment[match[1]] = match[2]
        del rest[0]
    program, options = _split(rest)
    return Command(
        program=program, options=tuple(_without_paths(options, paths)), environment=environment
    )


def _split(words: list[str]) -> tuple[tuple[str, ...], list[str]]:
    if words and _PYTEST.fullmatch(words[0]):
        return ("python",), words[1:]
    if words and _PYTHON.fullmatch(words[0]) and "-m" in words:
        at = words.index("-m")
        if words[at + 1 : at + 2] == ["pytest"]:
            return tuple(words[:at]), words[at + 2 :]
    raise InputError(
        f"the grading command does not run pytest: {' '.join(words)[:200]}",
        hint='write it as "python -m pytest", with options behind it',
    )


def _without_paths(options: list[str], paths: Container[str]) -> list[str]:
    kept: list[str] = []
    for word in options:
        value = bool(kept) and kept[-1] in _TAKES_A_VALUE
        if value or word.split("::")[0].rstrip("/") not in paths:
            kept.append(word)
    return kept
