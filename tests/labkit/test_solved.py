"""A solved commit as a task: its two ends, the draft of its tests, and what stays out."""

from pathlib import Path

import pytest
from gitrepo import EXECUTABLE, LINK, Project, make_project

from labkit.errors import InputError, ToolError
from labkit.git import Repository
from labkit.solved import hidden_draft, protected_places, solved_by
from labkit.testpaths import PathKind

FILE = "100644"
Tree = dict[bytes, tuple[str, bytes]]


def step(project: Project, before: Tree, after: Tree) -> str:
    """Commit two trees, one on the other, and return the second commit."""
    base = project.commit_tree(before)
    tree = project.git("rev-parse", f"{project.commit_tree(after)}^{{tree}}")
    return project.git("commit-tree", tree, "-p", base, "-m", "Solve it")


@pytest.fixture
def empty(tmp_path: Path) -> Project:
    return make_project(tmp_path / "project")


def test_the_draft_is_what_the_commit_did_to_the_tests(empty: Project) -> None:
    both: Tree = {b"a.py": (FILE, b"1"), b"tests/keep.py": (FILE, b"k")}
    before: Tree = {
        **both,
        b"test/old.bin": (FILE, b"\0\1"),
        b"tests/test_gone.py": (FILE, b"g"),
        b"tests/run.sh": (FILE, b"#!/bin/sh\n"),
    }
    after: Tree = {
        **both,
        b"a.py": (FILE, b"2"),
        b"tests/old.bin": (FILE, b"\0\1"),
        b"tests/run.sh": (EXECUTABLE, b"#!/bin/sh\n"),
        b"tests/alias": (LINK, b"../a.py"),
        "tests/äöü test.py".encode(): (FILE, b"x\r\n"),
    }
    solved = solved_by(empty.repository, step(empty, before, after))
    draft = hidden_draft(empty.repository, solved)
    assert draft.files == {
        "tests/old.bin": b"\0\1",
        "tests/run.sh": b"#!/bin/sh\n",
        "tests/äöü test.py": b"x\r\n",
    }
    assert draft.executable == ("tests/run.sh",)
    assert draft.links == {"tests/alias": "../a.py"}
    assert draft.removed == ("test/old.bin", "tests/test_gone.py")
    assert draft.left_out == ()
    assert [change.path for change in solved.of_kind(PathKind.SOURCE)] == [b"a.py"]


def test_what_no_draft_can_hold_is_named(empty: Project) -> None:
    before: Tree = {b"a.py": (FILE, b"1")}
    after: Tree = {
        b"a.py": (FILE, b"2"),
        b"tests/\xff.py": (FILE, b""),
        b"tests/old.orig": (FILE, b""),
        b"tests/up": (LINK, b"../../up"),
        b"tests/abs": (LINK, b"/etc/passwd"),
        b"tests/sub": ("160000", b"1" * 40),
        b"tests/test_a.py": (FILE, b"x"),
    }
    draft = hidden_draft(empty.repository, solved_by(empty.repository, step(empty, before, after)))
    assert list(draft.files) == ["tests/test_a.py"]
    assert draft.links == {}
    assert sorted(draft.left_out) == [
        "tests/\\xff.py: the path is not a plain relative one",
        "tests/abs: the link leads out of the project",
        "tests/old.orig: it is named like a cache or an editor's backup, and those are left out",
        "tests/sub: a submodule cannot be hidden",
        "tests/up: the link leads out of the project",
    ]


@pytest.mark.parametrize(
    ("before", "after", "places"),
    [
        (["tests/a.py"], ["tests/test_new.py"], ("tests/",)),
        ([], ["tests/test_new.py"], ("tests/",)),
        (["pkg/tests/a.py"], ["pkg/tests/data/x.mp3"], ("pkg/tests/",)),
        (["test_x.py"], ["test_x.py"], ("test_x.py",)),
        (["test_x.py"], ["test_secret_feature.py"], ("test_x.py",)),
        (["pkg/tests/a.py"], ["secret/tests/test_b.py"], ("pkg/tests/",)),
        (["tests/a.py"], [], ("tests/",)),
        ([], ["test_secret_feature.py"], ()),
    ],
    ids=["folder", "new", "package", "root", "new at the root", "new package", "none", "nothing"],
)
def test_protected_places_never_name_what_only_the_solution_has(
    empty: Project, before: list[str], after: list[str], places: tuple[str, ...]
) -> None:
    old: Tree = {b"a.py": (FILE, b"1"), **{path.encode(): (FILE, b"") for path in before}}
    new: Tree = {**old, b"a.py": (FILE, b"2"), **{path.encode(): (FILE, b"n") for path in after}}
    solved = solved_by(empty.repository, step(empty, old, new))
    assert protected_places(empty.repository, solved) == places


def test_several_commits_are_solved_together(project: Project) -> None:
    last = project.commit({"tests/test_b.py": "b\n"}, "Test it")
    solved = solved_by(project.repository, last, base="base")
    assert [change.path for change in solved.changes] == [b"a.py", b"tests/test_b.py"]
    assert solved.base.oid == project.git("rev-parse", "base")


def test_a_base_from_another_history_is_refused(project: Project) -> None:
    other = project.git("commit-tree", "HEAD^{tree}", "-m", "elsewhere")
    with pytest.raises(InputError, match="does not lead to"):
        solved_by(project.repository, "HEAD", base=other)
    with pytest.raises(InputError, match="is both base and solution"):
        solved_by(project.repository, "HEAD", base="HEAD")


def test_a_shallow_clone_says_what_is_missing(project: Project, tmp_path: Path) -> None:
    project.git("clone", "--quiet", "--depth=1", project.folder.as_uri(), str(tmp_path / "c"))
    with pytest.raises(InputError, match="oldest commit of this shallow clone") as error:
        solved_by(Repository.discover(tmp_path / "c"), "HEAD")
    assert error.value.hint == "get the whole history: git fetch --unshallow"


@pytest.mark.parametrize("lost", ["blob", "tree"])
def test_a_commit_that_is_not_whole_is_named(project: Project, lost: str) -> None:
    name = {"blob": "base:lib/deep/m.py", "tree": "base:lib"}[lost]
    oid = project.git("rev-parse", name)
    (project.folder / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
    base = project.git("rev-parse", "base")
    with pytest.raises(ToolError, match=f"commit {base[:10]} is not whole in this clone") as error:
        solved_by(project.repository, "HEAD")
    assert "git fetch" in (error.value.hint or "")
    if lost == "blob":
        assert "1 file, such as lib/deep/m.py" in error.value.message
