from pathlib import Path

import pytest
from gitrepo import Project, make_project

from labkit.errors import InputError
from labkit.model import Category, TaskId
from labkit.scaffold import TeamFacts, make_draft, make_workspace, prompt_skeleton
from labkit.settings import read_settings
from labkit.solved import HiddenDraft
from labkit.workspace import Workspace

FACTS = TeamFacts(team="blue", holder="age1x", solo=True)


def test_a_new_workspace_is_its_own_repository_and_unknown_to_the_projects(
    project: Project,
) -> None:
    workspace = make_workspace(project.folder, FACTS)
    assert (workspace.evals / ".git").is_dir()
    assert (workspace.evals / ".gitignore").is_file()
    assert project.git("status", "--porcelain") == ""
    assert workspace.handover.is_dir()
    settings = read_settings(workspace)
    assert (settings.team, settings.holder, settings.solo) == ("blue", "age1x", True)
    assert sorted(path.name for path in project.folder.glob(".labkit-*")) == []


def test_exclude_rules_that_are_there_stay(project: Project) -> None:
    exclude = project.folder / ".git" / "info" / "exclude"
    exclude.parent.mkdir(exist_ok=True)
    exclude.write_bytes(b"# caf\xe9\nmine")
    make_workspace(project.folder, FACTS)
    assert exclude.read_bytes() == b"# caf\xe9\nmine\n/evals/\n"


def test_a_linked_work_tree_is_excluded_too(project: Project, tmp_path: Path) -> None:
    project.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "other"), "base")
    make_workspace(tmp_path / "other", FACTS)
    assert Project(tmp_path / "other").git("status", "--porcelain") == ""


def test_a_workspace_is_never_made_over_something(project: Project) -> None:
    make_workspace(project.folder, FACTS)
    before = (project.folder / "evals" / "labkit.yaml").read_bytes()
    with pytest.raises(InputError, match="is already there"):
        make_workspace(project.folder, FACTS)
    assert (project.folder / "evals" / "labkit.yaml").read_bytes() == before


def test_a_project_with_its_own_evals_folder_is_refused(project: Project) -> None:
    project.commit({"evals/mine.py": "x\n"})
    with pytest.raises(InputError, match="the project's own git has files below evals/"):
        make_workspace(project.folder, FACTS)


def test_outside_a_repository_nothing_is_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not in a git repository"):
        make_workspace(tmp_path, FACTS)
    assert list(tmp_path.iterdir()) == []


def test_names_with_blanks_and_quotes_are_fine(tmp_path: Path) -> None:
    made = make_project(tmp_path / 'it\'s "done" #1 $(x) é')
    assert make_workspace(made.folder, FACTS).settings.is_file()


@pytest.mark.parametrize("category", Category)
def test_a_draft_of_each_category(tmp_path: Path, category: Category) -> None:
    workspace = Workspace(tmp_path / "p")
    task = TaskId("bug-a")
    written = make_draft(workspace, task, category, HiddenDraft(files={"tests/test_a.py": b"x"}))
    draft = workspace.draft(task)
    assert (draft / "hidden" / "tests" / "test_a.py").read_bytes() == b"x"
    assert all(path.is_file() for path in written)
    assert (draft / "oracle.yaml").read_bytes().startswith(b"# How ")
    assert (draft / "examples").is_dir() == (category == "trap")
    assert prompt_skeleton(category).strip()
    with pytest.raises(InputError, match="is already there"):
        make_draft(workspace, task, category, HiddenDraft())
