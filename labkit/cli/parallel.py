"""Independent pieces of work, as many at once as there are processors, results in their order."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def in_parallel(work: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
    """Yield the result of `work` for each item; on Ctrl-C or an error nothing new is begun."""
    pool = ThreadPoolExecutor(max_workers=cpu_count() or 1)
    try:
        yield from pool.map(work, items)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
