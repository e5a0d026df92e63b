"""Paths as git takes them: quoted for fast-import, and those that mean its own folder."""

import re

DOT_GIT = re.compile(rb"(?:.*\\)?(?:\.git|git~1)[ .]*(?:[\\:].*)?", re.IGNORECASE | re.DOTALL)
_LONGEST_SHOWN = 160


def quoted(path: bytes) -> bytes:
    """Return a path as fast-import reads it: quoted like a C string."""
    out = bytearray(b'"')
    for byte in path:
        if byte in b'"\\':
            out += b"\\" + bytes([byte])
        elif 32 <= byte < 127:  # noqa: PLR2004 - printable ASCII
            out.append(byte)
        else:
            out += b"\\%03o" % byte
    return bytes(out + b'"')


def shown_path(path: str | bytes) -> str:
    """Return a path as a message can hold it: anybody may nest folders for kilobytes."""
    text = path if isinstance(path, str) else path.decode(errors="backslashreplace")
    if len(text) <= _LONGEST_SHOWN:
        return text
    half = _LONGEST_SHOWN // 2
    return f"{text[:half]}[... {len(text) - 2 * half} more ...]{text[-half:]}"
