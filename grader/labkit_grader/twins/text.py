"""Wrong expectations in tests of any language: written values behind words of assertions.

Pygments tells which bytes are numbers and texts; a few shapes tell which of those are expected.
What they miss has no twin, and validation finds out which tests notice the others.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random

from labkit_grader.twins.edits import Edit
from labkit_grader.twins.wrong import other_text, word, wrong

_MOST_BYTES = 1024 * 1024
_BEHIND = re.compile(
    r"(?:===?|-eq|\.(?:toBe|toEqual|toStrictEqual|toMatchObject|eq|eql|equals?)\(|\beq)\s*-?['\"`]?$"
)
"""What stands before an expectation: `x == 5`, `expect(x).toBe(5)`."""
_IN_BRACKETS = re.compile(r"(?:\[\[?|\btest)\s.*\s==?\s*['\"]?$")
"""The shell's `[ "$x" = 5 ]`."""
_EQUALS = r"(?i:assert\w*eq\w*|\w*equals?|assert\w*same)"
_FIRST = re.compile(rf"\b{_EQUALS}!?\s*(?:\(\s*(?:t,\s*)?|\s)-?['\"`]?$")
"""`assertEquals(5, x)`, `assert_equal 5, x`."""
_LAST = re.compile(rf"\b{_EQUALS}!?\s*[( ](.*[,\s])\s*-?['\"`]?$")
_AFTER_LAST = re.compile(r"^['\"`]?\s*\)?\s*;?\s*$")
"""`strictEqual(x, 5);`, `assert_eq!(x, 5);`, with nothing behind it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Word:
    """A written value, and what stands on its line around it."""

    start: int
    end: int
    before: str
    after: str


def wrong_text(path: str, data: bytes, chance: Random) -> bytes | None:
    """Return a file in which every expectation that can be told is wrong; None if none can."""
    text = _readable(data)
    edits = [
        Edit(start=each.start, end=each.end, text=_other(text[each.start : each.end], chance))
        for each in _values(path, text)
        if _is_expected(each)
    ]
    changed = [edit for edit in edits if edit.text != text[edit.start : edit.end]]
    return _spliced(text, changed).encode() if changed else None


def _readable(data: bytes) -> str:
    if len(data) > _MOST_BYTES:
        return ""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return ""


def _spliced(text: str, edits: Iterable[Edit]) -> str:
    for edit in sorted(edits, key=lambda each: each.start, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def _values(path: str, text: str) -> Iterator[_Word]:
    """Yield the numbers and texts of a file, as far as its language is known."""
    from pygments.lexers import get_lexer_for_filename  # noqa: PLC0415 - slow to import
    from pygments.token import Literal, String  # noqa: PLC0415
    from pygments.util import ClassNotFound  # noqa: PLC0415

    try:
        lexer = get_lexer_for_filename(path, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return
    for start, kind, value in lexer.get_tokens_unprocessed(text):
        if kind[:1] != Literal[:1] or kind is String.Doc or not re.search("[A-Za-z0-9]", value):
            continue
        end = start + len(value)
        line_start = text.rfind("\n", 0, start) + 1
        line_end = text.find("\n", end)
        yield _Word(
            start=start,
            end=end,
            before=text[line_start:start],
            after=text[end : line_end if line_end >= 0 else len(text)],
        )


def _is_expected(value: _Word) -> bool:
    if _BEHIND.search(value.before) or _FIRST.search(value.before):
        return True
    if _IN_BRACKETS.search(value.before):
        return True
    last = _LAST.search(value.before)
    if last is None or last[1].count("(") != last[1].count(")"):
        return False  # it stands in a call of its own: an input
    return _AFTER_LAST.search(value.after) is not None


def _other(value: str, chance: Random) -> str:
    """Return another value in the same quotes; a number of another size, a word for a word.

    Small numbers stay as small as they may: code that reads its tests must not see which are ours.
    """
    if re.fullmatch(r"0|[1-9][0-9]{0,99}", value):
        return str(wrong(int(value), chance))
    if re.fullmatch(r"[0-9]+(?:\.[0-9]+)?", value):
        made = other_text(value, chance)
        return f"{chance.randint(2, 9)}{made}"
    if re.match(r"['\"`]", value):
        inner = other_text(value[1:-1], chance)
        return value[0] + inner + (word(chance) if inner == value[1:-1] else "") + value[-1:]
    return other_text(value, chance) if value.isidentifier() or " " in value else value
