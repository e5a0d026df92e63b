"""Values on their way between labkit and a candidate's process: JSON that keeps Python's types.

Texts, numbers, truth values, None, lists and mappings of texts are JSON as it is. A tuple, bytes,
and a mapping with other keys are marked: `{"!tuple": [...]}`. Nothing is ever unpickled.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from labkit.evals.pipes import MOST_LINE
from labkit.graders.values import shown_type

DEEPEST = 100
_MARK = "!"
_LONGEST_INT = 4000


class UnfitError(Exception):
    """A value cannot be sent, or is none that can have been sent; the message says why."""


def pack(value: object, where: str) -> bytes:
    """Return a value as one line; raises UnfitError that says `where` for what has no such form."""
    line = json.dumps(_packed(value, where, 0)).encode()
    if len(line) > MOST_LINE:
        raise UnfitError(f"{where} takes {len(line):,} bytes, and at most {MOST_LINE:,} are taken")
    return line


def _packed(value: object, where: str, depth: int) -> Any:
    if depth > DEEPEST:
        raise UnfitError(f"{where} is nested more than {DEEPEST} deep")
    if isinstance(value, list):
        return [_packed(each, where, depth + 1) for each in value]
    if isinstance(value, tuple):
        return {"!tuple": [_packed(each, where, depth + 1) for each in value]}
    if isinstance(value, Mapping):
        return _packed_mapping(value, where, depth)
    return _packed_leaf(value, where)


def _packed_leaf(value: object, where: str) -> Any:
    match value:
        case None | bool() | float():
            return value
        case int():
            if abs(value) >= 10**_LONGEST_INT:
                raise UnfitError(f"{where} holds a whole number of more than {_LONGEST_INT} digits")
            return int(value)
        case str():
            return str.__str__(value)
        case bytes() | bytearray():
            return {"!bytes": value.hex()}
        case _:
            raise UnfitError(
                f"{where} holds {shown_type(value)}: "
                "use texts, numbers, true, false, None, bytes, lists, tuples and mappings"
            )


def _packed_mapping(value: Mapping[Any, object], where: str, depth: int) -> Any:
    if all(isinstance(key, str) and not key.startswith(_MARK) for key in value):
        return {key: _packed(each, where, depth + 1) for key, each in value.items()}
    pairs = [[_packed(each, where, depth + 1) for each in pair] for pair in value.items()]
    return {"!dict": pairs}


def unpack(line: bytes) -> Any:
    """Return the value of a line, whoever wrote it; raises UnfitError when it is none."""
    try:
        return _unpacked(json.loads(line))
    except (ValueError, TypeError, RecursionError) as error:
        raise UnfitError(f"is not a message: {type(error).__name__}") from error


def _unpacked(value: Any) -> Any:
    if isinstance(value, list):
        return [_unpacked(each) for each in value]
    if not isinstance(value, dict):
        return value
    mark = next(iter(value), "")
    if len(value) == 1 and mark.startswith(_MARK):
        return _marked(mark, value[mark])
    return {key: _unpacked(each) for key, each in value.items()}


def _marked(mark: str, content: Any) -> Any:
    readers: dict[str, Callable[[Any], object]] = {
        "!bytes": bytes.fromhex,
        "!tuple": lambda items: tuple(_unpacked(list(items))),
        "!dict": lambda pairs: {_unpacked(key): _unpacked(each) for key, each in pairs},
    }
    if mark not in readers:
        raise ValueError(mark)
    return readers[mark](content)
