"""Taking a shell command apart: simple commands, their words, redirections and nested commands.

Not a shell: nothing is expanded here and nothing runs. What this does not understand it says in
`broken`, so that a person looks.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

_BLANK = re.compile(r"(?:[ \t\r\f\v]|\\\n)+")
_COMMENT = re.compile(r"#[^\n]*")
_REDIRECT = re.compile(r"(?:\d*|&)(?:<<<|<<-?|<>|<&|<(?!\()|>>|>\||>&|>(?!\())")
_OPERATOR = re.compile(r"&&|\|\||\|&|;;&?|;&|[;&|()\n]")
_BARE = re.compile(r"[^ \t\r\f\v\n;&|()<>\\'\"$`]+")
_NAME = re.compile(r"\$(?:[A-Za-z_]\w*|[0-9?#$!@*-]|\{\w+\})")
_ANSI = re.compile(r"\$'(?:[^'\\]|\\.)*'", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|([0-7]{1,3})|(.))", re.DOTALL)
_DEEPEST = 20
_RESERVED = frozenset(
    {"if", "then", "elif", "else", "while", "until", "do", "done", "fi", "!", "{", "}", "time"}
)


class Kind(StrEnum):
    """What a piece of a word is."""

    BARE = "bare"
    QUOTED = "quoted"
    VARIABLE = "variable"
    COMMAND = "command"
    """A command whose output stands here: `$(...)`, backticks, `<(...)`."""
    UNKNOWN = "unknown"
    """An expansion with an operator in it, such as `${x%/*}`."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a word; variables and commands keep their name or text, without the dollar."""

    kind: Kind
    text: str


