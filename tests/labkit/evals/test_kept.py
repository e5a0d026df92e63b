import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from candidates import LONG, alive, all_gone

from labkit.errors import ToolError
from labkit.evals.kept import End, HostLimits, Kept, Program
from labkit.evals.pipes import Channel, ClosedError, Heard, LateError, LongError


def run(
    folder: Path, *argv: str, seconds: float = 20.0, limits: HostLimits | None = None
) -> tuple[End | None, Heard]:
    heard = Heard(first=1000)
    kept = Kept(
        Program(
            argv=argv,
            cwd=folder,
            env=dict(os.environ),
            stdout=heard.end,
            stderr=heard.end,
            limits=limits or HostLimits(),
        )
    )
    heard.started()
    end = kept.wait(seconds)
    kept.end()
    heard.finish()
    return end, heard


def test_a_program_ends_in_its_code_and_is_heard(tmp_path: Path) -> None:
    end, heard = run(tmp_path, "sh", "-c", "pwd; echo oops >&2; exit 3")
    assert end == End(code=3, killed=False)
    assert end.words == "ended in 3"
    assert heard.first.decode() == f"{tmp_path.resolve()}\noops\n"


def test_it_has_no_input_and_no_other_descriptor(tmp_path: Path) -> None:
    script = (
        "import os, sys\n"
        "print(repr(sys.stdin.read()), sorted(map(int, os.listdir('/proc/self/fd'))))"
    )
    _, heard = run(tmp_path, sys.executable, "-c", script)
    assert heard.first.decode() == "'' [0, 1, 2, 3]\n"  # 3 is the folder that it lists


def test_signals_are_not_ignored_in_it(tmp_path: Path) -> None:
    _, heard = run(tmp_path, "sh", "-c", "grep SigIgn /proc/self/status")
    ignored = {
        number for number in range(1, 65) if int(heard.first.split()[1], 16) >> number - 1 & 1
    }
    assert not ignored & signal.valid_signals()  # two more are the C library's own


def test_what_labkit_ignores_is_not_ignored_in_it(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    try:
        end, _ = run(tmp_path, "sh", "-c", "kill -USR1 $$; sleep 5")
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert end is not None
    assert "SIGUSR1" in end.words


@pytest.mark.parametrize(("name", "words"), [("SEGV", "SIGSEGV"), ("KILL", "SIGKILL: the machine")])
def test_a_signal_is_named(tmp_path: Path, name: str, words: str) -> None:
    end, _ = run(tmp_path, "sh", "-c", f"kill -{name} $$")
    assert end is not None
    assert end.words.startswith(f"was killed by {words}")


def test_a_program_that_cannot_be_started_is_named(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"labkit-no-such could not be started: .*No such file"):
        run(tmp_path, "labkit-no-such")
    with pytest.raises(ToolError, match=r"sh could not be started: .*no-folder"):
        run(tmp_path / "no-folder", "sh")


@pytest.mark.parametrize(
    "script",
    [
        f"sleep {LONG} &",
        f"setsid sleep {LONG} &",
        f"(env -i setsid sleep {LONG} >/dev/null 2>&1 &) ; exec 1>&- 2>&-",
        f"trap '' TERM INT HUP; sh -c 'trap \"\" TERM; sleep {LONG}' &",
    ],
    ids=["child", "session", "daemon", "deaf"],
)
def test_nothing_outlives_it(tmp_path: Path, script: str) -> None:
    end, _ = run(tmp_path, "sh", "-c", script)
    assert end == End(code=0, killed=False)
    assert not alive()


def test_nothing_outlives_its_deadline(tmp_path: Path) -> None:
    script = f"trap '' TERM; setsid env -i sh -c 'trap \"\" TERM; sleep {LONG}; :' & sleep {LONG}"
    begun = time.monotonic()
    end, _ = run(tmp_path, "sh", "-c", script, seconds=0.3)
    assert end is None
    assert time.monotonic() - begun < 5
    assert not alive()


def test_many_that_fork_on_are_all_killed(tmp_path: Path) -> None:
    script = (
        "import os, sys, time\n"
        "for _ in range(5):\n    os.fork()\n"
        "os.setsid() if os.getpid() != os.getpgid(0) else None\n"
        "until = time.time() + 60\n"
        "while time.time() < until:\n"
        "    if os.fork() == 0:\n        os._exit(0)\n    os.wait()\n"
        f"'{LONG}'"
    )
    end, _ = run(tmp_path, sys.executable, "-c", script, seconds=0.5)
    assert end is None
    assert not alive()


def test_nothing_outlives_labkit_itself(tmp_path: Path) -> None:
    code = (
        "import os\nfrom pathlib import Path\nfrom labkit.evals.kept import Kept, Program\n"
        "end = os.dup(2)\n"
        f"kept = Kept(Program(argv=['sh', '-c', 'setsid sleep {LONG} & sleep {LONG}'],"
        " cwd=Path('/'), env=dict(os.environ), stdout=end, stderr=end))\n"
        "print('ready', flush=True)\nkept.wait(60)\n"
    )
    argv = [sys.executable, "-c", code]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, cwd=tmp_path) as labkit:
        assert labkit.stdout is not None
        assert labkit.stdout.readline() == b"ready\n"
        labkit.send_signal(signal.SIGKILL)
        labkit.wait()
    assert all_gone()


