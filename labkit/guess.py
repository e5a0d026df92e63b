"""What kind of work a commit was, guessed from its message and from what it touched, with a reason.

The guess saves typing; the author has the last word. Message words count in English.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from labkit.model import Category
from labkit.testpaths import PathKind

_PREFIX = re.compile(r"(?P<type>[a-z]+)(?:\([^)]*\))?!?:\s", re.IGNORECASE)
_TYPES = {
    "fix": Category.BUGFIX,
    "bugfix": Category.BUGFIX,
    "hotfix": Category.BUGFIX,
    "feat": Category.FEATURE,
    "feature": Category.FEATURE,
    "refactor": Category.REFACTOR,
    "test": Category.TESTS,
    "tests": Category.TESTS,
    "docs": Category.OTHER,
    "build": Category.OTHER,
    "ci": Category.OTHER,
}
_WORDS = {
    Category.REFACTOR: re.compile(
        r"\b(?:refactor\w*|renam\w+|mov(?:e[sd]?|ing)|extract\w*|reorgani[sz]\w*|restructur\w*"
        r"|simplif\w+|clean(?:ed|s|ing)?[ -]?up|dedup\w*|split\w*|consolidat\w+|rewrit\w+"
        r"|moderni[sz]\w*)\b",
        re.IGNORECASE,
    ),
    Category.BUGFIX: re.compile(
        r"\b(?:fix\w*|bugs?|bugfix\w*|regress\w*|crash\w*|wrong\w*|incorrect\w*|broken|breaks?"
        r"|fail(?:s|ed|ing|ures?)?|errors?|exceptions?|resolv\w+|clos(?:es?|ed)|prevent\w*|avoid\w*"
        r"|correct\w*|repair\w*|hang\w*|leaks?|typos?|mistake\w*|missing|don'?t|not|instead)\b",
        re.IGNORECASE,
    ),
    Category.FEATURE: re.compile(
        r"\b(?:add\w*|support\w*|implement\w*|new|introduc\w+|allow\w*|enabl\w+|featur\w+"
        r"|provid\w+|option\w*|accept\w*|extend\w*|creat\w+)\b",
        re.IGNORECASE,
    ),
}
_DEFINITION = re.compile(
    rb"^(?:[ ]{4}|\t)?(?:export\s+(?:default\s+)?)?(?:pub(?:\([^)\n]*\))?\s+)?(?:public\s+)?"
    rb"(?:async\s+)?(?:def|class|function|func|fn|interface|struct|enum|trait)\s+"
    rb"(?:\([^)\n]*\)\s*)?([A-Za-z]\w*)",
    re.MULTILINE,
)


_MERGE = re.compile(r"Merge\b")
_TRAILER = re.compile(r"[A-Z][a-zA-Z-]+: |\(?cherry picked|#\s|\* ")


def headline(message: str) -> str:
    """Return the line that says what a commit did: its subject, or what a merge says below it."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    if not lines:
        return ""
    below = (line for line in lines[1:] if not _TRAILER.match(line))
    return next(below, lines[0]) if _MERGE.match(lines[0]) else lines[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """A category, and why it was guessed."""

    category: Category
    reason: str


def guess(message: str, kinds: Collection[PathKind], new_names: int | None = None) -> Guess:
    """Return the likely category of a commit; `new_names` counts the public names that it adds.

    Without `new_names` (None) only the message speaks of behaviour.
    """
    subject = headline(message)
    by_path = _by_paths(set(kinds))
    if by_path:
        return by_path
    prefix = _PREFIX.match(subject)
    named = _TYPES.get(prefix["type"].lower()) if prefix else None
    if prefix and named:
        return Guess(category=named, reason=f'its message begins with "{prefix[0].strip()}"')
    return _by_words(subject, new_names) or _by_names(new_names)


def _by_paths(kinds: set[PathKind]) -> Guess | None:
    if kinds == {PathKind.TEST}:
        return Guess(category=Category.TESTS, reason="it touches nothing but tests")
    if PathKind.SOURCE not in kinds:
        return Guess(category=Category.OTHER, reason="it touches no source file")
    return None


def _by_words(subject: str, new_names: int | None) -> Guess | None:
    """Return what the first telling word of a subject says, unless the code contradicts it."""
    found = sorted(
        (match.start(), category, match[0])
        for category, pattern in _WORDS.items()
        if (match := pattern.search(subject))
    )
    for _, category, word in found:
        if category is Category.REFACTOR and new_names:
            continue
        return Guess(category=category, reason=f'its message says "{word.lower()}"')
    return None


def _by_names(new_names: int | None) -> Guess:
    if new_names:
        names = "a new public name" if new_names == 1 else f"{new_names} new public names"
        return Guess(category=Category.FEATURE, reason=f"it adds {names}")
    return Guess(category=Category.BUGFIX, reason="it changes behaviour and adds no public name")


def new_public_names(before: Iterable[bytes], after: Iterable[bytes]) -> frozenset[bytes]:
    """Return the functions and classes that sources define afterwards and did not before."""
    old = {name for data in before for name in _DEFINITION.findall(data)}
    return frozenset({name for data in after for name in _DEFINITION.findall(data)} - old)
