"""Programs of labkit's own beside a sandbox: reached by the command, told apart, ended with it."""

import json
import threading
import time
from pathlib import Path

import pytest
from besides import ask, beside, sidecar_spec
from sandbox_specs import run_in

from labkit.errors import InfrastructureError
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.interface import CHANNEL, SidecarSandbox
from labkit.sandbox.lines import Lines


@pytest.fixture
def sandbox(request: pytest.FixtureRequest) -> SidecarSandbox:
    made: SidecarSandbox = request.getfixturevalue(f"{request.param}_sandbox")
    return made


both = pytest.mark.parametrize(
    "sandbox",
    [
        pytest.param("docker", marks=pytest.mark.docker),
        pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
    ],
    indirect=True,
)


@both
def test_the_command_reaches_the_program_and_nothing_else(
    sandbox: SidecarSandbox, tmp_path: Path
) -> None:
    with beside(sandbox, sidecar_spec(tmp_path)) as talk:
        assert json.loads(talk.lines[0])["uid"] == 0 or sandbox.name == "bubblewrap"
        ran = run_in(sandbox, ask("hello"), channel=talk.sidecar.channel)
        assert (ran.stdout, ran.stderr) == (b"you said hello\n", b"")
        deadline = time.monotonic() + 5
        while len(talk.lines) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        assert json.loads(talk.lines[1]) == {"asked": "hello"}
    assert talk.lines[-1] == b"end"


@both
def test_lines_come_as_they_are_written_and_large_ones_whole(
    sandbox: SidecarSandbox, tmp_path: Path
) -> None:
    with beside(sandbox, sidecar_spec(tmp_path)) as talk:
        for size in (10, 5_000_000, 0):
            before = len(talk.lines)
            talk.tell(print=size)
            deadline = time.monotonic() + 10
            while len(talk.lines) == before and time.monotonic() < deadline:
                time.sleep(0.01)
            assert talk.lines[-1] == b"x" * size


@both
def test_a_program_that_fails_is_over_and_says_why(sandbox: SidecarSandbox, tmp_path: Path) -> None:
    with beside(sandbox, sidecar_spec(tmp_path), complain="no key\n") as talk:
        assert talk.over.wait(10)
        talk.tell(print=3)
        assert talk.sidecar.complaint() == "no key"
    assert talk.lines == []


