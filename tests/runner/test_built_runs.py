"""Runs on projects that are set up and built: what build makes is there, and in no difference."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from environs import SOURCE, Workplace
from gitrepo import make_project
from runs import A, B, Lab, a_configuration, a_task, arms

from labkit.archive import Entry, Kind
from labkit.building import Built, NotBuilt, Surroundings, Workbench, build_tree
from labkit.export import read_base
from labkit.git import Repository
from labkit.model import RunId, TaskId
from labkit.records import load_missing
from labkit.treediff import diff_returned
from labkit_runner.session import Session

NAME = TaskId("bug-a")
ONE = RunId.parse("bug-a__A__1")
TWO = RunId.parse("bug-a__B__1")
BUILD = (
    "python tools/write_version.py",
    "mkdir -p build/empty && echo made > build/log.txt && echo '# built' >> pyproject.toml",
    "rm -f unwanted.txt",
)


def lab_of(place: Workplace, folder: Path) -> Lab:
    project = make_project(folder / "project")
    project.commit({**SOURCE, "unwanted.txt": "u\n"})
    project.git("tag", "base")
    lab = Lab(project, place.sandbox)
    for run in (ONE, TWO):
        lab.steps(run, [{"say": "looking"}])
    return lab


def session_of(lab: Lab, where: Surroundings) -> Session:
    return Session(
        workspace=lab.workspace,
        bench=lab.bench,
        tasks={NAME: a_task("bug-a")},
        arms=arms(lab.workspace, a_configuration(A), a_configuration(B)),
        listener=lab.told.append,
        surroundings={NAME: where},
    )


def test_an_agent_finds_the_project_installed_and_built_and_does_nothing(
    workplace: Workplace, tmp_path: Path
) -> None:
    lab = lab_of(workplace, tmp_path)
    where = replace(
        workplace.make("pip install -e .", files=SOURCE), build=BUILD, variables={"FLAVOUR": "sour"}
    )
    check = 'words && test "$FLAVOUR" = sour && test -f build/log.txt && git status --short'
    lab.steps(ONE, [{"run": check}])
    session_of(lab, where).run_all(lab.plan("bug-a"))
    for run in (ONE, TWO):
        folder = lab.workspace.run(run)
        record = json.loads((folder / "run.json").read_text())
        assert (folder / "diff.patch").read_bytes() == b""
        assert record["environment"] == where.key
        assert record["result_tree"] == record["base_tree"]
        assert record["left_out"] == []
    said = (lab.workspace.run(ONE) / "transcript.jsonl").read_text()
    assert "says 1" in said


def test_build_commands_that_fail_make_a_run_missing(
    bubblewrap_workplace: Workplace, tmp_path: Path
) -> None:
    lab = lab_of(bubblewrap_workplace, tmp_path)
    where = Surroundings(image=lab.image, build=("echo broken >&2; exit 5",))
    assert session_of(lab, where).run_all(lab.plan("bug-a")[:1]) == ()
    reason = load_missing(lab.workspace.missing(ONE)).reasons[-1]
    assert 'bug-a could not be set up: the build command "echo broken' in reason
    assert "ended in 5: broken" in reason
    assert not lab.workspace.run(ONE).exists()


@pytest.fixture
def bench(bubblewrap_workplace: Workplace, tmp_path: Path) -> Workbench:
    lab = lab_of(bubblewrap_workplace, tmp_path)
    where = Surroundings(image=lab.image, build=BUILD)
    return Workbench(sandbox=lab.sandbox, surroundings=where, limits=lab.limits)


def test_what_build_commands_did_is_known_exactly(bench: Workbench, tmp_path: Path) -> None:
    base = read_base(repository_in(tmp_path), "base")
    built = build_tree(bench, base.files())
    assert isinstance(built, Built)
    assert sorted(built.made) == [
        b"build", b"build/empty", b"build/log.txt", b"pyproject.toml", b"src/words/_version.py",
    ]  # fmt: skip
    assert built.gone == {b"unwanted.txt"}
    after = built.over(base.files())
    assert after[b"build/log.txt"].data == b"made\n"
    assert b"unwanted.txt" not in after


def repository_in(tmp_path: Path) -> Repository:
    return Repository.discover(tmp_path / "project")


def test_edits_on_top_of_a_build_are_the_whole_difference(bench: Workbench, tmp_path: Path) -> None:
    repository = repository_in(tmp_path)
    base = read_base(repository, "base")
    built = build_tree(bench, base.files())
    assert isinstance(built, Built)
    after = built.over(base.files())
    mine = {
        b"src/words/__init__.py": b"def say():\n    return 9\n",
        b"src/words/_version.py": b"version = 'mine'\n",
        b"pyproject.toml": after[b"pyproject.toml"].data + b"# mine\n",
        b"unwanted.txt": b"back again\n",
    }
    for path, data in mine.items():
        after[path] = Entry(path=path, kind=Kind.FILE, data=data)
    difference = diff_returned(repository, base, after.values(), built=built)
    assert difference.changed == (b"pyproject.toml", b"src/words/__init__.py", b"unwanted.txt")
    assert difference.left_out == (
        "src/words/_version.py: the build commands make it, and make it again for grading",
    )


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("exit 3", '"exit 3" ended in 3'),
        ("sleep 60", "the build ran out of time"),
        ("for n in 1 2; do head -c 1500000 /dev/zero > $n; done", "the build left too much"),
        ("kill -9 $$", "ended in 137"),
    ],
)
def test_a_build_that_fails_says_why(
    workplace: Workplace, tmp_path: Path, command: str, says: str
) -> None:
    lab = lab_of(workplace, tmp_path)
    limits = replace(lab.limits, seconds=8 if "sleep" in command else 60, returned_bytes=2_000_000)
    where = Surroundings(image=lab.image, build=(command,))
    bench = Workbench(sandbox=lab.sandbox, surroundings=where, limits=limits)
    result = build_tree(bench, [Entry(path=b"a", kind=Kind.FILE, data=b"x" * 1_000_000),
                                Entry(path=b"b", kind=Kind.FILE, data=b"x" * 900_000)])  # fmt: skip
    assert isinstance(result, NotBuilt)
    assert says in result.reason
