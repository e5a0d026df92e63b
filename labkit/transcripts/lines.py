"""Lines of JSON from an untrusted file, for every reader whose format is made of them."""

import json
from collections.abc import Iterator
from typing import Any

_MOST_GAPS = 50


def numbered(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Return the lines that are not blank, with their numbers from 1; only LF ends a line."""
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            yield number, line


def json_object(line: bytes) -> dict[str, Any] | None:
    """Return the JSON object that a line holds, None when it holds none; never raises."""
    try:
        # As text: json would guess the encoding of bytes, and find UTF-16 in a few NULs.
        value = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def clean(text: str) -> str:
    r"""Return a text that can be written as UTF-8: a lone surrogate (`\ud800`) is replaced."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def shortened(gaps: list[str]) -> tuple[str, ...]:
    """Return the first gaps and how many more there are: a foreign file has one on every line."""
    if len(gaps) <= _MOST_GAPS:
        return tuple(gaps)
    return (*gaps[:_MOST_GAPS], f"and {len(gaps) - _MOST_GAPS} more of this kind")
