from pathlib import Path

import pytest
from gitrepo import Project, make_project

from labkit.errors import InputError, ToolError
from labkit.git import Repository


def test_a_repository_is_found_from_a_folder_below_it(project: Project) -> None:
    found = Repository.discover(project.folder / "lib" / "deep")
    assert found.git_dir == project.folder / ".git"
    assert found.work_tree() == project.folder


def test_a_folder_outside_any_repository_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not in a git repository"):
        Repository.discover(tmp_path)


def test_a_path_need_not_be_utf8(tmp_path: Path) -> None:
    made = make_project(tmp_path / "caf\udce9 \U0001f40d")
    assert made.repository.work_tree() == made.folder


def test_a_bare_repository_has_no_checkout(tmp_path: Path) -> None:
    bare = Repository.create_bare(tmp_path / "bare")
    with pytest.raises(InputError, match="has no checkout"):
        bare.work_tree()


def test_a_linked_work_tree_reads_the_same_commits(project: Project, tmp_path: Path) -> None:
    project.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "other"), "base")
    linked = Repository.discover(tmp_path / "other")
    assert linked.commit("HEAD") == project.repository.commit("base")
    like = Repository.create_bare(tmp_path / "bare", like=linked)
    assert like.commit(project.git("rev-parse", "main")).subject == "Solve it"


@pytest.mark.parametrize("name", ["base", "v1~1", "main~1", "HEAD^"])
def test_a_commit_is_found_by_any_name(project: Project, name: str) -> None:
    commit = project.repository.commit(name)
    assert commit.oid == project.git("rev-parse", "base")
    assert commit.tree == project.git("rev-parse", "base^{tree}")
    assert commit.parents == (project.git("rev-parse", "base~1"),)
    assert (commit.author, commit.subject) == ("Ana <ana@example.org>", "Write the library")


def test_a_merge_has_its_parents_in_order(project: Project) -> None:
    project.git("checkout", "--quiet", "-b", "side", "base")
    side = project.commit({"side.py": "s\n"}, "side")
    project.git("checkout", "--quiet", "main")
    main = project.git("rev-parse", "HEAD")
    project.git("merge", "--quiet", "--no-ff", "side", "--message", "merge")
    assert project.repository.commit("HEAD").parents == (main, side)


@pytest.mark.parametrize(
    "name",
    ["", "nosuch", "-1", "--all", "0" * 40, "base..main", "^base", "base^{tree}", "a\0b", "x\ny"],
    ids=repr,
)
def test_what_is_no_commit_is_refused(project: Project, name: str) -> None:
    with pytest.raises(InputError, match="no commit") as caught:
        project.repository.commit(name)
    assert caught.value.hint


def test_a_signature_program_of_the_project_is_never_run(project: Project, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    program = tmp_path / "gpg"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    project.git("config", "log.showSignature", "true")
    project.git("config", "gpg.program", str(program))
    project.repository.commit("main")
    assert not mark.exists()


def test_blobs_come_as_stored_and_in_order(project: Project) -> None:
    tree = {entry.path: entry.oid for entry in project.repository.tree("base")}
    wanted = [tree[b"img.bin"], tree[b"crlf.txt"], tree[b"img.bin"]]
    found = list(project.repository.blobs(wanted))
    assert found == [bytes(range(256)), b"a\r\nb\r\n", bytes(range(256))]
    assert list(project.repository.blobs([])) == []


def test_a_missing_blob_is_an_incomplete_repository(project: Project) -> None:
    with pytest.raises(ToolError, match=f"no content for {'1' * 40}: the repository is incompl"):
        list(project.repository.blobs(["1" * 40]))


def test_a_tree_lists_links_submodules_and_odd_names(project: Project) -> None:
    entries = {
        b'new\nline \xe9\t".py': ("100644", b"x"),
        b"link": ("120000", b"/etc/passwd"),
        b"run": ("100755", b"r"),
        b"sub": ("160000", b"1" * 40),
    }
    tree = project.repository.tree(project.commit_tree(entries))
    assert {entry.path: entry.mode for entry in tree} == {
        path: mode for path, (mode, _) in entries.items()
    }


def test_a_diff_does_not_obey_the_users_settings(project: Project) -> None:
    plain = project.repository.diff("base", "main")
    for setting in ("diff.noprefix=true", "color.ui=always", "diff.mnemonicPrefix=true"):
        project.git("config", *setting.split("="))
    assert project.repository.diff("base", "main") == plain
    assert plain.startswith(b"diff --git a/a.py b/a.py\n")


def test_changed_paths_are_told_as_bytes(project: Project) -> None:
    old = project.commit_tree({b"a": ("100644", b"1"), b"\xe9\n": ("100644", b"1")})
    new = project.commit_tree({b"b": ("100644", b"1"), b"\xe9\n": ("100644", b"2")})
    assert project.repository.changed_paths(old, new) == (b"a", b"b", b"\xe9\n")


def test_a_repository_made_like_another_reads_its_objects_and_writes_its_own(
    project: Project, tmp_path: Path
) -> None:
    like = Repository.create_bare(tmp_path / "like", like=project.repository)
    oid = like.git("hash-object", "-w", "--stdin", stdin=b"mine").stdout.decode().strip()
    assert like.commit(project.git("rev-parse", "base")).subject == "Write the library"
    with pytest.raises(ToolError):
        list(project.repository.blobs([oid]))


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_the_object_format_is_told_and_taken_over(tmp_path: Path, form: str) -> None:
    made = make_project(tmp_path / "p", f"--object-format={form}")
    assert made.repository.object_format() == form
    assert Repository.create_bare(tmp_path / "b", like=made.repository).object_format() == form
