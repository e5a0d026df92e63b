"""Lifts a diff out of the text around it: prose, Markdown fences, the headers of a mail.

The counts in a hunk's header say where it ends, so a remark right behind it is never taken for a
line of it. Whatever looks damaged is left as it is, for git to refuse.
"""

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from labkit.fields import counted

_MARK = b"\xef\xbb\xbf"
_WIDE = (b"\xff\xfe", b"\xfe\xff")
_EXTENDED = re.compile(
    rb"(?:old|new|new file|deleted file) mode [0-7]+|(?:copy|rename) (?:from|to|old|new) .+"
    rb"|(?:dis)?similarity index [0-9]+%|index [0-9a-f]+\.\.[0-9a-f]+(?: [0-7]+)?"
)
_INDEX = re.compile(rb"index ([0-9a-f]+)\.\.([0-9a-f]+)")
_EMPTY = (b"e69de29", b"473a0f4")
"""How the id of an empty file begins, in SHA-1 and in SHA-256."""
_HUNK = re.compile(rb"@@ -[0-9]+(?:,([0-9]+))? \+[0-9]+(?:,([0-9]+))? @@")
_BLOCK = re.compile(rb"(?:literal|delta) [0-9]+")
_DATA = re.compile(rb"[A-Za-z][0-9A-Za-z!#$%&()*+;<=>?@^_`{|}~-]+")
_MACHINERY = re.compile(
    rb"%s|GIT binary patch|%s|@@ -.*|\+\+\+ .+|Binary files .+ differ"
    % (_EXTENDED.pattern, _BLOCK.pattern)
)
_FENCE = re.compile(rb"[ >]*(?:```|~~~)")
_COMBINED = re.compile(rb"^diff --(?:cc|combined) ", re.MULTILINE)
_LONGEST_SHOWN = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifted:
    """A diff without what stood around it."""

    patch: bytes
    repairs: tuple[str, ...] = ()
    """What was cut away, one sentence each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Why no diff can be lifted out of a text, for a person."""

    reason: str


@dataclass(slots=True)
class _Found:
    """What of a text is diff, in the order in which it stands there."""

    groups: list[list[bytes]] = field(default_factory=lambda: [[]])
    """The diffs of single files, a group for each fence."""
    cut: list[bytes] = field(default_factory=list)


def lift(text: bytes) -> Lifted | Refused:
    """Return the diff that stands in a text; one that stands alone, or is damaged, as it is."""
    if text.startswith(_WIDE):
        return Refused(reason="it is UTF-16 text, as > of PowerShell writes it, and no diff of git")
    if _COMBINED.search(text):
        return Refused(reason="it is a combined diff of a merge: compare with the base instead")
    plain = text.removeprefix(_MARK)
    repairs = ("a byte order mark was cut away",) if plain != text else ()
    found = _take_apart(io.BytesIO(plain).readlines())  # a lone CR ends no line
    if found is None or not any(line.strip() for line in found.cut):
        return Lifted(patch=plain, repairs=repairs)
    groups = [group for group in found.groups if group]
    if not groups:
        return Refused(reason=f"there is no diff in it; it begins with {_first(found.cut)}")
    if twice := _in_two(groups):
        return Refused(reason=f"it holds two diffs of {twice}, and does not say which one is meant")
    patch = b"".join(piece for group in groups for piece in group)
    return Lifted(patch=patch, repairs=(*repairs, _told(found.cut)))


def _take_apart(lines: list[bytes]) -> _Found | None:
    """Sort the lines of a text; None where a part of a diff does not stand as git writes it."""
    found = _Found()
    at = 0
    while at < len(lines):
        end = _piece(lines, at)
        if end is None or (end == at and _MACHINERY.fullmatch(_bare(lines[at]))):
            return None
        if end > at:
            found.groups[-1].append(b"".join(lines[at:end]))
        else:
            found.cut.append(lines[at])
            if _FENCE.match(lines[at]):
                found.groups.append([])
        at = max(end, at + 1)
    return found


