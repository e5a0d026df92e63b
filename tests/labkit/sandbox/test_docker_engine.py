"""What is said and done when the engine, its image or a container of it fails."""

import io
import os
import tarfile
import threading
import time
from pathlib import Path

import pytest
from sandbox_specs import run_spec, shell, tar_of

from labkit.errors import InfrastructureError
from labkit.model import Ended
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.image import build_base, derive_image, ensure_image, image_id
from labkit.sandbox.interface import Streams
from labkit.sandbox.prepared import Furnishing, prepared_name

pytestmark = pytest.mark.docker


OWN = f"-{os.getpid()}"
"""Others may use the same engine, another run of these tests too."""


def _containers(sandbox: DockerSandbox, run: str) -> list[str]:
    found = sandbox.api.containers(all=True, filters={"label": f"labkit.run={run}"})
    return [each["Id"] for each in found]


def test_a_missing_image_is_one_clear_error(docker_sandbox: DockerSandbox) -> None:
    with pytest.raises(InfrastructureError, match=r"(?i)no such image") as raised:
        run_spec(docker_sandbox, shell("true", image="labkit-nowhere:none"))
    assert raised.value.hint is not None


def test_an_engine_that_is_not_there_is_one_clear_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/dead.sock")
    with pytest.raises(InfrastructureError, match="did not answer: No such file") as raised:
        DockerSandbox.connect()
    assert "DOCKER_HOST" in str(raised.value.hint)


def test_a_container_removed_from_outside_is_infrastructure(docker_sandbox: DockerSandbox) -> None:
    raised: list[InfrastructureError] = []

    def run() -> None:
        try:
            run_spec(docker_sandbox, shell("sleep 30", labels={"labkit.run": "removed" + OWN}))
        except InfrastructureError as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    limit = time.monotonic() + 10
    while not (found := _containers(docker_sandbox, "removed" + OWN)) and time.monotonic() < limit:
        time.sleep(0.05)
    time.sleep(0.5)
    docker_sandbox.api.remove_container(found[0], force=True, v=True)
    thread.join(10)
    assert len(raised) == 1
    assert _containers(docker_sandbox, "removed" + OWN) == []


def test_a_stopped_container_was_killed_from_outside(docker_sandbox: DockerSandbox) -> None:
    def stop() -> None:
        limit = time.monotonic() + 10
        while (
            not (found := _containers(docker_sandbox, "stopped" + OWN)) and time.monotonic() < limit
        ):
            time.sleep(0.05)
        time.sleep(0.7)
        docker_sandbox.api.stop(found[0], timeout=1)

    thread = threading.Thread(target=stop)
    thread.start()
    ran = run_spec(docker_sandbox, shell("exec sleep 30", labels={"labkit.run": "stopped" + OWN}))
    thread.join()
    assert ran.outcome.ended is Ended.KILLED


def test_nothing_of_a_run_is_left_in_the_engine(docker_sandbox: DockerSandbox) -> None:
    volumes = {each["Name"] for each in docker_sandbox.api.volumes()["Volumes"] or ()}
    run_spec(docker_sandbox, shell("echo x > file", labels={"labkit.run": "tidy" + OWN}))
    assert _containers(docker_sandbox, "tidy" + OWN) == []
    left = {each["Name"] for each in docker_sandbox.api.volumes()["Volumes"] or ()} - volumes
    for name in left:  # other tests may be running on the same engine: theirs go by themselves
        time.sleep(3)
        assert name not in {each["Name"] for each in docker_sandbox.api.volumes()["Volumes"] or ()}


def test_every_hardening_is_on(docker_sandbox: DockerSandbox) -> None:
    seen: list[dict[str, object]] = []

    def look() -> None:
        limit = time.monotonic() + 10
        while not (found := _containers(docker_sandbox, "look" + OWN)) and time.monotonic() < limit:
            time.sleep(0.05)
        seen.append(docker_sandbox.api.inspect_container(found[0]))

    thread = threading.Thread(target=look)
    thread.start()
    run_spec(docker_sandbox, shell("sleep 1", labels={"labkit.run": "look" + OWN}))
    thread.join()
    host = seen[0]["HostConfig"]
    assert isinstance(host, dict)
    wanted = {
        "NetworkMode": "none",
        "ReadonlyRootfs": True,
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges"],
        "Init": True,
        "PidsLimit": 64,
        "Memory": 512 * 1024 * 1024,
        "MemorySwap": 512 * 1024 * 1024,
        "Privileged": False,
        "Binds": None,
        "Mounts": None,
    }
    assert {name: host.get(name) for name in wanted} == wanted
    assert host["LogConfig"]["Type"] == "none"


