"""How a command ends through no doing of its own: a bug, Ctrl-C, a reader that left, a full disk.

The codes 0 to 3 are met in every other file here.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cli.labs import (
    ANA,
    EARLY,
    STUDENTS,
    TARA,
    Lab,
    Stages,
    fill_in,
    is_root,
    labkit,
    planned,
    require_clear,
    wait_for,
)

from labkit import __version__

At = Callable[[str], Lab]

BUGGY = """
import sys
from labkit.cli import app, main

@app.app.command()
def broken() -> None:
    raise ValueError("a rung is missing")

sys.argv[1:] = ["broken"]
main()
"""


@pytest.mark.parametrize("debug", ["", "1"], ids=["quiet", "debug"])
def test_a_bug_is_70_and_leaves_a_log(stages: Stages, tmp_path: Path, debug: str) -> None:
    lab = stages.original("joined")
    done = subprocess.run(
        [sys.executable, "-c", BUGGY],
        env=lab.environment(TMPDIR=str(tmp_path), LABKIT_DEBUG=debug),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 70
    assert done.stdout == ""
    assert "labkit: bug: ValueError: a rung is missing" in done.stderr
    assert ("Traceback" in done.stderr) == bool(debug)
    (log,) = tmp_path.glob("labkit-bug-*.log")
    assert f"please report it with {log}" in done.stderr
    text = log.read_text(encoding="utf-8")
    assert text.startswith("labkit broken\n")
    assert "Traceback" in text


@pytest.mark.parametrize("words", [("task", "run", "--notes", "\udcff"), ("\udce9t\udce9",)])
def test_what_is_no_text_is_refused_at_the_edge(stages: Stages, words: tuple[str, ...]) -> None:
    answer = stages.original("joined").labkit(*words)
    require_clear(answer, code=2, says=(f"argument {len(words)} is no text in UTF-8: \\udc",))


def test_a_bug_over_what_is_no_text_leaves_a_log(stages: Stages, tmp_path: Path) -> None:
    lab = stages.original("joined")
    done = subprocess.run(
        [sys.executable, "-c", BUGGY.replace("a rung", r"\udcff")],
        env=lab.environment(TMPDIR=str(tmp_path), LABKIT_DEBUG="1"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 70, done.stderr
    (log,) = tmp_path.glob("labkit-bug-*.log")
    assert "ValueError: \\udcff is missing" in log.read_text(encoding="utf-8")


def test_ctrl_c_is_130_and_the_same_command_goes_on(lab_at: At) -> None:
    lab = lab_at("frozen")
    (first, second) = planned(lab, ANA)
    lab.steps(first, 'finish: "Done."')
    lab.steps(second, "wait: 60")
    lab.done("task", "freeze", "--again", "--pilot", me=ANA)
    with lab.start("task", "run", me=ANA) as program:
        wait_for((lab.workspace.raw / first / "run.json").is_file)
        time.sleep(0.3)
        for _ in range(2):  # once would let the run come to its end
            program.send_signal(signal.SIGINT)
            time.sleep(0.1)
        out, err = program.communicate(timeout=30)
    assert program.returncode == 130
    assert out == ""
    assert err.endswith("labkit: interrupted; the same command goes on from here\n")
    assert "Traceback" not in err
    assert [path.name for path in lab.workspace.raw.iterdir()] == [first]


@pytest.mark.parametrize("command", ["status", "leaks", "summary"])
def test_a_reader_that_left_stops_nothing(lab_at: At, command: str) -> None:
    lab = lab_at("unblinded")
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe:
        done = subprocess.run(
            labkit(command),
            cwd=lab.project.folder,
            env=lab.environment(),
            stdout=pipe,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 0
    assert "Broken" not in done.stderr
    assert command != "summary" or lab.workspace.summary("md").is_file()


@contextmanager
def full_disk(lab: Lab, tmp_path: Path) -> Iterator[Lab]:
    """Give a copy of a lab on a disk with no byte left; its keys and cache lie elsewhere."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", disk], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("a small disk cannot be mounted here")
    try:
        subprocess.run(["cp", "-a", f"{lab.folder}/.", disk], check=True)
        with (disk / "ballast").open("wb", buffering=0) as ballast:
            try:
                while ballast.write(bytes(4096)):
                    pass
            except OSError:
                pass  # full at last
        yield Lab(disk, lab.cache)
    finally:
        subprocess.run(["umount", disk], check=True)


@pytest.mark.skipif(not is_root(), reason="only root can mount a small disk")
@pytest.mark.parametrize(
    ("stage", "command", "me"),
    [
        ("joined", "task new x --category bugfix --commit HEAD", ANA),
        ("joined", "init", "cy"),
        ("proven", "task seal", ANA),
        ("frozen", "task run", ANA),
        ("checked", "grade", TARA),
        ("graded", "blind", TARA),
        ("unblinded", "summary", ""),
    ],
)
def test_a_full_disk_is_3_and_leaves_nothing_half_written(
    stages: Stages, tmp_path: Path, stage: str, command: str, me: str
) -> None:
    with full_disk(stages.original(stage), tmp_path) as lab:
        lab.refused(*command.split(), me=me, code=3, says=("No space left on device",))
        (lab.folder / "ballast").unlink()
        assert lab.labkit(*command.split(), me=me).code == 0


@pytest.mark.skipif(not is_root(), reason="only root can mount a small disk")
def test_marks_that_cannot_be_kept_are_refused(lab_at: At, tmp_path: Path) -> None:
    lab = lab_at("blinded")
    sheets = {name: fill_in(lab, name, EARLY) for name in STUDENTS}
    with full_disk(lab, tmp_path) as full:
        words = ("score", "--from", str(sheets[ANA]))
        full.refused(*words, me=ANA, code=3, says=("No space left on device",))


def test_the_version_is_told() -> None:
    done = subprocess.run(labkit("--version"), capture_output=True, text=True, check=True)
    assert done.stdout == f"labkit {__version__}\n"
