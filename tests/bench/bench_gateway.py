"""What the gateway adds to a streamed answer, and what a long one takes of memory.

Each round asks the same server directly, through the gateway, and through the gateway and the
sandbox's forwarder; aim at under 5 ms more at the median. Then one stream of 50 MB.

Run: PYTHONPATH=tests python tests/bench/bench_gateway.py [rounds]
"""

import http.client
import json
import multiprocessing
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection as Pipe
from pathlib import Path

from aiohttp import web
from gateways import MESSAGE, Connection, Gateway, gateway, question, sse, streamed, upstream

import labkit_runner.agents.start

DELTA = sse(MESSAGE[2])
EVENTS = 200
LONG = 50 << 20
BODY = json.dumps(question(system="x" * 30_000)).encode()


async def answer(request: web.Request) -> web.StreamResponse:
    """Send a stream: 200 events, or 50 MB where a header asks for it."""
    count = LONG // len(DELTA) if "x-long" in request.headers else EVENTS
    step = 500 if "x-long" in request.headers else 1
    pieces = [DELTA * step] * (count // step)
    return await streamed(request, sse(*MESSAGE[:2]), *pieces, sse(*MESSAGE[3:]))


def serve(pipe: Pipe) -> None:
    """Serve in a process of its own until told to end."""
    with upstream(answer) as server:
        pipe.send(server.url)
        pipe.recv()


@contextmanager
def served() -> Iterator[str]:
    """Run the server and return its address."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,))
    process.start()
    yield ours.recv()
    ours.send("end")
    process.join()


@contextmanager
def forwarded(place: str) -> Iterator[int]:
    """Run the sandbox's forwarder and return its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # The program it starts stays; the forwarder lives in its process group.
    started = subprocess.Popen(
        [sys.executable, labkit_runner.agents.start.__file__, str(port), place, "sleep", "600"]
    )
    time.sleep(0.5)
    children = Path(f"/proc/{started.pid}/task/{started.pid}/children").read_text().split()
    yield port
    for pid in (*children, str(started.pid)):
        subprocess.run(["kill", pid], check=False)
    started.wait()


def asker(connection: http.client.HTTPConnection) -> Callable[[], tuple[float, float]]:
    """Return a way to ask once over a connection that stays open: seconds to first byte and end."""

    def ask() -> tuple[float, float]:
        start = time.perf_counter()
        connection.request("POST", "/v1/messages", BODY)
        got = connection.getresponse()
        got.read(1)
        first = time.perf_counter() - start
        got.read()
        return first, time.perf_counter() - start

    return ask


def measure(url: str, gate: Gateway, port: int, rounds: int) -> None:
    """Ask in turn and print the medians."""
    host, _, number = url.removeprefix("http://").partition(":")
    ways = {
        "direct": asker(http.client.HTTPConnection(host, int(number))),
        "gateway": asker(Connection(gate.place)),
        "gateway and forwarder": asker(http.client.HTTPConnection("127.0.0.1", port)),
    }
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, ask in ways.items():
            found[name].append(ask())
    first, end = (statistics.median(each[at] for each in found["direct"]) for at in (0, 1))
    for name, times in found.items():
        one, all_ = (statistics.median(each[at] for each in times) * 1000 for at in (0, 1))
        print(
            f"{name:22} first byte {one:6.2f} ms ({one - first * 1000:+.2f}), "
            f"{EVENTS} events {all_:6.2f} ms ({all_ - end * 1000:+.2f})"
        )


def memory(gate: Gateway) -> None:
    """Read one long stream and print how the gateway's memory grew."""

    def kilobytes(name: str) -> int:
        status = Path(f"/proc/{gate.process.pid}/status").read_text()
        return int(status.partition(f"{name}:")[2].split()[0])

    before = kilobytes("VmRSS")
    start = time.perf_counter()
    connection = Connection(gate.place, 300)
    connection.request("POST", "/v1/messages", BODY, {"x-long": "1"})
    got = connection.getresponse()
    size = 0
    while piece := got.read(1 << 16):
        size += len(piece)
    seconds = time.perf_counter() - start
    print(
        f"{size >> 20} MB in {seconds:.1f} s: memory {before >> 10} MiB before, "
        f"at most {kilobytes('VmHWM') >> 10} MiB"
    )


if __name__ == "__main__":
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    with (
        tempfile.TemporaryDirectory() as folder,
        served() as url,
        gateway(Path(folder), url) as gate,
        forwarded(gate.place) as port,
    ):
        measure(url, gate, port, rounds)
        memory(gate)
