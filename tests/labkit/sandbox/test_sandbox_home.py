"""A command's own folder beside its work, folders that it may only read, and who stops it."""

import threading
import time
from collections.abc import Callable
from io import BytesIO

import pytest
from sandbox_specs import run_in, run_spec, shell

from labkit.archive import Entry, Kind, write_tar
from labkit.errors import ReturnedTooLargeError
from labkit.model import Ended
from labkit.sandbox.interface import Halt, Limits, Sandbox, Spec, Streams

HOME = "/home/agent"
MANAGED = "/etc/labkit-test-managed"
FIXED = {
    MANAGED: (
        Entry(path=b"settings.json", kind=Kind.FILE, data=b"{}\n"),
        Entry(path=b"deep/run.sh", kind=Kind.EXECUTABLE, data=b"#!/bin/sh\necho ran\n"),
        Entry(path=b"link", kind=Kind.SYMLINK, data=b"settings.json"),
    )
}
SMALL = Limits(seconds=60, memory=256, processes=32, scratch=16, returned_bytes=8 * 1024 * 1024)


def test_home_is_new_filled_and_handed_over(sandbox: Sandbox) -> None:
    script = (
        'echo $HOME; ls -A ~; cat ~/.tool/given; stat -c "%u %a" ~; '
        "echo new > ~/.tool/session; chmod 000 ~/.tool; echo work > file"
    )
    given = {"home/agent/.tool/given": b"given\n", "labkit/input": b"x"}
    for _ in range(2):
        ran = run_in(sandbox, script, home=HOME, streamed=given)
        assert ran.stdout == b"/home/agent\n.tool\ngiven\n1000 755\n"
        assert ran.home_files == {"agent/.tool/given": b"given\n", "agent/.tool/session": b"new\n"}
        assert ran.files == {"workspace/file": b"work\n"}


def test_folders_above_the_files_of_home_may_be_named_in_the_archive(sandbox: Sandbox) -> None:
    named = write_tar([Entry(path=b"home/agent/.rc", kind=Kind.FILE, data=b"rc\n")])
    ran = run_spec(sandbox, shell("cat ~/.rc", home=HOME, streamed_tar=named))
    assert (ran.stdout, ran.stderr) == (b"rc\n", b"")


@pytest.mark.parametrize(
    ("script", "limits", "ended"),
    [
        ("sleep 60", Limits(seconds=1.5), Ended.TIMEOUT),
        ("exit 9", Limits(), Ended.EXITED),
    ],
)
def test_home_comes_whatever_the_end_was(
    sandbox: Sandbox, script: str, limits: Limits, ended: Ended
) -> None:
    ran = run_in(sandbox, f"echo said > ~/session; {script}", home=HOME, limits=limits)
    assert (ran.outcome.ended, ran.home_files) == (ended, {"agent/session": b"said\n"})


def test_home_comes_of_a_run_that_was_killed_from_outside(sandbox: Sandbox) -> None:
    labels = {"labkit.run": f"home {threading.get_ident()} {time.time()}"}
    killer = threading.Thread(target=_soon, args=[lambda: sandbox.kill(labels) > 0])
    killer.start()
    ran = run_in(sandbox, "echo said > ~/session; sleep 20", home=HOME, labels=labels)
    killer.join()
    assert (ran.outcome.ended, ran.home_files) == (Ended.KILLED, {"agent/session": b"said\n"})


def _soon(done: Callable[[], bool]) -> None:
    limit = time.monotonic() + 15
    time.sleep(1.5)
    while not done() and time.monotonic() < limit:
        time.sleep(0.1)


def test_a_home_that_is_too_large_is_not_kept_and_the_work_is(sandbox: Sandbox) -> None:
    fill = "for n in 1 2 3; do head -c 4M /dev/zero > ~/part$n; done; echo work > file"
    ran = run_in(sandbox, fill, home=HOME, limits=SMALL)
    assert (ran.home, ran.outcome.exit_code) == (b"", 0)
    assert ran.files == {"workspace/file": b"work\n"}


def test_an_empty_home_can_be_told_from_one_that_was_too_large(sandbox: Sandbox) -> None:
    ran = run_in(sandbox, "true", home=HOME, limits=SMALL)
    assert (ran.home != b"", ran.home_files) == (True, {})


