"""What a command cannot use too much of, and how it is told from outside that it did."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sandbox_specs import run_in
from sandboxes import require_memory_reports

from labkit.errors import ReturnedTooLargeError
from labkit.model import Ended
from labkit.sandbox.interface import Limits, Sandbox

SMALL = Limits(seconds=60, memory=128, processes=32, scratch=16, returned_bytes=16 * 1024 * 1024)


def test_output_over_the_limit_is_counted_and_not_kept(sandbox: Sandbox) -> None:
    ran = run_in(
        sandbox,
        "head -c 200000000 /dev/zero; echo said >&2",
        limits=Limits(output_bytes=1_000_000),
    )
    assert ran.stdout == bytes(1_000_000)
    assert ran.stderr == b"said\n"
    assert ran.outcome.cut_bytes == 199_000_000
    assert ran.outcome.exit_code == 0


def test_the_deadline_ends_everything(sandbox: Sandbox) -> None:
    began = time.monotonic()
    ran = run_in(
        sandbox,
        "trap '' TERM INT HUP; echo before > early; (trap '' TERM; sleep 4; echo no > late) & "
        "sleep 60",
        limits=Limits(seconds=1.5),
    )
    assert time.monotonic() - began < 4
    assert (ran.outcome.ended, ran.outcome.exit_code) == (Ended.TIMEOUT, None)
    assert 1.5 <= ran.outcome.seconds < 3.5
    assert ran.files == {"workspace/early": b"before\n"}


def test_a_command_that_ends_leaves_no_process_behind(sandbox: Sandbox) -> None:
    ran = run_in(sandbox, "(sleep 1; echo no > late) & (sleep 30; echo loud) & exit 4")
    assert (ran.outcome.exit_code, ran.files) == (4, {})
    assert ran.outcome.seconds < 1


def test_a_fork_bomb_is_held_and_killed(sandbox: Sandbox) -> None:
    ran = run_in(
        sandbox,
        "echo here > file; bomb() { bomb | bomb & }; bomb 2>/dev/null; sleep 60",
        limits=Limits(seconds=2, processes=32, memory=256),
    )
    assert ran.outcome.seconds < 8
    assert ran.files == {"workspace/file": b"here\n"}


HOG = "python3 -c 'held = [bytes([1]) * 1048576 for _ in range(1000)]'"


def test_a_command_that_uses_too_much_memory_does_not_pass(sandbox: Sandbox) -> None:
    require_memory_reports(sandbox)
    ran = run_in(sandbox, f"exec {HOG}", limits=SMALL)
    assert ran.outcome.ended is Ended.OUT_OF_MEMORY
    assert ran.outcome.exit_code is None


def test_a_child_that_uses_too_much_memory_is_the_commands_affair(sandbox: Sandbox) -> None:
    ran = run_in(sandbox, f"{HOG} || echo died > result; exit 0", limits=SMALL)
    assert (ran.outcome.ended, ran.outcome.exit_code) == (Ended.EXITED, 0)
    assert ran.files == {"workspace/result": b"died\n"}


@pytest.mark.parametrize("folder", ["/tmp", "/labkit"])  # noqa: S108 - the sandbox has its own
def test_folders_in_memory_are_of_limited_size(sandbox: Sandbox, folder: str) -> None:
    ran = run_in(
        sandbox,
        f"dd if=/dev/zero of={folder}/big bs=1M count=40 2>/dev/null; stat -c %s {folder}/big",
        limits=Limits(scratch=16, memory=256),
    )
    assert int(ran.stdout) <= 16 * 1024 * 1024


def test_a_file_larger_than_what_is_read_back_cannot_be_made(sandbox: Sandbox) -> None:
    ran = run_in(sandbox, "truncate -s 3G sparse; stat -c %s sparse", limits=SMALL)
    assert ran.stdout == b"0\n"
    assert ran.outcome.exit_code == 0


def test_where_one_file_is_returned_nothing_else_can_be_written(sandbox: Sandbox) -> None:
    ran = run_in(
        sandbox,
        "echo kept > one; echo no > two; mkdir new; rm -f one; chmod 777 .; ls -A; echo on >> one",
        returned_file="one",
        limits=SMALL,
    )
    assert (ran.outcome.exit_code, ran.stdout) == (0, b"one\n")
    assert ran.files == {"workspace/one": b"kept\non\n"}


def test_the_file_that_is_returned_cannot_fill_the_disk(sandbox: Sandbox) -> None:
    fill = "head -c 40M /dev/zero > one; stat -c %s one; : > one"
    ran = run_in(sandbox, fill, returned_file="one", limits=SMALL)
    assert int(ran.stdout) <= SMALL.returned_bytes


def test_a_folder_too_large_to_read_back_is_given_up(sandbox: Sandbox) -> None:
    began = time.monotonic()
    with pytest.raises(ReturnedTooLargeError, match="more than 16 MiB"):
        run_in(sandbox, "for n in 1 2 3 4; do truncate -s 8M part$n; done", limits=SMALL)
    assert time.monotonic() - began < 10


def test_a_thousand_files_come_back(sandbox: Sandbox) -> None:
    script = "mkdir many; for n in $(seq 1000); do echo $n > many/$n; done"
    ran = run_in(sandbox, script)
    assert len(ran.files) == 1000
    assert ran.files["workspace/many/77"] == b"77\n"


def test_many_files_go_in(sandbox: Sandbox) -> None:
    given = {f"deep/er/{n}": str(n).encode() for n in range(1000)}
    ran = run_in(sandbox, "ls deep/er | wc -l", returned=given)
    assert ran.stdout.split() == [b"1000"]
    assert ran.files == {f"workspace/{name}": content for name, content in given.items()}


def test_two_runs_at_once_do_not_meet(sandbox: Sandbox) -> None:
    with ThreadPoolExecutor(2) as pool:
        script = "echo $0 > /tmp/mine; sleep 0.5; cat /tmp/mine; ls | wc -l"
        both = list(pool.map(lambda _: run_in(sandbox, script), range(2)))
    assert [ran.stdout.split() for ran in both] == [[b"sh", b"0"]] * 2
