"""Server-sent events, read from bytes that are split anywhere."""

import re

_LINE_END = re.compile(rb"\r\n|\n|\r")
_MOST = 16 << 20


class Events:
    """Reads a stream: comments, names and ids of events are passed over, their data is kept."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._data: list[bytes] = []
        self._size = 0
        self._first = True
        self._returned = False
        """The last byte was a \\r: a \\n that follows belongs to it."""

    def feed(self, piece: bytes) -> list[str]:
        """Take the next bytes and return the data of every event that is whole by now."""
        if self._returned and piece:
            piece, self._returned = piece.removeprefix(b"\n"), False
        look = len(self._rest)  # there is no end of a line in what came before
        self._rest += piece
        found: list[str] = []
        start = 0
        while end := _LINE_END.search(self._rest, look):
            self._line(bytes(self._rest[start : end.start()]), found)
            start = look = end.end()
            self._returned = end[0] == b"\r" and start == len(self._rest)
        del self._rest[:start]
        if len(self._rest) > _MOST:
            self._rest.clear()
            self._size = _MOST + 1
        return found

    def _line(self, line: bytes, found: list[str]) -> None:
        if self._first:
            line, self._first = line.removeprefix(b"\xef\xbb\xbf"), False
        if not line:
            if self._data and self._size <= _MOST:
                found.append(b"\n".join(self._data).decode(errors="replace"))
            self._data, self._size = [], 0
            return
        name, _, value = line.partition(b":")
        if name == b"data" and self._size <= _MOST:
            self._data.append(value.removeprefix(b" "))
            self._size += len(value)
