import os
import sys
from pathlib import Path

import pytest

from labkit.errors import ToolError
from labkit.process import plain_environment, run, start


def test_a_program_gets_its_input_and_gives_its_output() -> None:
    done = run(["sh", "-c", "cat; echo oops >&2; exit 3"], stdin=b"\x00in", check=False)
    assert (done.code, done.stdout, done.stderr) == (3, b"\x00in", b"oops\n")
    assert done.complaint == "oops"


def test_arguments_are_never_split_by_a_shell() -> None:
    name = 'it\'s "done" #1 $(x) *'
    assert run(["printf", "%s", name]).stdout.decode() == name


def test_another_code_than_0_is_an_error_that_tells_the_complaint() -> None:
    with pytest.raises(ToolError, match=r"ended in 3: no such thing"):
        run(["sh", "-c", "echo no such thing >&2; exit 3"])


def test_a_signal_is_a_negative_code() -> None:
    assert run(["sh", "-c", "kill -9 $$"], check=False).code == -9


def test_a_missing_program_is_named() -> None:
    with pytest.raises(ToolError, match="labkit-no-such-program could not be started") as caught:
        run(["labkit-no-such-program"])
    assert caught.value.hint == "install labkit-no-such-program or put it on PATH"


def test_a_file_that_is_no_program_is_named(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="could not be started: Permission denied"):
        run([tmp_path])


def test_the_users_environment_does_not_reach_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_DIR", "HOME", "PYTHONPATH", "MY_TOKEN"):
        monkeypatch.setenv(name, "secret")
    seen = run(["env"]).stdout.decode()
    assert "secret" not in seen
    assert set(plain_environment()) >= {"PATH", "LANG", "LC_ALL"}


def test_a_started_program_has_pipes_and_the_environment_given() -> None:
    running = start(["sh", "-c", 'read line; echo "$line $WORD"'], env={"WORD": "w"} | os_path())
    out, _ = running.communicate(b"hello\n")
    assert (running.returncode, out) == (0, b"hello w\n")


def test_a_program_that_cannot_be_started_is_named() -> None:
    with pytest.raises(ToolError, match="labkit-no-such-program could not be started"):
        start(["labkit-no-such-program"], env=os_path())


def os_path() -> dict[str, str]:
    return {"PATH": os.environ["PATH"] if sys.platform != "win32" else ""}