def _piece(lines: list[bytes], at: int) -> int | None:
    """Return where the diff of one file ends that begins here; None where it is damaged."""
    if _bare(lines[at]).startswith(b"diff --git "):
        return _git_piece(lines, at)
    return _hunks(lines, at + 2) if _has_names(lines, at) else at


def _git_piece(lines: list[bytes], start: int) -> int | None:
    at = start + 1
    while at < len(lines) and _EXTENDED.fullmatch(_bare(lines[at])):
        at += 1
    if at == start + 1 and not _goes_on(lines, at):
        return start  # the words alone, in prose
    if _goes_on(lines, at):
        return _hunks(lines, at + 2) if _has_names(lines, at) else _binary(lines, at)
    return at if _needs_no_body(lines[start + 1 : at]) else None


def _goes_on(lines: list[bytes], at: int) -> bool:
    return _has_names(lines, at) or (
        at < len(lines) and _bare(lines[at]).startswith((b"GIT binary patch", b"Binary files "))
    )


def _has_names(lines: list[bytes], at: int) -> bool:
    """Whether the two lines with a file's names stand here, and a hunk behind them."""
    return (
        at + 2 < len(lines)
        and lines[at].startswith(b"--- ")
        and lines[at + 1].startswith(b"+++ ")
        and _HUNK.match(lines[at + 2]) is not None
    )


def _needs_no_body(headers: list[bytes]) -> bool:
    """Whether the headers say all: another mode or name, or an empty file."""
    ids = [match.groups() for line in headers if (match := _INDEX.match(line))]
    return all(any(oid.startswith(_EMPTY) for oid in pair) for pair in ids)


def _hunks(lines: list[bytes], at: int) -> int | None:
    while at < len(lines) and (match := _HUNK.match(lines[at])):
        old, new = (1 if count is None else int(count) for count in match.groups())
        end = _body(lines, at + 1, old, new)
        if end is None:
            return None
        at = end
    return at


def _body(lines: list[bytes], at: int, old: int, new: int) -> int | None:
    """Return where a hunk ends by its counts, with the word on a missing newline."""
    while at < len(lines):
        first = lines[at][:1]
        if lines[at].startswith(b"\\ "):
            at += 1
            continue
        if old == new == 0:
            return at
        old -= first in b" -\r\n"
        new -= first in b" +\r\n"
        if first not in b" +-\r\n" or min(old, new) < 0:
            return None
        at += 1
    return at if old == new == 0 else None


def _binary(lines: list[bytes], at: int) -> int | None:
    """Return where binary data ends: up to two blocks, each with an empty line behind it."""
    at += 1
    while at < len(lines) and _BLOCK.fullmatch(_bare(lines[at])):
        at += 1
        while at < len(lines) and _DATA.fullmatch(_bare(lines[at])):
            at += 1
        if at < len(lines) and _bare(lines[at]):
            return None
        at += 1
    return min(at, len(lines))


def _bare(line: bytes) -> bytes:
    return line.rstrip(b"\r\n")


def _in_two(groups: list[list[bytes]]) -> str:
    """Return a file of which two fences hold a diff; empty when there is none."""
    seen: set[bytes] = set()
    for group in groups:
        names = {name for piece in group for name in _names(piece)}
        if twice := sorted(names & seen):
            return twice[0].decode(errors="backslashreplace")
        seen |= names
    return ""


def _names(piece: bytes) -> Iterator[bytes]:
    """Yield what the diff of one file calls it, without the first folder, which is git's own."""
    for line in piece.split(b"\n")[:12]:
        word = line.split(b" ", 1)[0]
        if word == b"diff":
            yield line.split()[-1].strip(b'"').partition(b"/")[2]
        elif word in (b"---", b"+++") and b"/dev/null" not in line:
            yield line[4:].partition(b"\t")[0].strip(b'"').partition(b"/")[2]


def _told(cut: list[bytes]) -> str:
    written = [line for line in cut if line.strip()]
    return f"{counted(len(written), 'line')} around the diff cut away, first {_first(written)}"


def _first(lines: list[bytes]) -> str:
    line = next(line for line in lines if line.strip()).strip()
    return ascii(line[:_LONGEST_SHOWN].decode(errors="backslashreplace"))