def test_a_killed_keeper_takes_the_program_along(tmp_path: Path) -> None:
    end, _ = run(tmp_path, "sh", "-c", f"sleep 0.2; kill -9 $PPID; sleep {LONG}")
    assert end == End(code=None, killed=True)
    assert end.words == "was lost: its keeper was killed"
    assert all_gone()


def test_a_program_dies_with_its_keeper_though_nobody_looks(tmp_path: Path) -> None:
    heard = Heard()
    argv = ["sh", "-c", f"sleep 0.2; kill -9 $PPID; exec sleep {LONG}"]
    env = dict(os.environ)
    kept = Kept(Program(argv=argv, cwd=tmp_path, env=env, stdout=heard.end, stderr=heard.end))
    heard.started()
    assert all_gone()
    kept.end()
    heard.finish()


def test_the_kernel_holds_the_limits(tmp_path: Path) -> None:
    _, heard = run(
        tmp_path, sys.executable, "-c", "bytearray(10**9)", limits=HostLimits(memory=300)
    )
    assert heard.last_words.endswith("MemoryError")
    script = "open('big', 'wb').truncate(10 * 2**30)"
    _, heard = run(tmp_path, sys.executable, "-c", script)
    assert "File too large" in heard.last_words
    assert (tmp_path / "big").stat().st_size == 0


def test_a_gigabyte_of_words_is_heard_out_in_little_memory(tmp_path: Path) -> None:
    end, heard = run(tmp_path, "sh", "-c", "head -c 1000000000 /dev/zero; echo; echo the end")
    assert end == End(code=0, killed=False)
    assert (len(heard.first), heard.cut) == (1000, 10**9 + 9 - 1000)
    assert heard.last_words.endswith("\nthe end")
    assert len(heard.last_words) <= 500


def test_it_can_be_killed_from_another_thread_and_once_more(tmp_path: Path) -> None:
    heard = Heard()
    program = Program(
        argv=["sleep", LONG],
        cwd=tmp_path,
        env=dict(os.environ),
        stdout=heard.end,
        stderr=heard.end,
    )
    kept = Kept(program)
    heard.started()
    assert kept.wait(0.01) is None
    kept.kill()
    kept.kill()
    assert kept.wait(10) == End(code=-9, killed=True) == kept.end()
    kept.kill()
    heard.finish()


def test_a_channel_carries_lines_both_ways_and_is_never_waited_on_for_ever() -> None:
    channel = Channel()
    read, written = channel.theirs
    os.write(written, b"one\ntw")
    until = time.monotonic() + 5
    assert channel.receive(until) == b"one"
    with pytest.raises(LateError):
        channel.receive(time.monotonic() + 0.05)
    os.write(written, b"o\n")
    channel.send(json.dumps({}).encode(), until)
    assert os.read(read, 10) == b"{}\n"
    with pytest.raises(LateError):
        channel.send(b"a" * 10**6, time.monotonic() + 0.05)
    channel.close()


def test_a_closed_channel_says_so() -> None:
    channel = Channel()
    channel.started()
    with pytest.raises(ClosedError):
        channel.receive(time.monotonic() + 5)
    with pytest.raises(ClosedError):
        channel.send(b"a", time.monotonic() + 5)
    channel.close()


def test_a_line_without_an_end_is_given_up(tmp_path: Path) -> None:
    channel, heard = Channel(), Heard()
    script = f"import os\nwhile True: os.write({channel.theirs[1]}, bytes(9999))"
    program = Program(
        argv=[sys.executable, "-c", script],
        cwd=tmp_path,
        env=dict(os.environ),
        stdout=heard.end,
        stderr=heard.end,
        passed=channel.theirs,
    )
    kept = Kept(program)
    channel.started()
    heard.started()
    with pytest.raises(LongError):
        channel.receive(time.monotonic() + 20)
    kept.end()
    heard.finish()
    channel.close()
