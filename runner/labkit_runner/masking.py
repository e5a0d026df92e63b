"""Takes secrets out of bytes as they pass, whatever writes them: a run's output, sessions, files.

A secret is found as it is, as JSON, URLs and base64 write it (whatever stands around it), in
hexadecimal, and with its lines broken. Whoever wants to hide a secret finds other forms: masking
keeps a token out of the evidence of honest agents; a token that was in a sandbox is exposed.
"""

import base64
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import IO
from urllib.parse import quote

from labkit.archive import Entry
from labkit.gitpaths import shown_path

MASK = b"[masked]"
SHORTEST = 8
"""Bytes that a secret must have: masking shorter ones would shred ordinary text."""
_BREAK = rb"(?:\\{1,4}r)?\\{1,4}n|\r?\n[-+ ]?"
"""The end of a line inside of a secret: in a text, in a JSON string, in a difference."""
_OPTIONAL_BREAK = b"(?:" + _BREAK + b")?"
_BREAKS = re.compile(_BREAK)
_ENDS = re.compile(_BREAK.removesuffix(rb"[-+ ]?"))
"""The same where no sign of a difference follows, but the secret itself."""
_HALF_BREAK = re.compile(rb"(?:\\{1,4}r?\\{0,4}|\r)\Z")
_ROUNDS = 3
"""How many bytes base64 turns into one group, and so the ways in which a secret can stand in it."""


def _in_base64(secret: bytes) -> Iterator[bytes]:
    """Yield what base64 makes of a secret, without the digits that its neighbours have a part in.

    One form for each place that the secret can have in a group, in both alphabets.
    """
    for before in range(_ROUNDS):
        encoded = base64.b64encode(b"\0" * before + secret).rstrip(b"=")
        first = -(-before * 8 // 6)
        whole = (before + len(secret)) * 8 // 6
        yield encoded[first:whole]
        yield encoded[first:whole].translate(bytes.maketrans(b"+/", b"-_"))


def _forms(secret: bytes) -> Iterator[bytes]:
    yield secret
    text = secret.decode("utf-8", "surrogateescape")
    if text.isprintable():
        once = json.dumps(text)[1:-1]
        yield from (form.encode() for form in (once, once.replace("/", "\\/")))
        yield json.dumps(once)[1:-1].encode()
    yield from (quote(secret, safe=safe).encode() for safe in ("", "/"))
    yield from (secret.hex().encode(), secret.hex().upper().encode())
    yield from _in_base64(secret)


class Masker:
    """Knows the secrets of a run. It never shows them."""

    def __init__(self, secrets: Iterable[str | bytes]) -> None:
        plain = [each.encode() if isinstance(each, str) else each for each in secrets]
        forms = {form for each in plain if len(each) >= SHORTEST for form in _forms(each)}
        # The longest first: a form may hold a shorter one, of which nothing must be left over.
        self._forms = tuple(sorted(forms, key=lambda form: (-len(form), form)))
        words = (_OPTIONAL_BREAK.join(re.escape(form[i : i + 1]) for i in range(len(form)))
                 for form in self._forms)  # fmt: skip
        self._pattern = re.compile(b"|".join(words)) if forms else None
        self._window = 4 * max(map(len, forms), default=0)

    def __repr__(self) -> str:
        return f"Masker({len(self._forms)} forms)"

    def mask(self, data: bytes) -> tuple[bytes, int]:
        """Return the bytes without secrets, line ends kept, and how many secrets stood there."""
        if self._pattern is None:
            return data, 0
        return self._pattern.subn(_masked, data)

    def finds(self, data: bytes) -> bool:
        """Whether a secret stands in the bytes."""
        return self._pattern is not None and self._pattern.search(data) is not None

    def stream(self, target: IO[bytes]) -> "MaskedStream":
        """Return a file that writes to `target` without secrets; its end must be told by `end`."""
        return MaskedStream(target, self)

    def entries(self, entries: Iterable[Entry], hits: list[str]) -> Iterator[Entry]:
        """Yield files without secrets, a link's target and a name too; note in `hits` which had.

        Done before a difference is made, so that it still applies, and tells the masked tree.
        """
        for entry in entries:
            path, in_path = self.mask(entry.path)
            data, in_data = self.mask(entry.data)
            if in_path or in_data:
                hits.append(shown_path(path))
                entry = replace(entry, path=path, data=data)  # noqa: PLW2901 - the masked one
            yield entry

    def pass_on(self, data: bytes) -> tuple[bytes, bytes, int]:
        """Return what is certain, without secrets, the rest to wait with, and how many there were.

        The rest is the beginning of a secret, or may be.
        """
        certain, start, hits, done = self._certain(data, 0), 0, 0, bytearray()
        for found in self._pattern.finditer(data) if self._pattern else ():
            if found.start() >= certain:
                break
            done += data[start : found.start()] + _masked(found)
            start = found.end()
            hits += 1
            if start > certain:
                certain = self._certain(data, start)
        return bytes(done + data[start:certain]), data[certain:], hits

    def _certain(self, data: bytes, first: int) -> int:
        """Return the place at or after `first` from which on the data may begin a secret."""
        start = max(first, len(data) - self._window)
        tail = data[start:]
        half = len(_HALF_BREAK.sub(b"", tail))
        return start + min(
            _prefix_at(self._forms, tail[:half], ends, or_else=half) for ends in (_BREAKS, _ENDS)
        )


def _masked(found: re.Match[bytes]) -> bytes:
    """Return what stands for a secret: a mask on each of its lines, so that lines stay lines."""
    return MASK + b"".join(line + MASK for line in _BREAKS.findall(found[0]))


def _prefix_at(
    forms: tuple[bytes, ...], data: bytes, ends: re.Pattern[bytes], *, or_else: int
) -> int:
    """Return the first place from which on the data is a beginning of a form, and no more.

    `ends` is what stands between its lines.
    """
    places: list[int] = []
    start = 0
    for found in ends.finditer(data):
        places.extend(range(start, found.start()))
        start = found.end()
    places.extend(range(start, len(data)))
    bare = bytes(data[place] for place in places)
    first = min((_beginning(form, bare) for form in forms), default=len(bare))
    return places[first] if first < len(bare) else or_else


def _beginning(form: bytes, data: bytes) -> int:
    place = data.find(form[:1], max(0, len(data) - len(form) + 1))
    while place >= 0:
        if form.startswith(data[place:]):
            return place
        place = data.find(form[:1], place + 1)
    return len(data)


@dataclass(slots=True)
class MaskedStream:
    """A file for output that comes in pieces: a secret is found across them.

    What could be the beginning of a secret is held back until more has come; everything else is
    in the target at once.
    """

    target: IO[bytes]
    masker: Masker
    hits: int = 0
    """How many secrets were taken out."""
    _rest: bytes = field(default=b"", repr=False)

    def write(self, data: bytes) -> int:
        """Take a piece and pass on what is certain."""
        certain, self._rest, hits = self.masker.pass_on(self._rest + data)
        self.hits += hits
        self.target.write(certain)
        return len(data)

    def flush(self) -> None:
        """Flush the target; what is held back stays so."""
        self.target.flush()

    def end(self) -> None:
        """Pass on what was held back: nothing more comes."""
        masked, hits = self.masker.mask(self._rest)
        self.hits += hits
        self.target.write(masked)
        self._rest = b""
        self.target.flush()


NOTHING_SECRET = Masker(())
"""Masks nothing: for runs in whose sandbox no secret lies."""
