"""Threads that work through jobs, and are left behind when one hangs.

A thread cannot be stopped. One that is overdue is retired: its job gets the verdict of a timeout,
another thread takes its place, and whatever it still brings is dropped.
"""

import itertools
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

J = TypeVar("J")
A = TypeVar("A")
R = TypeVar("R")
_LONGEST_WAIT = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Work(Generic[J, A, R]):
    """What is done with each job. None of it may raise."""

    attempt: Callable[[J], A]
    """The part that may hang."""
    settle: Callable[[J, A], R]
    """The rest; never called for a job that was overdue."""
    overdue: Callable[[J, float], R]
    """Instead of both, given the seconds that it had."""


def work_through(
    jobs: Iterable[J], work: Work[J, A, R], *, workers: int = 1, timeout: float | None = None
) -> Iterator[R]:
    """Yield a result for each job, in the order in which they end.

    Jobs are taken one by one, so they may be many. With one worker and no timeout, everything
    happens in the calling thread.
    """
    if workers == 1 and timeout is None:
        for job in jobs:
            yield work.settle(job, work.attempt(job))
        return
    crew = _Crew(iter(jobs), work, timeout)
    try:
        yield from crew.results(workers)
    finally:
        crew.retire_all()


class _Crew(Generic[J, A, R]):
    def __init__(self, jobs: Iterator[J], work: Work[J, A, R], timeout: float | None) -> None:
        self._jobs = jobs
        self._work = work
        self._timeout = timeout
        self._lock = threading.Lock()
        self._done: queue.Queue[R | BaseException | None] = queue.Queue()
        self._room = threading.Semaphore(1000)
        self._busy: dict[int, tuple[J, float]] = {}
        self._active: set[int] = set()
        self._numbers = itertools.count()

    def results(self, workers: int) -> Iterator[R]:
        for _ in range(workers):
            self._hire()
        while True:
            try:
                found = self._done.get(timeout=self._patience())
            except queue.Empty:
                yield from self._overdue()
                continue
            if found is None:
                # Whoever is not active any more has handed in everything it had.
                if not self._active and self._done.empty():
                    return
            elif isinstance(found, BaseException):
                raise found
            else:
                self._room.release()
                yield found

    def retire_all(self) -> None:
        """Let nobody begin another job, or bring anything."""
        with self._lock:
            self._active.clear()
        self._room.release(len(threading.enumerate()))

    def _hire(self) -> None:
        number = next(self._numbers)
        with self._lock:
            self._active.add(number)
        threading.Thread(target=self._labour, args=(number,), daemon=True).start()

    def _patience(self) -> float:
        """Return how long nobody can be overdue."""
        if self._timeout is None:
            return _LONGEST_WAIT
        with self._lock:
            first = min((since for _, since in self._busy.values()), default=time.monotonic())
        return max(0.0, min(first + self._timeout - time.monotonic(), _LONGEST_WAIT))

    def _overdue(self) -> Iterator[R]:
        now = time.monotonic()
        with self._lock:
            late = [
                (number, job)
                for number, (job, since) in self._busy.items()
                if self._timeout is not None and now - since >= self._timeout
            ]
            for number, _ in late:
                del self._busy[number]
                self._active.discard(number)
        for _, job in late:
            self._room.release()
            self._hire()
            yield self._work.overdue(job, self._timeout or 0.0)

    def _labour(self, number: int) -> None:
        try:
            while self._one(number):
                pass
        except BaseException as error:  # noqa: BLE001 - a bug is the caller's to hear of
            self._done.put(error)
        finally:
            with self._lock:
                self._active.discard(number)
            self._done.put(None)

    def _one(self, number: int) -> bool:
        """Do one job; return whether to go on."""
        self._room.acquire()
        with self._lock:
            if number not in self._active:
                return False
            try:
                job = next(self._jobs)
            except StopIteration:
                return False
            self._busy[number] = (job, time.monotonic())
        answer = self._work.attempt(job)
        with self._lock:
            if self._busy.pop(number, None) is None:
                return False
        result = self._work.settle(job, answer)
        with self._lock:
            if number not in self._active:
                return False
        self._done.put(result)
        return True
