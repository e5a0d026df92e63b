"""Plain values in Python code: how they are told apart, and how much they give away."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

_SMALL = 100
_FEWEST_DIGITS = 3
_MOST = 12
_SHORTEST = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A value that stands in code."""

    text: str
    """Its one way to be written: a list and a tuple of the same items are the same."""
    weight: int
    """How unlikely it is that two people write it by chance: 0 for small numbers and letters."""
    words: tuple[str, ...]
    """Its parts that weigh anything, as they would stand in a text."""


def read_value(node: ast.AST | None) -> Value | None:
    """Return the value of a plain expression; None for any other."""
    if not isinstance(node, ast.expr) or isinstance(node, ast.JoinedStr):
        return None
    try:
        return value_of(ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def value_of(value: object) -> Value:
    """Return a plain value as it is compared with others."""
    words = tuple(_words(value))
    weight = sum(min(len(word), _MOST) for word in words)
    return Value(text=_text(value), weight=weight, words=words)


def _text(value: object) -> str:
    match value:
        case list() | tuple():
            return f"({', '.join(map(_text, value))})"
        case dict():
            return f"{{{', '.join(sorted(f'{_text(k)}: {_text(v)}' for k, v in value.items()))}}}"
        case set() | frozenset():
            return f"{{{', '.join(sorted(map(_text, value)))}}}"
        case _:
            return repr(value)


def _words(value: object) -> Iterator[str]:
    for item in _items(value):
        match item:
            case str() if len(item) >= _SHORTEST:
                yield item
            case bytes() if len(item) >= _SHORTEST:
                yield item.decode(errors="backslashreplace")
            case int() | float() | complex() if _is_rare(item):
                yield repr(item)
            case _:
                pass


def _items(value: object) -> Iterator[object]:
    """Yield what a value is made of, however deep it lies."""
    match value:
        case list() | tuple() | set() | frozenset():
            for item in value:
                yield from _items(item)
        case dict():
            for pair in value.items():
                yield from _items(pair)
        case _:
            yield value


def _is_rare(number: complex) -> bool:
    """Return whether a number is more than a count: large and not round, or of several digits."""
    digits = "".join(c for c in repr(number) if c.isdigit()).strip("0")
    return len(digits) >= _FEWEST_DIGITS or (abs(number) >= _SMALL and len(digits) > 1)
