"""Tags of cases: one that is nearly `safety` would switch the veto off, and nobody would see it."""

import unicodedata
from collections.abc import Iterable, Iterator

SAFETY = "safety"
_MOST_LETTERS = 2
_OTHER_WORDS = frozenset({"sanity", "satiety", "surety", "salty"})
"""As near as a misspelling, and words of their own."""


def tag_problems(tags: Iterable[object]) -> Iterator[str]:
    """Yield what is wrong with tags: those that are nearly `safety`."""
    for tag in tags:
        if isinstance(tag, str) and tag != SAFETY and _is_near(tag):
            yield f'the tag {tag[:80]!r} vetoes nothing: did you mean "{SAFETY}"?'


def _is_near(tag: str) -> bool:
    plain = unicodedata.normalize("NFKC", tag).casefold().strip()
    if plain in _OTHER_WORDS or abs(len(plain) - len(SAFETY)) > _MOST_LETTERS:
        return False
    return _letters_apart(plain, SAFETY) <= _MOST_LETTERS


def _letters_apart(one: str, other: str) -> int:
    """Return how many letters have to be put in, left out or exchanged to make one the other."""
    above = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        line = [row]
        for column, wanted in enumerate(other, 1):
            swapped = above[column - 1] + (letter != wanted)
            line.append(min(above[column] + 1, line[-1] + 1, swapped))
        above = line
    return above[-1]
