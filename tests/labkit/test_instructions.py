"""Folders of instructions: read, laid over a base, told as digests."""

import hashlib
import os
from pathlib import Path

import pytest
from gitrepo import LINK, Project, make_project
from workfolder import act, pack

from labkit.archive import Entry, Kind
from labkit.building import NOTHING_BUILT, Built
from labkit.errors import InputError
from labkit.export import read_base, workspace_tar
from labkit.instructions import (
    MOST_BYTES,
    MOST_FILE_BYTES,
    MOST_FILES,
    instructing,
    laid,
    read_instructions,
)
from labkit.process import run
from labkit.treediff import TreeDiff, diff_returned
from labkit.workspace import Workspace

RULES = {"AGENTS.md": "Be kind.\n", ".claude/rules/one.md": "One.\n"}


def folder_of(place: Path, files: dict[str, str]) -> Workspace:
    workspace = Workspace(place)
    folder = workspace.evals / "configs" / "rules"
    folder.mkdir(parents=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())
    return workspace


def entry(path: bytes, data: bytes = b"", kind: Kind = Kind.FILE) -> Entry:
    return Entry(path=path, kind=kind, data=data)


def test_a_folder_is_read_whole_and_sorted(tmp_path: Path) -> None:
    workspace = folder_of(tmp_path, RULES | {".DS_Store": "rubbish"})
    (workspace.evals / "configs" / "rules" / "AGENTS.md").chmod(0o755)
    assert read_instructions(workspace, "rules") == (
        entry(b".claude/rules/one.md", b"One.\n"),
        entry(b"AGENTS.md", b"Be kind.\n", Kind.EXECUTABLE),
    )
    assert read_instructions(workspace, "") == ()


@pytest.mark.parametrize("name", ["none", "../rules", "/etc", "rules/AGENTS.md"])
def test_what_is_no_folder_below_configs_is_refused(tmp_path: Path, name: str) -> None:
    workspace = folder_of(tmp_path, RULES)
    with pytest.raises(InputError, match=f"there is no folder configs/{name}") as caught:
        read_instructions(workspace, name)
    assert caught.value.hint == f"make evals/configs/{name}, or mend instructions:"


def test_a_linked_folder_is_refused(tmp_path: Path) -> None:
    workspace = folder_of(tmp_path, RULES)
    (workspace.evals / "configs" / "other").symlink_to("rules")
    with pytest.raises(InputError, match="configs/other is a link"):
        read_instructions(workspace, "other")


def test_everything_that_cannot_be_laid_is_told_at_once(tmp_path: Path) -> None:
    bad = {".git/config": "x", "a/.GIT /x": "x", "evals/tasks/t.yaml": "x", ".gitmodules": "x"}
    workspace = folder_of(tmp_path, RULES | bad | {"big.md": "x" * (MOST_FILE_BYTES + 1)})
    folder = workspace.evals / "configs" / "rules"
    (folder / "CLAUDE.md").symlink_to("AGENTS.md")
    (folder / "away").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe")
    (folder / os.fsdecode(b"lat\xe9n")).write_text("x")
    with pytest.raises(InputError) as caught:
        read_instructions(workspace, "rules")
    assert sorted(caught.value.problems) == [
        "configs/rules/'lat\\udce9n': its name has characters that cannot be shown",
        "configs/rules/.git/config: that name is git's own",
        "configs/rules/.gitmodules: that name is git's own",
        "configs/rules/CLAUDE.md is a link: an agent would find another file, or none",
        "configs/rules/a/.GIT /x: that name is git's own",
        "configs/rules/away is a link: an agent would find another file, or none",
        "configs/rules/big.md has 1,000,001 bytes, at most 1,000,000",
        "configs/rules/evals/tasks/t.yaml: evals/ is hidden from agents, and nothing may look "
        "like it",
        "configs/rules/pipe is no file",
    ]


