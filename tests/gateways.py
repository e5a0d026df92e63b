"""A gateway process and an upstream server of one's own, for tests of the gateway."""

import asyncio
import http.client
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

from labkit.sandbox.interface import SidecarSpec
from labkit_runner.gateway.wire import Wire, read_wire

SECRET = "sk-real-0123456789/abcdef+XYZ"
ANTHROPIC = "anthropic-messages"
RESPONSES = "openai-responses"
CHAT = "openai-chat"
GEMINI = "gemini"
PATHS = {
    ANTHROPIC: "/v1/messages",
    RESPONSES: "/v1/responses",
    CHAT: "/v1/chat/completions",
    GEMINI: "/v1beta/models/m1:streamGenerateContent?alt=sse",
}
TOOLS = [{"name": "Bash", "input_schema": {"type": "object"}}]
Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


def sse(*events: Mapping[str, Any] | str) -> bytes:
    """Return a stream of events."""
    return b"".join(
        b"data: " + (each if isinstance(each, str) else json.dumps(each)).encode() + b"\n\n"
        for each in events
    )


MESSAGE = (
    {
        "type": "message_start",
        "message": {"model": "m1", "usage": {"input_tokens": 100, "output_tokens": 1}},
    },
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello"}},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 20}},
    {"type": "message_stop"},
)


async def well(request: web.Request) -> web.StreamResponse:
    """Answer as Anthropic does, streamed."""
    return await streamed(request, *(sse(each) for each in MESSAGE))


async def streamed(
    request: web.Request,
    *pieces: bytes,
    end: bool = True,
    headers: Mapping[str, str] | None = None,
) -> web.StreamResponse:
    """Answer with pieces, each sent by itself; without an end the connection breaks."""
    answer = web.StreamResponse(headers={"content-type": "text/event-stream", **(headers or {})})
    await answer.prepare(request)
    for piece in pieces:
        await answer.write(piece)
    if end:
        await answer.write_eof()
    elif request.transport is not None:
        request.transport.close()
    return answer


@dataclass(slots=True)
class Upstream:
    """A server that answers as a test says, and remembers what it was asked."""

    answer: Answer = well
    url: str = ""
    requests: list[web.BaseRequest] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request)
        self.bodies.append(await request.read())
        return await self.answer(request)


@contextmanager
def upstream(answer: Answer = well) -> Iterator[Upstream]:
    """Run a server in a thread of its own."""
    found = Upstream(answer)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def start() -> web.AppRunner:
        app = web.Application(client_max_size=128 << 20, handler_args={"auto_decompress": False})
        app.router.add_route("*", "/{tail:.*}", found.handle)
        runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        found.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        return runner

    runner = asyncio.run_coroutine_threadsafe(start(), loop).result()
    try:
        yield found
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


class Connection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, place: str, seconds: float = 20.0) -> None:
        super().__init__("127.0.0.1", timeout=seconds)
        self._place = place

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._place)


class Gateway:
    """A gateway process and what it has told."""

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        self.place = str(folder / "gateway.sock")
        self.lines: list[bytes] = []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "labkit_runner.gateway.server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        assert self.process.stdin
        told = {"socket": self.place, "apis": [ANTHROPIC], "secret": SECRET, **settings}
        self.process.stdin.write(json.dumps(told).encode() + b"\n")
        self.process.stdin.flush()
        self.wait("ready")

    def _read(self) -> None:
        assert self.process.stdout
        self.lines.extend(iter(self.process.stdout.readline, b""))

    def events(self, kind: str) -> list[dict[str, Any]]:
        """Return what was told of one kind so far."""
        return [each for each in map(json.loads, tuple(self.lines)) if each["kind"] == kind]

    def wait(self, kind: str, count: int = 1) -> list[dict[str, Any]]:
        """Wait until so many events of a kind were told."""
        late = time.monotonic() + 15
        while len(found := self.events(kind)) < count:
            assert time.monotonic() < late, (kind, self.lines)
            time.sleep(0.01)
        return found

    def ask(
        self, body: Any = None, path: str = "/v1/messages", method: str = "POST", **headers: str
    ) -> tuple[int, bytes]:
        """Ask once; return status and body."""
        connection = Connection(self.place)
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body)
        try:
            connection.request(method, path, data or None, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def raw(self, data: bytes, seconds: float = 5.0) -> bytes:
        """Send bytes and return what comes back until the connection ends or is silent."""
        found = b""
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(seconds)
            client.connect(self.place)
            client.sendall(data)
            try:
                while piece := client.recv(65536):
                    found += piece
            except (TimeoutError, ConnectionError):
                pass
        return found

    def close(self) -> Wire:
        """Close its standard input and return all it told."""
        assert self.process.stdin
        assert self.process.stdout
        assert self.process.stderr
        self.process.stdin.close()
        self.process.wait(timeout=20)
        self._reader.join()
        self.process.stdout.close()
        complaint = self.process.stderr.read()
        self.process.stderr.close()
        assert not complaint, complaint.decode()
        return read_wire(self.lines)


@contextmanager
def gateway(folder: Path, url: str, **settings: Any) -> Iterator[Gateway]:
    """Run a gateway before an upstream server."""
    found = Gateway(folder, {"url": url, **settings})
    try:
        yield found
    finally:
        if found.process.poll() is None:
            found.close()


def question(**more: Any) -> dict[str, Any]:
    """Return a request of the main conversation, as Anthropic's clients make it."""
    return {
        "model": "m1",
        "max_tokens": 1000,
        "stream": True,
        "tools": TOOLS,
        "messages": [{"role": "user", "content": "Fix it"}],
        **more,
    }


class ProcessSidecar:
    """The gateway's program as a process of this machine, as a sandbox starts it beside a run."""

    def __init__(self, folder: Path, module: str) -> None:
        self.channel = str(folder)
        self.folder = str(folder)
        self.errors = folder / "errors.txt"
        with self.errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            )

    @property
    def stdout(self) -> Iterator[bytes]:
        assert self.process.stdout
        with self.process.stdout as lines:
            for line in lines:
                yield line.removesuffix(b"\n")

    def tell(self, data: bytes) -> None:
        assert self.process.stdin
        with suppress(OSError):
            self.process.stdin.write(data)
            self.process.stdin.flush()

    def complaint(self) -> str:
        return self.errors.read_text().strip()[-500:]


class ProcessSandbox:
    """As much of a sandbox as the host's side of the gateway needs."""

    def __init__(self, folder: Path, module: str = "") -> None:
        self.folder = folder
        self.module = module
        self.last: ProcessSidecar | None = None

    @contextmanager
    def sidecar(self, spec: SidecarSpec) -> Iterator[ProcessSidecar]:
        found = self.last = ProcessSidecar(self.folder, self.module or spec.module)
        try:
            yield found
        finally:
            assert found.process.stdin
            with suppress(OSError):
                found.process.stdin.close()
            found.process.wait(timeout=20)


def ask_at(place: str, body: Any, path: str = "/v1/messages") -> tuple[int, bytes]:
    """Ask a gateway once."""
    connection = Connection(place)
    try:
        connection.request("POST", path, json.dumps(body))
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()
