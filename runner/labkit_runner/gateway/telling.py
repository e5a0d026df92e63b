"""What the gateway tells: JSON lines on its standard output, masked as they are written."""

import hashlib
import json
import time
from collections.abc import Mapping
from typing import IO, Any

from labkit_runner.gateway.masks import Mask

_MOST_WIRE = 256 << 20
"""Bytes told of one run; from there on only numbers are told."""
_MOST_REFUSED = 10_000
"""Refusals told of one run; from there on they are only counted."""
_MOST_PART = 1 << 20
_MOST_PARAM = 64 << 10
_BEGINNING = 2000


class Teller:
    """Writes the lines of a run, each at once, up to a bound."""

    def __init__(self, out: IO[bytes], mask: Mask, *, most: int = _MOST_WIRE) -> None:
        self.mask = mask
        self._out = out
        self._start = time.monotonic()
        self._told: set[str] = set()
        self._most = most
        self._size = 0
        self._refused = 0

    @property
    def listens(self) -> bool:
        """Whether refusals are still told one by one."""
        return self._refused < _MOST_REFUSED and not self._is_full

    def tell(self, kind: str, **values: Any) -> None:
        """Write one line; nothing of what is masked stands in it."""
        if kind == "refused":
            self._refused += 1
            if self._refused > _MOST_REFUSED or self._is_full:
                return
        if kind == "piece" and self._is_full:
            return
        if kind == "request" and self._is_full:
            values = {**values, "params": {}, "parts": {}}
        if kind == "end":
            values = {**values, "refused": self._refused}
        self._write({"kind": kind, "t": self._seconds(), **self.mask.clean(values)})

    def part(self, value: Any) -> str:
        """Tell of a piece of a request, once, and return the name that it has from then on."""
        clean = self.mask.clean(value)
        text = _text(clean)
        found = _named(text)
        if found not in self._told and not self._is_full:
            self._told.add(found)
            line = {"kind": "part", "t": self._seconds(), "digest": found}
            if len(text) > _MOST_PART:
                self._write({**line, "value": text[:_BEGINNING], "cut": len(text) - _BEGINNING})
            else:
                self._write({**line, "value": clean})
        return found

    @property
    def _is_full(self) -> bool:
        return self._size > self._most

    def _seconds(self) -> float:
        return round(time.monotonic() - self._start, 4)

    def _write(self, line: object) -> None:
        data = json.dumps(line, ensure_ascii=False).encode(errors="replace") + b"\n"
        before, self._size = self._is_full, self._size + len(data)
        self._out.write(data)
        self._out.flush()
        if self._is_full and not before:
            self._write({"kind": "cut", "t": self._seconds(), "limit": self._most})


def bounded(params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return parameters as they are told: one that is too large by its digest and beginning.

    Where all of them are, they are told as one.
    """
    told = {name: _bounded(value) for name, value in params.items()}
    text = _text(told)
    return told if len(text) <= _MOST_PART else {"all": _cut(text)}


def _bounded(value: Any) -> Any:
    if value is None or isinstance(value, int | float):
        return value
    text = _text(value)
    return value if len(text) <= _MOST_PARAM else _cut(text)


def _cut(text: str) -> dict[str, Any]:
    return {"digest": _named(text), "size": len(text), "beginning": text[:_BEGINNING]}


def body_digest(body: bytes) -> str:
    """Return the name of a request that is not told of otherwise."""
    return "sha256:" + hashlib.sha256(body).hexdigest()


def digest(value: Any) -> str:
    """Return the name of a JSON value: equal values have equal names."""
    return _named(_text(value))


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _named(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode(errors="replace")).hexdigest()
