from dataclasses import dataclass
from pathlib import Path

import pytest
from gitrepo import EXECUTABLE, LINK, Project, make_project
from workfolder import unpack

from labkit.archive import Entry, Kind
from labkit.errors import IntegrityError, ToolError
from labkit.export import object_id, read_base, tree_id, workspace_tar
from labkit.git import git_environment
from labkit.process import run

FILE = "100644"


def exported(project: Project, commit: str = "base") -> dict[bytes, Entry]:
    return {entry.path: entry for entry in read_base(project.repository, commit).files()}


@dataclass(frozen=True, slots=True)
class WorkFolder:
    """A work folder unpacked on disk, as an agent would find it."""

    folder: Path

    def git(self, *words: str) -> str:
        done = run(["git", "-C", self.folder, *words], env=git_environment())
        return done.stdout.decode(errors="surrogateescape").strip()


def unpacked(project: Project, folder: Path, commit: str = "base") -> WorkFolder:
    return WorkFolder(unpack(project, folder, commit))


def test_a_base_holds_the_stored_bytes(project: Project) -> None:
    files = exported(project)
    assert files[b"crlf.txt"].data == b"a\r\nb\r\n"
    assert files[b"img.bin"].data == bytes(range(256))
    assert b"README.md" not in files


@pytest.mark.parametrize(
    ("attributes", "content"),
    [
        ("* export-ignore\n", b"kept\n"),
        ("* export-subst\n", b"$Format:%H$\n"),
        ("* text=auto eol=crlf\n", b"unix\n"),
        ("* text eol=lf\n", b"dos\r\n"),
        ("* ident\n", b"$Id: made by somebody $\n"),
        ("* working-tree-encoding=UTF-16\n", "caf\u00e9\n".encode()),
        ("* filter=evil\n", b"plain\n"),
    ],
    ids=["export-ignore", "export-subst", "crlf", "lf", "ident", "encoding", "filter"],
)
def test_attributes_change_nothing(
    project: Project, tmp_path: Path, attributes: str, content: bytes
) -> None:
    mark = tmp_path / "mark"
    for step in ("clean", "smudge"):
        project.git("config", f"filter.evil.{step}", f"sh -c 'touch {mark}; tr a-z A-Z'")
    commit = project.commit_tree(
        {b".gitattributes": (FILE, attributes.encode()), b"f.txt": (FILE, content)}
    )
    assert exported(project, commit)[b"f.txt"].data == content
    work = unpacked(project, tmp_path / "work", commit)
    assert (work.folder / "f.txt").read_bytes() == content
    assert not mark.exists()


def test_links_execute_bits_and_odd_names_are_kept(project: Project) -> None:
    names = [b"new\nline", b' lead "q"\t', b"lat\xe9n", "ünï-日本".encode(), b"-n", b":(glob)*"]
    entries = {name: (FILE, name) for name in names}
    entries |= {b"ln": (LINK, b"../../etc/passwd"), b"run": (EXECUTABLE, b"#!/bin/sh\n")}
    commit = project.commit_tree(entries)
    files = exported(project, commit)
    assert (files[b"ln"].kind, files[b"ln"].data) == (Kind.SYMLINK, b"../../etc/passwd")
    assert files[b"run"].kind is Kind.EXECUTABLE
    assert {name: files[name].data for name in names} == dict(zip(names, names, strict=True))


def test_a_submodule_is_an_empty_folder(project: Project, tmp_path: Path) -> None:
    commit = project.commit_tree({b"a": (FILE, b"a"), b"deep/sub": ("160000", b"1" * 40)})
    assert exported(project, commit)[b"deep/sub"] == Entry(path=b"deep/sub", kind=Kind.FOLDER)
    work = unpacked(project, tmp_path / "work", commit)
    assert list((work.folder / "deep" / "sub").iterdir()) == []
    assert work.git("status", "--porcelain") == ""


def test_an_empty_tree_is_a_base_too(project: Project, tmp_path: Path) -> None:
    commit = project.commit_tree({})
    assert exported(project, commit) == {}
    work = unpacked(project, tmp_path / "work", commit)
    assert [path.name for path in work.folder.iterdir()] == [".git"]
    assert work.git("status", "--porcelain") == ""
    work.git("fsck", "--strict")


def test_the_tree_id_is_gits_own(project: Project) -> None:
    # Folders sort as if their names ended in a slash: a.b, a/x, a0.
    commit = project.commit_tree(
        {name: (FILE, name) for name in (b"a/x", b"a.b", b"a0", b"z/y/x", b"z/y-", b"\xe9/\n")}
    )
    base = read_base(project.repository, commit)
    assert base.tree == project.git("rev-parse", f"{commit}^{{tree}}")
    assert tree_id(base.entries, "sha1") == base.tree
    assert tree_id(tuple(reversed(base.entries)), "sha1") == base.tree


