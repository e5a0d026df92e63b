"""`labkit task starter`: the kit's own tasks, whole or not at all."""

from collections.abc import Callable

from cli.labs import ANA, BEN, Lab, Stages

from labkit.cli.starter import starter_ids
from labkit.git import Repository
from labkit.tasks import read_tasks

ALL = tuple(str(task) for task in starter_ids())


def test_they_are_listed_without_a_lab_being_changed(stages: Stages) -> None:
    lab = stages.original("joined")
    before = lab.snapshot()
    lines = lab.done("task", "starter", "--list").splitlines()
    assert [line.split()[0] for line in lines] == list(ALL)
    assert "bugfix     The last line of the game is missing" in lines[ALL.index("fizzbuzz-range")]
    assert lab.snapshot() == before


def test_all_of_them_become_tasks_of_mine(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("joined")
    lab.done("task", "starter", me=BEN)
    tasks = read_tasks(lab.workspace, Repository.discover(lab.project.folder))
    assert [str(task.id) for task in tasks] == list(ALL)
    assert {task.author for task in tasks} == {BEN}
    assert all(lab.workspace.draft(task.id).is_dir() for task in tasks)
    assert lab.project.git("status", "--porcelain") == ""


def test_what_is_taken_is_refused_and_the_rest_named(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("joined")
    lab.done("task", "starter", "chain-last", "one-discount", me=ANA)
    says = ("there is a task chain-last already", "one-discount already", "the others: labkit task")
    err = lab.refused("task", "starter", me=BEN, code=2, says=says)
    others = err.split("labkit task starter ")[1].split()
    assert others == [name for name in ALL if name not in ("chain-last", "one-discount")]
    lab.done("task", "starter", *others[:1], me=BEN)


def test_an_unknown_name_is_guessed(stages: Stages) -> None:
    says = (
        'the starter has no task chain-lst; did you mean "chain-last"?',
        "no task zzz",
        "--list",
    )
    stages.original("joined").refused(
        "task", "starter", "chain-lst", "zzz", "chain-last", me=ANA, code=2, says=says
    )


def test_when_one_cannot_be_written_none_is(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("joined")
    (lab.workspace.handover / "drafts").mkdir()
    (lab.workspace.draft(starter_ids()[-1]).parent / "slugs").mkdir()
    blocked = lab.workspace.evals / "prompts"
    blocked.mkdir(exist_ok=True)
    (blocked / f"{ALL[3]}.txt").symlink_to("nowhere")
    before = set(lab.snapshot())
    assert lab.labkit("task", "starter", me=ANA).code == 2
    assert {name for name in lab.snapshot() if name not in before} == set()


def test_their_folders_can_be_copied_and_made_tasks_of(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("joined")
    target = lab.folder / "patterns"
    lab.done("task", "starter", "--into", str(target))
    assert sorted(path.name for path in target.iterdir()) == list(ALL)
    assert not list(target.rglob("*.tmpl"))
    says = ("chain-last is already there", "choose another folder")
    lab.refused("task", "starter", "chain-last", "--into", str(target), code=2, says=says)
    lab.done("task", "new", "mine", "--fixture", str(target / "one-discount"), me=ANA)
    lab.done("task", "starter", "one-discount", me=BEN)
    mine, theirs = (
        next(t for t in read_tasks(lab.workspace, Repository.discover(lab.project.folder))
             if str(t.id) == name)
        for name in ("mine", "one-discount")
    )  # fmt: skip
    assert (mine.base, mine.solution) == (theirs.base, theirs.solution)
