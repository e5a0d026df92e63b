"""Paths as git takes them: quoted for fast-import, and those that mean its own folder."""

import re

DOT_GIT = re.compile(rb"(?:.*\\)?(?:\.git|git~1)[ .]*(?:[\\:].*)?", re.IGNORECASE | re.DOTALL)


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
