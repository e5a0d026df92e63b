"""Looking at values that a candidate made without calling any code of theirs.

A candidate that is a Python callable can return an object that lies: a text whose `__eq__` always
says yes, a `__class__` that is not its type, a `__repr__` that raises. Only the built-in types'
own methods are called here, and on those types alone.
"""

import re

MOST_CHARACTERS = 4 * 1024 * 1024
"""How long an answer can be: a longer one fails, so that time and memory are bounded."""
_LONGEST_SHOWN = 80
_WIDEST_INT = 128
_SURROGATES = re.compile("[\ud800-\udfff]")
_NAME = type.__dict__["__name__"]


class TooLongError(Exception):
    """An answer is longer than anything that is graded: its own doing, a fail."""


def type_name(value: object) -> str:
    """Return the name of a value's true type."""
    return str.__str__(_NAME.__get__(type(value)))


def shown_type(value: object) -> str:
    """Return a value's type as a message can hold it: "nothing", "a value of type dict"."""
    return "nothing" if value is None else f"a value of type {type_name(value)[:_LONGEST_SHOWN]}"


def raised(error: BaseException) -> str:
    """Return an exception as "Name: what it says"; the name alone when it says nothing."""
    name = type_name(error)[:_LONGEST_SHOWN]
    said = said_by(error)
    return f"{name}: {said}" if said else name


def said_by(error: BaseException) -> str:
    """Return the beginning of what an exception says; empty when it says nothing."""
    try:
        return str.__str__(str(error)).strip()[:500]
    except Exception:  # noqa: BLE001 - an exception's own `__str__` may do anything
        return ""


def text_of(value: object) -> str | None:
    """Return a text, or bytes read as UTF-8; None for anything else.

    What cannot be UTF-8 (a lone surrogate, a wrong byte) becomes U+FFFD. Raises TooLongError.
    """
    kind = type(value)
    if issubclass(kind, str):
        _check_length(str.__len__(value))  # type: ignore[arg-type] # mypy does not narrow by type()
        text = str.__str__(value)
        return text if text.isascii() else _SURROGATES.sub("\ufffd", text)
    if issubclass(kind, bytes):
        _check_length(bytes.__len__(value))  # type: ignore[arg-type]
        return bytes.decode(value, "utf-8", "replace")  # type: ignore[arg-type]
    return None


def _check_length(length: int) -> None:
    if length > MOST_CHARACTERS:
        raise TooLongError(f"it is {length:,} long, and graders read at most {MOST_CHARACTERS:,}")


def shown(value: object) -> str:
    """Return a value as a message can hold it, by its own code never."""
    kind = type(value)
    if kind in (str, bytes):
        piece = value[:_LONGEST_SHOWN]  # type: ignore[index]
        return f"{piece!r}..." if len(piece) < len(value) else f"{piece!r}"  # type: ignore[arg-type]
    if kind is int and value.bit_length() > _WIDEST_INT:  # type: ignore[attr-defined]
        return f"a whole number of {value.bit_length()} bits"  # type: ignore[attr-defined]
    return repr(value) if kind in (int, float, bool, type(None)) else shown_type(value)


def same(value: object, expected: object) -> bool:
    """Return whether a value is of the same plain types, and equal all the way down.

    `expected` is the author's: texts, numbers, None, lists, tuples and dicts with such keys. 4 is
    not 4.0, and True is not 1. Anything of another type equals nothing.
    """
    kind = type(expected)
    if type(value) is not kind:
        return False
    if kind in (str, bytes, int, float, bool, type(None)):
        return bool(value == expected)
    if kind in (list, tuple):
        return _same_items(value, expected)  # type: ignore[arg-type]
    return kind is dict and _same_dict(value, expected)  # type: ignore[arg-type]


def _same_items(value: list[object], expected: list[object]) -> bool:
    return len(value) == len(expected) and all(map(same, value, expected))


def _same_dict(value: dict[object, object], expected: dict[object, object]) -> bool:
    if len(value) != len(expected):
        return False
    # A key of a type of its own could run code when it is looked up.
    if not all(type(key) in (str, bytes, int, float, bool, type(None)) for key in value):
        return False
    found = {(type(key), key): item for key, item in value.items()}
    return all(
        (type(key), key) in found and same(found[type(key), key], item)
        for key, item in expected.items()
    )
