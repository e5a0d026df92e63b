"""Pieces of work at once: each result as it comes, nothing lost to an error, a stop is quick."""

import os
import threading
import time
from collections.abc import Callable

import pytest

from labkit.cli.parallel import as_finished, processors, room_for


def doing_nothing() -> None:
    """Stand in for what ends the work early."""


def test_results_come_as_they_are_done() -> None:
    gate = threading.Event()

    def work(item: str) -> str:
        if item == "slow":
            assert gate.wait(30)
        return item

    results = as_finished(work, ["slow", "quick"], workers=2, stop=doing_nothing)
    assert next(results) == "quick"
    gate.set()
    assert list(results) == ["slow"]


def test_no_more_than_the_workers_are_at_it() -> None:
    lock, busy, most = threading.Lock(), [0], [0]

    def work(_: int) -> None:
        with lock:
            busy[0] += 1
            most[0] = max(most[0], busy[0])
        time.sleep(0.01)
        with lock:
            busy[0] -= 1

    list(as_finished(work, range(20), workers=3, stop=doing_nothing))
    assert most[0] == 3


def test_an_error_loses_no_result_and_nothing_new_begins() -> None:
    failing = threading.Event()
    begun: list[int] = []

    def work(item: int) -> int:
        begun.append(item)
        if item == 1:
            failing.set()
            raise ValueError("one is bad")
        assert failing.wait(30)
        time.sleep(0.3)
        return item

    found: list[int] = []
    with pytest.raises(ValueError, match="one is bad"):
        found.extend(as_finished(work, range(50), workers=3, stop=doing_nothing))
    assert sorted([*found, 1]) == sorted(begun)
    assert len(begun) < 10


def test_closing_ends_what_was_begun() -> None:
    stopped = threading.Event()
    begun: list[int] = []

    def work(item: int) -> int:
        begun.append(item)
        if item:
            assert stopped.wait(30)
        return item

    results = as_finished(work, range(10), workers=2, stop=stopped.set)
    assert next(results) == 0
    started = time.monotonic()
    results.close()
    assert time.monotonic() - started < 5
    assert len(begun) < 10


@pytest.mark.parametrize(
    ("memory", "room"),
    [(1, processors), (10**9, lambda: 1)],
    ids=["small limits", "more than there is"],
)
def test_memory_bounds_how_many_fit(memory: int, room: Callable[[], int]) -> None:
    assert room_for(memory) == room()


def test_memory_is_shared() -> None:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    assert room_for(total // 1 + 1) == 1
    assert room_for(total // 2) == min(2, processors())