def test_too_much_and_nothing_are_refused(tmp_path: Path) -> None:
    workspace = folder_of(tmp_path, {})
    folder = workspace.evals / "configs" / "rules"
    with pytest.raises(InputError, match="configs/rules holds no file"):
        read_instructions(workspace, "rules")
    for number in range(MOST_FILES + 1):
        (folder / f"{number}.md").write_bytes(b"x" * (MOST_BYTES // MOST_FILES + 1))
    with pytest.raises(InputError) as caught:
        read_instructions(workspace, "rules")
    assert caught.value.problems == (
        "configs/rules holds 501 files, at most 500",
        "configs/rules has 5,010,501 bytes, at most 5,000,000",
    )


def test_instructions_lie_over_what_was_built() -> None:
    made = {b"a": entry(b"a", b"built"), b"b": entry(b"b", b"built")}
    found = laid(
        Built(made=made, gone=frozenset({b"gone", b"AGENTS.md"})),
        [entry(b"a", b"mine"), entry(b"AGENTS.md", b"mine")],
        [entry(b"gone"), entry(b"AGENTS.md")],
    )
    assert found.gone == {b"gone"}
    assert found.laid == {b"a", b"AGENTS.md"}
    assert {path: each.data for path, each in found.made.items()} == {
        b"a": b"mine",
        b"b": b"built",
        b"AGENTS.md": b"mine",
    }


def test_where_the_base_has_no_room_it_says_so() -> None:
    base = [
        entry(b".claude", b"x"),
        entry(b"docs", b"../d", Kind.SYMLINK),
        entry(b"AGENTS.md/a"),
        entry(b"module", kind=Kind.FOLDER),
    ]
    wanted = [b".claude/a.md", b"docs/a.md", b"AGENTS.md", b"module", b"module/x"]
    with pytest.raises(InputError) as caught:
        laid(NOTHING_BUILT, map(entry, wanted), base)
    assert caught.value.problems == (
        ".claude/a.md cannot be laid over the base: .claude is a file there",
        "docs/a.md cannot be laid over the base: docs is a link there",
        "AGENTS.md cannot be laid over the base: it is a folder there",
        "module cannot be laid over the base: it is a folder there",
    )


BASE = {"AGENTS.md": "one\ntwo\nthree\nfour\nfive\nsix\n", "CLAUDE.md": "c\n", "a.py": "x = 1\n"}
LAID = (
    entry(b"AGENTS.md", b"ONE\ntwo\nthree\nfour\nfive\nsix\n"),
    entry(b"CLAUDE.md", b"laid\n"),
    entry(b".rules/new.md", b"new\n"),
)


def work(project: Project, folder: Path, script: str) -> TreeDiff:
    """Lay instructions out, let an agent act on them, and return what labkit sees of it."""
    base = read_base(project.repository, "base")
    built = laid(NOTHING_BUILT, LAID, base.files())
    tree = built.over(base.files()).values()
    data = workspace_tar(project.repository, base, files=tree, laid=LAID)
    folder.mkdir()
    run(["tar", "-x", "--no-same-owner", "-C", folder], stdin=data)
    act(folder, script)
    return diff_returned(project.repository, base, pack(folder), built=built)


@pytest.fixture(params=["sha1", "sha256"])
def agreed(tmp_path: Path, request: pytest.FixtureRequest) -> Project:
    project = make_project(tmp_path / "project", f"--object-format={request.param}")
    project.commit(BASE)
    project.git("tag", "base")
    return project


def test_instructions_are_committed_and_in_no_difference(agreed: Project, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    script = 'test -z "$(git status --short)"; test "$(git log --format=%ct)" = 946684800'
    found = work(agreed, folder, f"{script}; cat .rules/new.md; git cat-file -e HEAD:.rules/new.md")
    assert (found.patch, found.changed, found.left_out) == (b"", (), ())
    assert Project(folder).git("fsck", "--strict", "--full") == ""
    assert len(Project(folder).git("log", "--all", "--format=%H").splitlines()) == 1


def test_both_sides_get_equal_commits_for_equal_files(project: Project) -> None:
    base = read_base(project.repository, "base")
    assert workspace_tar(project.repository, base, laid=LAID) == workspace_tar(
        project.repository, base, laid=LAID[::-1]
    )


CASES = {
    "edits on top": ("sed -i s/six/SIX/ AGENTS.md", {b"AGENTS.md"}, b"-six\n+SIX\n"),
    "made executable": ("chmod +x AGENTS.md", {b"AGENTS.md"}, b"new mode 100755"),
    "removed": ("rm CLAUDE.md", {b"CLAUDE.md"}, b"deleted file"),
    "put back": ("printf 'c\\n' > CLAUDE.md", set(), b""),
    "only what was laid is changed": ("rm .rules/new.md", set(), b""),
}


@pytest.mark.parametrize(("script", "changed", "holds"), CASES.values(), ids=CASES)
def test_of_a_replaced_file_only_what_the_agent_changed_counts(
    agreed: Project, tmp_path: Path, script: str, changed: set[bytes], holds: bytes
) -> None:
    found = work(agreed, tmp_path / "work", script)
    assert set(found.changed) == changed
    assert holds in found.patch
    assert b"ONE" not in found.patch
    assert b"laid" not in found.patch
    assert found.left_out == ()
    assert bool(found.patch) == bool(changed)


def test_changes_that_only_fit_the_laid_file_are_kept_and_told(
    agreed: Project, tmp_path: Path
) -> None:
    script = "echo mine > CLAUDE.md; printf 'ONE and\\n' > AGENTS.md; echo more >> .rules/new.md"
    found = work(agreed, tmp_path / "work", script)
    assert found.changed == (b"AGENTS.md", b"CLAUDE.md")
    assert b"+mine\n" in found.patch
    both = "it holds what the configuration put in its place, too: the agent changed both"
    assert set(found.left_out) == {
        ".rules/new.md: a file of the configuration, which the project does not have",
        f"AGENTS.md: {both}",
        f"CLAUDE.md: {both}",
    }


def test_a_replaced_link_is_taken_as_it_was_left(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    commit = project.commit_tree({b"CLAUDE.md": (LINK, b"a.py"), b"a.py": ("100644", b"x\n")})
    project.git("tag", "base", commit)
    assert work(project, tmp_path / "one", ":").patch == b""
    found = work(project, tmp_path / "two", "echo mine > CLAUDE.md")
    assert found.changed == (b"CLAUDE.md",)
    assert "the agent changed both" in found.left_out[0]


def test_what_instructs_an_agent_is_told_by_digest() -> None:
    files = [
        entry(b"AGENTS.md", b"a"),
        entry(b"sub/CLAUDE.md", b"../AGENTS.md", Kind.SYMLINK),
        entry(b"CLAUDE.md", b"nowhere", Kind.SYMLINK),
        entry(b"x/CLAUDE.md", b"CLAUDE.md", Kind.SYMLINK),
        entry(b".claude", kind=Kind.FOLDER),
        entry(b".claude/settings.json", b"{}"),
        entry(b"a.py", b"x"),
    ]
    patterns = ("AGENTS.md", "**/CLAUDE.md", ".claude/**")
    found = instructing({each.path: each for each in files}, patterns, "/workspace")
    assert found == {
        f"/workspace/{name}": hashlib.sha256(content).hexdigest()
        for name, content in (
            (".claude/settings.json", b"{}"),
            ("AGENTS.md", b"a"),
            ("CLAUDE.md", b"nowhere"),
            ("sub/CLAUDE.md", b"a"),
            ("x/CLAUDE.md", b"CLAUDE.md"),
        )
    }
    assert instructing({}, patterns, "/workspace") == {}
