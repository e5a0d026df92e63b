"""Values out of JSON that an agent wrote: of the kind that was asked for, or nothing."""

import math
from collections.abc import Mapping
from typing import Any

from labkit.transcripts.lines import clean

_LONGEST = 100_000
_MOST_TOKENS = 10**15


def mapping(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a mapping inside another; empty where there is none."""
    found = values.get(name)
    return found if isinstance(found, dict) else {}


def items(values: Mapping[str, Any], name: str) -> list[Any]:
    """Return a list inside a mapping; empty where there is none."""
    found = values.get(name)
    return found if isinstance(found, list) else []


def text(values: Mapping[str, Any], name: str) -> str:
    """Return a text that can be written as UTF-8, cut where it is very long."""
    found = values.get(name)
    return clean(found[:_LONGEST]) if isinstance(found, str) else ""


def whole(values: Mapping[str, Any], name: str) -> int | None:
    """Return a count."""
    found = values.get(name)
    if not isinstance(found, int) or isinstance(found, bool):
        return None
    return found if 0 <= found <= _MOST_TOKENS else None


def number(values: Mapping[str, Any], name: str) -> float | None:
    """Return a finite amount that is not negative."""
    found = values.get(name)
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    try:
        amount = float(found)
    except OverflowError:
        return None
    return amount if math.isfinite(amount) and amount >= 0 else None


def last_line(data: bytes) -> str:
    """Return the last line that says something, cut where it is very long."""
    lines = data[-_LONGEST:].decode("utf-8", "replace").strip().splitlines()
    return lines[-1].strip()[:1000] if lines else ""
