"""Paths and patterns of paths, as a task's `forbidden:` and `allowed:` have them.

A pattern is read as in .gitignore, but always from the project's root, as a plain path is.
"""

import re
import warnings
from functools import lru_cache

_SPECIAL = re.compile(r"[*?\[]")
_NESTED = re.compile(r"\[[^\]]*\[")
_SET = re.compile(r"(?<!\\)\[(?!\^/\])")
_BRACES = re.compile(r"\{[^{}/]*,[^{}/]*\}")


def is_pattern(text: str) -> bool:
    """Return whether a text is more than one plain path."""
    return _SPECIAL.search(text) is not None


def pattern_problem(text: str) -> str:
    """Return what is wrong with a path or pattern, for a person; empty when nothing is."""
    problems = (
        ("begins with !: nothing can be taken out again, list what you mean", text.startswith("!")),
        ("holds a backslash: write / between folders", "\\" in text),
        ("has a choice in braces: write one line for each", _BRACES.search(text)),
        ("begins or ends in a blank", is_pattern(text) and text != text.strip()),
        ("is not a pattern: [ needs a list of characters and a ]", not _is_sound(text)),
    )
    return next((f"{text!r} {what}" for what, found in problems if found), "")


def _is_sound(text: str) -> bool:
    return not is_pattern(text) or _compiled(text) is not None


def within(path: str, places: tuple[str, ...]) -> bool:
    """Return whether a path of the tree is one of `places` or lies below one.

    A place names a file (`setup.py`), a folder (`tests/` or `tests`), never a part of a name; or it
    is a pattern: `*`, `?` and `[ab]` stay inside one name, `**` is any number of folders. What
    looks like a pattern also means the file that is called so (`pages/[id].js`).
    """
    return any(_below(path, place) or _matches(path, place) for place in places)


def _below(path: str, place: str) -> bool:
    plain = place.rstrip("/")
    return path == plain or path.startswith(plain + "/")


def _matches(path: str, place: str) -> bool:
    pattern = _compiled(place) if is_pattern(place) else None
    # Where the pattern has a beginning, it begins with ^.
    return pattern is not None and pattern.search(path) is not None


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    """Return a pattern as a regular expression that also holds for all that lies below it."""
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern  # noqa: PLC0415 - slow

    if _NESTED.search(pattern):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Python's re: a newer one may read a set otherwise
            made = GitIgnoreSpecPattern("/" + pattern.strip("/")).regex
            # Names may hold line ends, and no set of characters means a slash.
            return None if made is None else re.compile(_SET.sub("(?!/)[", made.pattern), re.DOTALL)
    except (ValueError, re.error):
        return None
