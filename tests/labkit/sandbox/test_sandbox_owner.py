"""What becomes of a run whose labkit is killed, or which is itself killed from outside."""

import io
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sandbox_specs import Ran, run_spec, shell
from sandboxes import bubblewrap_cache

from labkit.model import Ended
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit.sandbox.choose import bubblewrap_sandbox as make_bubblewrap
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.interface import Limits, Sandbox, Streams
from labkit.sandbox.owner import Owner

OWNER = """
import io, sys
from pathlib import Path
from sandbox_specs import shell, run_spec
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.choose import bubblewrap_sandbox
name, nap, cache, scratch = sys.argv[1:]
run_spec(
    DockerSandbox.connect()
    if name == "docker"
    else bubblewrap_sandbox(cache=Path(cache), scratch=Path(scratch)),
    shell(f"echo x > file; sleep {nap} & sleep {nap}", labels={"labkit.run": nap}),
)
"""


@pytest.fixture
def nap() -> str:
    """Return a number of seconds that no other `sleep` of this machine was given."""
    return f"97.{os.getpid()}{time.monotonic_ns() % 10**9}"


@pytest.fixture
def own(sandbox: Sandbox, tmp_path: Path) -> Sandbox:
    """Return a sandbox whose leftovers are this test's own."""
    if isinstance(sandbox, BubblewrapSandbox):
        return make_bubblewrap(cache=bubblewrap_cache(), scratch=tmp_path / "scratch")
    return sandbox


def _sleeping(nap: str) -> list[Path]:
    """Return the processes of the whole machine that sleep for exactly that long."""
    wanted = [b"sleep", nap.encode()]
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[:2] == wanted:
            found.append(folder)
    return found


def _eventually(condition: Callable[[], object], *, seconds: float) -> bool:
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        if condition():
            return True
        time.sleep(0.02)
    return False


def _of(nap: str, lines: Iterable[str]) -> list[str]:
    """Return the lines that name this test's run: others use the same engine."""
    return [line for line in lines if nap in line]


@pytest.fixture
def orphan(own: Sandbox, nap: str, tmp_path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Give another labkit process whose command in the same sandbox sleeps."""
    arguments = [own.name, nap, str(bubblewrap_cache()), str(tmp_path / "scratch")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    started = subprocess.Popen([sys.executable, "-c", OWNER, *arguments], env=environment)
    assert _eventually(lambda: len(_sleeping(nap)) == 2, seconds=20)
    yield started
    started.kill()
    started.wait()
    assert _eventually(lambda: not _sleeping(nap), seconds=5)
    own.clean()


def test_nothing_survives_the_death_of_labkit(
    own: Sandbox, orphan: "subprocess.Popen[bytes]", nap: str
) -> None:
    assert _of(nap, own.leftovers()) == []
    orphan.kill()
    orphan.wait()
    assert _eventually(lambda: not _sleeping(nap), seconds=2)
    assert len(_of(nap, own.leftovers())) == 1
    assert len(_of(nap, own.clean())) == 1
    assert _of(nap, own.leftovers()) == _of(nap, own.clean()) == []


def test_a_living_owner_keeps_what_it_has(
    own: Sandbox, orphan: "subprocess.Popen[bytes]", nap: str
) -> None:
    assert _of(nap, own.clean()) == []
    assert orphan.poll() is None
    assert len(_sleeping(nap)) == 2


def test_a_run_killed_from_outside_is_told_apart(own: Sandbox, nap: str) -> None:
    assert isinstance(own, DockerSandbox | BubblewrapSandbox)
    spec = shell(f"echo early > file; sleep {nap}", labels={"labkit.run": nap})
    ran: list[Ran] = []
    thread = threading.Thread(target=lambda: ran.append(run_spec(own, spec)))
    thread.start()
    assert _eventually(lambda: _sleeping(nap), seconds=10)
    assert own.kill({"labkit.run": "another"}) == 0
    assert own.kill({"labkit.run": nap}) == 1
    thread.join(10)
    assert (ran[0].outcome.ended, ran[0].outcome.exit_code) == (Ended.KILLED, None)
    assert ran[0].files == {"workspace/file": b"early\n"}
    assert _sleeping(nap) == []


@pytest.mark.bubblewrap
@pytest.mark.usefixtures("bubblewrap_sandbox")
def test_a_bubblewrap_killed_at_its_start_ends_at_once(tmp_path: Path, nap: str) -> None:
    own = make_bubblewrap(cache=bubblewrap_cache(), scratch=tmp_path / "scratch")
    spec = shell(f"sleep {nap}", labels={"labkit.run": nap})
    ran: list[Ran] = []
    thread = threading.Thread(target=lambda: ran.append(run_spec(own, spec)))
    thread.start()
    while not own.kill(spec.labels):
        pass
    thread.join(5)
    assert [each.outcome.ended for each in ran] == [Ended.KILLED]


def test_a_command_that_kills_itself_was_not_killed_from_outside(own: Sandbox) -> None:
    ran = run_spec(own, shell("kill -9 $$"))
    assert (ran.outcome.ended, ran.outcome.exit_code) == (Ended.EXITED, 137)


def test_a_command_that_kills_all_it_can_ends_alone(own: Sandbox) -> None:
    ran = run_spec(own, shell("kill -9 -1; sleep 0.2; echo still here", limits=Limits(seconds=20)))
    assert ran.outcome.ended is Ended.EXITED


def test_nothing_is_left_of_a_run_whose_reading_fails(own: Sandbox, tmp_path: Path) -> None:
    def refuse(_: object) -> None:
        raise ZeroDivisionError

    streams = Streams(stdout=io.BytesIO(), stderr=io.BytesIO())
    with pytest.raises(ZeroDivisionError):
        own.run(shell("mkdir -p a/b; chmod 0 a; head -c 9000000 /dev/zero > x"), streams, refuse)
    assert list((tmp_path / "scratch").glob("*")) == []


def test_an_owner_is_recognised() -> None:
    owner = Owner.current()
    assert Owner.parse(owner.text()) == owner
    assert not owner.is_gone()


@pytest.mark.parametrize(
    ("changes", "gone"),
    [
        pytest.param({"started": "1"}, True, id="same-number-later-process"),
        pytest.param({"pid": 2**22 + 1}, True, id="no-such-process"),
        pytest.param({"boot": "another"}, True, id="before-this-boot"),
        pytest.param({"place": "elsewhere", "started": "1"}, False, id="another-machine"),
    ],
)
def test_an_owner_is_gone(changes: dict[str, object], gone: bool) -> None:  # noqa: FBT001 - a column
    owner = replace(Owner.current(), **changes)  # type: ignore[arg-type] # columns of mixed types
    assert owner.is_gone() is gone


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"pid": "x"}', "null"])
def test_other_text_is_no_owner(text: str) -> None:
    assert Owner.parse(text) is None


def test_a_scratch_folder_that_nobody_owns_is_left_over_after_a_minute(
    bubblewrap_sandbox: Sandbox, tmp_path: Path
) -> None:
    del bubblewrap_sandbox  # skips where it does not work
    own = make_bubblewrap(cache=bubblewrap_cache(), scratch=tmp_path / "scratch")
    nameless = tmp_path / "scratch" / "labkit-killed"
    nameless.mkdir(parents=True)
    assert own.clean() == ()
    os.utime(nameless, (time.time() - 90,) * 2)
    assert len(own.clean()) == 1
    assert not nameless.exists()
