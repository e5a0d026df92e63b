from collections import Counter
from itertools import groupby, product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.errors import InputError, IntegrityError
from labkit.model import ConfigurationId, Member, TaskId
from labkit.plan import (
    further,
    interleave,
    last_digest,
    plan_text,
    preselected,
    read_plan,
)
from labkit.workspace import Workspace, replace

MEMBERS = [Member(name) for name in ("ana", "ben", "chris", "dana")]
A, B, C = (ConfigurationId(letter) for letter in "ABC")
AUTHORS = st.lists(st.sampled_from(MEMBERS), min_size=1, max_size=6)
RUNNERS = st.lists(st.sampled_from(MEMBERS), min_size=1, max_size=3, unique=True)


def numbered(authors: list[Member]) -> list[tuple[TaskId, Member]]:
    return [(TaskId(f"task-{number}"), author) for number, author in enumerate(authors)]


@given(AUTHORS, RUNNERS, st.integers(1, 3), st.sampled_from([[A], [A, B], [C, A, B]]))
def test_every_run_is_planned_once_and_interleaved(
    authors: list[Member], runners: list[Member], attempts: int, letters: list[ConfigurationId]
) -> None:
    planned = interleave(numbered(authors), letters, attempts, runners)
    assert [item.order for item in planned] == list(range(1, len(planned) + 1))
    of_task = {task: list(runs) for task, runs in groupby(planned, lambda item: item.run.task)}
    assert list(of_task) == sorted(task for task, _ in numbered(authors))
    for runs in of_task.values():
        assert [(item.run.configuration, item.run.attempt) for item in runs] == [
            (letter, attempt) for attempt in range(1, attempts + 1) for letter in sorted(letters)
        ]
        assert len({item.runner for item in runs}) == 1
        assert all(len({i.seed for i in runs if i.run.attempt == n}) == 1 for n in (1, attempts))


@settings(max_examples=50)
@given(AUTHORS, RUNNERS)
def test_nobody_runs_an_own_task_and_the_loads_are_as_even_as_can_be(
    authors: list[Member], runners: list[Member]
) -> None:
    tasks = numbered(authors)
    planned = interleave(tasks, [A, B], 1, runners)
    runner_of = {item.run.task: item.runner for item in planned}
    allowed = [[m for m in runners if m != author] or runners for _, author in tasks]
    assert all(runner_of[task] in may for (task, _), may in zip(tasks, allowed, strict=True))
    assert spread(runner_of.values(), runners) == min(
        spread(choice, runners) for choice in product(*allowed)
    )


def spread(chosen: object, runners: list[Member]) -> int:
    loads = Counter(chosen)  # type: ignore[call-overload] # any iterable of members
    return sum(int(loads[member]) ** 2 for member in runners)


def test_three_people_with_three_tasks_each_run_three_each() -> None:
    authors = [member for member in MEMBERS[:3] for _ in range(3)]
    planned = interleave(numbered(authors), [A, B], 2, MEMBERS[:3])
    assert set(Counter(item.runner for item in planned).values()) == {12}


def test_the_plan_does_not_depend_on_the_order_of_anything() -> None:
    tasks = numbered([MEMBERS[0], MEMBERS[1], MEMBERS[0], MEMBERS[2]])
    assert interleave(tasks, [A, B], 2, MEMBERS) == interleave(
        tasks[::-1], [B, A], 2, MEMBERS[::-1] + MEMBERS
    )


def test_attempts_have_different_seeds() -> None:
    planned = interleave(numbered([MEMBERS[0]]), [A], 5, MEMBERS)
    assert len({item.seed for item in planned}) == 5
    assert all(0 <= item.seed < 2**31 for item in planned)


@pytest.mark.parametrize(
    ("tasks", "letters", "attempts", "runners", "told"),
    [
        ([], [A, B], 2, MEMBERS, "nothing to run"),
        (numbered([MEMBERS[0]]), [], 2, MEMBERS, "nothing to run"),
        (numbered([MEMBERS[0]]), [A], 0, MEMBERS, "nothing to run"),
        (numbered([MEMBERS[0]]), [A], -1, MEMBERS, "nothing to run"),
        (numbered([MEMBERS[0]]), [A], 1, [], "nobody can run"),
        (numbered([MEMBERS[0]]), [A], 10, MEMBERS, "attempt 10"),
    ],
)
def test_a_plan_of_nothing_is_refused(
    tasks: list[tuple[TaskId, Member]],
    letters: list[ConfigurationId],
    attempts: int,
    runners: list[Member],
    told: str,
) -> None:
    with pytest.raises(InputError, match=told):
        interleave(tasks, letters, attempts, runners)


def test_a_plan_reads_back(tmp_path: Path) -> None:
    planned = interleave(numbered(MEMBERS), [A, B], 2, MEMBERS)
    workspace = Workspace(tmp_path)
    replace(workspace.plan, plan_text(planned))
    assert read_plan(workspace) == planned


