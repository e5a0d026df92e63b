import hashlib
import os
from pathlib import Path

import pytest

from labkit.canary import digest, token
from labkit.readable import Known, Remnant, Why, still_readable

TOKEN = token(bytes(range(16)))
KNOWN = Known(canaries=frozenset({digest(TOKEN)}))


def test_a_known_canary_is_found_wherever_it_lies(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b" / "test_a.py~"
    deep.parent.mkdir(parents=True)
    deep.write_text(f"x = 1\n# {TOKEN}\n")
    (tmp_path / "clean.py").write_text("x = 1\n")
    found = still_readable([tmp_path], KNOWN)
    assert found.remnants == (Remnant(path=deep, why=Why.CANARY),)
    assert found.unread == ()


def test_an_unknown_canary_is_none_of_ours(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(f"# {token(bytes(16))}\n")
    assert still_readable([tmp_path], KNOWN).remnants == ()


def test_a_canary_across_two_pieces_of_a_large_text_is_found(tmp_path: Path) -> None:
    path = tmp_path / "big.txt"
    path.write_bytes(b"a" * (8 * 1024 * 1024 - 10) + TOKEN.encode() + b"b" * 100)
    assert still_readable([path], KNOWN).remnants == (Remnant(path=path, why=Why.CANARY),)


def test_a_copy_is_found_by_its_digest(tmp_path: Path) -> None:
    path = tmp_path / "test_copy.py"
    path.write_bytes(b"assert slug('') == ''\n")
    known = Known(files=frozenset({hashlib.sha256(path.read_bytes()).hexdigest()}))
    assert still_readable([tmp_path], known).remnants == (Remnant(path=path, why=Why.COPY),)


def test_git_and_links_are_left_out(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text(TOKEN)
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "COMMIT_EDITMSG").write_text(TOKEN)
    (root / "folder").symlink_to(outside)
    (root / "file").symlink_to(outside / "secret.py")
    (root / "loop").symlink_to(root)
    os.mkfifo(root / "pipe")
    assert still_readable([root, root / "folder"], KNOWN).remnants == ()


def test_a_draft_with_any_file_in_it_is_found(tmp_path: Path) -> None:
    full, empty = tmp_path / "full", tmp_path / "empty"
    (full / "hidden").mkdir(parents=True)
    (full / "hidden" / "a.py").write_text("")
    (empty / "hidden").mkdir(parents=True)
    found = still_readable([], KNOWN, drafts=[full, empty, tmp_path / "none"])
    assert found.remnants == (Remnant(path=full, why=Why.DRAFT),)


def test_a_large_binary_is_searched_like_any_file(tmp_path: Path) -> None:
    path = tmp_path / "film.bin"
    with path.open("wb") as file:
        file.truncate(40 * 1024 * 1024)
        file.seek(0, os.SEEK_END)
        file.write(TOKEN.encode())
    assert still_readable([tmp_path], KNOWN).remnants == (Remnant(path=path, why=Why.CANARY),)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_said(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    path = tmp_path / "a.py"
    path.touch(mode=0)
    try:
        assert set(still_readable([tmp_path], KNOWN).unread) == {closed, path}
    finally:
        closed.chmod(0o700)
