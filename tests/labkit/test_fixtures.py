import os
from pathlib import Path

import pytest
from gitrepo import Project
from hypothesis import given
from hypothesis import strategies as st

from labkit.archive import Entry, Kind, write_tar
from labkit.errors import InputError, IntegrityError
from labkit.export import read_base
from labkit.fixtures import (
    Ends,
    Fixture,
    changed_paths,
    collect,
    ends,
    fixture_tar,
    overlay,
    provide,
    read_fixture,
    write_commits,
)
from labkit.git import Repository

NAMES = st.sampled_from([b"a", b"b.py", b"d", b"\xc3\xa9", b"x y", b'q"', b"t\\", b"\xff"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map(b"/".join)
ENTRIES = st.builds(
    Entry,
    path=PATHS,
    kind=st.sampled_from([Kind.FILE, Kind.EXECUTABLE]),
    data=st.binary(max_size=40) | st.sampled_from([b"a\r\nb\r\n", b"$Id$\n", b"\0\n"]),
)
TREES = st.lists(ENTRIES, max_size=5).map(lambda entries: overlay((), _apart(entries), ()))


def _apart(entries: list[Entry]) -> list[Entry]:
    """Leave out what cannot stand beside what is there: a file where a folder is."""
    kept: list[Entry] = []
    for entry in entries:
        if not any(f"{a!r}/"[:-2].startswith(f"{b!r}"[:-1]) for e in kept
                   for a, b in ((e.path, entry.path), (entry.path, e.path))):  # fmt: skip
            kept.append(entry)
    return kept


def entry(path: str, data: bytes = b"x\n", kind: Kind = Kind.FILE) -> Entry:
    return Entry(path=path.encode(), kind=kind, data=data)


FIXTURE = Fixture(
    start=(
        entry(".gitattributes", b"* text=auto eol=crlf\n"),
        entry(".gitignore", b"*.log\nraw/\n"),
        entry("bin.dat", bytes(range(256))),
        entry("crlf.txt", b"one\r\ntwo\r\n"),
        entry("link", b"../outside", Kind.SYMLINK),
        entry("raw/kept.log", b"in spite of the rules\n"),
        entry("run.sh", b"#!/bin/sh\n", Kind.EXECUTABLE),
    ),
    solution=(entry("a.py", b"done = True\n"),),
)


@given(start=TREES.filter(bool), solution=TREES)
def test_a_fixture_reads_back_the_same(
    tmp_path_factory: pytest.TempPathFactory, start: tuple[Entry, ...], solution: tuple[Entry, ...]
) -> None:
    fixture = Fixture(start=start, solution=solution)
    path = tmp_path_factory.mktemp("f") / "x.tar"
    path.write_bytes(fixture_tar(fixture))
    assert read_fixture(path) == fixture


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_git_and_labkit_agree_on_the_commits(tmp_path: Path, form: str) -> None:
    repository = _bare(tmp_path, form)
    found = write_commits(repository, FIXTURE)
    assert repository.commit(found.solution).parents == (found.base,)
    assert repository.commit(found.base).parents == ()
    files = {item.path: item for item in read_base(repository, found.base).files()}
    assert files == {item.path: item for item in FIXTURE.start}
    assert repository.git("for-each-ref").stdout == b""
    assert ends(FIXTURE, form) == found


def _bare(folder: Path, form: str) -> Repository:
    if form == "sha1":
        return Repository.create_bare(folder / "p.git")
    other = Repository(folder / "o.git")
    Repository.create_bare(folder / "x.git").git(
        "init", "-q", "--bare", "--object-format=sha256", str(other.git_dir)
    )
    return other


def test_the_ids_never_change() -> None:
    assert ends(FIXTURE, "sha1") == Ends(
        base="53463564cf4002d0cd2eded786aff127fa9f125f",
        solution="096cf897f9e6dff7644638b4353365a5e17e18bf",
    )


def test_commits_that_are_missing_are_made_and_others_left_alone(
    project: Project, tmp_path: Path
) -> None:
    repository = Repository.discover(project.folder)
    before = project.git("status", "--porcelain"), project.git("for-each-ref")
    path = tmp_path / "x.tar"
    path.write_bytes(fixture_tar(FIXTURE))
    wanted = ends(FIXTURE, "sha1")
    provide(repository, path, base=wanted.base, solution=wanted.solution)
    provide(repository, path, base=wanted.base, solution=wanted.solution)
    assert repository.commit(wanted.solution).parents == (wanted.base,)
    assert (project.git("status", "--porcelain"), project.git("for-each-ref")) == before


def test_what_was_pruned_in_part_is_made_again(project: Project, tmp_path: Path) -> None:
    repository = Repository.discover(project.folder)
    path = tmp_path / "x.tar"
    path.write_bytes(fixture_tar(FIXTURE))
    wanted = write_commits(repository, FIXTURE)
    (blob,) = [item for item in repository.tree(wanted.base) if item.path == b"crlf.txt"]
    loose = repository.git_dir / "objects" / blob.oid[:2] / blob.oid[2:]
    loose.chmod(0o600)
    loose.unlink()
    provide(repository, path, base=wanted.base, solution=wanted.solution)
    assert list(repository.blobs([blob.oid])) == [b"one\r\ntwo\r\n"]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (fixture_tar(Fixture(start=FIXTURE.start[1:], solution=FIXTURE.solution)), "the base"),
        (fixture_tar(Fixture(start=FIXTURE.start, solution=FIXTURE.start)), "the solution"),
        (fixture_tar(Fixture(start=FIXTURE.start, solution=())), "the solution (none)"),
        (fixture_tar(FIXTURE).replace(b"one\r\ntwo", b"one\n\ntwo"), "the base"),
        (b"", "not a whole tar"),
        (b"rubbish" * 999, "not a whole tar"),
        (fixture_tar(FIXTURE)[:3000], "fixtures/x.tar"),
        (write_tar([entry("fixture/other/a")]), "not a whole tar"),
        (write_tar([entry("fixture/start")]), "not a whole tar"),
        (write_tar([entry("fixture/start/../../a")]), "the base"),
    ],
    ids=["start", "solution", "no solution", "byte", "empty", "rubbish", "cut", "other", "file",
         "climbing"],
)  # fmt: skip
def test_a_fixture_that_was_touched_is_refused(
    project: Project, tmp_path: Path, data: bytes, told: str
) -> None:
    repository = Repository.discover(project.folder)
    wanted = write_commits(repository, FIXTURE)  # that they are there already must not help
    path = tmp_path / "x.tar"
    path.write_bytes(data)
    with pytest.raises(IntegrityError) as caught:
        provide(repository, path, base=wanted.base, solution=wanted.solution)
    assert told in caught.value.message
    assert "git -C evals checkout -- fixtures/x.tar" in (caught.value.hint or "")


