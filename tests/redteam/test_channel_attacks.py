"""What a command may try with its way out, its settings and its neighbours, and killed labkits."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from besides import ask, beside, sidecar_spec
from sandbox_specs import Ran, run_in
from sandboxes import BOTH, bubblewrap_cache

from labkit.archive import Entry, Kind
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit.sandbox.choose import bubblewrap_sandbox as make_bubblewrap
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.interface import Sandbox, SidecarSandbox

HOME = "/home/agent"
MANAGED = "/etc/labkit-test-managed"
FIXED = {MANAGED: (Entry(path=b"settings.json", kind=Kind.FILE, data=b"ours\n"),)}
PYTHON = "python3 -c"


@pytest.fixture(params=BOTH)
def sandbox(request: pytest.FixtureRequest) -> SidecarSandbox:
    made: SidecarSandbox = request.getfixturevalue(f"{request.param}_sandbox")
    return made


@pytest.mark.parametrize(
    "attack",
    [
        "rm -f /run/labkit/test.sock",
        "mv /run/labkit/test.sock /run/labkit/other.sock",
        "echo x > /run/labkit/new",
        "mkdir /run/labkit/folder",
        "ln -s /tmp /run/labkit/link",
        "ln -f /workspace/mine /run/labkit/test.sock",
        "mv /run/labkit /run/other",
        "rmdir /run/labkit",
        "chmod 000 /run/labkit/test.sock",
        "chmod 777 /run/labkit",
        "echo x > /run/labkit/test.sock",
        "truncate -s 9 /run/labkit/test.sock",
        "mount -t tmpfs none /run/labkit",
        "unshare -Urm sh -c 'mount -o remount,rw /run/labkit && rm /run/labkit/test.sock'",
        "unshare -Ur sh -c 'rm /run/labkit/test.sock'",
        f"{PYTHON} \"import socket as s; s.socket(s.AF_UNIX).bind('/run/labkit/own.sock')\"",
    ],
)
def test_the_way_out_cannot_be_changed(
    sandbox: SidecarSandbox, tmp_path: Path, attack: str
) -> None:
    with beside(sandbox, sidecar_spec(tmp_path)) as talk:
        script = (
            f"echo > mine; ({attack}) 2>/dev/null && echo DONE; {ask('still')}; ls -A /run/labkit"
        )
        ran = run_in(sandbox, script, channel=talk.sidecar.channel)
        assert ran.stdout == b"you said still\ntest.sock\n"
        again = run_in(sandbox, ask("there"), channel=talk.sidecar.channel)
        assert again.stdout == b"you said there\n"


@pytest.mark.parametrize(
    "attack",
    [
        f"echo theirs > {MANAGED}/settings.json",
        f"rm -f {MANAGED}/settings.json",
        f"mv {MANAGED} /etc/other",
        f"mv {MANAGED}/settings.json /tmp/other",
        f"echo x > {MANAGED}/more.json",
        f"chmod 777 {MANAGED} && echo x > {MANAGED}/more.json",
        f"ln -sf /tmp/theirs {MANAGED}/settings.json",
        f"mount -t tmpfs none {MANAGED}",
        f"mount --bind /tmp {MANAGED}",
        f"unshare -Ur sh -c 'echo theirs > {MANAGED}/settings.json'",
        f"unshare -Urm sh -c 'mount -o remount,rw {MANAGED}; echo x > {MANAGED}/settings.json'",
        "mv /etc /etc-old",
    ],
)
def test_fixed_settings_stay_what_they_are(sandbox: Sandbox, attack: str) -> None:
    script = f"({attack}) 2>/dev/null && echo DONE; cat {MANAGED}/*; ls -A {MANAGED}"
    ran = run_in(sandbox, script, fixed=FIXED)
    assert ran.stdout == b"ours\nsettings.json\n"


def test_there_is_no_network_beside_the_way_out(sandbox: SidecarSandbox, tmp_path: Path) -> None:
    look = (
        f'{PYTHON} "import socket; print([name for _, name in socket.if_nameindex()])"; '
        f"{PYTHON} \"import socket; print(socket.socket().connect_ex(('192.0.2.1', 80)))\"; "
        f"{PYTHON} \"import socket; socket.getaddrinfo('example.org', 80)\" 2>/dev/null "
        "&& echo resolved"
    )
    with beside(sandbox, sidecar_spec(tmp_path)) as talk:
        ran = run_in(sandbox, look, channel=talk.sidecar.channel)
    assert ran.stdout.split() == [b"['lo']", b"101"]  # ENETUNREACH


def test_the_program_beside_it_cannot_be_seen_or_signalled(
    sandbox: SidecarSandbox, tmp_path: Path
) -> None:
    look = "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ | tr '\\0' ' '"
    with beside(sandbox, sidecar_spec(tmp_path), key="sesame-9") as talk:
        before = run_in(sandbox, f"{look}; kill -9 -1", channel=talk.sidecar.channel)
        assert b"labkit_test_beside" not in before.stdout
        assert b"sesame-9" not in before.stdout
        ran = run_in(sandbox, ask("alive"), channel=talk.sidecar.channel)
        assert ran.stdout == b"you said alive\n"


def test_what_is_told_is_in_no_file_that_the_command_sees(
    sandbox: SidecarSandbox, tmp_path: Path
) -> None:
    search = "grep -rsl sesame-8 / --exclude-dir=proc --exclude-dir=sys --exclude-dir=usr; env"
    with beside(sandbox, sidecar_spec(tmp_path), key="sesame-8") as talk:
        ran = run_in(sandbox, search, channel=talk.sidecar.channel, home=HOME)
    assert b"sesame" not in ran.stdout


def test_runs_at_the_same_time_see_nothing_of_each_other(
    sandbox: SidecarSandbox, tmp_path: Path
) -> None:
    """Each leaves marks everywhere, waits until the other has, and then looks for them."""
    found: dict[str, Ran] = {}

    def run(own: str, other: str) -> None:
        folder = tmp_path / own
        folder.mkdir()
        script = (
            f"for d in ~ /tmp /dev/shm /workspace /labkit; do echo > $d/mark-{own}; done; "
            f"cp /bin/sleep /tmp/busy-{own}; /tmp/busy-{own} 5 & sleep 2.5; "
            f"find / -xdev -name '*{other}*' -not -path '/proc/*' 2>/dev/null; "
            f"find ~ /tmp /dev/shm /workspace /labkit /run/labkit -name '*{other}*'; "
            f"cat /proc/[0-9]*/comm | grep busy; ls -A /run/labkit; {ask(own, f'{own}.sock')}"
        )
        with beside(sandbox, sidecar_spec(folder), name=f"{own}.sock") as talk:
            found[own] = run_in(sandbox, script, channel=talk.sidecar.channel, home=HOME)

    first = threading.Thread(target=run, args=["first", "second"])
    second = threading.Thread(target=run, args=["second", "first"])
    for thread in (first, second):
        thread.start()
    for thread in (first, second):
        thread.join()
    for own, ran in found.items():
        assert ran.stdout.decode().split("\n") == [
            *(f"busy-{own}", f"{own}.sock", f"you said {own}", "")
        ]
        assert set(ran.home_files) == {f"agent/mark-{own}"}
        assert f"workspace/mark-{own}" in ran.files
    assert set(found) == {"first", "second"}


def test_a_killed_program_leaves_a_closed_door(sandbox: SidecarSandbox, tmp_path: Path) -> None:
    labels = {"labkit.run": f"killed program {time.time()}"}
    with beside(sandbox, sidecar_spec(tmp_path, **labels)) as talk:
        assert sandbox.kill(labels) == 1
        assert talk.over.wait(10)
        assert b"end" not in talk.lines
        ran = run_in(sandbox, ask("anybody"), channel=talk.sidecar.channel)
        assert ran.outcome.exit_code == 1
        assert b"Connection refused" in ran.stderr
    assert not [line for line in sandbox.leftovers() if labels["labkit.run"] in line]


SCRIPT = """\
import sys
from pathlib import Path

