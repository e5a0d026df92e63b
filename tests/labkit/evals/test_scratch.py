"""Scratch folders: fresh, compared by content, and gone afterwards."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.errors import InputError
from labkit.evals.scratch import Cupboard, Remover, edits, lay, move, read_files, remove

FILES = {
    "a.py": (b"a = 1\n", 0o644),
    "run.sh": (b"#!/bin/sh\n", 0o755),
    "src/deep/b.py": (b"", 0o644),
}


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    lay(FILES, str(tmp_path / "scratch"))
    return tmp_path / "scratch"


def test_files_are_laid_as_they_were_read(tmp_path: Path, scratch: Path) -> None:
    assert read_files(scratch) == FILES
    assert edits(FILES, str(scratch)) == ()
    assert read_files(None) == {}
    with pytest.raises(InputError, match="no folder"):
        read_files(tmp_path / "nowhere")


def test_a_large_file_is_laid_whole(tmp_path: Path) -> None:
    large = {"big": (os.urandom(3_000_000), 0o644)}
    lay(large, str(tmp_path / "big"))
    assert edits(large, str(tmp_path / "big")) == ()


def test_what_changed_is_seen(scratch: Path) -> None:
    (scratch / "a.py").write_text("a = 2\n")
    (scratch / "run.sh").chmod(0o644)
    (scratch / "src/deep/b.py").unlink()
    (scratch / "new").mkdir()
    (scratch / "new/c.py").touch()
    (scratch / "link").symlink_to("/nowhere")
    os.mkfifo(scratch / "pipe")
    expected = ("a.py", "link", "new/c.py", "pipe", "run.sh", "src/deep/b.py")
    assert edits(FILES, str(scratch)) == expected


def test_what_was_changed_back_is_no_edit(scratch: Path) -> None:
    (scratch / "a.py").write_text("a = 2\n")
    (scratch / "a.py").write_text("a = 1\n")
    (scratch / "__pycache__").mkdir()
    (scratch / "__pycache__/a.pyc").touch()
    assert edits(FILES, str(scratch)) == ()


def test_a_file_that_became_a_link_to_its_like_is_an_edit(scratch: Path, tmp_path: Path) -> None:
    (tmp_path / "like").write_bytes(b"a = 1\n")
    (scratch / "a.py").unlink()
    (scratch / "a.py").symlink_to(tmp_path / "like")
    assert edits(FILES, str(scratch)) == ("a.py",)


def test_a_scratch_folder_that_is_gone_has_lost_all(scratch: Path) -> None:
    remove(str(scratch))
    assert edits(FILES, str(scratch)) == tuple(sorted(FILES))


def test_links_are_removed_and_not_what_they_point_to(scratch: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/file").touch()
    (scratch / "link").symlink_to(tmp_path / "mine")
    remove(str(scratch))
    assert not scratch.exists()
    assert (tmp_path / "mine/file").exists()


def test_a_link_in_place_of_the_folder_is_removed_alone(scratch: Path, tmp_path: Path) -> None:
    remove(str(scratch))
    (tmp_path / "mine/folder").mkdir(parents=True)
    (tmp_path / "mine/file").touch()
    (tmp_path / "mine/folder/file").touch()
    scratch.symlink_to(tmp_path / "mine")
    remove(str(scratch))
    assert not scratch.is_symlink()
    assert (tmp_path / "mine/file").exists()
    assert (tmp_path / "mine/folder/file").exists()


def test_folders_without_rights_are_removed(scratch: Path) -> None:
    (scratch / "src/deep").chmod(0)
    scratch.chmod(0)
    remove(str(scratch))
    assert not scratch.exists()


def test_a_remover_has_removed_all_when_it_is_closed(tmp_path: Path) -> None:
    remover = Remover()
    for number in range(300):
        lay(FILES, str(tmp_path / f"{number}"))
        remover.remove(str(tmp_path / f"{number}"))
    remover.close()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_moved_in_place_of_an_earlier_one(scratch: Path, tmp_path: Path) -> None:
    target = tmp_path / "rollouts/a/1"
    move(str(scratch), str(target))
    lay({"other": (b"", 0o644)}, str(scratch))
    move(str(scratch), str(target))
    assert [path.name for path in target.iterdir()] == ["other"]


@given(
    st.dictionaries(
        st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=3).map("/".join),
        st.binary(max_size=20),
        max_size=4,
    ).filter(lambda files: not any(f"{one}/" in f"{two}/" for one in files for two in files
                                   if one != two))
)  # fmt: skip
def test_any_files_are_laid_and_found_unchanged(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]
) -> None:
    folder = tmp_path_factory.mktemp("any") / "scratch"
    laid = {name: (data, 0o644) for name, data in files.items()}
    lay(laid, str(folder))
    assert read_files(folder) == laid
    assert edits(laid, str(folder)) == ()
    assert edits({}, str(folder)) == tuple(sorted(laid))


def test_files_that_change_in_mid_run_are_told(scratch: Path) -> None:
    keeps, forgets = Cupboard(), Cupboard(budget=10)
    assert keeps.files(scratch) == forgets.files(scratch) == FILES
    assert keeps.files(None) == {}
    assert forgets.files(scratch) == FILES
    (scratch / "a.py").write_text("a = 2\n")
    assert keeps.files(scratch) == FILES
    with pytest.raises(InputError, match="was changed while it was being measured"):
        forgets.files(scratch)


@pytest.mark.parametrize("locked", [False, True])
def test_removing_never_follows_a_link_that_took_the_folders_place(
    tmp_path: Path, *, locked: bool
) -> None:
    """Only folders of this test are named here: the code under test deletes."""
    victim = tmp_path / "victim"
    (victim / "sub").mkdir(parents=True)
    (victim / "sub" / "file").write_text("precious")
    scratch = tmp_path / "scratch"
    scratch.symlink_to(victim)
    assert edits({}, str(scratch)) == ()
    remove(str(scratch))
    assert not scratch.is_symlink()
    assert (victim / "sub" / "file").read_text() == "precious"
    scratch.mkdir()
    (scratch / "inner").symlink_to(victim)
    (scratch / "deep").mkdir()
    (scratch / "deep" / "inner").symlink_to(victim)
    if locked:
        (scratch / "deep").chmod(0)
    remove(str(scratch))
    assert not scratch.exists()
    assert (victim / "sub" / "file").read_text() == "precious"


def test_removing_what_is_a_file_or_gone(tmp_path: Path) -> None:
    (tmp_path / "scratch").write_text("x")
    remove(str(tmp_path / "scratch"))
    remove(str(tmp_path / "scratch"))
    assert not list(tmp_path.iterdir())


def deep(folder: Path, depth: int) -> None:
    """Make folders in folders, deeper than Python recurses and than files can be held open."""
    at = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=at)
        below = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(os.open("bottom", os.O_CREAT | os.O_WRONLY, dir_fd=at))
    os.close(at)


@pytest.mark.parametrize("depth", [60, 1500, 5000])
def test_a_folder_of_any_depth_is_compared_and_removed(scratch: Path, depth: int) -> None:
    deep(scratch, depth)
    (outside := scratch.parent / "outside").mkdir()
    (outside / "file").touch()
    (scratch / "d" / "link").symlink_to(outside)
    found = edits(FILES, str(scratch))
    assert found[0] == "d/" * depth + "bottom" or found[0].startswith("d/d/d/")
    assert len(found) == 2
    remove(str(scratch))
    assert not scratch.exists()
    assert (outside / "file").exists()
