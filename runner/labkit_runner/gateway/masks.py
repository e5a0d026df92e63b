"""Secrets: found in whatever form a text may carry them, and put out of it."""

import base64
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote, quote_plus

HIDDEN = "[masked]"
_SHORTEST_ENCODED = 8
"""Shorter texts are looked for as they are: encoded they would be found in anything."""


def forms(text: str) -> Iterator[str]:
    """Yield the ways in which a text may be written down, itself first."""
    yield text
    data = text.encode(errors="surrogatepass")
    if len(data) < _SHORTEST_ENCODED:
        return
    yield json.dumps(text)[1:-1]
    yield json.dumps(text, ensure_ascii=False)[1:-1].replace("/", "\\/")
    yield "".join(f"\\u{ord(each):04x}" for each in text)
    yield quote(text, safe="", errors="replace")
    yield quote_plus(text, errors="replace")
    yield "".join(f"%{byte:02X}" for byte in data)
    yield data.hex()
    for skipped in range(3):
        # The first and last characters also hold bits of what stands beside the text.
        encoded = base64.b64encode(b"\0" * skipped + data)
        start, end = -(-skipped * 8 // 6), (skipped + len(data)) * 8 // 6
        inner = encoded[start:end].decode()
        yield inner
        yield inner.replace("+", "-").replace("/", "_")


class Mask:
    """Texts that must not be told, in all their forms, in capitals or not."""

    def __init__(self, texts: Iterable[str]) -> None:
        found = {each.lower() for text in texts if text for each in forms(text)}
        self._forms = tuple(sorted(found, key=len, reverse=True))
        self._letters = frozenset("".join(self._forms))
        self._pattern = re.compile("|".join(map(re.escape, self._forms)), re.IGNORECASE)
        self._longest = max(map(len, self._forms), default=0)
        self._shortest = min(map(len, self._forms), default=0)

    def text(self, text: str) -> str:
        """Return a text without them."""
        if not self.found(text):
            return text
        clean = self._pattern.sub(HIDDEN, text)
        return HIDDEN if self.found(clean) else clean

    def clean(self, value: Any) -> Any:
        """Return a JSON value whose texts are without them."""
        match value:
            case str():
                return self.text(value)
            case dict():
                return {self.text(str(name)): self.clean(each) for name, each in value.items()}
            case list() | tuple():
                return [self.clean(each) for each in value]
            case _:
                return value

    def found(self, text: str) -> bool:
        """Tell whether one of them stands in a text."""
        if len(text) < self._shortest:
            return False
        lower = text.lower()  # looking for each is much faster than the pattern
        return any(each in lower for each in self._forms)

    def undecided(self, text: str) -> int:
        """Return how many characters at the end of a text may be the beginning of one of them."""
        tail = text[-(self._longest - 1) :].lower() if self._longest > 1 else ""
        if tail[-1:] not in self._letters:
            return 0  # as at the end of every event
        for start in range(len(tail)):
            if any(each.startswith(tail[start:]) for each in self._forms):
                return len(tail) - start
        return 0


class Flow:
    """A text that comes in pieces: handed on masked, as soon as it is known what it holds."""

    def __init__(self, mask: Mask) -> None:
        self._mask = mask
        self._rest = ""

    def feed(self, text: str) -> str:
        """Take a piece and return what can be told by now."""
        whole = self._rest + text
        keep = len(whole) - self._mask.undecided(whole)
        self._rest = whole[keep:]
        return self._mask.text(whole[:keep])

    def end(self) -> str:
        """Return what is left."""
        rest, self._rest = self._rest, ""
        return self._mask.text(rest)


class Watch:
    """Looks for secrets in a text that comes in pieces, before each piece is handed on."""

    def __init__(self, mask: Mask) -> None:
        self._mask = mask
        self._rest = ""

    def look(self, text: str) -> bool | None:
        """Take a piece: True when a secret is in it, None when its end may be the start of one."""
        whole = self._rest + text
        if self._mask.found(whole):
            return True
        left = self._mask.undecided(whole)
        self._rest = whole[len(whole) - left :]
        return None if left else False
