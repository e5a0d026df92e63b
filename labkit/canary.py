"""Canaries: random words planted in hidden files, so that any copy of them can be recognised.

Only the SHA-256 digests of the words are published. A word has 128 random bits, so a digest tells
nothing, and whoever meets a string of this shape can look it up without seeing a hidden test.
"""

import ast
import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath

PREFIX = "LKCANARY"
_SHAPE = re.compile(rb"LKCANARY[A-Z2-7]{26}", re.IGNORECASE)
_PLANTED = re.compile(rb"(?:# |<!-- )?LKCANARY[A-Z2-7]{26}(?: -->)?")
_TOKEN_BYTES = 16
_STATEMENTS_BETWEEN = 10
_HASH_COMMENTS = frozenset({".yaml", ".yml", ".toml", ".cfg", ".ini", ".sh"})
_UTF8_MARK = b"\xef\xbb\xbf"

Mint = Callable[[int], str]
"""Returns a file's token number n, the same one every time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """A file with its tokens in it; no tokens when its kind has no place for them."""

    data: bytes
    tokens: tuple[str, ...] = ()


def token(secret: bytes) -> str:
    """Return the token of a secret of at least 16 random bytes."""
    if len(secret) < _TOKEN_BYTES:
        raise ValueError("a canary needs 128 random bits")
    return PREFIX + base64.b32encode(secret[:_TOKEN_BYTES]).decode().rstrip("=")


def find(text: str | bytes) -> tuple[str, ...]:
    """Return every string of a token's shape, each once, in the order they are met.

    Upper and lower case are the same: a program may have folded them.
    """
    data = text.encode(errors="surrogatepass") if isinstance(text, str) else text
    return tuple(dict.fromkeys(match.decode().upper() for match in _SHAPE.findall(data)))


def digest(found: str) -> str:
    """Return what is published of a token."""
    return hashlib.sha256(found.encode()).hexdigest()


def plant(path: str, data: bytes, mint: Mint) -> Planted:
    """Return a file with tokens planted in comments, by the kind that its name says it is of.

    A Python file means the same afterwards (its syntax tree is compared). Kinds that have no
    comments stay as they are.
    """
    suffix = PurePosixPath(path).suffix.lower()
    if suffix == ".py":
        return _plant_python(data, mint)
    if suffix in _HASH_COMMENTS:
        return _insert(data, [_after_shebang(data)], b"# %s", mint)
    if suffix == ".md":
        return _plant_markdown(data, mint)
    if suffix in (".patch", ".diff"):
        return _plant_patch(data, mint)
    return Planted(data=data)


def lift(data: bytes) -> bytes:
    """Return a file without the lines that `plant` put in."""
    mark = _UTF8_MARK if data.startswith(_UTF8_MARK) else b""
    lines = data.removeprefix(mark).splitlines(keepends=True)
    return mark + b"".join(line for line in lines if not _PLANTED.fullmatch(line.rstrip(b"\r\n")))


def _plant_python(data: bytes, mint: Mint) -> Planted:
    before = _tree(data)
    if before is None:
        return Planted(data=data)
    planted = _insert(data, _python_places(ast.parse(data), data), b"# %s", mint)
    return planted if _tree(planted.data) == before else Planted(data=data)


def _tree(data: bytes) -> str | None:
    try:
        return ast.dump(ast.parse(data))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _python_places(tree: ast.Module, data: bytes) -> list[int]:
    """Return the lines (from 0) to plant before: the first statement, every tenth, the end."""
    starts: list[int] = []
    taken = 0
    for statement in tree.body:
        # A statement that begins on the last line of another may stand in that one's string.
        if statement.lineno > taken:
            starts.append(statement.lineno - 1)
        taken = statement.end_lineno or statement.lineno
    end = len(data.splitlines())
    return sorted({*starts[::_STATEMENTS_BETWEEN], end})


def _after_shebang(data: bytes) -> int:
    return 1 if data.startswith(b"#!") else 0


def _plant_markdown(data: bytes, mint: Mint) -> Planted:
    end = len(data.splitlines())
    # A file that begins with a rule may begin with settings, which must stay first.
    places = [end] if data.startswith(b"---") else sorted({0, end})
    return _insert(data, places, b"<!-- %s -->", mint)


def _plant_patch(data: bytes, mint: Mint) -> Planted:
    for number, line in enumerate(data.splitlines()):
        if line.startswith(b"diff --git "):
            return _insert(data, [number], b"%s", mint)
    return Planted(data=data)


def _insert(data: bytes, places: list[int], form: bytes, mint: Mint) -> Planted:
    mark = _UTF8_MARK if data.startswith(_UTF8_MARK) else b""
    lines = data.removeprefix(mark).splitlines(keepends=True)
    ending = b"\r\n" if lines and lines[0].endswith(b"\r\n") else b"\n"
    if lines and len(lines) in places and not lines[-1].endswith((b"\n", b"\r")):
        lines[-1] += ending
    tokens = tuple(mint(number) for number in range(len(places)))
    for place, word in sorted(zip(places, tokens, strict=True), reverse=True):
        lines.insert(place, form % word.encode() + ending)
    return Planted(data=mark + b"".join(lines), tokens=tokens)
