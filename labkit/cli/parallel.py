"""Independent pieces of work, several at once."""

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")
_MIB = 1024 * 1024
_ASK_AGAIN = 0.2


def in_parallel(work: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
    """Yield the result of `work` for each item; on Ctrl-C or an error nothing new is begun."""
    pool = ThreadPoolExecutor(max_workers=processors())
    try:
        yield from pool.map(work, items)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def as_finished(
    work: Callable[[T], R], items: Sequence[T], *, workers: int, stop: Callable[[], object]
) -> Generator[R, None, None]:
    """Yield the results of `work` as they come.

    After an error nothing new is begun, and it is raised once the results of what was begun are
    out. On Ctrl-C, or when nobody wants the rest, `stop` is called until all that was begun has
    ended: it has to end it early.
    """
    pool = ThreadPoolExecutor(max_workers=workers)
    begun = {pool.submit(work, item) for item in items}
    failure: BaseException | None = None
    try:
        while begun:
            ended, begun = wait(begun, return_when=FIRST_COMPLETED)
            for future in ended:
                if error := future.exception():
                    failure = failure or error
                    pool.shutdown(wait=False, cancel_futures=True)
                else:
                    yield future.result()
            begun = {future for future in begun if not future.cancelled()}
        if failure:
            raise failure
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        while begun := {future for future in begun if not future.done()}:
            stop()
            wait(begun, timeout=_ASK_AGAIN)
        pool.shutdown(wait=True)


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def room_for(memory: int) -> int:
    """Return how many sandboxes of so many MiB fit: one a processor, within this machine's memory.

    Always at least one: a limit is what a sandbox may use, not what it does use.
    """
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // _MIB
    except (AttributeError, OSError, ValueError):  # not every system tells
        return processors()
    return max(1, min(processors(), total // memory))
