"""What every sandbox does with a command: files in and out, exit codes, output, environment."""

import pytest
from sandbox_specs import run_in

from labkit.model import Ended
from labkit.sandbox.container import TEMPORARY
from labkit.sandbox.interface import Sandbox


@pytest.mark.parametrize("code", [0, 1, 2, 3, 77, 137, 143, 255])
def test_the_exit_code_is_the_commands_own(sandbox: Sandbox, code: int) -> None:
    ran = run_in(sandbox, f"exit {code}")
    assert (ran.outcome.ended, ran.outcome.exit_code) == (Ended.EXITED, code)


def test_output_is_kept_apart_and_whole(sandbox: Sandbox) -> None:
    ran = run_in(sandbox, "printf 'a\\nb'; printf 'c\\006' >&2")
    assert (ran.stdout, ran.stderr, ran.outcome.cut_bytes) == (b"a\nb", b"c\x06", 0)


def test_files_go_in_and_come_back(sandbox: Sandbox) -> None:
    ran = run_in(
        sandbox,
        "cat given/in.txt; cat /labkit/deep/file; stat -c %a given/in.txt; "
        "echo new > given/out.txt; rm given/gone",
        returned={"given/in.txt": b"in\n", "given/gone": b""},
        streamed={"labkit/deep/file": b"streamed\n"},
    )
    assert ran.stdout == b"in\nstreamed\n644\n"
    assert ran.files == {"workspace/given/in.txt": b"in\n", "workspace/given/out.txt": b"new\n"}
    assert {member.uid for member in ran.members.values()} == {1000}


def test_the_command_finds_its_tools(sandbox: Sandbox) -> None:
    ran = run_in(
        sandbox,
        "id -u; pwd; echo $HOME; python -P -m pytest --version; python3 -c 'import pytest'; "
        "git --version",
    )
    lines = ran.stdout.decode().splitlines()
    assert lines[:3] == ["1000", "/workspace", TEMPORARY]
    assert lines[3].startswith("pytest ")
    assert lines[4].startswith("git version")
    assert ran.outcome.exit_code == 0