@pytest.mark.parametrize(
    "text",
    [
        "",
        "order,run,runner,seed\n",
        "1,a__A__1,ana,5\n",
        "order,run,runner,seed\n1,a__A__1,ana\n",
        "order,run,runner,seed\n1,a__A__0,ana,5\n",
        "order,run,runner,seed\n1,a__A__1,Ana B,5\n",
        "order,run,runner,seed\nx,a__A__1,ana,5\n",
        "order,run,runner,seed\n2,a__A__1,ana,5\n",
    ],
)
def test_a_damaged_plan_is_noticed(tmp_path: Path, text: str) -> None:
    workspace = Workspace(tmp_path)
    replace(workspace.plan, text)
    with pytest.raises(IntegrityError, match=r"plan\.csv is damaged"):
        read_plan(workspace)


FIRST, SECOND = TaskId("task-0"), TaskId("task-1")


def test_a_reduced_plan_repeats_only_what_was_chosen() -> None:
    planned = interleave(numbered(MEMBERS[:2]), [A, B], {FIRST: 1, SECOND: 2}, MEMBERS)
    assert [str(item.run) for item in planned] == [
        "task-0__A__1", "task-0__B__1",
        "task-1__A__1", "task-1__B__1", "task-1__A__2", "task-1__B__2",
    ]  # fmt: skip
    assert preselected(planned) == {SECOND}
    assert preselected(interleave(numbered(MEMBERS), [A, B], 2, MEMBERS)) == frozenset()


def test_a_further_plan_leaves_the_first_as_it_is(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    planned = interleave(numbered(MEMBERS[:2]), [A, B, C], 2, MEMBERS)
    replace(workspace.plan, plan_text(planned))
    frozen = workspace.plan.read_bytes()
    for number in (2, 3):
        more = further(read_plan(workspace), [SECOND], 1)
        replace(workspace.further_plan(number), plan_text(more, after=last_digest(workspace)))
    assert workspace.plan.read_bytes() == frozen
    everything = read_plan(workspace)
    assert everything[: len(planned)] == planned
    assert [item.order for item in everything] == list(range(1, 19))
    assert [str(item.run) for item in everything[12:]] == [
        f"task-1__{letter}__{attempt}" for attempt in (3, 4) for letter in "ABC"
    ]
    runners = {item.runner for item in everything if item.run.task == SECOND}
    assert len(runners) == 1
    seeds = [{item.seed for item in everything[i : i + 3]} for i in (12, 15)]
    assert [len(each) for each in seeds] == [1, 1]
    assert seeds[0] != seeds[1]


def test_more_than_nine_attempts_are_refused() -> None:
    planned = interleave(numbered(MEMBERS[:1]), [A, B], 8, MEMBERS)
    assert len(further(planned, [FIRST], 1)) == 2
    with pytest.raises(InputError, match="task-0 has 8 attempts: 2 more are over 9"):
        further(planned, [FIRST], 2)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("order,run,runner,seed,after\n3,task-0__A__2,ana,5,{0}\n", ""),
        ("order,run,runner,seed,after\n3,task-0__A__2,ana,5,123\n", "not the one"),
        ("order,run,runner,seed\n3,task-0__A__2,ana,5\n", "after"),
        ("order,run,runner,seed,after\n1,task-0__A__2,ana,5,{0}\n", "not numbered from 3"),
        (
            "order,run,runner,seed,after\n3,task-0__A__1,ana,5,{0}\n",
            "task-0__A__1 is planned twice",
        ),
    ],
    ids=["sound", "other chain", "no chain", "numbers", "twice"],
)
def test_a_damaged_further_plan_is_noticed(tmp_path: Path, text: str, told: str) -> None:
    workspace = Workspace(tmp_path)
    replace(workspace.plan, plan_text(interleave(numbered(MEMBERS[:1]), [A, B], 1, MEMBERS)))
    replace(workspace.further_plan(2), text.format(last_digest(workspace)))
    if not told:
        assert len(read_plan(workspace)) == 3
        return
    with pytest.raises(IntegrityError, match=r"plan-2\.csv is damaged") as caught:
        read_plan(workspace)
    assert told in str(caught.value)


def test_a_changed_first_plan_is_noticed_by_the_second(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    planned = interleave(numbered(MEMBERS[:1]), [A, B], 1, MEMBERS)
    replace(workspace.plan, plan_text(planned))
    more = plan_text(further(planned, [FIRST], 1), after=last_digest(workspace))
    replace(workspace.further_plan(2), more)
    replace(workspace.plan, workspace.plan.read_text().replace("ben", "ana"))
    with pytest.raises(IntegrityError, match="not the one that it was made for"):
        read_plan(workspace)
