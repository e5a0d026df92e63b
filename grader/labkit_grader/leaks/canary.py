"""Where canaries show in a text, also when it was folded, numbered, reversed or encoded.

The encodings are those that one ordinary command makes (`base64`, `xxd`, `rev`, `fold`, `cat -n`).
Compression, ciphers and encodings of encodings are not undone.
"""

import base64
import html
import re
import urllib.parse
from collections.abc import Iterator

from labkit import canary

# 26 base32 characters hold the 128 random bits.
_LENGTH = len(canary.PREFIX) + 26
_PREFIX = re.compile(canary.PREFIX, re.IGNORECASE)
_HEX_PREFIX = re.compile(
    "".join(f"(?:{ord(c):02x}|{ord(c.lower()):02x})" for c in canary.PREFIX), re.IGNORECASE
)
_LINE_NUMBER = re.compile(r"(?m)^ *\d+(?:[\t:|\-]|→| {1,2})")
# No part may begin again within what it has just read in vain: a line can have megabytes.
_DUMP_MARGINS = re.compile(
    r"(?m)^[ \t]*[0-9A-Fa-f]{6,8}:?(?=[ \t])|(?<![ \t])[ \t]{2,}+\S{1,16}$|\|.{0,16}\|$"
)
_HEX_SIGNS = re.compile(r"0x|\\x|[^0-9A-Za-z]", re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/]*")
# Without the prefix: with it, what follows a mask would be taken for a token's other letters.
_MASK = "[canary]"
_WITHHELD = "[left out: a canary stands here in another form]"


def sightings(text: str) -> dict[str, str]:
    """Return every token that a text holds, with the form that it was seen in."""
    found: dict[str, str] = {}
    for form, view in _views(text):
        for match in _PREFIX.finditer(view):
            # One window for each prefix: a prefix in front of another hides nothing.
            for token in canary.find(view[match.start() : match.start() + _LENGTH]):
                found.setdefault(token, form)
    return found


def masked(text: str) -> str:
    """Return a text that can be shown: it holds no token in any form that `sightings` sees."""
    for token in canary.find(text):
        text = re.sub(token, _MASK, text, flags=re.IGNORECASE)
    return _WITHHELD if sightings(text) else text


def _views(text: str) -> Iterator[tuple[str, str]]:
    yield "as it is", text
    if "%" in text:
        yield "percent-encoded", urllib.parse.unquote(text)
    if "&" in text:
        yield "as HTML", html.unescape(text)
    unnumbered = _LINE_NUMBER.sub("", text)
    joined = "".join(filter(str.isalnum, unnumbered)) if _worth_joining(text) else ""
    yield "in pieces", joined
    yield "reversed", joined[::-1]
    for hexadecimal in (text, _DUMP_MARGINS.sub("", text)):
        yield from _hex_views(_HEX_SIGNS.sub("", hexadecimal))
    yield from _base64_views("".join(unnumbered.split()).replace("-", "+").replace("_", "/"))


def _worth_joining(text: str) -> bool:
    """Whether the rarer letters of the prefix stand in the text at all."""
    upper = text.upper()
    return all(letter in upper for letter in "LKCY")


def _hex_views(digits: str) -> Iterator[tuple[str, str]]:
    for match in _HEX_PREFIX.finditer(digits):
        start = match.start()
        window = re.match("(?:[0-9A-Fa-f]{2})*", digits[start : start + 2 * _LENGTH])
        if window:
            yield "in hexadecimal", bytes.fromhex(window[0]).decode("latin-1")


def _base64_views(text: str) -> Iterator[tuple[str, str]]:
    for before in range(3):
        skipped, needle = _base64_prefix(before)
        start = text.find(needle)
        while start >= 0:
            padding = "A" * max(0, skipped - start)
            first = max(0, start - skipped)
            window = padding + text[first : first + 4 * (_LENGTH + 2) // 3 + 4]
            yield "in base64", _decoded(window)
            start = text.find(needle, start + 1)


def _base64_prefix(before: int) -> tuple[int, str]:
    """Return what encoded prefix stays the same, `before` bytes into a group of three.

    Also how many characters of the group precede it: they mix in bits of the bytes before.
    """
    encoded = base64.b64encode(bytes(before) + canary.PREFIX.encode()).decode()
    skipped = -(-8 * before // 6)
    return skipped, encoded[skipped : 8 * (before + len(canary.PREFIX)) // 6]


def _decoded(window: str) -> str:
    match = _BASE64.match(window)
    text = match[0] if match else ""
    whole = text[: len(text) - (len(text) % 4 == 1)]
    return base64.b64decode(whole + "=" * (-len(whole) % 4)).decode("latin-1")
