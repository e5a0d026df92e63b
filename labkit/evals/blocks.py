"""Search/replace blocks, as agents write them into a text.

    calc.py
    <<<<<<< SEARCH
    return a - b
    =======
    return a + b
    >>>>>>> REPLACE

A fence may stand between the path and the block. Nothing is guessed: a text of which one block
cannot be read is no edit at all.
"""

import re
from collections.abc import Iterator

from labkit.evals.sample import Replacement

_BEGIN = re.compile(r"<{7} SEARCH[ \t]*\r?")
_MIDDLE = re.compile(r"={7}[ \t]*\r?")
_END = re.compile(r">{7} REPLACE[ \t]*\r?")
_MARK = re.compile(r"(?:<{7}|>{7})(?: .*)?\r?")
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_LONGEST_SHOWN = 80


class _Broken(Exception):  # noqa: N818 - never leaves this module
    """A block that cannot be read, for the reason that it holds."""


def read_replacements(text: str) -> tuple[Replacement, ...]:
    """Return the edits of a text, in their order; none of a blank one.

    Never raises: what cannot be read comes back as one edit that `apply_replacements` refuses, so
    that an answer in a wrong form is a patch that does not apply and not a missing answer.
    """
    if not text.strip():
        return ()
    lines = text.split("\n")
    try:
        found = tuple(_blocks(lines))
    except _Broken as broken:
        return (_unreadable(str(broken)),)
    return found or (_unreadable("there is no search/replace block in it"),)


def _unreadable(why: str) -> Replacement:
    return Replacement(path="", search="", replace="", problem=why)


def _blocks(lines: list[str]) -> Iterator[Replacement]:
    at, above = 0, 0
    while at < len(lines):
        if _BEGIN.fullmatch(lines[at]):
            path = _path(lines[above:at], at)
            middle, end = _rest(lines, at)
            yield Replacement(
                path=path,
                search=_joined(lines[at + 1 : middle]),
                replace=_joined(lines[middle + 1 : end]),
            )
            at = above = end + 1
        elif _MARK.fullmatch(lines[at]):
            raise _Broken(f"line {at + 1}, {lines[at].strip()[:_LONGEST_SHOWN]}, begins no block")
        else:
            at += 1


def _path(above: list[str], at: int) -> str:
    """Return what the line in front of a block says, the fence around the block left out."""
    if above and _FENCE.match(above[-1]):
        above = above[:-1]
    path = above[-1].strip().strip("`").strip() if above else ""
    if not path:
        raise _Broken(f"no path stands in front of the block on line {at + 1}")
    return path


def _rest(lines: list[str], at: int) -> tuple[int, int]:
    """Return where a block's ======= and its end stand."""
    end = next((n for n in range(at + 1, len(lines)) if _MARK.fullmatch(lines[n])), None)
    if end is None or not _END.fullmatch(lines[end]):
        raise _Broken(f"the block on line {at + 1} has no end: >>>>>>> REPLACE")
    middles = [n for n in range(at + 1, end) if _MIDDLE.fullmatch(lines[n])]
    if len(middles) != 1:
        count = len(middles) or "no"
        raise _Broken(f"the block on line {at + 1} has {count} lines =======, and one divides it")
    return middles[0], end


def _joined(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
