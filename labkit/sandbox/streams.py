"""The byte streams between a sandbox and its host, each with a limit on what is taken."""

import io
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING

from labkit.errors import InfrastructureError, ReturnedTooLargeError
from labkit.model import Ended
from labkit.sandbox.bootstrap import READY
from labkit.sandbox.interface import Collect, T, Taker

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

CHUNK = 1024 * 1024


class Sink:
    """Takes all that a stream brings, keeps the first `limit` bytes in `target`, counts the rest.

    What is kept is in the target at once, for those who watch a run and for when labkit is killed.
    It never stops taking: a full disk of the host is remembered, and raised by `check`.
    """

    def __init__(self, target: Taker, limit: int) -> None:
        self.cut = 0
        self._target = target
        self._left = limit
        self._problem: OSError | None = None

    def write(self, data: bytes) -> None:
        """Keep what is within the limit."""
        kept = data[: self._left]
        self.cut += len(data) - len(kept)
        self._left -= len(kept)
        if kept and self._problem is None:
            try:
                self._target.write(kept)
                self._target.flush()
            except OSError as error:
                self._problem = error

    def check(self) -> None:
        """Flush the target; raise InfrastructureError when output could not be kept."""
        try:
            self._target.flush()
        except OSError as error:
            self._problem = self._problem or error
        if self._problem is not None:
            raise InfrastructureError(
                f"the output of the run could not be written: {self._problem.strerror}",
                hint="free some disk space and run again",
            ) from self._problem


class Output:
    """Standard output and standard error of a sandbox, the first opening with the ready mark."""

    def __init__(self, stdout: Taker, stderr: Taker, limit: int) -> None:
        self.ready = False
        self._stdout = Sink(stdout, limit)
        self._stderr = Sink(stderr, limit)
        self._complaint = b""

    @property
    def cut(self) -> int:
        """How many bytes were not kept, of both streams together."""
        return self._stdout.cut + self._stderr.cut

    @property
    def complaint(self) -> str:
        """What was said on standard error before the command started."""
        return self._complaint.decode(errors="backslashreplace").strip()

    def out(self, data: bytes) -> None:
        """Take a piece of standard output."""
        if not self.ready and data.startswith(READY):
            self.ready = True
            data = data[len(READY) :]
        self._stdout.write(data)

    def err(self, data: bytes) -> None:
        """Take a piece of standard error."""
        if not self.ready:
            self._complaint = (self._complaint + data)[-2000:]
        self._stderr.write(data)

    def check_after(self, ended: Ended) -> None:
        """Raise InfrastructureError when the command never started or output was lost.

        What is killed or stopped may be so before it has started.
        """
        if ended is Ended.KILLED:
            return
        if not self.ready and ended is not Ended.STOPPED:
            raise InfrastructureError(
                f"the sandbox could not be prepared: {self.complaint or 'it said nothing'}",
                hint="run `labkit doctor`",
            )
        self._stdout.check()
        self._stderr.check()


class _Bounded(io.RawIOBase):
    """Bytes out of an iterator, until there are more than `limit` of them."""

    def __init__(self, chunks: Iterator[bytes], limit: int) -> None:
        super().__init__()
        self._chunks = chunks
        self._limit = limit
        self._seen = 0
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._seen += len(chunk)
            if self._seen > self._limit:
                raise ReturnedTooLargeError(
                    f"the run left more than {self._limit // CHUNK} MiB to read back",
                    hint="the folder it worked in is limited; nothing of it was kept",
                )
            self._rest = chunk
        view = memoryview(buffer).cast("B")
        size = min(len(view), len(self._rest))
        view[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


def read_whole(chunks: Iterator[bytes], limit: int, collect: Collect[T]) -> tuple[T, bool]:
    """Hand the chunks to `collect` as one file and read what it left unread.

    Returns its value, and whether the chunks were read to their end. Reading on after `limit` bytes
    raises ReturnedTooLargeError; a `collect` that catches it, or stops before, has its value kept.
    """
    with io.BufferedReader(_Bounded(chunks, limit), buffer_size=CHUNK) as stream:
        value = collect(stream)
        try:
            while stream.read(CHUNK):
                pass
        except ReturnedTooLargeError:
            return value, False
    return value, True


def keep_whole(chunks: Iterator[bytes], limit: int, target: IO[bytes]) -> bool:
    """Write the chunks to `target`, which keeps nothing of them where they are more than `limit`.

    Returns whether they were read to their end.
    """
    begin = target.tell()
    left = limit
    try:
        for chunk in chunks:
            left -= len(chunk)
            if left < 0:
                target.seek(begin)
                target.truncate()
                return False
            target.write(chunk)
        target.flush()
    except OSError as error:
        raise InfrastructureError(
            f"the home folder of the run could not be written: {error.strerror}",
            hint="free some disk space and run again",
        ) from error
    return True


def pump(read: Callable[[int], bytes], take: Callable[[bytes], None]) -> None:
    """Hand everything that `read` brings to `take`, until it brings nothing."""
    while chunk := read(CHUNK):
        take(chunk)
