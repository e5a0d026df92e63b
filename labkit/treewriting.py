"""Trees written into a bare repository, file by file, without a work tree."""

from collections.abc import Iterable, Mapping

from labkit.git import Repository
from labkit.gitpaths import quoted

_REF = "refs/labkit/result"


def write_tree(
    scratch: Repository,
    base: str,
    gone: Iterable[bytes],
    changed: Mapping[bytes, tuple[str, bytes]],
) -> str:
    """Write files (mode and content by path) on top of a tree without `gone`; return its id.

    `base` is a tree that `scratch` can read; empty for the tree of nothing.
    """
    # One pack, not compressed: it is read once and thrown away.
    settings = ("-c", "fastimport.unpackLimit=1", "-c", "pack.compression=0")
    options = ("--quiet", "--force", "--done")
    stream = _stream(base, gone, changed)
    answer = scratch.git(*settings, "fast-import", *options, stdin=stream)
    return answer.stdout.split()[2].decode()  # "040000 tree <id>", then the path


def _stream(base: str, gone: Iterable[bytes], changed: Mapping[bytes, tuple[str, bytes]]) -> bytes:
    """Return the fast-import stream that makes the result tree and asks for its id."""
    parts = [b"commit %s\ncommitter labkit <labkit@localhost> 0 +0000\ndata 0\n" % _REF.encode()]
    if base:
        parts.append(b"M 040000 %s \n" % base.encode())
    parts.extend(b"D %s\n" % quoted(path) for path in gone)
    for path, (mode, data) in sorted(changed.items()):
        header = b"M %s inline %s\ndata %d\n" % (mode.encode(), quoted(path), len(data))
        parts.extend((header, data, b"\n"))
    parts.append(b'ls ""\n\ndone\n')
    return b"".join(parts)
