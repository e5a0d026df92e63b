"""The log of histories that are awkward to read: bytes that are no text, renames, merges, sizes."""

from pathlib import Path

import pytest
from gitrepo import Project, make_project
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labkit.errors import InputError
from labkit.gitlog import Logged, Touched, read_log
from labkit.mining import mine

TEXT = "one\ntwo\nthree\nfour\nfive\n"


@pytest.fixture
def made(tmp_path: Path) -> Project:
    return make_project(tmp_path / "project")


def log(project: Project, **asked: object) -> list[Logged]:
    return list(read_log(project.repository, **asked))  # type: ignore[arg-type] # options of a test


def test_files_renames_and_binary_data(made: Project) -> None:
    first = made.commit({"a.py": TEXT, "b.bin": b"\0\1"}, "Begin")
    made.git("mv", "a.py", "new\tname\n.py")
    second = made.commit(
        {"new\tname\n.py": TEXT + "six\n", "b.bin": b"\0\2"}, "Move it\n\nWhy\tso\t"
    )
    newest, oldest = log(made)
    assert (oldest.oid, oldest.parents, oldest.message) == (first, (), "Begin")
    assert oldest.touched == (
        Touched(path=b"a.py", added=5, deleted=0),
        Touched(path=b"b.bin", added=None, deleted=None),
    )
    assert (newest.oid, newest.parents) == (second, (first,))
    assert newest.message == "Move it\n\nWhy\tso"
    assert newest.touched == (
        Touched(path=b"b.bin", added=None, deleted=None),
        Touched(path=b"new\tname\n.py", added=1, deleted=0),
    )


def test_messages_and_paths_that_are_no_text(made: Project) -> None:
    made.commit_tree({})
    tree = {b"src/\xff.py": ("100644", b"1\n"), b"tests/\xe9\n": ("100644", b"2\n")}
    oid = made.git("rev-parse", f"{made.commit_tree(tree)}^{{tree}}")
    raw = b"tree %s\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\n\xff\xfe 1\t2\t3\n"
    commit = made.git(
        "hash-object", "-t", "commit", "-w", "--stdin", "--literally", stdin=raw % oid.encode()
    )
    made.git("update-ref", "HEAD", commit)
    (only,) = log(made)
    assert only.message == "\ufffd\ufffd 1\t2\t3"
    assert [one.path for one in only.touched] == [b"src/\xff.py", b"tests/\xe9\n"]


def test_a_commit_without_a_message_or_a_change(made: Project) -> None:
    made.commit({"a.py": "1\n"}, "Begin")
    tree = made.git("rev-parse", "HEAD^{tree}")
    empty = made.git("commit-tree", tree, "-p", "HEAD", stdin=b"")
    made.git("update-ref", "HEAD", empty)
    made.commit({"a.py": "2\n"}, "Go on")
    assert [(one.message, len(one.touched)) for one in log(made)] == [
        ("Go on", 1),
        ("", 0),
        ("Begin", 1),
    ]


def test_a_merge_is_compared_with_its_first_parent(made: Project) -> None:
    made.commit({"a.py": "1\n"}, "Begin")
    made.git("checkout", "-q", "-b", "side")
    made.commit({"b.py": "1\n", "tests/test_b.py": "1\n2\n3\n"}, "Side")
    made.git("checkout", "-q", "main")
    made.commit({"c.py": "1\n"}, "Main")
    made.git("merge", "-q", "--no-ff", "-m", "Merge pull request #1 from a/b\n\nAdd b", "side")
    plain, *_ = log(made)
    assert (len(plain.parents), plain.touched) == (2, ())
    merged, *_ = log(made, merges=True)
    assert [one.path for one in merged.touched] == [b"b.py", b"tests/test_b.py"]
    best = mine(made.repository, merges=True).candidates
    assert {one.headline for one in best} == {"Add b", "Side"}
    assert [one.headline for one in mine(made.repository).candidates] == ["Side"]


def test_a_path_and_a_time_choose_commits_but_not_files(made: Project) -> None:
    made.commit({"a/x.py": "1\n", "tests/test_x.py": "1\n"}, "X")
    made.commit({"a/x.py": "2\n", "tests/test_x.py": "2\n2\n2\n"}, "X again")
    made.commit({"b/y.py": "1\n", "tests/test_y.py": "1\n2\n3\n"}, "Y")
    assert [one.message for one in log(made, path="a/")] == ["X again", "X"]
    assert len(log(made, path="a")[0].touched) == 2
    assert log(made, path="*") == []
    assert log(made, since="2024-06-01") == []
    assert len(log(made, since="2024-04-01")) == 3


def test_a_commit_of_very_many_files(made: Project) -> None:
    made.commit({"a.py": "1\n"}, "Begin")
    made.commit({f"src/f{n}.py": "1\n" for n in range(3000)} | {"tests/test_a.py": "1\n"}, "All")
    assert len(log(made)[0].touched) == 3001
    assert mine(made.repository).unfit == {"too large": 1, "the first commit": 1}


def test_a_history_without_a_commit_says_so(made: Project) -> None:
    with pytest.raises(InputError, match="no commit 'HEAD' in this repository"):
        mine(made.repository)


names = st.text("ab \t\n\"'\\é/", min_size=1, max_size=8).filter(
    lambda name: not {"", ".", ".."}.intersection(name.split("/"))
)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(
        st.tuples(names, st.text(st.characters(codec="utf-8", exclude_characters="\0"))), max_size=4
    )
)
def test_whatever_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str]]
) -> None:
    made = make_project(tmp_path_factory.mktemp("any") / "project")
    for number, (name, message) in enumerate(steps):
        tree = {name.encode(): ("100644", f"{number}\n".encode())}
        tree_id = made.git("rev-parse", f"{made.commit_tree(tree)}^{{tree}}")
        parents = ("-p", "HEAD") if number else ()
        commit = made.git("commit-tree", tree_id, *parents, stdin=message.encode())
        made.git("update-ref", "HEAD", commit)
    if steps:
        found = log(made)[::-1]
        assert [one.message for one in found] == [
            message.encode().decode().strip() for _, message in steps
        ]
        assert all(
            name.encode() in {t.path for t in one.touched}
            for one, (name, _) in zip(found, steps, strict=True)
        )


def test_the_best_come_first_and_then_the_newest(made: Project) -> None:
    made.commit({"a.py": "1\n"}, "Begin")
    test = "".join(f"{n}\n" for n in range(9))
    for name, message in (("b", "Fix a fault of b"), ("c", "Fix a fault of c"), ("d", "?")):
        made.commit({f"{name}.py": test, f"tests/test_{name}.py": test}, message)
    first, second, last = mine(made.repository).candidates
    assert {first.headline, second.headline} == {"Fix a fault of b", "Fix a fault of c"}
    assert first.score == second.score > last.score
    assert last.headline == "?"
