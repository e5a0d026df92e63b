"""The engine itself dies in the middle of a run: an engine of the test's own, killed with -9."""

import gc
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import docker
import pytest
from gitrepo import make_project
from runs import Lab
from sandboxes import IMAGE, missing

from labkit.model import Ending, RunId
from labkit.records import load_run
from labkit.sandbox.docker import DockerSandbox

PATIENCE = 60.0


@dataclass(slots=True)
class Engine:
    """An engine in a folder of its own, with nothing to do with that of the machine."""

    folder: Path
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"unix://{self.folder}/engine.sock"

    def start(self) -> None:
        """Start it and wait until it answers."""
        for left in ("engine.pid", "engine.sock", "exec/containerd/containerd.pid"):
            (self.folder / left).unlink(missing_ok=True)
        # In a network of its own: an engine without a bridge takes the machine's away.
        words = [
            "unshare", "--net", "dockerd", "--host", self.url,
            "--data-root", str(self.folder / "data"),
            "--exec-root", str(self.folder / "exec"), "--pidfile", str(self.folder / "engine.pid"),
            "--bridge=none", "--iptables=false", "--live-restore", "--log-level=error",
        ]  # fmt: skip
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(words, stdout=log, stderr=log, start_new_session=True)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self._answers():
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        missing("docker", f"a second engine: {(self.folder / 'log').read_text()[-300:]}")

    def _answers(self) -> bool:
        try:
            client = docker.APIClient(base_url=self.url, version="auto")
        except docker.errors.DockerException:
            return False
        client.close()
        return True

    def kill(self) -> None:
        """Kill it, as a machine that runs out of memory might."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)  # and what it manages containers with
        self.process.wait()

    def end(self) -> None:
        """End it with everything that it started."""
        assert self.process is not None
        self.process.terminate()
        self.process.wait(PATIENCE)


@pytest.fixture
def engine(
    docker_sandbox: DockerSandbox, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Engine]:
    """Give an engine of one's own, with the kit's image in it."""
    if os.geteuid() != 0 or shutil.which("dockerd") is None:
        pytest.skip("only root can start an engine of its own")
    made = Engine(tmp_path_factory.mktemp("e"))
    made.start()
    client = docker.APIClient(base_url=made.url, version="auto")
    image = docker_sandbox.api.get_image(IMAGE)
    client.load_image(b"".join(image))  # type: ignore[no-untyped-call] # its stubs lack it
    client.close()
    yield made
    made.end()


def kill_in_mid_run(engine: Engine, raw: Path) -> None:
    """Kill the engine while the first run is at work, and start it again."""
    while not any(b'"start"' in path.read_bytes() for path in raw.glob(".*/tran*")):
        time.sleep(0.05)
    engine.kill()
    engine.start()


@pytest.mark.slow
@pytest.mark.docker
# The connections of a client whose engine is gone cannot be closed in good order.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_run_whose_engine_is_killed_is_made_again_and_nothing_is_left(
    engine: Engine, tmp_path: Path
) -> None:
    project = make_project(tmp_path / "project")
    project.commit({"a.py": "x = 1\n"})
    project.git("tag", "base")
    sandbox = DockerSandbox(docker.APIClient(base_url=engine.url, version="auto"), cpus=2)
    lab = Lab(project, sandbox)
    slow, other = RunId.parse("bug-a__A__1"), RunId.parse("bug-a__B__1")
    lab.steps(slow, [{"run": "sleep 6"}, {"run": "echo 'x = 2' > a.py"}, {"finish": "done"}])
    lab.steps(other, [{"finish": "nothing"}])
    raw = lab.workspace.raw
    killer = threading.Thread(target=kill_in_mid_run, args=(engine, raw))
    killer.start()
    records = lab.session("bug-a").run_all(lab.plan("bug-a"))
    killer.join()
    assert [record.run for record in records] == [slow, other]
    kept = load_run(raw / str(slow) / "run.json")
    assert kept.ending is Ending.COMPLETED
    assert b"+x = 2" in (raw / str(slow) / "diff.patch").read_bytes()
    assert not sandbox.leftovers()
    assert not sandbox.api.containers(all=True)
    sandbox.close()
    gc.collect()  # here, where what cannot be closed in good order is forgiven