def test_an_object_id_is_gits_own() -> None:
    assert object_id("blob", b"", "sha1") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"


def test_the_work_folder_is_one_commit_and_nothing_else(project: Project, tmp_path: Path) -> None:
    work = unpacked(project, tmp_path / "work")
    assert work.git("status", "--porcelain", "--ignored") == ""
    assert len(work.git("log", "--all", "--format=%H").splitlines()) == 1
    assert work.git("rev-parse", "HEAD^{tree}") == project.git("rev-parse", "base^{tree}")
    assert work.git("branch", "--show-current") == "main"
    assert work.git("for-each-ref", "--format=%(refname)") == "refs/heads/main"
    assert work.git("fsck", "--strict", "--full") == ""


def test_the_solution_and_the_history_are_not_in_the_work_folder(
    project: Project, tmp_path: Path
) -> None:
    work = unpacked(project, tmp_path / "work")
    inside = set(
        work.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").splitlines()
    )
    wanted = set(project.git("ls-tree", "-r", "-t", "--format=%(objectname)", "base").splitlines())
    wanted |= {project.git("rev-parse", "base^{tree}"), work.git("rev-parse", "HEAD")}
    assert inside == wanted
    for name in ("main", "base", "base~1", "v1", "main:a.py"):
        assert project.git("rev-parse", name) not in inside
    git = work.folder / ".git"
    for absent in ("logs", "packed-refs", "FETCH_HEAD", "ORIG_HEAD", "hooks", "info"):
        assert not (git / absent).exists()
    assert not (git / "objects" / "info" / "alternates").exists()


def test_no_path_of_this_machine_is_in_the_work_folder(project: Project, tmp_path: Path) -> None:
    work = unpacked(project, tmp_path / "work")
    for path in work.folder.rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        for word in (str(tmp_path), project.folder.name, "labkit-base-", "Ana", "ana@example.org"):
            assert word.encode() not in content


def test_the_same_base_gives_the_same_work_folder(project: Project) -> None:
    base = read_base(project.repository, "base")
    assert workspace_tar(project.repository, base) == workspace_tar(project.repository, base)


def test_a_sha256_repository_works(tmp_path: Path) -> None:
    made = make_project(tmp_path / "project", "--object-format=sha256")
    commit = made.commit({"a.py": "x\n", "tests/t.py": "t\n"})
    work = unpacked(made, tmp_path / "work", commit)
    assert work.git("rev-parse", "--show-object-format") == "sha256"
    assert work.git("status", "--porcelain") == ""
    assert work.git("rev-parse", "HEAD^{tree}") == made.git("rev-parse", f"{commit}^{{tree}}")
    assert not (work.folder / ".git" / "objects" / "info" / "alternates").exists()


@pytest.mark.parametrize("kind", ["blob:none", "tree:0"])
def test_a_partial_clone_is_refused_with_the_way_out(
    project: Project, tmp_path: Path, kind: str
) -> None:
    project.git("config", "uploadpack.allowFilter", "true")
    url = f"file://{project.folder}"
    clone = Project(tmp_path / "clone")
    project.git("clone", "--quiet", f"--filter={kind}", "--no-checkout", url, str(clone.folder))
    with pytest.raises(ToolError, match="the repository is incomplete") as caught:
        read_base(clone.repository, project.git("rev-parse", "base"))
    assert caught.value.hint == (
        "in a partial clone, fetch everything: git fetch --refetch --no-filter"
    )
    assert not list((clone.folder / ".git").rglob("*.lock"))


def test_a_missing_blob_is_refused(project: Project) -> None:
    oid = project.git("rev-parse", "base:img.bin")
    (project.folder / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
    with pytest.raises(ToolError, match=f"git has no content for {oid}"):
        read_base(project.repository, "base")


def test_a_shallow_clone_reads_its_own_commit(project: Project, tmp_path: Path) -> None:
    clone = Project(tmp_path / "clone")
    project.git("clone", "--quiet", "--depth=1", f"file://{project.folder}", str(clone.folder))
    assert exported(clone, "HEAD")[b"a.py"].data == b"x = 2  # the solution\n"


def test_content_replaced_behind_gits_back_is_noticed(project: Project) -> None:
    true, other = (project.git("rev-parse", f"base:{name}") for name in ("run.sh", "del.me"))
    objects = project.folder / ".git" / "objects"
    target = objects / true[:2] / true[2:]
    target.chmod(0o644)
    target.write_bytes((objects / other[:2] / other[2:]).read_bytes())
    with pytest.raises((IntegrityError, ToolError), match=r"git (gave other|has no) content"):
        read_base(project.repository, "base")


def test_replaced_objects_and_grafts_have_no_say(project: Project) -> None:
    before = exported(project)
    project.git(
        "replace", project.git("rev-parse", "base:a.py"), project.git("rev-parse", "main:a.py")
    )
    assert exported(project) == before
