"""A history as `git log --numstat` tells it, commit by commit, read as it comes.

Messages and paths are bytes that people wrote in any encoding; nothing in them stops the reading.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from labkit.errors import ToolError
from labkit.git import Repository
from labkit.testpaths import PathKind, path_kind

_FORMAT = "--format=%H%x00%P%x00%ct%x00%B"


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """What a commit did to one file; None lines: a binary file."""

    path: bytes
    added: int | None
    deleted: int | None

    @property
    def lines(self) -> int:
        """Lines added and deleted."""
        return (self.added or 0) + (self.deleted or 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """A commit as the log tells of it."""

    oid: str
    parents: tuple[str, ...]
    time: int
    message: str
    touched: tuple[Touched, ...]

    def of_kind(self, kind: PathKind) -> tuple[Touched, ...]:
        """Return the touched files of one kind."""
        return tuple(one for one in self.touched if path_kind(one.path) is kind)


def read_log(
    repository: Repository, *, merges: bool = False, since: str = "", path: str = ""
) -> Iterator[Logged]:
    """Yield the commits of the current branch as the log gives them, the newest first.

    Raises ToolError when a file's content is not here, as in a partial clone.
    """
    words = ["log", "-z", "--numstat", "--no-show-signature", "--encoding=UTF-8", _FORMAT]
    words += [f"--diff-merges={'first-parent' if merges else 'off'}"]
    words += [f"--since={since}"] * bool(since) + ["--full-diff"] * bool(path)
    tail = ["HEAD", "--", f":(top,literal){path.rstrip('/')}"] if path else ["HEAD", "--"]
    try:
        yield from _commits(_tokens(repository.stream(*words, *tail)))
    except ToolError as error:
        raise ToolError(
            f"git cannot read this history to its end: {error.message.rpartition(': ')[2]}",
            hint="in a partial clone, fetch everything: git fetch --refetch --no-filter",
        ) from error


def _tokens(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield what stands between NUL bytes."""
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\0")
        yield from whole
    if rest:
        yield rest


def _commits(tokens: Iterator[bytes]) -> Iterator[Logged]:
    """Read the log: four fields of a commit, then its files, each "added TAB deleted TAB path"."""
    head: list[bytes] = []
    touched: list[Touched] = []
    for raw in tokens:
        token = raw.removeprefix(b"\n")
        if len(head) < 4:  # noqa: PLR2004 - the fields of _FORMAT
            head.append(token if len(head) < 3 else raw)  # noqa: PLR2004 - the message as it is
        elif token.count(b"\t") > 1:
            touched.append(_touched(token, tokens))
        elif token:
            yield _logged(head, touched)
            head, touched = [token], []
    if head:
        yield _logged(head, touched)


def _touched(token: bytes, tokens: Iterator[bytes]) -> Touched:
    added, deleted, path = token.split(b"\t", 2)
    if not path:  # a rename: its old and its new name follow
        next(tokens, b"")
        path = next(tokens, b"")
    binary = added == b"-"
    return Touched(
        path=path, added=None if binary else int(added), deleted=None if binary else int(deleted)
    )


def _logged(head: list[bytes], touched: list[Touched]) -> Logged:
    oid, parents, time, message = (*head, b"", b"", b"", b"")[:4]
    return Logged(
        oid=oid.decode(),
        parents=tuple(parents.decode().split()),
        time=int(time or 0),
        message=message.decode(errors="replace").strip(),
        touched=tuple(touched),
    )
