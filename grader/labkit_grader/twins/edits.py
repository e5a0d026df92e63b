"""Splices of a file's bytes: all else stays as its author wrote it."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """The bytes from `start` to `end` become `text`; nothing is taken away where they are equal."""

    start: int
    end: int
    text: str
    rank: int = 1
    """Of edits at one place those with the lower rank come first, then those named first."""


def edited(data: bytes, edits: Iterable[Edit]) -> bytes:
    """Return a file with edits that do not overlap."""
    parts: list[bytes] = []
    here = 0
    for edit in sorted(edits, key=lambda each: (each.start, each.end, each.rank)):
        if edit.start < here:
            raise ValueError(f"two edits overlap at byte {edit.start}")
        parts += [data[here : edit.start], edit.text.encode()]
        here = edit.end
    return b"".join([*parts, data[here:]])