def test_a_folder_is_collected(tmp_path: Path) -> None:
    for name in ("b/c.py", "a.txt", "__pycache__/x.pyc", "b/.pytest_cache/y", ".hidden", "B~"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"1\r\n")
    (tmp_path / "empty").mkdir()
    (tmp_path / "go").write_bytes(b"")
    (tmp_path / "go").chmod(0o755)
    (tmp_path / "to").symlink_to("b")
    found = collect(tmp_path, executable=["a.txt"])
    assert [(item.path, item.kind, item.data) for item in found] == [
        (b".hidden", Kind.FILE, b"1\r\n"),
        (b"B~", Kind.FILE, b"1\r\n"),
        (b"a.txt", Kind.EXECUTABLE, b"1\r\n"),
        (b"b/c.py", Kind.FILE, b"1\r\n"),
        (b"go", Kind.EXECUTABLE, b""),
        (b"to", Kind.SYMLINK, b"b"),
    ]


def test_what_no_commit_can_hold_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "sub" / ".git").mkdir(parents=True)
    (tmp_path / ".GIT").write_text("gitdir: x")
    (tmp_path / "git~1").write_text("x")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError) as caught:
        collect(tmp_path)
    assert [problem.split("/")[-1] for problem in caught.value.problems] == [
        ".GIT: git keeps nothing of that name",
        "git~1: git keeps nothing of that name",
        "pipe is neither a file nor a link",
        ".git: git keeps nothing of that name",
    ]


def test_a_solution_holds_only_what_differs() -> None:
    start = (entry("a"), entry("b/c"), entry("b/d"), entry("e"), entry("f/g"))
    changes = (entry("a", b"new"), entry("b", b"a file now"), entry("e/h"))
    assert [item.path for item in overlay(start, changes, ["f/"])] == [b"a", b"b", b"e/h"]
    assert changed_paths(Fixture(start=start, solution=overlay(start, changes, ["f"]))) == (
        "a", "b", "b/c", "b/d", "e", "e/h", "f/g",
    )  # fmt: skip
