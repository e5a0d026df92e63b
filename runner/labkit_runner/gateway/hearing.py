"""An answer, looked into and recorded while it is handed on."""

import codecs
import json
from typing import Any

from labkit_runner.gateway.apis.interface import Api, Heard
from labkit_runner.gateway.masks import Flow
from labkit_runner.gateway.sse import Events
from labkit_runner.gateway.telling import Teller

_MOST_WHOLE = 32 << 20
_MOST_TOLD = 8 << 20


class Hearing:
    """Understands one answer of an API, streamed or whole."""

    def __init__(self, api: Api, *, streamed: bool) -> None:
        self.heard = Heard()
        self._api = api
        self._events = Events() if streamed else None
        self._whole = bytearray()
        self._size = 0

    def feed(self, data: bytes) -> None:
        """Take the next of it, unpacked."""
        if self._events is None:
            self._size += len(data)
            if self._size <= _MOST_WHOLE:
                self._whole += data
            return
        for text in self._events.feed(data):
            event = _parsed(text)
            if isinstance(event, dict):
                self._api.hear(self.heard, event)

    def end(self, *, failed: bool) -> None:
        """Take the end of it; `failed` when its status was an error's."""
        if self._events is not None or self._size > _MOST_WHOLE:
            return
        body = _parsed(self._whole)
        # Gemini streams a list where no events were asked for.
        bodies = body if isinstance(body, list) else [body]
        for each in bodies:
            if isinstance(each, dict):
                self._api.hear_whole(self.heard, each)
        if failed and not self.heard.error:
            self.heard.error = {"message": self._whole[:300].decode(errors="replace")}


class Tape:
    """Tells of an answer's text as it comes, up to a bound."""

    def __init__(self, teller: Teller, number: int) -> None:
        self.cut_bytes = 0
        self._teller = teller
        self._number = number
        self._told = 0
        self._text = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._flow = Flow(teller.mask)

    def feed(self, data: bytes) -> None:
        """Take the next of it, unpacked."""
        room = max(0, _MOST_TOLD - self._told)
        self.cut_bytes += max(0, len(data) - room)
        self._told += len(data)
        if room:
            self._tell(self._flow.feed(self._text.decode(data[:room])))

    def end(self) -> None:
        """Tell what was kept back."""
        self._tell(self._flow.feed(self._text.decode(b"", final=True)) + self._flow.end())

    def _tell(self, text: str) -> None:
        if text:
            self._teller.tell("piece", n=self._number, text=text)


def _parsed(text: str | bytearray) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
