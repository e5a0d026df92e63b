import os
from pathlib import Path

import pytest

from labkit.errors import InputError, PhaseError, ToolError
from labkit.model import ConfigurationId, Member, RunId, TaskId
from labkit.workspace import Workspace, cache_folder, replace, user_folder, write_new


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_workspace_is_found_from_anywhere_in_the_project(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "p")
    replace(workspace.settings, "")
    deep = tmp_path / "p" / "src" / "deep"
    deep.mkdir(parents=True)
    for start in (tmp_path / "p", deep, workspace.evals, workspace.settings.parent):
        assert Workspace.find(start) == workspace
    with pytest.raises(PhaseError, match=r"no evals/labkit\.yaml") as caught:
        Workspace.find(tmp_path)
    assert "labkit init" in str(caught.value.hint)


def test_secret_things_lie_outside_the_project(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "p")
    for path in (
        workspace.draft(TaskId("a")),
        workspace.bundle("blue", TaskId("a")),
        workspace.handin("blue", Member("ana")),
        workspace.blinding_key("blue"),
    ):
        assert path.is_relative_to(tmp_path / "p-handover")


def test_ids_come_from_file_names_sorted(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    assert (workspace.task_ids(), workspace.handed_in("blue")) == ((), ())
    for path in (
        workspace.task(TaskId("b")), workspace.task(TaskId("a")),
        workspace.configuration(ConfigurationId("A")), workspace.member(Member("ana")),
        workspace.handin("blue", Member("ana")),
    ):  # fmt: skip
        write_new(path, "x")
    assert workspace.task_ids() == (TaskId("a"), TaskId("b"))
    assert workspace.configuration_ids() == (ConfigurationId("A"),)
    assert workspace.member_names() == (Member("ana"),)
    assert workspace.handed_in("blue") == (workspace.handin("blue", Member("ana")),)
    assert workspace.run(RunId.parse("a__A__1")).name == "a__A__1"


def test_a_file_is_replaced_whole_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "new" / "x"
    replace(path, "one\n")
    replace(path, b"\xfftwo")
    assert path.read_bytes() == b"\xfftwo"
    assert names(path.parent) == ["x"]


@pytest.mark.parametrize("kind", ["file", "link", "folder"])
def test_a_new_file_never_replaces_anything(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x"
    match kind:
        case "file":
            path.touch()
        case "folder":
            path.mkdir()
        case _:
            path.symlink_to("nowhere")
    with pytest.raises(InputError, match="is already there"):
        write_new(path, "x")
    assert names(tmp_path) == ["x"]


def test_what_cannot_be_written_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises((ToolError, InputError), match=r"could not be written|already there"):
        replace(tmp_path / "file" / "x", "x")
    (tmp_path / "folder" / "x").mkdir(parents=True)
    with pytest.raises(ToolError, match="could not be written"):
        replace(tmp_path / "folder" / "x", "x")
    assert names(tmp_path / "folder") == ["x"]


def test_the_users_mask_holds(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write_new(tmp_path / "x", "x")
    finally:
        os.umask(old)
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("variables", "keys", "cache"),
    [
        ({"LABKIT_HOME": "/l", "HOME": "/h"}, "/l", "/h/.cache/labkit"),
        ({"XDG_CONFIG_HOME": "/c", "XDG_CACHE_HOME": "/k"}, "/c/labkit", "/k/labkit"),
        ({"HOME": "/h"}, "/h/.config/labkit", "/h/.cache/labkit"),
    ],
    ids=["own", "xdg", "home"],
)
def test_the_users_folders(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], keys: str, cache: str
) -> None:
    for name in ("LABKIT_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "APPDATA", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert (user_folder(), cache_folder()) == (Path(keys), Path(cache))
