"""What of a diff is refused whatever git says: sizes, links that lead out, odd names."""

import base64
import itertools
import os
import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from labkit.archive import Entry, Kind
from labkit.git import TreeEntry
from labkit.gitpaths import DOT_GIT

_NO_DATA = re.compile(rb"^Binary files .+ differ\r?$", re.MULTILINE)
_ABSURD = re.compile(rb"^(?:literal|delta) [0-9]{13}", re.MULTILINE)
_BINARY = re.compile(rb"^(?:literal|delta) ([0-9]{1,12})\r?$", re.MULTILINE)
_DELTA = re.compile(rb"^delta [0-9]+\r?\n[A-Za-z]([^\r\n]+)", re.MULTILINE)
_DELTA_HEAD = 20
_SAME = re.compile(rb"^diff --git (?P<name>(?!a/).+) (?P=name)\r?$", re.MULTILINE)
# Only with a hunk behind them: a changed line of code may look like one of these by itself.
_NAMES = re.compile(rb"^--- ([^\n]*)\n\+\+\+ ([^\n]*)\n@@ -", re.MULTILINE)
_HEADER = re.compile(rb"^(?:diff --git|--- |\+\+\+ |rename |copy )[^\n]*\0", re.MULTILINE)
_MODE = re.compile(rb"^(?:old|new|new file|deleted file) mode (.*?)\r?$", re.MULTILINE)
_KNOWN_MODE = re.compile(rb"10[0-7]{4}|120000|160000")
_MADE = re.compile(rb"^diff --git (.*)\n(new|deleted) file mode", re.MULTILINE)
MOST_BYTES = 64 * 1024 * 1024
_LONGEST_NAME = 255
_LONGEST_PATH = 3000
_DEEPEST = 100
# What Apple's file systems leave out of a name.
_IGNORED = dict.fromkeys(
    [*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF]
)


def shown(path: bytes) -> str:
    """Return a path as text that can always be written; odd bytes become escapes."""
    return path.decode(errors="backslashreplace")


def unfit(patch: bytes) -> str:
    """Return why a diff is not even tried; empty when it may be.

    A binary change without data would be taken from whatever repository git can read, and one that
    unpacks to much more than it is could fill this machine's memory.
    """
    if without := _NO_DATA.search(patch):
        return f"a binary file without its data: {shown(without[0].strip())}"
    if _ABSURD.search(patch):
        return "a binary file of an absurd size"
    size = len(patch) + sum(int(match[1]) for match in _BINARY.finditer(patch))
    size += sum(_made_by(*match.groups()) for match in _DELTA.finditer(patch))
    if size > MOST_BYTES:
        return f"the diff is too large: {size} bytes, and {MOST_BYTES} are the most"
    return _bad_header(patch)


def _made_by(data: bytes) -> int:
    """Return how large a file a delta makes, by its first line; 0 where git refuses it anyway."""
    try:
        head = zlib.decompressobj().decompress(base64.b85decode(data), _DELTA_HEAD)
    except (ValueError, zlib.error):
        return 0
    # Two numbers, seven bits in each byte: the size of what is there, and of what is made.
    sizes, shift = [0], 0
    for byte in head:
        sizes[-1] |= (byte & 0x7F) << shift
        shift = shift + 7 if byte & 0x80 else 0
        if not byte & 0x80:
            sizes.append(0)
    return sizes[1] if len(sizes) > 1 else 0


def _bad_header(patch: bytes) -> str:
    """Return what is wrong with a header that git itself takes, or reads otherwise than people."""
    if _HEADER.search(patch):
        return "a name in it holds a NUL byte"
    if strange := [mode for mode in _MODE.findall(patch) if not _KNOWN_MODE.fullmatch(mode)]:
        return f"there is no such mode: {shown(strange[0][:20])}"
    names = [(_name(old), _name(new)) for old, new in _NAMES.findall(patch)]
    if absolute := [new for _, new in names if new.startswith(b"/") and new != b"/dev/null"]:
        return f"it names an absolute path: {shown(absolute[0][:80])}"
    bare = [old for old, new in names if old == new and b"/" in old and not old.startswith(b"a/")]
    if bare := [match["name"] for match in _SAME.finditer(patch)] + bare:
        what = f"its paths have no a/ and b/ in front, as {shown(bare[0][:80])}"
        return f"{what}: make it without --no-prefix"
    made = Counter(_MADE.findall(patch))
    twice = [name for (name, word), count in made.items() if word == b"new"
             and count > made[name, b"deleted"] + 1]  # fmt: skip
    return f"it makes a file twice: {shown(twice[0][:80])}" if twice else ""


def _name(text: bytes) -> bytes:
    return text.partition(b"\t")[0].rstrip(b"\r").strip(b'"')


def bad_link(new: Iterable[Entry]) -> str:
    """Return a sentence about a link that could lead out of the tree.

    `..` may stand at a target's beginning only: later on it could climb from where another link
    leads, which its text does not show.
    """
    for entry in new:
        if entry.kind is not Kind.SYMLINK:
            continue
        parts = entry.data.split(b"/")
        climbs = len(list(itertools.takewhile(lambda part: part == b"..", parts)))
        if (
            entry.data.startswith(b"/")
            or climbs > entry.path.count(b"/")
            or b".." in parts[climbs:]
        ):
            return f"the link {shown(entry.path)} leads out of the tree: {shown(entry.data)}"
        if not entry.data or b"\0" in entry.data or len(entry.data) > _LONGEST_PATH:
            return f"the link {shown(entry.path)} leads nowhere that has a name"
    return ""


def odd_name(entries: Iterable[TreeEntry], changed: Sequence[TreeEntry]) -> str:
    """Return a sentence about a new path that cannot be laid out everywhere as it stands."""
    if problem := next(filter(None, (_bad_name(entry.path) for entry in changed)), ""):
        return problem
    spellings: dict[str, set[bytes]] = {}
    for entry in entries:
        for folded, part in _spellings(entry.path):
            spellings.setdefault(folded, set()).add(part)
    for entry in changed:
        for folded, part in _spellings(entry.path):
            if twins := spellings[folded] - {part}:
                return f"{shown(part)} and {shown(min(twins))} are one path on some systems"
    return ""


def _bad_name(path: bytes) -> str:
    parts = path.split(b"/")
    if any(_folded(part) == ".git" or DOT_GIT.fullmatch(part) for part in parts):
        return f"the diff writes below .git: {shown(path[:80])}"
    longest = max(map(len, parts))
    if longest > _LONGEST_NAME or len(path) > _LONGEST_PATH or len(parts) > _DEEPEST:
        return f"a name is too long: {shown(path[:80])}..."
    return ""


def _spellings(path: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield a path and all folders that it lies in, each as a careless system has it, and as is."""
    folded = [_folded(part) for part in path.split(b"/")]
    for count, part in enumerate(leading(path), 1):
        yield "/".join(folded[:count]), part


def leading(path: bytes) -> Iterator[bytes]:
    """Yield a path and every folder that it lies in."""
    parts = path.split(b"/")
    return (b"/".join(parts[:count]) for count in range(1, len(parts) + 1))


@lru_cache(maxsize=1 << 16)
def _folded(name: bytes) -> str:
    """Return what a name is to a system without case that drops what Apple's and Windows' do."""
    plain = os.fsdecode(name).translate(_IGNORED)
    return unicodedata.normalize("NFC", plain.rstrip(" .") or plain).casefold()
