"""What the benchmarks of runs and grades have in common: the project, the references, the ratios.

The bare reference makes the same container by the six calls that any tool needs (create, put,
start, wait, get, remove); the other is a shell script, as a lab without labkit would write it.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median

from gitrepo import Project, make_project

from labkit.sandbox.container import container_settings
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.image import BASE_TAG, ensure_image
from labkit.sandbox.interface import Collect, Outcome, Spec, Streams, T

LABKIT, BARE, SHELL = "labkit", "bare engine", "shell script"
Ways = dict[str, Callable[[], None]]


class Recorder:
    """A sandbox that notes the specs given to it: the references run the very same containers."""

    name = "docker"

    def __init__(self, sandbox: DockerSandbox) -> None:
        self._sandbox = sandbox
        self.last: Spec | None = None

    def run(self, spec: Spec, streams: Streams, collect: Collect[T]) -> tuple[Outcome, T]:
        """Note the spec and run it."""
        self.last = spec
        return self._sandbox.run(spec, streams, collect)

    def __getattr__(self, name: str) -> object:
        return getattr(self._sandbox, name)


def bare(sandbox: DockerSandbox, spec: Spec, content: bytes) -> None:
    """Run a spec's container by the six calls that any tool needs, with the same bytes put in."""
    api = sandbox.api
    # The archive calls do not reach folders in memory, so the bytes go into the volume here.
    spec = replace(spec, memory_folders=())
    settings = container_settings(api, spec, image=spec.image, cpus=1.0)
    work = {"working_dir": spec.returned, "entrypoint": list(spec.argv), "command": None}
    made = api.create_container(**{**settings, **work, "stdin_open": False})["Id"]
    api.put_archive(made, spec.returned, content)
    api.start(made)
    api.wait(made)
    chunks, _ = api.get_archive(made, spec.returned, chunk_size=1 << 20)
    assert sum(map(len, chunks)) > 0
    api.remove_container(made, v=True, force=True)


def project(folder: Path) -> Project:
    """Make a project of 54 files with one fault."""
    made = make_project(folder)
    files = {f"part{n % 9}/file{n}.py": f"value = {n}\n" * 150 for n in range(52)}
    fault = {"calc.py": "def add(a, b):\n    return a - b\n", "tests/test_calc.py": "x = 1\n"}
    made.commit({**files, **fault}, "base")
    made.git("tag", "base")
    return made


def shell(script: str, words: list[str]) -> str:
    """Run a script as a lab's own loop does."""
    done = subprocess.run(
        ["bash", "-c", script, "bench", *words], check=True, capture_output=True, text=True
    )
    return done.stdout


def measure(ways: Ways, rounds: int) -> dict[str, float]:
    """Return the median milliseconds of each way, taken in turn after one round to warm up."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds + 1):
        for name, way in ways.items():
            began = time.perf_counter()
            way()
            times[name].append((time.perf_counter() - began) * 1000)
    return {name: median(taken[1:]) for name, taken in times.items()}


def report(what: str, ways_of: Callable[[DockerSandbox, Project, Path], Ways]) -> None:
    """Measure the ways to do something and print the medians and the ratios."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    sandbox = DockerSandbox.connect()
    ensure_image(sandbox.api, BASE_TAG, progress=print)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        took = measure(ways_of(sandbox, project(folder / "project"), folder), rounds)
    sandbox.close()
    for name, milliseconds in took.items():
        print(f"{what:<6} {name:<13} {milliseconds:6.0f} ms")
    print(f"{what:<6} to the bare engine  {took[LABKIT] / took[BARE]:.2f} (aim: at most 1.3)")
    print(f"{what:<6} to the shell script {took[LABKIT] / took[SHELL]:.2f} (aim: at most 1.2)")
