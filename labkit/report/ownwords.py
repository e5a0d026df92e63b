"""What people wrote into the places for their words stays there when the summary is made again."""

import re
from collections.abc import Iterator
from itertools import takewhile

from labkit.report.markdown import OUR_WORDS

_MARK = "*In our words:*"
_EMPTY = f"   {OUR_WORDS}"
_QUESTION = re.compile(r"(\d+)\. \*\*")
_LEFT = "## In our words, of an earlier summary"


def with_words(page: str, earlier: str) -> str:
    """Return a fresh page with the words of an earlier one in their places.

    Words whose question the fresh page does not ask stand at its end, so that none is lost.
    """
    words = dict(_words(earlier))
    if not words:
        return page
    lines: list[str] = []
    for number, line in _numbered(page):
        lines.append(words.pop(number, line) if line == _EMPTY else line)
    left = [_LEFT, *words.values()] if words else []
    return "\n\n".join(["\n".join(lines), *left]) + "\n"


def _words(page: str) -> Iterator[tuple[str, str]]:
    """Yield what stands in each place for words, by the number of its question."""
    lines = page.splitlines()
    for place, (number, line) in enumerate(_numbered(page)):
        if _MARK in line and line != _EMPTY:
            yield number or line, "\n".join(takewhile(str.strip, lines[place:]))


def _numbered(page: str) -> Iterator[tuple[str, str]]:
    """Yield every line with the number of the question that it stands under, if any."""
    number = ""
    for line in page.splitlines():
        if line.startswith("#"):
            number = ""
        elif found := _QUESTION.match(line):
            number = found[1]
        yield number, line