@both
def test_a_program_that_does_not_end_is_ended(
    sandbox: SidecarSandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labkit.sandbox.container_beside.GRACE", 1)
    monkeypatch.setattr("labkit.sandbox.process_beside.GRACE", 1)
    with beside(sandbox, sidecar_spec(tmp_path), stubborn=True) as talk:
        began = time.monotonic()
    assert time.monotonic() - began < 8
    assert b"end" not in talk.lines


@both
def test_a_program_whose_lines_nobody_takes_is_ended_too(
    sandbox: SidecarSandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labkit.sandbox.container_beside.GRACE", 1)
    monkeypatch.setattr("labkit.sandbox.process_beside.GRACE", 1)
    monkeypatch.setattr("labkit.sandbox.attach._GRACE", 1)
    with sandbox.sidecar(sidecar_spec(tmp_path)) as sidecar:
        sidecar.tell(json.dumps({"folder": sidecar.folder}).encode() + b"\n")
        for _ in range(20):
            sidecar.tell(b'{"print": 4000000}\n')
        time.sleep(1)
        began = time.monotonic()
    assert time.monotonic() - began < 15


@both
def test_packages_come_with_what_they_need(sandbox: SidecarSandbox, tmp_path: Path) -> None:
    """Jinja2 needs MarkupSafe, whose compiled module another Python does without."""
    run = "import jinja2; print(jinja2.Template('{{ x }}').render(x='drawn'), flush=True)"
    with beside(sandbox, sidecar_spec(tmp_path, "jinja2")) as talk:
        talk.tell(run=run)
    assert talk.lines[-2:] == [b"drawn", b"end"]


@both
def test_a_package_that_is_not_installed_is_named(sandbox: SidecarSandbox, tmp_path: Path) -> None:
    spec = sidecar_spec(tmp_path, "labkit-no-such-package")
    with pytest.raises(InfrastructureError, match="labkit-no-such-package"), sandbox.sidecar(spec):
        pass


@both
def test_an_error_beside_it_ends_the_program(sandbox: SidecarSandbox, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="mine"), beside(sandbox, sidecar_spec(tmp_path)) as talk:
        raise RuntimeError("mine")
    assert talk.over.wait(10)


@both
def test_a_command_without_a_channel_sees_none(sandbox: SidecarSandbox) -> None:
    ran = run_in(sandbox, f"ls -A {CHANNEL}")
    assert (ran.outcome.exit_code != 0, ran.stdout) == (True, b"")


@pytest.mark.docker
def test_two_at_once_make_one_image(docker_sandbox: DockerSandbox, tmp_path: Path) -> None:
    api = docker_sandbox.api
    spec = sidecar_spec(tmp_path)
    (tmp_path / "labkit_test_beside" / "new.py").write_text(str(time.time()), encoding="utf-8")
    before = {each["Id"] for each in api.images()}
    talks: list[bytes] = []

    def run() -> None:
        with beside(docker_sandbox, spec) as talk:
            talks.extend(talk.lines)

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    made = [each for each in api.images() if each["Id"] not in before]
    ours = [each for each in made if "labkit.sidecar" in (each["Labels"] or {})]
    for each in ours:
        api.remove_image(each["Id"], force=True)
    assert len(talks) == 3
    assert len(ours) == 1


@pytest.mark.docker
def test_nothing_that_it_is_told_stands_in_the_engine(
    docker_sandbox: DockerSandbox, tmp_path: Path
) -> None:
    labels = {"labkit.run": f"secret {time.time()}"}
    with beside(docker_sandbox, sidecar_spec(tmp_path, **labels), key="sesame-7") as talk:
        name = [f"labkit.run={labels['labkit.run']}"]
        (found,) = docker_sandbox.api.containers(filters={"label": name})
        about = docker_sandbox.api.inspect_container(found["Id"])
        assert "sesame-7" not in json.dumps(about)
        host = about["HostConfig"]
        assert host["ReadonlyRootfs"] is True
        assert host["CapDrop"] == ["ALL"]
        assert host["SecurityOpt"] == ["no-new-privileges"]
        assert (host["Init"], host["PidsLimit"] > 0, host["Memory"] > 0) == (True, True, True)
        assert host["LogConfig"]["Type"] == "none"
        volume = talk.sidecar.channel
    assert docker_sandbox.api.containers(all=True, filters={"label": name}) == []
    assert volume not in {each["Name"] for each in docker_sandbox.api.volumes()["Volumes"] or ()}


def test_lines_are_told_apart_and_held_back() -> None:
    lines = Lines(most=10, most_line=8)
    lines.write(b"one\ntw")
    lines.write(b"o\n\n0123456789")
    writer = threading.Thread(target=lines.write, args=[b"\nlast\nmore\nopen"])
    writer.start()
    assert [next(lines) for _ in range(4)] == [b"one", b"two", b"", b"01234567"]
    writer.join(5)
    assert not writer.is_alive()
    lines.close()
    assert list(lines) == [b"last", b"more", b"open"]


def test_a_writer_is_let_go_when_nobody_takes() -> None:
    lines = Lines(most=4)
    writer = threading.Thread(target=lines.write, args=[b"12345\n67890\nend\n"], daemon=True)
    writer.start()
    writer.join(0.3)
    assert writer.is_alive()
    lines.give_up()
    writer.join(5)
    assert not writer.is_alive()
    lines.close()
    assert list(lines) == [b"12345"]
