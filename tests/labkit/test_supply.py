"""Which environments tasks need: shared where nothing differs that setup can see."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from environs import Workplace, entries
from gitrepo import Project, make_project
from runs import a_task

from labkit.archive import Kind
from labkit.building import Built, Workbench, build_tree
from labkit.environments import NOTHING_NAMED, Recipe
from labkit.errors import InputError
from labkit.git import Repository
from labkit.model import TaskId
from labkit.sandbox.interface import Limits
from labkit.supply import Supply, Wanted
from labkit.tasks import Task

LOCK = "requirements.txt"


@pytest.fixture
def history(tmp_path: Path) -> Project:
    """Return a project of which two commits differ in code, and a third in its requirements."""
    made = make_project(tmp_path / "project")
    for tag, files in (
        ("one", {LOCK: "tiny\n", "deep/need.txt": "n\n", "a.py": "x = 1\n"}),
        ("two", {"a.py": "x = 2\n"}),
        ("three", {LOCK: "tiny<4\n"}),
    ):
        made.commit(files)
        made.git("tag", tag)
    return made


def supply(place: Workplace, project: Project, team: Recipe, told: list[str]) -> Supply:
    return Supply(
        workshop=place.workshop,
        repository=Repository.discover(project.folder),
        evals=project.folder,
        team=team,
        lock=project.folder.parent / "lock",
        progress=told.append,
    )


def tasks(*bases: str, **own: Recipe) -> tuple[Task, ...]:
    return tuple(
        replace(a_task(f"task-{base}", base), environment=own.get(base, NOTHING_NAMED))
        for base in bases
    )


def groups(made: Supply, wanted: tuple[Task, ...]) -> list[list[str]]:
    needs, failed = made.needs(wanted)
    assert not failed
    return sorted(sorted(str(task) for task in need.tasks) for need in needs)


def recipe(**fields: object) -> Recipe:
    return Recipe(**fields, named=frozenset(fields))  # type: ignore[arg-type] # a test's own typing errors show


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, [["task-one"], ["task-three"], ["task-two"]]),
        ({"files": (LOCK,)}, [["task-one", "task-two"], ["task-three"]]),
        ({"files": ("deep/",)}, [["task-one", "task-three", "task-two"]]),
        ({"files": ("deep/", LOCK)}, [["task-one", "task-two"], ["task-three"]]),
    ],
)
def test_tasks_share_what_is_alike(
    bubblewrap_workplace: Workplace,
    history: Project,
    fields: Mapping[str, object],
    expected: list[list[str]],
) -> None:
    made = supply(bubblewrap_workplace, history, recipe(setup=("true",), **fields), [])
    assert groups(made, tasks("one", "two", "three")) == expected


def test_a_tasks_own_setup_gives_it_its_own(
    bubblewrap_workplace: Workplace, history: Project
) -> None:
    team = recipe(setup=("true",), files=("deep",))
    made = supply(bubblewrap_workplace, history, team, [])
    mine = recipe(setup=("false",))
    wanted = tasks("one", "two", "three", two=mine, three=recipe(build=("make",)))
    assert groups(made, wanted) == [["task-one", "task-three"], ["task-two"]]


def test_what_is_there_is_not_made_again_and_failures_are_told_of_their_tasks(
    bubblewrap_workplace: Workplace, history: Project
) -> None:
    told: list[str] = []
    team = recipe(setup=("echo supplied",), files=(LOCK,), build=("true",))
    made = supply(bubblewrap_workplace, history, team, told)
    bad = recipe(setup=("exit 4",))
    wanted = tasks("one", "two", "three", three=bad)
    first = made.provide(wanted)
    assert set(first.ready) == {TaskId("task-one"), TaskId("task-two")}
    assert len({place.key for place in first.ready.values()}) == 1
    assert first.ready[TaskId("task-one")].build == ("true",)
    (error,) = first.failed.values()
    assert error.message == "task task-three: the setup command 'exit 4' ended in 4"
    assert any("of task-one, task-two" in line for line in told)
    told.clear()
    assert made.provide(tasks("one", "two")).ready == first.ready
    assert told == []


def test_what_setup_writes_into_the_project_is_laid_into_every_tree(
    workplace: Workplace, history: Project
) -> None:
    commands = (
        f": {history.folder}; mkdir -p pkg build lib.egg-info",
        "echo 'version = 1' > pkg/_version.py",
        "echo changed >> a.py",
        "for name in build/copy.py lib.egg-info/PKG-INFO pkg/fast.so; do echo x > $name; done",
    )
    told: list[str] = []
    made = supply(workplace, history, recipe(setup=commands, build=("echo 2 > two",)), told)
    place = made.provide(tasks("one")).ready[TaskId("task-one")]
    workplace.made.append(place.key)
    assert any(line.endswith("kept for every tree: 1") for line in told)
    bench = Workbench(sandbox=workplace.sandbox, surroundings=place, limits=Limits())
    tree = {"a.py": "x = 1\n"}
    built = build_tree(bench, entries(tree))
    assert isinstance(built, Built), built
    files = {path: entry.data for path, entry in built.made.items() if entry.kind is Kind.FILE}
    assert files == {b"pkg/_version.py": b"version = 1\n", b"two": b"2\n"}
    own = build_tree(bench, entries({**tree, "pkg/_version.py": "version = 7\n"}))
    assert isinstance(own, Built)
    assert b"pkg/_version.py" not in own.made
    again = made.provide(tasks("one")).ready[TaskId("task-one")]
    assert again.build == place.build


def test_a_task_made_from_a_folder_has_nothing_of_the_teams_setup(
    bubblewrap_workplace: Workplace, history: Project
) -> None:
    team = recipe(setup=("exit 3",), build=("exit 4",), variables=(("A", "1"),))
    made = supply(bubblewrap_workplace, history, team, [])
    (one,) = tasks("one")
    fixture = history.folder / "fixtures" / f"{one.id}.tar"
    fixture.parent.mkdir()
    fixture.write_bytes(b"")
    place = made.provide((one,)).ready[one.id]
    assert (place.key, place.build, dict(place.variables)) == ("", (), {"A": "1"})


def test_a_plain_image_needs_nothing(bubblewrap_workplace: Workplace, history: Project) -> None:
    made = supply(bubblewrap_workplace, history, recipe(image="mine:1", variables=()), [])
    place = made.provide(tasks("one")).ready[TaskId("task-one")]
    assert (place.image, place.key, place.build) == ("mine:1", "", ())


def test_files_that_are_not_there_are_named_all(
    bubblewrap_workplace: Workplace, history: Project
) -> None:
    team = recipe(setup=("true",), files=("a.py", "b.py", "require"))
    _, failed = supply(bubblewrap_workplace, history, team, []).needs(tasks("one"))
    (error,) = failed.values()
    assert isinstance(error, InputError)
    assert [problem.split(",")[0].split()[-1] for problem in error.problems] == ["b.py", "require"]


AGENT = "mkdir -p /opt/labkit/env/agent && echo agent > /opt/labkit/env/agent/mark"


def test_agents_lie_on_top_of_what_tasks_have_and_failures_are_their_own(
    bubblewrap_workplace: Workplace, history: Project
) -> None:
    told: list[str] = []
    team = recipe(setup=("mkdir -p /opt/labkit/env; echo task > /opt/labkit/env/mark",))
    made = supply(bubblewrap_workplace, history, replace(team, files=(LOCK,)), told)
    wanted = tasks("one", "two", "three", three=recipe(setup=("exit 4",)))
    supplied = made.provide(wanted)
    names = [task.id for task in wanted]
    good = [Wanted(agent="good", install=(AGENT,), task=name) for name in names]
    also = [Wanted(agent="also", install=(AGENT,), task=name) for name in names]
    bad = [Wanted(agent="bad", install=("exit 7",), task=name) for name in names]
    plain = [Wanted(agent="plain", install=(), task=name) for name in names]
    alone = Wanted(agent="good", install=(AGENT,))
    told.clear()
    equipped = made.equip(supplied, [*bad, *good, *also, *plain, alone])
    assert {each.agent for each in equipped.ready} == {"good", "also", "plain"}
    keys = {equipped.ready[each].key for each in (*good[:2], *also[:2])}
    assert len(keys) == 1
    assert any(line.endswith("of also, good for task-one, task-two") for line in told)
    place = equipped.ready[good[0]]
    look = "cat /opt/labkit/env/mark /opt/labkit/env/agent/mark"
    assert bubblewrap_workplace.run(place, look)[1] == "task\nagent\n"
    assert equipped.ready[plain[0]] == supplied.ready[names[0]]
    assert (
        bubblewrap_workplace.run(equipped.ready[alone], "ls /opt/labkit/env")[1].count("mark") == 0
    )
    assert {each.agent for each in equipped.failed} == {"bad", "good", "also", "plain"}
    error = equipped.failed[bad[1]]
    assert error.message == (
        "agent bad for task-one, task-two: the setup command 'exit 7' ended in 7"
    )
    assert "env build --agent NAME" in (error.hint or "")
    assert equipped.failed[good[2]] is supplied.failed[names[2]]
    told.clear()
    assert made.equip(supplied, good[:2]).ready == {each: equipped.ready[each] for each in good[:2]}
    assert told == []
