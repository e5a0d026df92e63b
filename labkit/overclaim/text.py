"""From Markdown to sentences with their lines.

Two views of each sentence have the same length: `shown` is what the author wrote, `read` is what
the rules look at, with code and quotations blanked out.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

BLANK = "\N{WHITE SQUARE}"
_SAME_LENGTH = str.maketrans("\u2212\u2018\u2019\u201c\u201d\u00a0\u202f", "-''\"\"  ")
_ABBREVIATIONS = "".join(
    rf"(?<!\b{re.escape(short)})"
    for short in ("e.g", "i.e", "vs", "cf", "ca", "approx", "resp", "fig", "no", "incl")
)
_SENTENCE_END = re.compile(
    rf"(?i:{_ABBREVIATIONS})[.!?]{{1,5}}[\"')\]]{{0,5}}\s{{1,9}}(?=[\"'(\[]*[^\Wa-z_]|{BLANK}"
    rf"|pass[\^@])"
)
_QUOTED = re.compile(r'"([^"]{1,400})"')
_SPOKEN_OF = re.compile(
    r"\b(?:words?|claim\w*|say\w*|said|call\w*|writ\w+|wrote|term|phrase\w*|sentence)\W*$",
    re.IGNORECASE,
)
_SPOKEN_OF_AFTER = re.compile(
    r"\W{0,3}(?:is|was|would be|are) (?:an? |the )?(?:word|claim|overclaim|phrase|term)\b"
)
_LONG_QUOTATION = 3
_LONGEST = 600
_NEAR = 2000
"""How much of a long paragraph belongs to a sentence, on either side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence, and what stands around it in its paragraph, as the rules read it."""

    line: int
    shown: str
    read: str
    paragraph: str


def sentences(
    text: str, *, keep: Sequence[str] = (), skip: frozenset[str] = frozenset()
) -> tuple[Sentence, ...]:
    """Return the sentences of headings, paragraphs, lists and block quotes, in their order.

    Tables, code blocks and HTML are data, not sentences. `keep` is code that is read like a word;
    paragraphs that are in `skip` are left out.
    """
    parser = MarkdownIt("commonmark").enable("table")
    return tuple(
        sentence
        for token in _prose(parser.parse(text))
        for sentence in _split(_Paragraph(token, keep), skip)
    )


def _prose(tokens: Sequence[Token]) -> Iterator[Token]:
    tables = 0
    for token in tokens:
        if token.type in ("table_open", "table_close"):
            tables += token.nesting
        elif token.type == "inline" and not tables:
            yield token


class _Paragraph:
    """The text of one block, with the line that every piece of it began on."""

    def __init__(self, token: Token, keep: Sequence[str]) -> None:
        self.shown = ""
        self.read = ""
        self._line = (token.map or [0])[0] + 1
        self._breaks: list[int] = []
        for child in token.children or ():
            match child.type:
                case "text":
                    self._add(child.content)
                case "softbreak" | "hardbreak":
                    self._add(" ")
                    self._breaks.append(len(self.shown))
                case "code_inline":
                    known = child.content.strip() in keep
                    self._add(child.content, read=None if known else BLANK * len(child.content))
                case _:
                    pass
        self.read = _without_quotations(self.read)

    def _add(self, shown: str, *, read: str | None = None) -> None:
        self.shown += shown
        self.read += shown.translate(_SAME_LENGTH) if read is None else read

    def line(self, position: int) -> int:
        """Return the line of a character."""
        return self._line + sum(start <= position for start in self._breaks)


def _without_quotations(text: str) -> str:
    def blank(found: re.Match[str]) -> str:
        before, after = text[max(0, found.start() - 30) : found.start()], text[found.end() :][:30]
        spoken_of = _SPOKEN_OF.search(before) or _SPOKEN_OF_AFTER.match(after)
        if spoken_of or len(found[1].split()) >= _LONG_QUOTATION:
            return BLANK * len(found[0])
        return found[0]

    return _QUOTED.sub(blank, text)


def _split(paragraph: _Paragraph, skip: frozenset[str]) -> Iterator[Sentence]:
    if " ".join(paragraph.shown.split()) in skip:
        return
    start = 0
    for end in _ends(paragraph.read):
        shown = paragraph.shown[start:end]
        if shown.strip():
            first = start + len(shown) - len(shown.lstrip())
            last = start + len(shown.rstrip())
            yield Sentence(
                line=paragraph.line(first),
                shown=paragraph.shown[first:last],
                read=paragraph.read[first:last],
                paragraph=paragraph.read[max(0, start - _NEAR) : end + _NEAR],
            )
        start = end


def _ends(text: str) -> Iterator[int]:
    """Yield where sentences end; what no person writes as one sentence is cut at a space."""
    start = 0
    for end in (*(found.end() for found in _SENTENCE_END.finditer(text)), len(text)):
        while end - start > _LONGEST:
            space = text.rfind(" ", start + 1, start + _LONGEST)
            start = space + 1 if space > start else start + _LONGEST
            yield start
        yield end
        start = end
