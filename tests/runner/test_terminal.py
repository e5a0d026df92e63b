import io
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from persons import Person, at_a_terminal
from sandboxes import IMAGE

from labkit.archive import Entry, Kind, read_tar, write_tar
from labkit.model import Ended
from labkit.sandbox.interface import Limits, Outcome, Sandbox, Spec, Streams
from labkit_runner.agents import terminal
from labkit_runner.ownterminal import OwnTerminal

if sys.platform != "win32":
    import termios

INSIDE = Entry(path=b"terminal.py", kind=Kind.FILE, data=Path(terminal.__file__).read_bytes())
LIMITS = Limits(seconds=30, memory=512, processes=64, scratch=64)
PROGRAM = ("python3", "/labkit/terminal.py", "3")


@dataclass
class Sitting:
    """One session of a person in a sandbox, and what came of it."""

    sandbox: Sandbox
    limits: Limits = LIMITS
    record: io.BytesIO = field(default_factory=io.BytesIO)
    most: int = 1 << 20
    cut: int = 0
    left: dict[bytes, bytes] = field(default_factory=dict)

    def of(self, person: Person, does: Callable[[Person], None], *argv: str) -> Outcome:
        own = OwnTerminal(keys=person.own, screen=person.own, record=self.record, most=self.most)
        failed: list[BaseException] = []

        def act() -> None:
            try:
                does(person)
            except BaseException as error:
                failed.append(error)
                raise

        acting = threading.Thread(target=act, daemon=True)
        acting.start()
        spec = Spec(
            argv=(*PROGRAM, *argv),
            image=IMAGE,
            returned="/workspace",
            returned_tar=write_tar([Entry(path=b"a.py", kind=Kind.FILE, data=b"x = 1\n")]),
            memory_folders=("/labkit",),
            streamed_tar=write_tar([INSIDE], prefix=b"labkit/"),
            workdir="/workspace",
            environment={"TERM": "xterm", "PS1": "ready> "},
            limits=self.limits,
            keyboard=own,
        )
        streams = Streams(stdout=own, stderr=io.BytesIO())
        outcome, self.left = self.sandbox.run(spec, streams, _files)
        self.cut = own.cut
        acting.join(5)
        assert not failed
        return outcome


def _files(stream: object) -> dict[bytes, bytes]:
    entries = read_tar(stream, most_bytes=1 << 20, most_file_bytes=1 << 20)  # type: ignore[arg-type]
    return {entry.path: entry.data for entry in entries if entry.kind is Kind.FILE}


def test_a_person_works_in_the_sandbox(sandbox: Sandbox) -> None:
    sitting = Sitting(sandbox)

    def work(person: Person) -> None:
        person.waits_for("ready> ")
        person.types("echo 'x = 2' > a.py; tty; stty size; id -u\r")
        person.waits_for("/dev/pts/")
        person.waits_for("24 80")
        person.waits_for("1000")
        person.types("echo wait''ing; cat\r")
        person.waits_for("waiting")
        person.types("\x03")  # Ctrl-C ends cat, and neither the shell nor labkit
        person.waits_for("ready> ")
        person.types("exit 3\r")

    with at_a_terminal() as person:
        before = termios.tcgetattr(person.own)
        outcome = sitting.of(person, work, "sh", "-i")
        assert termios.tcgetattr(person.own) == before
    assert (outcome.ended, outcome.exit_code) == (Ended.EXITED, 3)
    assert sitting.left[b"a.py"] == b"x = 2\n"
    assert b"/dev/pts/" in sitting.record.getvalue()


def test_the_size_of_the_window_is_told_again(bubblewrap_sandbox: Sandbox) -> None:
    def work(person: Person) -> None:
        person.waits_for("ready> ")
        person.resize(50, 132)
        os.kill(os.getpid(), signal.SIGWINCH)
        person.types("sleep 0.3; stty size\r")
        person.waits_for("50 132")
        person.types("exit\r")

    with at_a_terminal() as person:
        Sitting(bubblewrap_sandbox).of(person, work, "sh", "-i")


def test_the_deadline_ends_a_session_and_gives_the_terminal_back(sandbox: Sandbox) -> None:
    sitting = Sitting(sandbox, limits=replace(LIMITS, seconds=2))
    with at_a_terminal() as person:
        before = termios.tcgetattr(person.own)
        outcome = sitting.of(person, lambda _: None, "sh", "-c", "echo y > b; sleep 60")
        assert termios.tcgetattr(person.own) == before
    assert outcome.ended is Ended.TIMEOUT
    assert sitting.left[b"b"] == b"y\n"


def test_what_stays_in_the_background_does_not_hold_the_session(
    bubblewrap_sandbox: Sandbox,
) -> None:
    begun = time.monotonic()
    with at_a_terminal() as person:
        outcome = Sitting(bubblewrap_sandbox).of(
            person, lambda _: None, "sh", "-c", "(trap '' HUP; sleep 50) & echo done"
        )
    assert outcome.exit_code == 0
    assert time.monotonic() - begun < 20


def test_a_flood_is_shown_whole_and_kept_in_part(bubblewrap_sandbox: Sandbox) -> None:
    sitting = Sitting(bubblewrap_sandbox, most=1000)
    with at_a_terminal() as person:
        sitting.of(person, lambda _: None, "sh", "-c", "seq 1 20000; echo the-end")
        person.waits_for("the-end")
    assert (len(sitting.record.getvalue()), sitting.cut > 100_000) == (1000, True)


def test_much_that_is_pasted_arrives_whole(bubblewrap_sandbox: Sandbox) -> None:
    lines = [f"line {count} of what is pasted" for count in range(3000)]

    def work(person: Person) -> None:
        person.waits_for("go")
        person.types("\r".join(lines) + "\r\x04")

    sitting = Sitting(bubblewrap_sandbox)
    with at_a_terminal() as person:
        sitting.of(person, work, "sh", "-c", "stty -echo; echo go; cat > b")
    assert sitting.left[b"b"].decode().splitlines() == lines


@pytest.mark.parametrize("program", ["sh", "/no/such/program"])
def test_a_program_that_is_not_there_is_said(bubblewrap_sandbox: Sandbox, program: str) -> None:
    with at_a_terminal() as person:
        outcome = Sitting(bubblewrap_sandbox).of(person, lambda _: None, program, "-c", "exit 0")
        if program != "sh":
            person.waits_for("could not be started: No such file")
    assert outcome.exit_code == (0 if program == "sh" else 127)
