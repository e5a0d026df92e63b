"""Folders of runs that were done elsewhere: what an agent there can leave to strike here."""

import os
import shutil
import socket
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from cli.labs import ANA, Lab, Stages, planned
from cli.test_by_hand import exported, fill_in_form

from labkit.model import RunId

MARK = "STRUCK"
SECRET = "the owner's own secret"
TRAP = """\
#!/bin/sh
echo struck > {mark}
"""


def finish(lab: Lab, run: str, *words: str) -> tuple[int, str]:
    told = ("--minutes", "5", "--interventions", "0")
    answer = lab.labkit("task", "run", "--finish", run, *told, *words, me=ANA)
    assert "Traceback" not in answer.err
    return answer.code, answer.err


@pytest.fixture(scope="module")
def once_exported(stages: Stages, tmp_path_factory: pytest.TempPathFactory) -> Lab:
    lab = stages.at("frozen", tmp_path_factory.mktemp("out") / "lab")
    exported(lab, planned(lab, ANA)[0])
    return lab


@pytest.fixture
def lab_at(once_exported: Lab, tmp_path: Path) -> Callable[[str], Lab]:
    """Give a copy of a lab with a run that was exported, for one test to spoil."""
    folder = shutil.copytree(once_exported.folder, tmp_path / "lab", symlinks=True)
    lab = Lab(folder, once_exported.cache)
    (note,) = lab.workspace.by_hand.glob("*.json")
    lab.edit(note, str(once_exported.folder), str(folder))
    return lambda _: lab


def out_there(lab: Lab) -> tuple[str, Path]:
    run = planned(lab, ANA)[0]
    folder = lab.folder / "out"
    fill_in_form(folder)
    (lab.folder / "secret").write_text(f"{SECRET}\n", encoding="utf-8")
    return run, folder


def evidence(lab: Lab, run: str) -> dict[str, bytes]:
    folder = lab.workspace.run(RunId.parse(run))
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_no_program_of_the_folder_is_run(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("frozen")
    run, folder = out_there(lab)
    mark = lab.folder / MARK
    work = folder / "workspace"
    trap = work / ".git" / "trap"
    trap.write_text(TRAP.format(mark=mark), encoding="utf-8")
    trap.chmod(0o755)
    hooks = work / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-index-change", "pre-commit", "post-checkout", "reference-transaction"):
        (hooks / name).write_text(TRAP.format(mark=mark), encoding="utf-8")
        (hooks / name).chmod(0o755)
    for key in (
        "core.fsmonitor",
        "diff.external",
        "core.pager",
        "filter.evil.clean",
        "core.editor",
    ):
        subprocess.run(["git", "-C", work, "config", key, str(trap)], check=True)
    (work / ".gitattributes").write_text("*.py filter=evil diff=evil\n", encoding="utf-8")
    (work / "words.py").write_text("x = 1\n", encoding="utf-8")
    assert finish(lab, run)[0] == 0
    assert not mark.exists()
    kept = evidence(lab, run)
    assert b"+x = 1" in kept["diff.patch"]
    assert b"fsmonitor" not in kept["diff.patch"]


def test_links_show_nothing_of_this_machine(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("frozen")
    run, folder = out_there(lab)
    work = folder / "workspace"
    (work / "stolen").symlink_to(lab.folder / "secret")
    (work / "words.py").unlink()
    (work / "words.py").symlink_to(lab.folder / "secret")
    (work / "up").symlink_to("../../..")
    (work / "loop").symlink_to("loop")
    assert finish(lab, run)[0] == 0
    assert not [name for name, data in evidence(lab, run).items() if SECRET.encode() in data]


@pytest.mark.parametrize("what", ["workspace", "declaration.yaml", "transcript"])
def test_a_link_in_place_of_what_is_read_is_refused(
    lab_at: Callable[[str], Lab], what: str
) -> None:
    lab = lab_at("frozen")
    run, folder = out_there(lab)
    words: tuple[str, ...] = ()
    if what == "workspace":
        (folder / what).rename(folder / "elsewhere")
        (folder / what).symlink_to(folder / "elsewhere")
    elif what == "transcript":
        (folder / what).symlink_to(lab.folder / "secret")
        words = ("--transcript", str(folder / what))
    else:
        (folder / what).unlink()
        (folder / what).symlink_to(lab.folder / "secret")
    code, err = finish(lab, run, *words)
    assert code == 2
    assert SECRET not in err
    assert not lab.workspace.run(RunId.parse(run)).exists()
    assert f"{run} (export" in lab.done("status")


@pytest.mark.parametrize("what", ["workspace/pipe", "declaration.yaml", "transcript"])
def test_a_pipe_holds_nobody_up(lab_at: Callable[[str], Lab], what: str) -> None:
    lab = lab_at("frozen")
    run, folder = out_there(lab)
    with suppress(FileNotFoundError):
        (folder / what).unlink()
    os.mkfifo(folder / what)
    words = ("--transcript", str(folder / what)) if what == "transcript" else ()
    code, _ = finish(lab, run, *words)
    assert code == (0 if what == "workspace/pipe" else 2)


def test_odd_files_are_taken_as_what_they_are(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("frozen")
    run, folder = out_there(lab)
    work = folder / "workspace"
    (work / "new\nline").write_bytes(b"1\n")
    Path(os.fsdecode(os.fsencode(work) + b"/lat\xe9n")).write_bytes(b"2\n")
    with socket.socket(socket.AF_UNIX) as listening, suppress(OSError):
        listening.bind(str(work / "s"))
    (work / "nested").mkdir()
    subprocess.run(["git", "init", "-q", work / "nested"], check=True)
    (work / "nested" / "n.py").write_text("n\n", encoding="utf-8")
    assert finish(lab, run)[0] == 0
    patch = evidence(lab, run)["diff.patch"]
    assert b"new\\nline" in patch
    assert b"nested/n.py" in patch
    assert b"nested/.git" not in patch


def test_too_much_is_refused_and_nothing_is_kept(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("frozen")
    run, folder = out_there(lab)
    with (folder / "workspace" / "sparse").open("wb") as file:
        file.truncate(8 << 30)
    code, err = finish(lab, run)
    assert (code, "larger than" in err) == (2, True)
    assert not lab.workspace.run(RunId.parse(run)).exists()


def test_a_form_that_is_a_bomb_is_refused(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("frozen")
    run, folder = out_there(lab)
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    (folder / "declaration.yaml").write_text("\n".join(lines), encoding="utf-8")
    assert finish(lab, run)[0] == 2


def test_another_folder_is_not_taken_for_the_run(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("frozen")
    run, folder = out_there(lab)
    work = folder / "workspace"
    work.rename(folder / "old")
    work.mkdir()
    (work / "other.txt").write_text("x\n", encoding="utf-8")
    code, err = finish(lab, run)
    assert (code, "holds no file of the run's base" in err) == (2, True)
