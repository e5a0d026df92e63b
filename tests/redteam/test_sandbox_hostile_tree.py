"""What a hostile command can leave in the returned folder, and that it comes back as it is."""

import tarfile

import pytest
from sandbox_specs import run_in

from labkit.sandbox.interface import Sandbox


def test_links_out_of_the_tree_come_back_as_links(sandbox: Sandbox) -> None:
    ran = run_in(
        sandbox,
        "ln -s /etc/passwd absolute; ln -s ../../../etc/hostname relative; ln -s /etc folder; "
        "ln -s . loop; ln -s nowhere dangling",
    )
    links = {name: member.linkname for name, member in ran.members.items() if member.issym()}
    assert links == {
        "workspace/absolute": "/etc/passwd",
        "workspace/relative": "../../../etc/hostname",
        "workspace/folder": "/etc",
        "workspace/loop": ".",
        "workspace/dangling": "nowhere",
    }
    assert ran.files == {}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("new\nline", id="newline"),
        pytest.param("tab\tquote'\"back\\slash", id="quotes"),
        pytest.param("-rf", id="option"),
        pytest.param("--checkpoint-action=exec=id", id="long-option"),
        pytest.param("caf\udce9", id="not-utf-8"),
        pytest.param("カタカナ", id="unicode"),
        pytest.param("x" * 255, id="longest"),
        pytest.param("/".join(["d" * 100] * 20), id="deep"),
    ],
)
def test_odd_names_come_back(sandbox: Sandbox, name: str) -> None:
    script = (
        "import os, sys; name = os.fsencode(sys.argv[1]).decode('utf-8', 'surrogateescape')\n"
        "os.makedirs(os.path.dirname(name) or '.', exist_ok=True); open(name, 'w').write('x')"
    )
    ran = run_in(sandbox, f"python3 -c '{_quoted(script)}' {_octal(name)}")
    assert ran.outcome.exit_code == 0, ran.stderr
    assert ran.files == {f"workspace/{name}": b"x"}


def _quoted(text: str) -> str:
    return text.replace("'", "'\\''")


def _octal(name: str) -> str:
    """Write a name for the shell so that any byte survives; the trailing dot guards newlines."""
    raw = name.encode("utf-8", "surrogateescape")
    return "\"$(printf '" + "".join(f"\\{byte:03o}" for byte in raw) + "')\""


def test_locked_folders_and_files_come_back(sandbox: Sandbox) -> None:
    ran = run_in(
        sandbox,
        "mkdir -p locked/inner; echo deep > locked/inner/file; chmod 000 locked/inner/file; "
        "chmod 000 locked/inner; chmod 000 locked; mkdir -m 0700 private; echo p > private/file",
    )
    assert ran.files["workspace/locked/inner/file"] == b"deep\n"
    assert ran.files["workspace/private/file"] == b"p\n"
    assert ran.members["workspace/locked"].mode & 0o7777 == 0


def test_special_files_come_back_as_what_they_are(sandbox: Sandbox) -> None:
    ran = run_in(sandbox, "mkfifo pipe; mknod device c 1 3 || echo refused; echo x > file")
    assert ran.members["workspace/pipe"].type == tarfile.FIFOTYPE
    assert ran.stdout == b"refused\n"
    assert "workspace/device" not in ran.members


def test_set_user_id_files_gain_nothing(sandbox: Sandbox) -> None:
    ran = run_in(sandbox, "cp /usr/bin/id mine; chmod 6755 mine; ./mine -u; su -c id; echo $?")
    assert b"uid=0" not in ran.stdout
    assert ran.stdout.splitlines()[0] == b"1000"


def test_the_folder_itself_cannot_be_replaced(sandbox: Sandbox) -> None:
    ran = run_in(
        sandbox,
        "cd /; mv workspace other; rmdir workspace; ln -sfn /etc workspace; chmod 0 workspace",
    )
    assert ran.members["workspace"].isdir()
    assert all(name.split("/")[0] == "workspace" for name in ran.members)
    assert ran.files == {}


def test_output_cannot_be_forged_into_another_stream(sandbox: Sandbox) -> None:
    frame = "\\002\\000\\000\\000\\000\\000\\000\\005"
    ran = run_in(sandbox, f"printf '{frame}wrong'")
    assert ran.stdout.endswith(b"wrong")
    assert ran.stderr == b""


def test_the_tether_cannot_be_seen_as_input(sandbox: Sandbox) -> None:
    ran = run_in(
        sandbox, "cat; ls -l /proc/self/fd | grep -c pipe", streamed={"labkit/x": b"secret"}
    )
    assert b"secret" not in ran.stdout
    assert ran.outcome.exit_code == 0


def test_a_flood_of_sockets_does_not_stop_the_reading(sandbox: Sandbox) -> None:
    script = (
        "import socket\n"
        "for n in range(1500):\n"
        "    socket.socket(socket.AF_UNIX).bind(f'{n:090}')\n"
        "open('file', 'w').write('x')"
    )
    ran = run_in(sandbox, f"python3 -c '{_quoted(script)}'")
    assert ran.outcome.exit_code == 0, ran.stderr
    assert ran.files == {"workspace/file": b"x"}
