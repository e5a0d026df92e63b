"""Bodies that are packed: read without unpacking what is handed on."""

import zlib
from collections.abc import Callable, Iterator

_STEP = 1 << 18
KNOWN = ("gzip", "deflate", "zstd", "identity")


class UnreadableError(Exception):
    """A body is not what it says that it is."""


def _zlib(bits: int) -> Callable[[bytes], Iterator[bytes]]:
    unpacker = zlib.decompressobj(bits)

    def feed(data: bytes) -> Iterator[bytes]:
        while data and not unpacker.eof:
            yield unpacker.decompress(data, _STEP)
            data = unpacker.unconsumed_tail

    return feed


def _zstd() -> Callable[[bytes], Iterator[bytes]]:
    try:
        from compression.zstd import ZstdDecompressor  # type: ignore[import-not-found]  # noqa: PLC0415 - of 3.14
    except ImportError:
        from backports.zstd import ZstdDecompressor  # noqa: PLC0415 - a compiled module, may lack
    unpacker = ZstdDecompressor()

    def feed(data: bytes) -> Iterator[bytes]:
        while not unpacker.eof and (data or not unpacker.needs_input):
            yield unpacker.decompress(data, _STEP)
            data = b""

    return feed


class Unpacker:
    """Unpacks one body, piece by piece, in steps of a bounded size."""

    def __init__(self, coding: str) -> None:
        """Raises UnreadableError for what cannot be unpacked here."""
        self._coding = coding.strip().lower()
        self._feed: Callable[[bytes], Iterator[bytes]] | None = None
        match self._coding:
            case "" | "identity":
                self._feed = lambda data: iter((data,))
            case "gzip" | "x-gzip":
                self._feed = _zlib(zlib.MAX_WBITS | 16)
            case "deflate":
                pass  # with or without zlib's head: the first byte tells
            case "zstd":
                self._feed = _optional_zstd()
            case _:
                raise UnreadableError(f"the content-encoding {coding[:40]!r} cannot be read here")

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what is in the next piece of a body."""
        if self._feed is None:
            if not data:
                return
            wrapped = data[0] & 0x0F == zlib.DEFLATED
            self._feed = _zlib(zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS)
        try:
            yield from self._feed(data)
        except Exception as error:
            raise UnreadableError(f"the body is not {self._coding}: {error}") from error


def _optional_zstd() -> Callable[[bytes], Iterator[bytes]]:
    try:
        return _zstd()
    except ImportError:
        raise UnreadableError("zstd cannot be read here") from None


def unpacked(coding: str, body: bytes, most: int) -> bytes:
    """Return a whole body unpacked; raises UnreadableError also when it is larger than `most`."""
    found = bytearray()
    for piece in Unpacker(coding).feed(body):
        found += piece
        if len(found) > most:
            raise UnreadableError(f"the body is larger than {most >> 20} MiB")
    return bytes(found)
