"""Scoring in the terminal: questions in order, slips asked again, results after the first marks."""

import fcntl
import os
import pty
import select
import signal
import subprocess
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from cli.labs import ANA, EARLY, Lab, Stages, assigned, heed_interrupts, labkit

At = Callable[[str], Lab]
FIRST = list(EARLY.values())


@dataclass(slots=True)
class Terminal:
    """A command on a terminal of its own, and all it has shown."""

    program: "subprocess.Popen[bytes]"
    master: int
    shown: str = field(default="")
    _seen: int = 0

    def expect(self, text: str) -> str:
        """Wait until a text is shown, and return what came before it since the last one."""
        end = time.monotonic() + 30
        while text not in self.shown[self._seen :]:
            ready, _, _ = select.select([self.master], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"nothing came: {self.shown}"
            try:
                self.shown += os.read(self.master, 65536).decode()
            except OSError:  # Linux says so when the other end is closed
                assert text in self.shown[self._seen :], self.shown
        place = self.shown.index(text, self._seen)
        before = self.shown[self._seen : place]
        self._seen = place + len(text)
        return before

    def type(self, *lines: str) -> None:
        """Type lines, as a person would."""
        os.write(self.master, "".join(f"{line}\n" for line in lines).encode())

    def mark(self, marks: Mapping[str, str]) -> None:
        """Answer each question for a mark once it is asked; the terminal drops what comes early."""
        for name, value in marks.items():
            self.expect(f"{name} (0-4, halves allowed): ")
            self.type(value)

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        os.write(self.master, b"\x03")


@contextmanager
def terminal(lab: Lab, *words: str) -> Iterator[Terminal]:
    """Start a command on a terminal."""
    master, slave = pty.openpty()
    program = subprocess.Popen(
        labkit(*words),
        cwd=lab.project.folder,
        env=lab.environment(TERM="dumb"),
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=_take_terminal,  # noqa: PLW1509 - no thread here; Ctrl-C needs a terminal
    )
    os.close(slave)
    try:
        yield Terminal(program, master)
    finally:
        if program.poll() is None:
            program.send_signal(signal.SIGKILL)
        program.wait()
        os.close(master)


def _take_terminal() -> None:
    """Make standard input the terminal that controls this session."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    heed_interrupts()


def sheet(lab: Lab) -> list[str]:
    """Return the rows that are recorded of ana."""
    path = lab.workspace.evals / "scores" / f"{ANA}.csv"
    return path.read_text(encoding="utf-8").splitlines()[1:] if path.is_file() else []


def test_the_whole_way_through_a_scorer_s_runs(lab_at: At) -> None:
    lab = lab_at("blinded")
    first, second = assigned(lab, ANA)
    with terminal(lab, "score", "--me", ANA) as desk:
        material = desk.expect("scope (0-4, halves allowed): ")
        assert f"[1/2] {first}" in material
        for part in ("prompt.txt", "diff.patch", "message.txt"):
            assert f"===== {part} =====" in material
        assert "grade.txt" not in material
        assert sheet(lab) == []
        for name, value in zip(list(EARLY)[1:], FIRST, strict=False):
            desk.type(value)
            desk.expect(f"{name} (0-4, halves allowed): ")
        desk.type(FIRST[-1])
        assert "===== grade.txt =====" in desk.expect("correctness (0-4, halves allowed): ")
        assert sheet(lab) == [f"{first},{','.join(FIRST)},,,"]
        desk.type("4")
        desk.expect("which configuration made this? (A, B, or Enter): ")
        desk.type("a")
        desk.expect("a note (or Enter): ")
        desk.type("short, and right")
        desk.expect(f"[2/2] {second}")
        assert sheet(lab) == [f'{first},{",".join(FIRST)},4,A,"short, and right"']
        desk.mark({**EARLY, "correctness": "0"})
        desk.expect("(A, B, or Enter): ")
        desk.type("")
        desk.expect("a note (or Enter): ")
        desk.type("")
        desk.expect("all marks are in")
        assert desk.program.wait(10) == 0
    assert sheet(lab)[1] == f"{second},{','.join(FIRST)},0,,"


def test_a_slip_is_asked_again(lab_at: At) -> None:
    lab = lab_at("blinded")
    with terminal(lab, "score", "--me", ANA) as desk:
        for slip in ("5", "2.25", "good", ""):
            desk.expect("scope (0-4, halves allowed): ")
            desk.type(slip)
            desk.expect(f"labkit: error: {slip!r} is not a mark from 0 to 4, whole or half")
        desk.expect("scope (0-4, halves allowed): ")
        desk.type("2,5")
        desk.mark({**{name: EARLY[name] for name in list(EARLY)[1:]}, "correctness": "1"})
        desk.expect("which configuration made this? (A, B, or Enter): ")
        desk.type("AB")
        desk.expect("'AB' is not a configuration's letter")
    assert sheet(lab)[0].split(",")[1] == "2.5"


def test_ctrl_c_keeps_what_was_recorded(lab_at: At) -> None:
    lab = lab_at("blinded")
    first, _ = assigned(lab, ANA)
    with terminal(lab, "score", "--me", ANA) as desk:
        desk.mark(EARLY)
        desk.expect("correctness (0-4, halves allowed): ")
        desk.interrupt()
        desk.expect("labkit: interrupted; the same command goes on from here")
        assert desk.program.wait(10) == 130
    assert "Traceback" not in desk.shown
    assert sheet(lab) == [f"{first},{','.join(FIRST)},,,"]
    with terminal(lab, "score", "--me", ANA) as desk:
        again = desk.expect("correctness (0-4, halves allowed): ")
    assert f"[1/2] {first}" in again
    assert "scope (0-4" not in again


def test_answers_that_end_are_told(lab_at: At) -> None:
    lab = lab_at("blinded")
    answer = lab.labkit("score", me=ANA, answers="3\n2\n")
    assert answer.code == 2
    assert "labkit: error: there is no answer any more" in answer.err
    assert sheet(lab) == []


def test_results_are_shown_after_the_first_marks_only(lab_at: At) -> None:
    lab = lab_at("blinded")
    first, second = assigned(lab, ANA)
    before = lab.labkit("score", "--show", first, me=ANA)
    assert before.code == 0
    assert "===== prompt.txt =====" in before.out
    assert "grade.txt" not in before.out
    assert "once you have recorded: scope, quality, tests, communication" in before.err
    marks = lab.folder / "s.csv"
    rows = ["blind_id,scope,quality,tests,communication", f"{first},3,3,3,3", f"{second},3,3,3,"]
    marks.write_text("\n".join([*rows, ""]), encoding="utf-8")
    lab.done("score", "--from", str(marks), me=ANA)
    after = lab.done("score", "--show", first, me=ANA)
    for part in ("grade.txt", "leaks.txt", "test-diff-stat.txt"):
        assert f"===== {part} =====" in after
    assert "grade.txt" not in lab.done("score", "--show", second, me=ANA)


def test_a_sheet_lists_one_s_own_runs_in_order(stages: Stages, lab_at: At) -> None:
    lab = lab_at("blinded")
    path = lab.folder / "mine.csv"
    lab.done("score", "--sheet", str(path), me=ANA)
    rows = path.read_text(encoding="utf-8").splitlines()
    assert rows[0] == "blind_id,scope,quality,tests,communication,correctness,guess,note"
    assert [row.split(",")[0] for row in rows[1:]] == assigned(stages.original("blinded"), ANA)
    lab.refused("score", "--sheet", str(path), me=ANA, code=2, says=(f"{path} is already there",))
