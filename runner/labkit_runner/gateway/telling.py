"""What the gateway tells: JSON lines on its standard output, masked as they are written."""

import hashlib
import json
import time
from typing import IO, Any

from labkit_runner.gateway.masks import Mask


class Teller:
    """Writes the lines of a run, each at once."""

    def __init__(self, out: IO[bytes], mask: Mask) -> None:
        self.mask = mask
        self._out = out
        self._start = time.monotonic()
        self._told: set[str] = set()

    def tell(self, kind: str, **values: Any) -> None:
        """Write one line; nothing of what is masked stands in it."""
        line = {"kind": kind, "t": round(time.monotonic() - self._start, 4), **values}
        self._write(self.mask.clean(line))

    def part(self, value: Any) -> str:
        """Tell of a piece of a request, once, and return the name that it has from then on."""
        clean = self.mask.clean(value)
        found = digest(clean)
        if found not in self._told:
            self._told.add(found)
            seconds = round(time.monotonic() - self._start, 4)
            self._write({"kind": "part", "t": seconds, "digest": found, "value": clean})
        return found

    def _write(self, line: object) -> None:
        self._out.write(json.dumps(line, ensure_ascii=False).encode(errors="replace") + b"\n")
        self._out.flush()


def digest(value: Any) -> str:
    """Return the name of a JSON value: equal values have equal names."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode(errors="replace")).hexdigest()