sys.path.insert(0, {tests!r})
from besides import beside, sidecar_spec
from sandbox_specs import run_in
from sandboxes import bubblewrap_cache, make_docker
from labkit.sandbox.choose import bubblewrap_sandbox

name, folder, run = sys.argv[1:]
if name == "docker":
    sandbox = make_docker()
else:
    sandbox = bubblewrap_sandbox(cache=bubblewrap_cache(), scratch=Path(folder, "scratch"))
with beside(sandbox, sidecar_spec(Path(folder), **{{"labkit.run": run + " beside"}})) as talk:
    print("listening", flush=True)
    run_in(
        sandbox, "touch ~/begun; exec sleep 987", channel=talk.sidecar.channel,
        home="/home/agent", labels={{"labkit.run": run}},
    )
"""


@pytest.fixture(params=BOTH)
def killed(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Sandbox, str]:
    """Return a sandbox in which a labkit was killed in the middle of a run, and the run's name."""
    run = f"killed {os.getpid()} {time.time()}"
    sandbox: Sandbox = request.getfixturevalue(f"{request.param}_sandbox")
    if isinstance(sandbox, BubblewrapSandbox):
        sandbox = make_bubblewrap(cache=bubblewrap_cache(), scratch=tmp_path / "scratch")
    script = SCRIPT.format(tests=str(Path(__file__).parents[1]))
    argv = [sys.executable, "-c", script, sandbox.name, str(tmp_path), run]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"listening\n"
        time.sleep(2)
        program.send_signal(signal.SIGKILL)
    return sandbox, run


def test_nothing_of_a_killed_labkit_runs_on_and_clean_removes_the_rest(
    killed: tuple[Sandbox, str], tmp_path: Path
) -> None:
    sandbox, run = killed
    _until(lambda: not _running(sandbox, run, tmp_path))
    left = [line for line in sandbox.leftovers() if run in line]
    assert len(left) == (3 if sandbox.name == "docker" else 2)
    assert set(left) <= set(sandbox.clean())
    assert not [line for line in sandbox.leftovers() if run in line]
    if isinstance(sandbox, DockerSandbox):
        name = {"label": f"labkit.run={run} beside"}
        assert sandbox.api.volumes(filters=name)["Volumes"] in ([], None)
        assert sandbox.api.containers(all=True, filters=name) == []
    else:
        assert list((tmp_path / "scratch").iterdir()) == []


def _running(sandbox: Sandbox, run: str, folder: Path) -> list[str]:
    """Name what still runs of a killed labkit."""
    if isinstance(sandbox, DockerSandbox):
        found = sandbox.api.containers()
        return [each["Id"] for each in found if run in each["Labels"].get("labkit.run", "")]
    places = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes() + bytes((process / "cwd").readlink())
        except OSError:
            continue
        if os.fsencode(folder / "scratch") in words:
            places.append(process.name)
    return places


def _until(condition: Callable[[], bool]) -> None:
    limit = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.1)
