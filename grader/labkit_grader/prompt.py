"""Whether a task's prompt gives its solution away: names and lines that only the solution has."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from labkit.fields import first_words
from labkit_grader.place import Tree

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{5,}")
_SHORTEST_LINE = 16
_TEST_NAME = re.compile(r"^\s*(?:async\s+)?def\s+(test\w+)|^\s*class\s+(Test\w+)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptLeaks:
    """What stands in a prompt and should not, or should be looked at."""

    lines: tuple[str, ...]
    """Whole lines of the solution."""
    tests: tuple[str, ...]
    """Names of hidden tests and their files."""
    names: tuple[str, ...]
    """Identifiers that only the solution has; a feature's prompt may have to name some."""

    @property
    def problems(self) -> tuple[str, ...]:
        """What makes the prompt unfit."""
        told = (("lines of the solution", self.lines), ("hidden tests by name", self.tests))
        return tuple(f"the prompt holds {what}: {first_words(x)}" for what, x in told if x)

    @property
    def notes(self) -> tuple[str, ...]:
        """What its author should look at."""
        if not self.names:
            return ()
        return (f"the prompt names what only the solution has: {first_words(self.names)}",)


def prompt_leaks(
    prompt: str, *, base: Tree, solution: Tree, hidden: Mapping[str, bytes]
) -> PromptLeaks:
    """Compare a prompt with what the solution adds to the base and with the hidden tests."""
    changed = [path for path, entry in solution.items() if base.get(path) != entry]
    before = _words(base[path].data for path in base)
    after = [_text(solution[path].data) for path in changed]
    old_lines = {line for path in changed if path in base for line in _lines(base[path].data)}
    added = {line for path in changed for line in _lines(solution[path].data)} - old_lines
    asked = {" ".join(line.split()) for line in prompt.splitlines()}
    names = {word for text in after for word in _IDENTIFIER.findall(text)} - before
    said = set(_IDENTIFIER.findall(prompt))
    return PromptLeaks(
        lines=tuple(sorted(line for line in added if any(line in text for text in asked))),
        tests=tuple(sorted(_test_names(hidden) & said)),
        names=tuple(sorted(names & said)),
    )


def _text(data: bytes) -> str:
    return data.decode(errors="replace")


def _words(contents: Iterable[bytes]) -> set[str]:
    return {word for data in contents for word in _IDENTIFIER.findall(_text(data))}


def _lines(data: bytes) -> set[str]:
    """Return the lines that are long enough to be told by, white space made one blank."""
    lines = (" ".join(line.split()) for line in _text(data).splitlines())
    return {line for line in lines if len(line) >= _SHORTEST_LINE}


def _test_names(hidden: Mapping[str, bytes]) -> set[str]:
    """Return the names of test functions and classes, and of their modules."""
    names = {path.rpartition("/")[2].removesuffix(".py") for path in hidden if path.endswith(".py")}
    for path, data in hidden.items():
        if path.endswith(".py"):
            found = _TEST_NAME.findall(_text(data))
            names |= {function or group for function, group in found}
    return names - {"conftest", "__init__"}
