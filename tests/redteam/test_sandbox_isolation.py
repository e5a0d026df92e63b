"""That the isolation holds when it is tried from inside, and that the probe can see it fail."""

from pathlib import Path

import pytest
from sandbox_specs import run_in
from sandboxes import IMAGE, require_memory_reports

from labkit.model import Ended
from labkit.sandbox.interface import Limits, Sandbox, SidecarSandbox
from labkit.sandbox.probe import probe, probe_way_out


def test_the_probe_finds_every_wall_standing(sandbox: Sandbox, tmp_path: Path) -> None:
    findings = probe(sandbox, IMAGE, hidden=[tmp_path])
    walls = {finding.name: finding for finding in findings if not finding.is_limit}
    assert {name for name, finding in walls.items() if not finding.ok} == set()
    assert set(walls) == {
        *("network", "host files", "privileges", "user", "read-only system", "host processes"),
        "working folder",
    }
    assert list(tmp_path.iterdir()) == []


def test_the_probe_names_the_limits(sandbox: Sandbox) -> None:
    limits = {finding.name: finding.ok for finding in probe(sandbox, IMAGE) if finding.is_limit}
    always = ("processes", "memory", "file size", "temporary files")
    assert [limits[f"limit: {name}"] for name in always] == [True] * 4
    assert limits["limit: disk"] is False
    assert limits["limit: processor time"] is (sandbox.name == "docker")


@pytest.mark.parametrize(
    "path", ["/usr/bin/new", "/etc/new", "/opt/new", "/new", "/home/x", "/root/x"]
)
def test_nothing_outside_the_given_folders_can_be_written(sandbox: Sandbox, path: str) -> None:
    ran = run_in(sandbox, f"mkdir -p $(dirname {path}) 2>/dev/null; echo x > {path} && echo wrote")
    assert ran.stdout == b""


def test_the_environment_of_the_host_does_not_come_in(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABKIT_TEST_SECRET", "hunter2")
    ran = run_in(sandbox, "env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'")
    assert b"hunter2" not in ran.stdout
    assert b"HOME=/tmp" in ran.stdout


def test_filling_shared_memory_is_no_broken_machine(sandbox: Sandbox) -> None:
    """Or an agent could have its bad runs counted as missing, and repeated."""
    require_memory_reports(sandbox)
    name = "$(cat /proc/sys/kernel/random/uuid)"
    fill = f"while :; do head -c 30000000 /dev/zero > /dev/shm/{name}; done"
    limits = Limits(seconds=5, memory=128, processes=32, scratch=64)
    ran = run_in(sandbox, fill, limits=limits)
    assert ran.outcome.ended is not Ended.KILLED


def test_device_folders_are_no_way_around_the_size_of_temporary_files(
    bubblewrap_sandbox: Sandbox,
) -> None:
    fill = (
        "echo x > /dev/new && echo wrote; head -c 30M /dev/zero > /dev/shm/x; stat -c %s /dev/shm/x"
    )
    ran = run_in(bubblewrap_sandbox, fill, limits=Limits(memory=512, scratch=8))
    assert ran.stdout.split() == [str(8 * 1024 * 1024).encode()]


def test_the_probe_finds_the_way_out(sandbox: SidecarSandbox) -> None:
    found = probe_way_out(sandbox, IMAGE)
    assert (found.ok, found.is_limit) == (True, False), found.detail


def test_the_probe_says_why_there_is_no_way_out(
    sandbox: SidecarSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labkit.sandbox.answering.__file__", "/labkit-is-not-here/program.py")
    found = probe_way_out(sandbox, IMAGE)
    assert not found.ok
    assert found.detail.startswith("agents cannot ask a model here: the program ended: ")
