"""Threads that work through jobs: every job has one result, also when some hang."""

import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.evals.crew import Work, work_through


def squares(hang: threading.Event | None = None) -> Work[int, int, tuple[int, int]]:
    def attempt(job: int) -> int:
        if job < 0 and hang:
            hang.wait()
        return job * job

    return Work(
        attempt=attempt,
        settle=lambda job, answer: (job, answer),
        overdue=lambda job, seconds: (job, -int(seconds * 100)),
    )


@given(st.lists(st.integers(0, 100), max_size=60), st.integers(1, 5), st.sampled_from([None, 30.0]))
def test_every_job_has_one_result(jobs: list[int], workers: int, timeout: float | None) -> None:
    found = work_through(jobs, squares(), workers=workers, timeout=timeout)
    assert sorted(found) == sorted((job, job * job) for job in jobs)


@pytest.mark.parametrize("workers", [1, 3])
def test_a_job_that_hangs_is_left_behind(workers: int) -> None:
    hang = threading.Event()
    jobs = [1, -1, 2, -2, -3, 3, 4]
    try:
        found = list(work_through(jobs, squares(hang), workers=workers, timeout=0.2))
    finally:
        hang.set()
    expected = [(1, 1), (2, 4), (3, 9), (4, 16), (-1, -20), (-2, -20), (-3, -20)]
    assert sorted(found) == sorted(expected)


def test_what_comes_too_late_is_dropped() -> None:
    hang = threading.Event()
    settled = []

    def settle(job: int, answer: int) -> tuple[int, int]:
        settled.append(job)
        return job, answer

    work = Work(attempt=squares(hang).attempt, settle=settle, overdue=lambda job, _: (job, 0))
    assert list(work_through([-1], work, timeout=0.05)) == [(-1, 0)]
    hang.set()
    time.sleep(0.05)
    assert settled == []


def test_jobs_are_taken_one_by_one() -> None:
    taken = []

    def jobs() -> Iterator[int]:
        for job in range(10_000):
            taken.append(job)
            yield job

    found = work_through(jobs(), squares(), workers=2)
    next(found)
    time.sleep(0.1)
    assert len(taken) < 2000
    found.close()  # type: ignore[attr-defined]
    time.sleep(0.1)
    now = len(taken)
    time.sleep(0.1)
    assert len(taken) == now


def test_a_bug_in_the_work_is_heard_of() -> None:
    def broken(job: int) -> int:
        raise RuntimeError(f"bug {job}")

    work: Work[int, int, int] = Work(
        attempt=broken, settle=lambda job, _: job, overdue=lambda job, _: job
    )
    for workers in (1, 2):
        with pytest.raises(RuntimeError, match="bug 7"):
            list(work_through([7], work, workers=workers))


def test_workers_work_at_the_same_time() -> None:
    together = threading.Barrier(4, timeout=10)
    work: Work[int, int, int] = Work(
        attempt=lambda _: together.wait(), settle=lambda job, _: job, overdue=lambda job, _: job
    )
    assert sorted(work_through(range(4), work, workers=4)) == [0, 1, 2, 3]