def test_home_is_handed_over_also_where_the_work_is_too_large(sandbox: Sandbox) -> None:
    home = BytesIO()
    spec = shell(
        "echo said > ~/session; for n in 1 2 3; do head -c 4M /dev/zero > part$n; done",
        home=HOME,
        limits=SMALL,
    )
    streams = Streams(stdout=BytesIO(), stderr=BytesIO(), home=home)
    with pytest.raises(ReturnedTooLargeError):
        sandbox.run(spec, streams, lambda stream: stream.read())
    assert b"said\n" in home.getvalue()


def test_fixed_folders_are_read_and_run(sandbox: Sandbox) -> None:
    script = f"cd {MANAGED}; cat settings.json link; ./deep/run.sh; find . -type f | sort"
    ran = run_in(sandbox, script, fixed=FIXED)
    assert ran.stdout == b"{}\n{}\nran\n./deep/run.sh\n./settings.json\n"


def test_two_runs_with_other_fixed_files_see_their_own(sandbox: Sandbox) -> None:
    for text in (b"one\n", b"two\n", b"one\n"):
        fixed = {MANAGED: (Entry(path=b"settings.json", kind=Kind.FILE, data=text),)}
        assert run_in(sandbox, f"cat {MANAGED}/*", fixed=fixed).stdout == text
    assert run_in(sandbox, f"ls -d {MANAGED}").outcome.exit_code != 0


@pytest.mark.parametrize("folder", [HOME, f"{HOME}/.tool", "/workspace/x", "/", "/labkit", "/tmp"])  # noqa: S108 - names only
def test_a_folder_that_the_command_may_write_to_cannot_be_fixed(folder: str) -> None:
    with pytest.raises(ValueError, match="cannot be fixed"):
        Spec(
            argv=("true",),
            image="",
            returned="/workspace",
            memory_folders=("/labkit",),
            home=HOME,
            fixed={folder: ()},
        )


def test_a_run_is_stopped_from_another_thread(sandbox: Sandbox) -> None:
    halt = Halt()
    stopper = threading.Timer(1.5, halt.stop, ["no money left"])
    stopper.start()
    script = "echo before; echo x > file; echo s > ~/session; trap '' TERM; sleep 60; echo after"
    began = time.monotonic()
    ran = run_in(sandbox, script, home=HOME, halt=halt)
    assert time.monotonic() - began < 10
    assert (ran.outcome.ended, ran.outcome.exit_code) == (Ended.STOPPED, None)
    assert (ran.stdout, ran.files) == (b"before\n", {"workspace/file": b"x\n"})
    assert ran.home_files == {"agent/session": b"s\n"}
    assert halt.why == "no money left"
    halt.stop("another reason, too late")
    assert halt.why == "no money left"


def test_a_run_that_was_stopped_before_its_start_does_nothing(sandbox: Sandbox) -> None:
    halt = Halt()
    halt.stop("never")
    ran = run_in(sandbox, "sleep 3; echo ran", halt=halt, home=HOME)
    assert (ran.outcome.ended, ran.stdout) == (Ended.STOPPED, b"")
    assert ran.outcome.seconds < 3


def test_a_stop_at_any_moment_of_the_start_is_a_stop(sandbox: Sandbox) -> None:
    for delay in (0.0, 0.02, 0.06, 0.12, 0.2, 0.3):
        halt = Halt()
        stopper = threading.Timer(delay, halt.stop, ["now"])
        stopper.start()
        ran = run_in(sandbox, "sleep 20", halt=halt)
        stopper.join()
        assert ran.outcome.ended is Ended.STOPPED
        assert ran.outcome.seconds < 5


def test_a_stop_after_the_end_changes_nothing(sandbox: Sandbox) -> None:
    halt = Halt()
    ran = run_in(sandbox, "exit 3", halt=halt)
    halt.stop("too late")
    assert (ran.outcome.ended, ran.outcome.exit_code) == (Ended.EXITED, 3)


def test_the_deadline_holds_where_somebody_could_stop(sandbox: Sandbox) -> None:
    ran = run_in(sandbox, "sleep 60", halt=Halt(), limits=Limits(seconds=1))
    assert ran.outcome.ended is Ended.TIMEOUT
