"""What an agent's surroundings cost a run: its home, fixed settings, and the program beside it.

Prints median milliseconds of a plain run, of one with each addition, and of one with all, for every
sandbox that works here. All are measured in turn, so that a load on the machine hits all alike.

Run: python tests/bench/bench_way_out.py [rounds]
"""

import io
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from labkit.archive import Entry, Kind
from labkit.errors import LabkitError
from labkit.sandbox import answering
from labkit.sandbox.answering.program import NAME
from labkit.sandbox.choose import bubblewrap_sandbox
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.image import BASE_TAG, ensure_image
from labkit.sandbox.interface import CHANNEL, SidecarSandbox, SidecarSpec, Spec, Streams

PLAIN = Spec(argv=("true",), image=BASE_TAG, returned="/workspace", workdir="/workspace")
HOME = replace(PLAIN, home="/home/agent")
SETTINGS = Entry(path=b"settings.json", kind=Kind.FILE, data=b"{}\n")
FIXED = replace(PLAIN, fixed={"/etc/labkit-bench": (SETTINGS,)})
BESIDE = SidecarSpec(
    module="labkit_answering.program",
    packages=("aiohttp",),
    folders={"labkit_answering": Path(answering.__file__).parent},
)
REACH = (
    f"import socket; s = socket.socket(socket.AF_UNIX); s.connect('{CHANNEL}/{NAME}'); s.recv(9)"
)


def run(sandbox: SidecarSandbox, spec: Spec) -> None:
    """Run a spec and take everything that it leaves."""
    streams = Streams(stdout=io.BytesIO(), stderr=io.BytesIO(), home=io.BytesIO())
    outcome, _ = sandbox.run(spec, streams, lambda stream: stream.read())
    assert outcome.exit_code == 0


def run_beside(sandbox: SidecarSandbox, spec: Spec) -> None:
    """Run a spec with the program beside it, which has to listen first."""
    with sandbox.sidecar(BESIDE) as sidecar:
        sidecar.tell(f"{sidecar.folder}\n".encode())
        assert next(sidecar.stdout) == b"listening"
        run(sandbox, replace(spec, channel=sidecar.channel))


def measure(sandbox: SidecarSandbox, rounds: int) -> None:
    """Print the median of each way after one round to warm up."""
    whole = replace(HOME, fixed=FIXED.fixed, argv=("python3", "-c", REACH))
    ways: dict[str, Callable[[], None]] = {
        "plain": partial(run, sandbox, PLAIN),
        "home": partial(run, sandbox, HOME),
        "fixed": partial(run, sandbox, FIXED),
        "beside": partial(run_beside, sandbox, PLAIN),
        "all, and reached": partial(run_beside, sandbox, whole),
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds + 1):
        for name, way in ways.items():
            began = time.perf_counter()
            way()
            times[name].append((time.perf_counter() - began) * 1000)
    for name, taken in times.items():
        middle = statistics.median(taken[1:])
        sys.stdout.write(
            f"{sandbox.name:<11} {name:<17} {middle:6.0f} ms   least {min(taken[1:]):6.0f}\n"
        )


def main() -> None:
    """Measure every sandbox that works here."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    with tempfile.TemporaryDirectory() as made:
        try:
            docker = DockerSandbox.connect()
            ensure_image(docker.api, BASE_TAG, progress=print)
            measure(docker, rounds)
            docker.close()
        except LabkitError as error:
            sys.stdout.write(f"docker does not work here: {error}\n")
        try:
            measure(bubblewrap_sandbox(cache=Path(made)), rounds)
        except LabkitError as error:
            sys.stdout.write(f"bubblewrap does not work here: {error}\n")


if __name__ == "__main__":
    main()
