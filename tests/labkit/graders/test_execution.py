"""Commands: in a sandbox, on a copy, bounded, and never on the host."""

import io
import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from sandboxes import IMAGE

from labkit.errors import InfrastructureError
from labkit.graders import Case, Output, ShellExitZero, Verdict
from labkit.model import Ended
from labkit.sandbox.interface import Collect, Limits, Outcome, Sandbox, Spec, Streams, T

CASE = Case(id="calc")
LIMITS = Limits(seconds=20, memory=256, processes=32, scratch=32)


def run(sandbox: Sandbox, command: str, output: Output, seconds: float = 20) -> Verdict:
    """Grade an output by a command."""
    limits = Limits(seconds=seconds, memory=256, processes=32, scratch=32)
    return ShellExitZero(command=command, sandbox=sandbox, image=IMAGE, limits=limits)(output, CASE)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a candidate's folder with a program in it."""
    made = tmp_path / "work"
    made.mkdir()
    (made / "calc.py").write_text("def add(a, b):\n    return a + b\n", encoding="utf-8")
    (made / "run").write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    (made / "run").chmod(0o755)
    (made / "passwd").symlink_to("/etc/shadow")
    return made


def test_the_exit_code_decides(sandbox: Sandbox, folder: Path) -> None:
    output = Output(value="forty-two \ud800\n", folder=folder)
    right = run(sandbox, "python3 -c 'from calc import add; assert add(2, 3) == 5'", output)
    assert right == Verdict.passing("exit 0")
    wrong = run(sandbox, "python3 -c 'from calc import add; assert add(2, 3) == 6'", output)
    assert wrong.passed is False
    assert wrong.score == 0
    assert wrong.detail.startswith("exit 1\n")
    assert "AssertionError" in wrong.detail
    assert run(sandbox, "./run", output).detail == "exit 3"
    assert run(sandbox, "grep -q forty-two /labkit/answer.txt", output).passed
    assert run(sandbox, "nonsense", output).detail.startswith("exit 127: command not found\n")


def test_nothing_of_the_host_is_seen_or_changed(sandbox: Sandbox, folder: Path) -> None:
    before = sorted(path.name for path in folder.iterdir())
    verdict = run(
        sandbox,
        f"test ! -e {folder} && test ! -e /labkit/answer.txt && ! cat passwd "
        "&& rm -rf ./* && echo x > new",
        Output(folder=folder),
    )
    assert verdict.passed, verdict.detail
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_command_that_hangs_or_floods_is_bounded(sandbox: Sandbox, folder: Path) -> None:
    hung = run(sandbox, "trap '' TERM; sleep 100", Output(folder=folder), seconds=2)
    assert hung == Verdict.failing("had not ended after 2 s")
    flood = run(sandbox, "head -c 50000000 /dev/zero; exit 1", Output())
    assert flood.passed is False
    assert len(flood.detail) < 2500
    full = run(sandbox, "dd if=/dev/zero of=big bs=1M count=100", Output())
    assert full.passed is False
    left = run(sandbox, "(while :; do sleep 1; done) & exit 0", Output(), seconds=10)
    assert left.graded


def test_files_keep_names_that_are_no_text(sandbox: Sandbox, tmp_path: Path) -> None:
    for name in (b"\xff\xfe", b"two\nlines", b"-rf", b" ", "\u00e9".encode()):
        (tmp_path / os.fsdecode(name)).write_bytes(name)
    command = 'test "$(cat -- *)" = "$(printf \' -rftwo\\nlines\\303\\251\\377\\376\')"'
    verdict = run(sandbox, f"LC_ALL=C; {command}", Output(folder=tmp_path))
    assert verdict.passed, verdict.detail


def test_what_a_command_leaves_behind_changes_nothing(sandbox: Sandbox) -> None:
    limits = Limits(seconds=20, memory=256, scratch=32, returned_bytes=1000)
    grader = ShellExitZero(
        command="for each in 1 2 3 4 5; do head -c 900 /dev/zero > /report/$each || exit 1; done",
        sandbox=sandbox,
        image=IMAGE,
        limits=limits,
    )
    assert grader(Output(), CASE) == Verdict.passing("exit 0")


def test_an_output_without_a_folder_gets_an_empty_one(sandbox: Sandbox) -> None:
    assert run(sandbox, 'test -z "$(ls)" && test "$PWD" = /workspace', Output()).passed


class Told:
    """A sandbox that ends as it was told: what a real one does rarely."""

    name = "told"

    def __init__(self, end: Ended | Exception) -> None:
        self.end = end
        self.specs: list[Spec] = []

    def run(self, spec: Spec, streams: Streams, collect: Collect[T]) -> tuple[Outcome, T]:
        self.specs.append(spec)
        if isinstance(self.end, Exception):
            raise self.end
        streams.stdout.write(b"")
        empty = io.BytesIO()
        outcome = Outcome(
            ended=self.end, exit_code=None, seconds=1, cut_bytes=0, image_digest="told"
        )
        return outcome, collect(empty)

    def kill(self, labels: Mapping[str, str]) -> int:
        del labels
        return 0

    def leftovers(self) -> tuple[str, ...]:
        return ()

    def clean(self) -> tuple[str, ...]:
        return ()


@pytest.mark.parametrize(
    ("end", "passed", "detail"),
    [
        (Ended.OUT_OF_MEMORY, False, "took more than 256 MiB of memory"),
        (Ended.KILLED, None, "not graded: the sandbox was killed from outside"),
        (InfrastructureError("the engine is gone"), None, "not graded: the engine is gone"),
        (RuntimeError("a bug"), None, "not graded: the grader raised RuntimeError: a bug"),
    ],
)
def test_other_ends(end: Ended | Exception, *, passed: bool | None, detail: str) -> None:
    verdict = run(Told(end), "true", Output())
    assert (verdict.passed, verdict.detail) == (passed, detail)


def test_what_cannot_be_laid_out_fails_before_anything_runs(tmp_path: Path) -> None:
    sandbox = Told(Ended.EXITED)
    assert run(sandbox, "true", Output(folder=tmp_path / "gone")).detail == "the folder is missing"
    assert "too long" in run(sandbox, "true", Output(value="x" * 20_000_000)).detail
    assert not sandbox.specs


def test_little_of_what_a_command_says_is_kept() -> None:
    sandbox = Told(Ended.TIMEOUT)
    run(sandbox, "true", Output())
    assert [spec.limits.output_bytes for spec in sandbox.specs] == [1024 * 1024]


def test_compiled_code_that_counts_as_no_edit_is_not_run(sandbox: Sandbox, folder: Path) -> None:
    for cache in (folder / "__pycache__", folder / "deep/__pycache__"):
        cache.mkdir(parents=True)
        (cache / "calc.cpython-311.pyc").write_bytes(b"poison")
    command = "test -e calc.py -a -d deep && test -z \"$(find . -name '*.pyc')\""
    assert run(sandbox, command, Output(folder=folder)) == Verdict.passing("exit 0")
