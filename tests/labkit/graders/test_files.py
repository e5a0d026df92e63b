"""Files that a candidate left: what is read, what is refused, and what cannot be measured."""

import os
import socket
import tempfile
from pathlib import Path

import pytest

from labkit.archive import Kind
from labkit.errors import InputError
from labkit.gitpaths import shown_path
from labkit.graders import Case, ContainsAll, FileEquals, Likeness, Output, RegexMatch, Whitespace
from labkit.graders.folder import Unreadable, entries_of, read_inside

CASE = Case(id="hello")
SECRET = "the host's"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a candidate's folder, beside a file of the host's."""
    (tmp_path / "secret.txt").write_text(SECRET, encoding="utf-8")
    made = tmp_path / "work"
    (made / "src").mkdir(parents=True)
    (made / "src" / "a.txt").write_bytes(b"hello\r\n")
    return made


def test_file_equals_counts_every_byte(folder: Path) -> None:
    output = Output(folder=folder)
    assert FileEquals(path="src/a.txt", expected="hello\r\n")(output, CASE).passed
    assert FileEquals(path="src/a.txt", expected=b"hello\r\n")(output, CASE).passed
    assert FileEquals(path="src/a.txt")(output, Case(id="a", reference="hello\r\n")).passed
    verdict = FileEquals(path="src/a.txt", expected="hello\n")(output, CASE)
    assert (verdict.passed, verdict.score) == (False, 0)
    assert verdict.detail == r"expected b'hello\n', found b'hello\r\n'"


def test_file_equals_can_forgive(folder: Path) -> None:
    loose = Likeness(whitespace=Whitespace.ENDS)
    grader = FileEquals(path="src/a.txt", expected="hello", likeness=loose)
    assert grader(Output(folder=folder), CASE).passed
    (folder / "src" / "a.txt").write_bytes(b"hello\xff")
    assert not grader(Output(folder=folder), CASE).passed


def test_other_graders_look_into_files_too(folder: Path) -> None:
    output = Output(value="nothing", folder=folder)
    assert ContainsAll(words=("hello",), path="src/a.txt")(output, CASE).passed
    assert RegexMatch(pattern="^hel+o$", path="src/a.txt")(output, CASE).passed is False
    assert RegexMatch(pattern="(?m)^hel+o$", path="src/a.txt")(output, CASE).passed
    assert "missing" in ContainsAll(words=("a",), path="b")(output, CASE).detail


def test_a_large_file_is_compared_and_a_larger_one_fails(folder: Path) -> None:
    content = b"x" * (20 * 1024 * 1024)
    (folder / "big").write_bytes(content)
    assert FileEquals(path="big", expected=content)(Output(folder=folder), CASE).passed
    loose = FileEquals(path="big", expected="x", likeness=Likeness())(Output(folder=folder), CASE)
    assert "big is too long" in loose.detail
    other = FileEquals(path="big", expected=content + b"y")(Output(folder=folder), CASE)
    assert other.detail == "differs from byte 20971521 on: expected b'y', found b''"
    with (folder / "big").open("wb") as file:
        file.truncate(10**12)
    verdict = FileEquals(path="big", expected=b"x")(Output(folder=folder), CASE)
    assert verdict.detail == "big is larger than 67,108,864 bytes"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("link", "link is a link"),
        ("up/secret.txt", "up/secret.txt does not lie in a plain folder"),
        ("pipe", "pipe is not a file"),
        ("socket", "socket is not a file"),
        ("src", "src is not a file"),
        ("gone", "gone is missing"),
        ("src/a.txt/b", "src/a.txt/b does not lie in a plain folder"),
        ("n" * 300, "cannot have that name"),
    ],
)
def test_what_is_no_plain_file_fails(folder: Path, name: str, why: str) -> None:
    (folder / "link").symlink_to(folder.parent / "secret.txt")
    (folder / "up").symlink_to(folder.parent)
    os.mkfifo(folder / "pipe")
    with tempfile.TemporaryDirectory() as short, socket.socket(socket.AF_UNIX) as listener:
        (Path(short) / "at").symlink_to(folder)  # a socket's own name cannot be long
        listener.bind(f"{short}/at/socket")
    handles = len(list(Path("/proc/self/fd").iterdir()))
    verdict = FileEquals(path=name, expected=SECRET)(Output(folder=folder), CASE)
    assert len(list(Path("/proc/self/fd").iterdir())) == handles
    assert verdict.passed is False
    assert verdict.detail.endswith(why)
    assert SECRET not in verdict.detail


@pytest.mark.skipif(os.getuid() == 0, reason="root can read everything")
def test_a_closed_file_fails(folder: Path) -> None:
    (folder / "src" / "a.txt").chmod(0)
    assert "cannot be read" in FileEquals(path="src/a.txt")(Output(folder=folder), CASE).detail


def test_a_folder_that_the_candidate_removed_fails_and_none_is_not_graded(tmp_path: Path) -> None:
    grader = FileEquals(path="a", expected="")
    assert grader(Output(folder=tmp_path / "gone"), CASE).passed is False
    verdict = grader(Output(), CASE)
    assert (verdict.passed, verdict.score) == (None, None)
    assert "hello has no folder" in verdict.detail
    assert not ContainsAll(words=("a",), path="a")(Output(value="a"), CASE).graded
    assert not FileEquals(path="a")(Output(folder=tmp_path), CASE).graded


def test_trouble_of_the_machine_is_not_graded(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> int:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "open", broken)
    verdict = FileEquals(path="a", expected="")(Output(folder=folder), CASE)
    assert not verdict.graded
    assert "Input/output error" in verdict.detail


@pytest.mark.parametrize(
    "path", ["", "/etc/passwd", "../secret.txt", "a/../b", "./a", "a//b", "\0"]
)
def test_no_path_leads_out_of_the_folder(path: str) -> None:
    with pytest.raises(InputError, match='"path"'):
        FileEquals(path=path)
    if path:
        with pytest.raises(InputError, match='"path"'):
            ContainsAll(words=("a",), path=path)
        with pytest.raises(InputError, match='"path"'):
            RegexMatch(pattern="a", path=path)


def test_a_folder_is_taken_whole_without_following_links(folder: Path) -> None:
    (folder / "up").symlink_to("..")
    (folder / "run").write_text("#!/bin/sh\n", encoding="utf-8")
    (folder / "run").chmod(0o755)
    (folder / "empty").mkdir()
    os.mkfifo(folder / "pipe")
    found = entries_of(folder)
    assert not isinstance(found, Unreadable)
    assert [(entry.path, entry.kind) for entry in found] == [
        (b"empty", Kind.FOLDER),
        (b"run", Kind.EXECUTABLE),
        (b"src", Kind.FOLDER),
        (b"up", Kind.SYMLINK),
        (b"src/a.txt", Kind.FILE),
    ]


def test_a_folder_with_too_much_in_it_is_refused(folder: Path) -> None:
    for count in range(5):
        with (folder / f"part{count}").open("wb") as file:
            file.truncate(60 * 1024 * 1024)
    found = entries_of(folder)
    assert isinstance(found, Unreadable)
    assert found.why == "the folder is larger than 268,435,456 bytes"
    (folder / "part0").write_bytes(b"")
    (folder / "part1").write_bytes(b"")
    assert not isinstance(entries_of(folder), Unreadable)


def test_a_folder_with_too_many_files_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labkit.graders.folder._MOST_ENTRIES", 1)
    assert entries_of(folder) == Unreadable(why="the folder holds more than 1 files")


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    assert entries_of(tmp_path / "gone") == Unreadable(why="the folder is missing")
    assert read_inside(tmp_path, "gone") == Unreadable(why="gone is missing")


def test_a_path_of_kilobytes_is_told_in_a_line(tmp_path: Path) -> None:
    at = os.open(tmp_path, os.O_RDONLY)
    for _ in range(25):  # no path can name the last one
        os.mkdir("d" * 200, dir_fd=at)
        below = os.open("d" * 200, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)
    found = entries_of(tmp_path)
    if isinstance(found, Unreadable):  # where the walk itself does not end before
        assert len(found.why) < 300
    long = read_inside(tmp_path, "x" * 3000)
    assert isinstance(long, Unreadable)
    assert long.why.startswith("xxx")
    assert long.why.endswith("x cannot have that name")
    assert len(long.why) < 300
    assert shown_path(b"a/\xff") == r"a/\xff"
