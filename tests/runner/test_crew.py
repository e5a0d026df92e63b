"""Runs at once: their order, their pairs, every way to stop. What a run does is of no account."""

import threading
import time
from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.model import ConfigurationId, Member, TaskId
from labkit.plan import PlannedRun, interleave
from labkit_runner.crew import Crew, in_order, pair_of
from labkit_runner.stopping import Stop


def plan(tasks: int = 3, letters: str = "AB", attempts: int = 1) -> tuple[PlannedRun, ...]:
    names = [(TaskId(f"bug-{number}"), Member("ben")) for number in range(tasks)]
    return interleave(names, [ConfigurationId(x) for x in letters], attempts, [Member("ana")])


class Floor:
    """What happens at once: which runs began when, and how many were at work together."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.begun: list[PlannedRun] = []
        self.at_work: set[PlannedRun] = set()
        self.most = 0
        self.ended: list[PlannedRun] = []
        self.heard: list[str] = []
        self.act: Callable[[PlannedRun], object] = lambda _item: time.sleep(0.002)

    def work(self, item: PlannedRun, tell: Callable[[str], None]) -> str:
        with self.lock:
            self.begun.append(item)
            self.at_work.add(item)
            self.most = max(self.most, len(self.at_work))
        self.act(item)
        with self.lock:
            self.at_work.discard(item)
        tell(str(item.run))
        return f"done {item.run}"

    def crew(
        self,
        jobs: int = 1,
        gate: Callable[[Sequence[PlannedRun], Sequence[PlannedRun]], str] = lambda _pair, _by: "",
        stop: Stop | None = None,
    ) -> Crew[str, str]:
        return Crew(
            work=self.work, hear=self.heard.append, end=self.ended.append, jobs=jobs,
            stop=stop or Stop(), gate=gate,
        )  # fmt: skip


@settings(deadline=None, max_examples=25)
@given(st.integers(1, 5), st.integers(1, 4), st.integers(1, 3), st.sampled_from(["AB", "ABC", "A"]))
def test_every_run_is_done_once_and_begun_in_order(
    jobs: int, tasks: int, attempts: int, letters: str
) -> None:
    floor, planned = Floor(), plan(tasks, letters, attempts)
    done = list(floor.crew(jobs).results(planned))
    assert sorted(item.order for item, _ in done) == [item.order for item in planned]
    assert sorted(floor.heard) == sorted(str(item.run) for item in planned)
    assert floor.most <= jobs
    if jobs == 1:
        assert floor.begun == list(planned)


def test_jobs_are_really_at_work_together() -> None:
    floor = Floor()
    together = threading.Barrier(2, timeout=10)
    floor.act = lambda _item: together.wait()
    assert len(list(floor.crew(2).results(plan(2)))) == 4
    assert floor.most == 2


def test_a_refused_pair_is_not_begun_and_a_begun_one_is_finished() -> None:
    floor, stop = Floor(), Stop()
    asked: list[list[str]] = []

    def gate(pair: Sequence[PlannedRun], _beside: Sequence[PlannedRun]) -> str:
        asked.append([str(item.run) for item in pair])
        return "no money" if len(floor.begun) >= 2 else ""

    list(floor.crew(1, gate, stop).results(plan(3)))
    assert [str(item.run) for item in floor.begun] == ["bug-0__A__1", "bug-0__B__1"]
    assert asked == [["bug-0__A__1", "bug-0__B__1"], ["bug-1__A__1", "bug-1__B__1"]]
    assert stop.why == "no money"


def test_a_pair_refused_beside_others_is_asked_for_again_when_they_have_ended() -> None:
    floor, stop = Floor(), Stop()
    list(
        floor.crew(3, lambda _pair, beside: "not known yet" if beside else "", stop).results(
            plan(3)
        )
    )
    assert len(floor.begun) == 6
    assert stop.why == ""
    assert floor.most == 2


def test_after_a_stop_nothing_is_begun_and_what_runs_ends() -> None:
    floor, stop = Floor(), Stop()
    floor.act = lambda _item: stop.interrupt() if not stop.why else None
    done = list(floor.crew(1, stop=stop).results(plan(3)))
    assert [str(item.run) for item, _ in done] == ["bug-0__A__1"]
    assert (floor.ended, stop.by_person, stop.at_once) == ([], True, False)


def test_insisting_ends_what_runs() -> None:
    floor, stop = Floor(), Stop()
    freed = threading.Event()

    def act(_item: PlannedRun) -> None:
        if len(floor.begun) == 2:
            stop.interrupt()
            stop.interrupt()
        assert freed.wait(10)

    floor.act = act
    crew = floor.crew(2, stop=stop)

    def end(item: PlannedRun) -> None:
        floor.ended.append(item)
        freed.set()

    crew.end = end
    done = list(crew.results(plan(3)))
    assert len(done) == 2
    assert {str(item.run) for item in floor.ended} == {"bug-0__A__1", "bug-0__B__1"}


def test_an_error_of_one_run_lets_the_others_end_and_is_raised() -> None:
    floor = Floor()

    def act(item: PlannedRun) -> None:
        if item.order == 1:
            raise OSError("full")
        time.sleep(0.2)

    floor.act = act
    done: list[object] = []
    with pytest.raises(OSError, match="full"):
        done.extend(floor.crew(2).results(plan(4)))
    assert len(floor.begun) == 2
    assert floor.heard == ["bug-0__B__1"]


def test_a_caller_that_fails_ends_what_runs() -> None:
    floor = Floor()
    freed = threading.Event()
    floor.act = lambda item: None if item.order == 1 else freed.wait(10)
    crew = floor.crew(2)

    def end(item: PlannedRun) -> None:
        floor.ended.append(item)
        freed.set()

    crew.end = end
    results = crew.results(plan(3))
    next(results)
    with pytest.raises(KeyboardInterrupt):
        results.throw(KeyboardInterrupt)
    assert floor.ended
    assert not floor.at_work


def test_open_pairs_come_first() -> None:
    planned = plan(3)
    begun = [planned[2]]
    left = [item for item in planned if item not in begun]
    assert [str(item.run) for item in in_order(left, begun)] == [
        "bug-1__B__1", "bug-0__A__1", "bug-0__B__1", "bug-2__A__1", "bug-2__B__1"
    ]  # fmt: skip


@given(st.integers(1, 4), st.integers(1, 3), st.data())
def test_the_order_keeps_pairs_together(tasks: int, attempts: int, data: st.DataObject) -> None:
    planned = plan(tasks, "ABC", attempts)
    begun = data.draw(st.lists(st.sampled_from(planned), unique=True))
    left = [item for item in planned if item not in begun]
    ordered = in_order(left, begun)
    assert sorted(ordered, key=lambda item: item.order) == left
    pairs = [pair_of(item) for item in ordered]
    assert sum(a != b for a, b in pairwise(pairs)) + bool(pairs) == len(set(pairs))
