"""What a source file is made of: names, texts, numbers and lines of code, comments left out.

Python is read by its own tokenizer. Of other languages the common forms of comments and strings are
taken out by patterns, which is enough to tell a name from prose.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass

from labkit.patch.place import Tree

WORD = re.compile(r"[^\W\d]\w*")
_STRING = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`")
_NUMBER = re.compile(r"(?<![\w.])\d[\w.]*")
_SLASHES = re.compile(r"/\*.*?\*/|(?<!:)//[^\n]*", re.DOTALL)
_HASHES = re.compile(r"(?m)(?:^|\s)#[^\n]*")
_HASH_LANGUAGES = (".sh", ".bash", ".rb", ".pl", ".pm", ".r", ".R", ".jl", ".ex", ".exs", ".nim")
_WITHIN = frozenset({tokenize.STRING, tokenize.COMMENT, tokenize.NL})
"""Tokens that may stand anywhere in a statement, and before it."""
_LAYOUT = frozenset(
    {
        tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
        tokenize.ENCODING, tokenize.ENDMARKER, tokenize.STRING,
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """What some source files are made of."""

    names: frozenset[str] = frozenset()
    strings: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    lines: frozenset[str] = frozenset()
    """Lines with code in them, white space made one blank."""

    def __or__(self, other: "Code") -> "Code":
        return Code(
            names=self.names | other.names,
            strings=self.strings | other.strings,
            numbers=self.numbers | other.numbers,
            lines=self.lines | other.lines,
        )

    def __sub__(self, other: "Code") -> "Code":
        return Code(
            names=self.names - other.names,
            strings=self.strings - other.strings,
            numbers=self.numbers - other.numbers,
            lines=self.lines - other.lines,
        )


def code_of(path: bytes, data: bytes) -> Code:
    """Return what a source file is made of; a file that is no text is made of nothing."""
    if is_binary(data):
        return Code()
    text = text_of(data)
    if path.endswith((b".py", b".pyi", b".pyx")):
        try:
            return _python(text)
        except (SyntaxError, ValueError, tokenize.TokenError):
            pass  # another Python's, perhaps: its names can still be told
    return _other(path.decode(errors="replace"), text)


def code_of_all(files: Iterable[tuple[bytes, bytes]]) -> Code:
    """Return what several source files are made of together."""
    found = Code()
    for path, data in files:
        found |= code_of(path, data)
    return found


def _python(text: str) -> Code:
    names, strings, numbers, rows = set(), set(), set(), set()
    begins = True  # a string that begins a statement is documentation
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME:
            names.add(token.string)
        elif token.type == tokenize.NUMBER:
            numbers.add(token.string)
        elif token.type == tokenize.STRING and not begins:
            strings |= _values(token.string)
        if token.type not in _LAYOUT:
            rows.add(token.start[0])
        if token.type not in _WITHIN:
            begins = token.type in _LAYOUT
    lines = text.splitlines()
    return Code(
        names=frozenset(names),
        strings=frozenset(strings),
        numbers=frozenset(numbers),
        lines=frozenset(plain(lines[row - 1]) for row in rows if row <= len(lines)),
    )


def _values(literal: str) -> set[str]:
    """Return the text of a string literal; nothing for bytes and for texts with code inside."""
    try:
        value = ast.literal_eval(literal)
    except (SyntaxError, ValueError):
        return set()
    return {value} if isinstance(value, str) else set()


def _other(path: str, text: str) -> Code:
    comments = _HASHES if path.endswith(_HASH_LANGUAGES) else _SLASHES
    code = comments.sub(" ", text)
    bare = _STRING.sub('""', code)
    return Code(
        names=frozenset(WORD.findall(bare)),
        strings=frozenset(literal[1:-1] for literal in _STRING.findall(code)),
        numbers=frozenset(_NUMBER.findall(bare)),
        lines=frozenset(plain(line) for line in code.splitlines() if line.strip()),
    )


def is_binary(data: bytes) -> bool:
    """Return whether a file is no text, as git tells it."""
    return b"\0" in data[:8000]


def text_of(data: bytes) -> str:
    """Return a file as text; bytes that are none become marks."""
    return data.decode(errors="replace").removeprefix("\ufeff")


def plain(line: str) -> str:
    """Return a text with each run of white space made one blank."""
    return " ".join(line.split())


class Known:
    """What everybody can read at the base: its files' texts and names."""

    def __init__(self, base: Tree) -> None:
        self._paths = "\n".join(path.decode(errors="replace") for path in base)
        self._data = [entry.data for entry in base.values() if not is_binary(entry.data)]
        self._plain: list[str] | None = None

    def has_word(self, word: str) -> bool:
        """Return whether a word stands anywhere in the base, or in a path of it."""
        whole = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
        raw = word.encode()
        return bool(whole.search(self._paths)) or any(
            raw in data and whole.search(text_of(data)) for data in self._data
        )

    def has_text(self, text: str) -> bool:
        """Return whether a text stands in the base, white space aside."""
        if self._plain is None:
            self._plain = [plain(text_of(data)) for data in self._data]
        wanted = plain(text)
        return wanted in self._paths or any(wanted in known for known in self._plain)
