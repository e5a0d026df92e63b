"""Tasks from a folder: made whole or not at all, and the same on every machine of the team."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.labs import ANA, BEN, TARA, Lab, Stages
from gitrepo import make_project

from labkit.git import Repository
from labkit.model import TaskId
from labkit.tasks import read_task

TASK = TaskId("bug-sum")
CALC = "def add(a, b):\n    return a - b\n"
FILES = {
    "start/calc.py": CALC,
    "start/.gitignore": "raw/\n",
    "start/raw/table.csv": "1,2\r\n",
    "start/old.py": "x = 1\n",
    "start/tests/test_calc.py": "import calc\n\n\ndef test_there():\n    assert calc.add\n",
    "solution/calc.py": CALC.replace("-", "+"),
    "hidden/tests/test_sums.py": (
        "from calc import add\n\n\ndef test_sums():\n    assert add(2, 3) == 5\n"
    ),
    "prompt.txt": "\ufeffAdding two numbers\r\ngives a wrong sum.\r\n",
    "task.yaml": 'title: "Sums"\ncategory: bugfix\nremoved: ["old.py"]\nslices: ["sums"]\n',
}


def folder_of(lab: Lab, **changes: str | None) -> Path:
    folder = lab.folder / "fixture"
    for name, text in {**FILES, **changes}.items():
        if text is not None:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(text.encode())
    return folder


def new(lab: Lab, *words: str, me: str = ANA) -> None:
    lab.done("task", "new", str(TASK), "--fixture", str(folder_of(lab)), *words, me=me)


def test_a_folder_becomes_a_task(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("joined")
    tracked = lab.project.git("status", "--porcelain"), lab.project.git("for-each-ref")
    new(lab)
    repository = Repository.discover(lab.project.folder)
    task = read_task(lab.workspace, TASK, repository)
    assert (task.title, task.author, str(task.category)) == ("Sums", ANA, "bugfix")
    assert (task.slices, task.forbidden) == (("sums",), ("tests/", "evals/"))
    assert task.prompt == "Adding two numbers\ngives a wrong sum.\n"
    assert repository.changed_paths(task.base, task.solution) == (b"calc.py", b"old.py")
    assert b"raw/table.csv" in {entry.path for entry in repository.tree(task.base)}
    draft = lab.workspace.draft(TASK)
    names = sorted(path.name for path in draft.rglob("*") if path.is_file())
    assert names == ["oracle.yaml", "test_sums.py"]
    assert tracked == (lab.project.git("status", "--porcelain"), lab.project.git("for-each-ref"))
    readable = b"".join(p.read_bytes() for p in lab.workspace.evals.rglob("*") if p.is_file())
    assert b"test_sums" not in readable


def test_it_goes_the_whole_way_on_other_machines(
    lab_at: Callable[[str], Lab], tmp_path: Path
) -> None:
    lab = lab_at("sealed")
    new(lab)
    lab.done("task", "validate", str(TASK), "--repeats", "3")
    lab.done("task", "seal", me=ANA)
    edit = 'edit: {path: calc.py, find: "a - b", replace: "a + b"}'
    lab.steps(f"{TASK}__A__1", edit, 'finish: "Mended."')
    lab.steps(f"{TASK}__B__1", 'finish: "No."')
    lab.done("task", "freeze", "--pilot", me=ANA)
    # Everybody else has a clone of the project that never saw the commits, and a git that turns
    # line ends wherever it may.
    other = Lab(tmp_path / "other", lab.cache)
    shutil.copytree(lab.home, other.home)
    shutil.copytree(lab.workspace.handover, other.folder / "words-handover")
    evals = lab.workspace.evals
    for command in ("add --all", "-c user.name=a -c user.email=a commit -qm x"):
        subprocess.run(["git", "-C", evals, *command.split()], check=True)
    clone = ["git", "-c", "core.autocrlf=true", "clone", "-q", "-c", "core.autocrlf=true"]
    subprocess.run([*clone, lab.project.folder, other.project.folder], check=True)
    subprocess.run([*clone, evals, other.workspace.evals], check=True)
    assert b"\r\n" in (other.project.folder / "words.py").read_bytes()
    before = other.project.git("for-each-ref")
    for name in (ANA, BEN):
        other.done("task", "run", me=name)
    other.done("leaks")
    other.done("grade", me=TARA)
    results = {
        which: (other.workspace.raw / f"{TASK}__{which}__1" / "result.txt").read_text().strip()
        for which in "AB"
    }
    assert results == {"A": "PASS", "B": "FAIL"}
    assert other.project.git("for-each-ref") == before


def test_an_edited_fixture_is_named_by_every_command(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("joined")
    new(lab)
    path = lab.workspace.fixture(TASK)
    path.write_bytes(path.read_bytes().replace(b"a - b", b"a * b"))
    for command in ("task validate", f"task validate {TASK}", f"task seal --me {ANA}"):
        says = (f"fixtures/{TASK}.tar: its files give the base", "git -C evals checkout")
        lab.refused(*command.split(), code=3, says=says)


def test_a_repository_of_the_other_object_format(tmp_path: Path, stages: Stages) -> None:
    lab = Lab(tmp_path / "lab", stages.cache)
    make_project(tmp_path / "plain")
    subprocess.run(
        ["git", "init", "-q", "--object-format=sha256", str(lab.project.folder)], check=True
    )
    lab.done("init", "--team", "blue", "--full-name", "A", "--email", "a", me=ANA)
    new(lab)
    task = read_task(lab.workspace, TASK, Repository.discover(lab.project.folder))
    assert len(task.base) == 64


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"task.yaml": "titel: x\n"}, ('line 1: unknown field "titel", did you mean "title"',)),
        ({"task.yaml": "category: bugfx\n"}, ("there is no category 'bugfx'",)),
        ({"task.yaml": "title: x\n"}, ("the fixture says no category",)),
        ({"task.yaml": "category: bugfix\ntitle: no\n"}, ("line 2", "put it in quotes")),
        ({"task.yaml": 'category: bugfix\nremoved: ["gone.py"]\n'}, ("which is not in start/",)),
        ({"prompt.txt": None}, ("no file", "prompt.txt", "write what the agent is asked")),
        ({"prompt.txt": " \n"}, ("prompt.txt is empty",)),
        ({"notes.md": "x"}, ("notes.md has no place in a fixture",)),
        ({"solution/calc.py": CALC, "task.yaml": "category: bugfix\n"}, ("changes nothing",)),
        (
            {"solution/tests/test_x.py": FILES["hidden/tests/test_sums.py"]},
            ("solution/tests/test_x.py is hidden/tests/test_sums.py itself",),
        ),
        ({"oracle.yaml": "structur: [x]\n", "task.yaml": "category: refactor\n"},
         ('unknown field "structur"',)),
    ],
    ids=["field", "category", "none", "no", "removed", "no prompt", "empty prompt", "stranger",
         "same", "visible", "oracle"],
)  # fmt: skip
def test_a_folder_that_is_no_fixture_leaves_nothing(
    lab_at: Callable[[str], Lab], changes: dict[str, str | None], says: tuple[str, ...]
) -> None:
    lab = lab_at("joined")
    folder = folder_of(lab, **changes)
    lab.refused("task", "new", str(TASK), "--fixture", str(folder), me=ANA, code=2, says=says)


def test_other_folders_are_refused(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("drafted")
    folder = str(folder_of(lab))
    words = ("task", "new")
    lab.refused(*words, "x", "--fixture", "nowhere", me=ANA, code=2, says=("no folder start/",))
    lab.refused(
        *words, "x", "--fixture", folder, "--commit", "HEAD", me=ANA, code=2,
        says=("not from both",),
    )  # fmt: skip
    lab.refused(
        *words, "greet-empty", "--fixture", folder, me=ANA, code=2,
        says=("there is a task greet-empty already",),
    )  # fmt: skip
    shutil.rmtree(lab.folder / "fixture" / "solution")
    (lab.folder / "fixture" / "task.yaml").write_text("category: bugfix\n")
    lab.refused(
        *words, "x", "--fixture", folder, me=ANA, code=2, says=("a bugfix task needs solution/",)
    )


def test_a_task_that_cannot_be_written_whole_is_not_written(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("joined")
    folder = folder_of(lab)
    (lab.workspace.evals / "prompts").write_text("in the way")
    before = lab.snapshot()
    answer = lab.labkit("task", "new", str(TASK), "--fixture", str(folder), me=ANA)
    assert answer.code == 2
    assert f"prompts/{TASK}.txt is already there" in answer.err
    after = {name for name in lab.snapshot() if not name.endswith(".gitattributes")}
    assert after == {name for name in before if not name.endswith(".gitattributes")}
