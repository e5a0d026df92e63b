"""Several runs at once, in the planned order, until there are none or somebody asks for a stop."""

import queue
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from labkit.model import TaskId
from labkit.plan import PlannedRun
from labkit_runner.stopping import Stop

E = TypeVar("E")
R = TypeVar("R")
_LOOK_AGAIN = 0.1

Gate = Callable[[Sequence[PlannedRun], Sequence[PlannedRun]], str]
"""Says why a pair's runs may not be begun beside those that are at work; empty: they may."""


@dataclass(slots=True, kw_only=True)
class Crew(Generic[E, R]):
    """Works on planned runs with several threads, and hears and judges them in one."""

    work: Callable[[PlannedRun, Callable[[E], None]], R]
    """Does a run, in a thread of its own; what it tells is heard by `hear`."""
    hear: Callable[[E], None]
    end: Callable[[PlannedRun], None]
    """Ends a run that is at work, from outside; it is called until the run has ended."""
    jobs: int
    stop: Stop
    gate: Gate
    _told: "queue.SimpleQueue[E]" = field(default_factory=queue.SimpleQueue)
    _at_work: "dict[Future[R], PlannedRun]" = field(default_factory=dict)
    _begun: set[tuple[TaskId, int]] = field(default_factory=set)
    """The pairs that were begun: what is left of them is never refused."""

    def results(self, planned: Sequence[PlannedRun]) -> Generator[tuple[PlannedRun, R], None, None]:
        """Yield every run with what came of it, as they end.

        At any time `jobs` runs are at work, whatever their configuration, so all meet the same
        load. An error of a run asks for a stop and is raised when the others have ended; when the
        caller fails or is interrupted, those at work are ended.
        """
        left = deque(planned)
        failure: BaseException | None = None
        with self._pool() as pool:
            while True:
                self._begin(pool, left)
                if not self._at_work:
                    break
                for item, future in self._ended():
                    if error := future.exception():
                        failure = failure or error
                        self.stop.ask("a run could not be worked on")
                    else:
                        yield item, future.result()
        if failure:
            raise failure

    def _begin(self, pool: ThreadPoolExecutor, left: deque[PlannedRun]) -> None:
        while left and not self.stop.why and len(self._at_work) < self.jobs:
            if not self._may_begin(left):
                return
            item = left.popleft()
            self._at_work[pool.submit(self.work, item, self._told.put)] = item

    def _may_begin(self, left: deque[PlannedRun]) -> bool:
        """Tell whether the next run may be begun; asks for a stop when it never may."""
        beside = tuple(self._at_work.values())
        pair = pair_of(left[0])
        if pair in self._begun:
            return True
        why = self.gate([item for item in left if pair_of(item) == pair], beside)
        if why and not beside:
            self.stop.ask(why)
        if not why:
            self._begun.add(pair)
        return not why

    def _ended(self) -> Iterator[tuple[PlannedRun, "Future[R]"]]:
        ended, _ = wait(self._at_work, timeout=_LOOK_AGAIN, return_when=FIRST_COMPLETED)
        self._hear_all()
        if self.stop.at_once:
            self._end_all()
        for future in sorted(ended, key=lambda each: self._at_work[each].order):
            yield self._at_work.pop(future), future

    def _hear_all(self) -> None:
        while True:
            try:
                event = self._told.get_nowait()
            except queue.Empty:
                return
            self.hear(event)

    def _end_all(self) -> None:
        for item in self._at_work.values():
            self.end(item)

    @contextmanager
    def _pool(self) -> Iterator[ThreadPoolExecutor]:
        pool = ThreadPoolExecutor(max_workers=self.jobs)
        try:
            yield pool
        except BaseException:
            self.stop.ask("labkit itself failed")
            while any(not future.done() for future in self._at_work):
                self._end_all()
                wait(self._at_work, timeout=_LOOK_AGAIN)
            raise
        finally:
            pool.shutdown(wait=True)


def pair_of(item: PlannedRun) -> tuple[TaskId, int]:
    """Return what the runs of one task and attempt share, whatever their configuration."""
    return item.run.task, item.run.attempt


def in_order(left: Sequence[PlannedRun], begun: Sequence[PlannedRun]) -> tuple[PlannedRun, ...]:
    """Return the runs that are left, those first whose pair has been begun, else as planned."""
    open_pairs = {pair_of(item) for item in begun}
    return tuple(sorted(left, key=lambda item: (pair_of(item) not in open_pairs, item.order)))
