"""Which differences between two texts do not count: line ends, white space, Unicode form, case."""

import functools
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import Self, TypeVar

from labkit.fields import Fields

_LONGEST_RUN = 30
_SHORT = 100_000
_MOST_GROWTH = 4
_RUN = re.compile(rf"[^\x00-\u02ff]{{{_LONGEST_RUN + 1},}}")
"""No combining character is below U+0300, so a long run of them lies within such a run."""


class Whitespace(StrEnum):
    """What white space means: all of it, none at both ends of the text, or one space a run."""

    KEEP = "keep"
    ENDS = "ends"
    ALL = "all"


class LineEnds(StrEnum):
    """Whether CRLF and CR count as LF."""

    KEEP = "keep"
    LF = "lf"


class Form(StrEnum):
    """Unicode normalisation: the same letter written two ways (NFC), or look-alikes too (NFKC)."""

    KEEP = "keep"
    NFC = "nfc"
    NFKC = "nfkc"


Word = TypeVar("Word", bound=StrEnum)


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """Which differences between texts do not count."""

    whitespace: Whitespace = Whitespace.KEEP
    line_ends: LineEnds = LineEnds.LF
    unicode: Form = Form.NFC
    ignore_case: bool = False

    @classmethod
    def read(cls, fields: Fields, default: "Likeness") -> Self:
        """Read the four options of a grader's mapping."""
        return cls(
            whitespace=_word(fields, "whitespace", default.whitespace),
            line_ends=_word(fields, "line_ends", default.line_ends),
            unicode=_word(fields, "unicode", default.unicode),
            ignore_case=fields.flag("ignore_case", default=default.ignore_case),
        )

    def plain(self, text: str) -> str:
        """Return a text without the differences that do not count."""
        if self.line_ends is LineEnds.LF:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        if self.ignore_case:
            text = text.casefold()
        text = normalised(text, self.unicode)
        match self.whitespace:
            case Whitespace.ALL:
                return " ".join(text.split())
            case Whitespace.ENDS:
                return text.strip()
            case Whitespace.KEEP:
                return text


UNSEEN = Likeness()
"""Forgives what nobody sees: how lines end, and two ways to write one letter."""
EXACT_BYTES = Likeness(line_ends=LineEnds.KEEP, unicode=Form.KEEP)
"""Forgives nothing."""


def normalised(text: str, form: Form) -> str:
    """Return a text in a normal form, unless it is made to be costly: then as it is.

    More than 30 combining characters in a row (no language has them) take time that grows with
    the square of the row; some characters become eighteen, which only a short text may do.
    """
    if form is Form.KEEP or text.isascii() or any(map(_piles_up, _RUN.findall(text))):
        return text
    if len(text) > _SHORT and _grown(text) > _MOST_GROWTH * len(text):
        return text
    return unicodedata.normalize("NFC" if form is Form.NFC else "NFKC", text)


def _piles_up(run: str) -> bool:
    length = 0
    for each in run:
        length = length + 1 if _joins(each) else 0
        if length > _LONGEST_RUN:
            return True
    return False


def _joins(character: str) -> bool:
    """Return whether a character joins the one before: some only show it when decomposed."""
    return unicodedata.combining(_decomposed(character)[0]) > 0


def _grown(text: str) -> int:
    """Return how long a text is when every character is decomposed."""
    return sum(count * len(_decomposed(each)) for each, count in Counter(text).items())


@functools.cache
def _decomposed(character: str) -> str:
    return unicodedata.normalize("NFKD", character)


def _word(fields: Fields, name: str, default: Word) -> Word:
    """Return one word of a closed set."""
    kind = type(default)
    if name not in fields:
        fields.text(name, default="")
        return default
    return kind(fields.word(name, [word.value for word in kind], instead=default.value))