def test_a_folder_that_the_image_lacks_can_be_returned(docker_sandbox: DockerSandbox) -> None:
    spec = shell(
        "cat in; pwd; echo out > out",
        returned="/somewhere/new",
        workdir="/somewhere/new",
        returned_tar=tar_of({"in": b"given\n"}),
    )
    try:
        ran = run_spec(docker_sandbox, spec)
    finally:
        base = image_id(docker_sandbox.api, "labkit-base:local")
        assert base is not None
        docker_sandbox.api.remove_image(prepared_name(base, Furnishing(own=("/somewhere/new",))))
    assert ran.stdout == b"given\n/somewhere/new\n"
    assert ran.files == {"new/in": b"given\n", "new/out": b"out\n"}
    assert ran.outcome.image_digest == image_id(docker_sandbox.api, "labkit-base:local")


def test_more_than_fits_in_memory_is_infrastructure(docker_sandbox: DockerSandbox) -> None:
    spec = shell("true", streamed_tar=tar_of({"labkit/big": bytes(80 * 1024 * 1024)}))
    with pytest.raises(InfrastructureError, match="could not be prepared: tar"):
        run_spec(docker_sandbox, spec)


def test_an_archive_that_is_none_is_infrastructure(docker_sandbox: DockerSandbox) -> None:
    with pytest.raises(InfrastructureError, match="could not be prepared"):
        run_spec(docker_sandbox, shell("true", streamed_tar=b"no tar " * 1000))


def test_an_image_that_is_there_is_not_built(docker_sandbox: DockerSandbox) -> None:
    lines: list[str] = []
    made = ensure_image(docker_sandbox.api, "labkit-base:local", progress=lines.append)
    assert made == image_id(docker_sandbox.api, "labkit-base:local")
    assert lines == []


def test_an_image_of_the_team_is_never_built(docker_sandbox: DockerSandbox) -> None:
    with pytest.raises(InfrastructureError, match="no image labkit-team:none"):
        ensure_image(docker_sandbox.api, "labkit-team:none", progress=print)


def test_an_image_can_be_derived_with_packages(
    docker_sandbox: DockerSandbox, tmp_path: Path
) -> None:
    (tmp_path / "labkit_probe_package.py").write_text("WORD = 'derived'\n", encoding="utf-8")
    tag = "labkit-test-derived:local"
    try:
        made = derive_image(docker_sandbox.api, tag, base="labkit-base:local", site=tmp_path)
        script = "python -c 'import labkit_probe_package as p, pytest; print(p.WORD)'"
        ran = run_spec(docker_sandbox, shell(script, image=tag))
        assert (ran.stdout, ran.outcome.image_digest) == (b"derived\n", made)
    finally:
        docker_sandbox.api.remove_image(tag, force=True)


def test_the_dockerfile_makes_an_image_on_another_base(docker_sandbox: DockerSandbox) -> None:
    tag = "labkit-test-dockerfile:local"
    try:
        build_base(docker_sandbox.api, tag, base="labkit-base:local", progress=lambda _: None)
        script = "python -P -m pytest --version; git --version; touch new; stat -c %u /report ."
        ran = run_spec(docker_sandbox, shell(script, image=tag))
        assert ran.outcome.exit_code == 0, ran.stderr
        assert ran.stdout.splitlines()[-2:] == [b"1000", b"1000"]
    finally:
        docker_sandbox.api.remove_image(tag, force=True)


def test_a_build_that_fails_says_why(docker_sandbox: DockerSandbox, tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match="could not be built"):
        derive_image(docker_sandbox.api, "labkit-test:none", base="labkit-none:none", site=tmp_path)


def test_the_returned_tar_is_read_to_its_end(docker_sandbox: DockerSandbox) -> None:
    def first(stream: object) -> str:
        assert isinstance(stream, io.BufferedReader)
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            member = archive.next()
        assert member is not None
        return member.name

    streams = Streams(stdout=io.BytesIO(), stderr=io.BytesIO())
    began = time.monotonic()
    _, name = docker_sandbox.run(shell("head -c 50000000 /dev/zero > big"), streams, first)
    assert name == "workspace"
    assert time.monotonic() - began < 10