Word = tuple[Piece, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirect:
    """A redirection; a here-document has its body as the target."""

    operator: str
    target: Word


@dataclass(slots=True, kw_only=True)
class Simple:
    """One simple command. `before` is the operator that it stands behind, empty for the first."""

    before: str = ""
    words: list[Word] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        """Whether nothing stands between two operators."""
        return not self.words and not self.redirects


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A command taken apart; parentheses stand among the simple commands as `(` and `)`."""

    parts: tuple[Simple | str, ...]
    broken: bool
    """Whether a quote, a parenthesis or a here-document is never closed."""


def take_apart(text: str) -> Script:
    """Return the simple commands of a shell command; never raises."""
    scanner = _Scanner(text)
    parts = tuple(scanner.parts())
    return Script(parts=parts, broken=scanner.broken)


def _unescaped(match: re.Match[str]) -> str:
    if code := match[1] or match[2]:
        return chr(int(code, 16))
    return chr(int(match[3], 8)) if match[3] else match[4]


class _Scanner:
    """Reads a command from left to right."""

    def __init__(self, text: str, *, at: int = 0, depth: int = 0) -> None:
        self.text = text
        self.at = at
        self._depth = depth
        self.broken = False
        self._after_documents: int | None = None
        """Where the here-documents of this line end."""

    def parts(self) -> Iterator[Simple | str]:
        simple = Simple()
        while self.at < len(self.text):
            if self._match(_BLANK) or self._match(_COMMENT):
                continue
            redirect = self._match(_REDIRECT)
            operator = None if redirect else self._match(_OPERATOR)
            if redirect:
                simple.redirects.append(self._redirect(redirect))
            elif operator:
                if not simple.empty:
                    yield simple
                if operator in "()":
                    yield operator
                simple = self._next(operator, simple)
            else:
                self._take_word(simple)
        if not simple.empty:
            yield simple

    def _next(self, operator: str, last: Simple) -> Simple:
        if operator == "\n" and self._after_documents is not None:
            self.at, self._after_documents = self._after_documents, None
        # An empty line or an opening parenthesis does not part a pipe from what it feeds.
        passed_on = operator == "(" or (operator == "\n" and last.empty)
        return Simple(before=last.before if passed_on else operator)

    def _redirect(self, operator: str) -> Redirect:
        self._match(_BLANK)
        target = self._word()
        if operator.lstrip("0123456789") in ("<<", "<<-"):
            target = self._document("".join(piece.text for piece in target))
        return Redirect(operator=operator, target=target)

    def _take_word(self, simple: Simple) -> None:
        word = self._word()
        reserved = len(word) == 1 and word[0].kind is Kind.BARE and word[0].text in _RESERVED
        if simple.words or not reserved:
            simple.words.append(word)

    def _match(self, pattern: re.Pattern[str]) -> str | None:
        match = pattern.match(self.text, self.at)
        if match is None or not match[0]:
            return None
        self.at = match.end()
        return match[0]

    def _word(self) -> Word:
        pieces: list[Piece] = []
        while self.at < len(self.text):
            if self.text.startswith("\\\n", self.at):
                self.at += 2
            elif bare := self._match(_BARE):
                pieces.append(Piece(Kind.BARE, bare))
            elif piece := self._special():
                pieces.extend(piece)
            else:
                break
        return tuple(pieces)

    def _special(self) -> Word | None:
        """Read what begins with a quote, a backslash, a dollar or a backtick."""
        start = self.text[self.at : self.at + 2]
        word: Word | None = None
        match start[:1]:
            case "\\":
                self.at += 2
                word = (Piece(Kind.QUOTED, start[1:]),)
            case "'":
                word = (Piece(Kind.QUOTED, self._until("'", self.at + 1)),)
            case '"':
                word = self._double()
            case "`":
                word = (Piece(Kind.COMMAND, self._until("`", self.at + 1)),)
            case "$":
                word = self._dollar()
            case _ if start in ("<(", ">("):
                word = (Piece(Kind.COMMAND, self._nested(self.at + 2)),)
            case _:
                pass
        return word

    def _until(self, mark: str, start: int) -> str:
        end = self.text.find(mark, start)
        if end < 0:
            self.broken = True
            end = len(self.text)
        self.at = end + 1
        return self.text[start:end]

    def _double(self) -> Word:
        self.at += 1
        pieces: list[Piece] = [Piece(Kind.QUOTED, "")]
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == '"':
                self.at += 1
                return tuple(pieces)
            if char == "\\" or char not in "$`":
                step = (
                    2 if char == "\\" and self.text[self.at + 1 : self.at + 2] in '"\\$`\n' else 1
                )
                plain = self.text[self.at : self.at + step][-1]
                pieces.append(Piece(Kind.QUOTED, "" if step > 1 and plain == "\n" else plain))
                self.at += step
            else:
                pieces.extend(self._special() or ())
        self.broken = True
        return tuple(pieces)

    def _dollar(self) -> Word:
        rest = self.text[self.at : self.at + 3]
        piece = Piece(Kind.QUOTED, "$")
        if rest.startswith('$"'):
            self.at += 1
            return self._double()
        if ansi := self._match(_ANSI):
            piece = Piece(Kind.QUOTED, _ESCAPE.sub(_unescaped, ansi[2:-1]))
        elif rest == "$((":
            self._nested(self.at + 2)
            piece = Piece(Kind.QUOTED, "0")
        elif rest.startswith("$("):
            piece = Piece(Kind.COMMAND, self._nested(self.at + 2))
        elif name := self._match(_NAME):
            piece = Piece(Kind.VARIABLE, name.strip("${}") or name[1:])
        elif rest.startswith("${"):
            piece = Piece(Kind.UNKNOWN, self._until("}", self.at + 2))
        else:
            self.at += 1
        return (piece,)

    def _nested(self, start: int) -> str:
        """Return the text up to the parenthesis that closes the one before `start`."""
        inner = _Scanner(self.text, at=start, depth=self._depth + 1)
        depth = 1
        while inner.at < len(self.text) and self._depth < _DEEPEST:
            if operator := inner._match(_OPERATOR):
                depth += {"(": 1, ")": -1}.get(operator, 0)
                if depth == 0:
                    self.at = inner.at
                    return self.text[start : inner.at - 1]
            elif not (inner._match(_BLANK) or inner._match(_REDIRECT)):
                inner._word()
        self.broken = True
        self.at = len(self.text)
        return self.text[start:]

    def _document(self, mark: str) -> Word:
        """Cut a here-document out: its body begins on the next line."""
        line_end = self._after_documents
        if line_end is None:
            line_end = self.text.find("\n", self.at)
        start = line_end + 1 if line_end >= 0 else len(self.text)
        end = re.compile(rf"^\t*{re.escape(mark)}$", re.MULTILINE).search(self.text, start)
        if end is None:
            self.broken = True
        stop = end.start() if end else len(self.text)
        self._after_documents = end.end() if end else len(self.text)
        return (Piece(Kind.QUOTED, self.text[start:stop]),)
