"""What a run in a sandbox costs, beside the bare engine and beside `docker run` with a bind mount.

Prints median milliseconds and two ratios: to the same container's bare sequence (create, put,
start, wait, get, remove; the aim is 1.3 or less), and to the command line's way. All are measured
in turn, so that a load on the machine hits all alike.

Run: python tests/bench/bench_sandbox.py [rounds]
"""

import io
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from labkit.errors import LabkitError
from labkit.sandbox.choose import bubblewrap_sandbox
from labkit.sandbox.container import container_settings
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.image import BASE_TAG, ensure_image
from labkit.sandbox.interface import Sandbox, Spec, Streams

FILES = 54
SCRIPT = "sed -i s/old/new/ part7/file7.py && grep -c new part7/file7.py"


def say(line: str) -> None:
    """Write a line of the result."""
    sys.stdout.write(f"{line}\n")


def tree() -> bytes:
    """Return a tar of a small project: some hundred kilobytes in a few folders."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for part in range(9):
            folder = tarfile.TarInfo(f"part{part}")
            folder.type, folder.mode, folder.uid, folder.gid = tarfile.DIRTYPE, 0o755, 1000, 1000
            archive.addfile(folder)
        for number in range(FILES):
            content = b"value = 'old'  # a line of a file\n" * 60
            entry = tarfile.TarInfo(f"part{number % 9}/file{number}.py")
            entry.size, entry.uid, entry.gid = len(content), 1000, 1000
            archive.addfile(entry, io.BytesIO(content))
    return made.getvalue()


def drain(stream: IO[bytes]) -> int:
    """Read a stream to its end and return its size."""
    return len(stream.read())


def through(sandbox: Sandbox, spec: Spec) -> None:
    """Run the spec as labkit does."""
    streams = Streams(stdout=io.BytesIO(), stderr=io.BytesIO())
    outcome, size = sandbox.run(spec, streams, drain)
    assert (outcome.exit_code, size > len(spec.returned_tar) // 2) == (0, True)


def bare(sandbox: DockerSandbox, spec: Spec) -> None:
    """Run the same container by the six calls that any tool needs."""
    api = sandbox.api
    settings = container_settings(api, spec, image=spec.image, cpus=1.0)
    plain = {"entrypoint": list(spec.argv), "command": None, "stdin_open": False}
    container = api.create_container(**{**settings, **plain})["Id"]
    api.put_archive(container, spec.returned, spec.returned_tar)
    api.start(container)
    assert api.wait(container)["StatusCode"] == 0
    chunks, _ = api.get_archive(container, spec.returned, chunk_size=1 << 20)
    assert sum(map(len, chunks)) > len(spec.returned_tar) // 2
    api.remove_container(container, v=True, force=True)


def command_line(spec: Spec, folder: Path) -> None:
    """Run the same command by `docker run` with the tree bound in."""
    folder.mkdir(exist_ok=True)
    subprocess.run(["tar", "-x", "-C", str(folder)], input=spec.returned_tar, check=True)
    bind = f"{folder}:/workspace"
    options = ["--rm", "--network", "none", "-v", bind, "-w", "/workspace"]
    subprocess.run(
        ["docker", "run", *options, spec.image, *spec.argv], check=True, capture_output=True
    )


def measure(ways: dict[str, Callable[[], None]], rounds: int) -> dict[str, float]:
    """Return the median milliseconds of each way, taken in turn after one round to warm up."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds + 1):
        for name, way in ways.items():
            began = time.perf_counter()
            way()
            times[name].append((time.perf_counter() - began) * 1000)
    return {name: statistics.median(taken[1:]) for name, taken in times.items()}


def main() -> None:
    """Measure every way that works here, and print the ratios."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    spec = Spec(
        argv=("sh", "-c", SCRIPT),
        image=BASE_TAG,
        returned="/workspace",
        returned_tar=tree(),
        workdir="/workspace",
    )
    docker = DockerSandbox.connect()
    ensure_image(docker.api, BASE_TAG, progress=say)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        ways: dict[str, Callable[[], None]] = {
            "labkit, docker": lambda: through(docker, spec),
            "bare engine": lambda: bare(docker, spec),
            "docker run -v": lambda: command_line(spec, folder / "tree"),
        }
        try:
            bubblewrap = bubblewrap_sandbox(cache=folder / "cache")
            ways["labkit, bubblewrap"] = lambda: through(bubblewrap, spec)
        except LabkitError as error:
            say(f"bubblewrap does not work here: {error}")
        took = measure(ways, rounds)
    docker.close()
    for name, milliseconds in took.items():
        say(f"{name:<20} {milliseconds:6.0f} ms")
    say(f"to the bare engine: {took['labkit, docker'] / took['bare engine']:.2f} (aim: 1.3)")
    say(f"to docker run -v:   {took['labkit, docker'] / took['docker run -v']:.2f}")


if __name__ == "__main__":
    main()
