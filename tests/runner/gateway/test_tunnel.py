import asyncio
import io
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sandboxes import IMAGE

from labkit.archive import Entry, Kind, write_tar
from labkit.sandbox.interface import Halt, Limits, SidecarSandbox, Spec, Streams
from labkit_runner.gateway.tunnel import Ends, Refused, Settings, public, serve, wanted_host
from labkit_runner.gateway.tunnelhost import TunnelTerms, tunnels
from labkit_runner.gateway.wire import read_wire

HOSTS = ("api.anthropic.com", "claude.ai")
SECRET = "sk-ant-oat01-abcdefghijklmnop"
GOOD = b"CONNECT api.anthropic.com:443 HTTP/1.1\r\nhost: api.anthropic.com:443\r\n\r\n"
Upstream = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Trial:
    """Tunnels of a test: every allowed host is a server of the test's own."""

    folder: Path
    upstream: Upstream
    out: io.BytesIO = field(default_factory=io.BytesIO)
    reached: list[str] = field(default_factory=list)

    @property
    def events(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.out.getvalue().splitlines()]

    def told(self, kind: str) -> list[dict[str, object]]:
        return [event for event in self.events if event["kind"] == kind]

    @asynccontextmanager
    async def open(self) -> AsyncIterator[str]:
        place = str(self.folder / "t.sock")
        far = str(self.folder / "far.sock")
        server = await asyncio.start_unix_server(self.upstream, far)

        async def reach(host: str) -> Ends:
            self.reached.append(host)
            return await asyncio.open_unix_connection(far)

        ended = asyncio.Event()
        settings = Settings(socket=place, hosts=HOSTS, mask=(SECRET,))
        serving = asyncio.ensure_future(serve(settings, self.out, ended, reach))
        while b"ready" not in self.out.getvalue():
            await asyncio.sleep(0.005)
        try:
            yield place
        finally:
            ended.set()
            await serving
            server.close()


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()


async def said(place: str, *pieces: bytes) -> bytes:
    reader, writer = await asyncio.open_unix_connection(place)
    for piece in pieces:
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(0.01)
    writer.write_eof()
    answer = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    return answer


def asked(folder: Path, *pieces: bytes) -> tuple[bytes, Trial]:
    trial = Trial(folder, echo)

    async def act() -> bytes:
        async with trial.open() as place:
            return await said(place, *pieces)

    return asyncio.run(act()), trial


@pytest.mark.parametrize("cut", [len(GOOD), 1, 20, len(GOOD) - 1])
def test_a_tunnel_carries_bytes_both_ways_and_is_told_of(tmp_path: Path, cut: int) -> None:
    answer, trial = asked(tmp_path, GOOD[:cut], GOOD[cut:] + b"hello", b" there")
    assert answer == b"HTTP/1.1 200 Connection established\r\n\r\nhello there"
    (event,) = trial.told("connect")
    assert (event["host"], event["port"], event["allowed"]) == ("api.anthropic.com", 443, True)
    assert event["bytes"] == {"sent": 11, "received": 11}
    wire = read_wire(trial.out.getvalue().splitlines())
    assert (wire.metered, wire.ended, wire.refused) == (False, True, ())


@pytest.mark.parametrize(
    "line",
    [
        b"CONNECT evil.example:443 HTTP/1.1",
        b"CONNECT api.anthropic.com.evil.example:443 HTTP/1.1",
        b"CONNECT evil.api.anthropic.com:443 HTTP/1.1",
        b"CONNECT xapi.anthropic.com:443 HTTP/1.1",
        b"CONNECT api.anthropic.com.:443 HTTP/1.1",
        b"CONNECT api.anthropic.com:80 HTTP/1.1",
        b"CONNECT api.anthropic.com:0443 HTTP/1.1",
        b"CONNECT api.anthropic.com HTTP/1.1",
        b"CONNECT api.anthropic.com: HTTP/1.1",
        b"CONNECT user@api.anthropic.com:443 HTTP/1.1",
        b"CONNECT api.anthropic.com:443@evil.example:443 HTTP/1.1",
        b"CONNECT https://api.anthropic.com:443 HTTP/1.1",
        b"CONNECT api.anthropic.com:443/path HTTP/1.1",
        b"CONNECT api%2eanthropic.com:443 HTTP/1.1",
        b"CONNECT 160.79.104.10:443 HTTP/1.1",
        b"CONNECT 2688510986:443 HTTP/1.1",
        b"CONNECT 0x7f000001:443 HTTP/1.1",
        b"CONNECT [::1]:443 HTTP/1.1",
        b"CONNECT [::ffff:127.0.0.1]:443 HTTP/1.1",
        b"CONNECT localhost:443 HTTP/1.1",
        b"CONNECT 169.254.169.254:443 HTTP/1.1",
        b"CONNECT api.anthropic.com\x00:443 HTTP/1.1",
        b"GET http://api.anthropic.com/v1/models HTTP/1.1",
        b"GET / HTTP/1.1",
        b"POST https://api.anthropic.com:443/ HTTP/1.1",
        b"connect api.anthropic.com:443 HTTP/1.1",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"nonsense",
    ],
)
def test_nothing_else_is_reached(tmp_path: Path, line: bytes) -> None:
    answer, trial = asked(tmp_path, line + b"\r\nhost: api.anthropic.com:443\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 403 ")
    assert trial.reached == []
    assert not [event for event in trial.told("connect") if event["allowed"]]
    assert len(trial.told("refused")) == 1


def test_a_name_in_capitals_is_the_same_name(tmp_path: Path) -> None:
    _, trial = asked(tmp_path, GOOD.replace(b"CONNECT api", b"CONNECT API"))
    assert trial.reached == ["api.anthropic.com"]


@given(st.text(max_size=60))
def test_only_listed_names_on_one_port_are_let_through(target: str) -> None:
    try:
        found = wanted_host("CONNECT", target, HOSTS)
    except Refused:
        assert target.lower() not in {f"{host}:443" for host in HOSTS}
    else:
        assert target.lower() == f"{found}:443"


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "192.168.0.1", "172.16.0.1", "169.254.169.254", "100.64.0.1",
        "0.0.0.0", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1%eth0", "fc00::1",  # noqa: S104 - not bound
        "::ffff:10.0.0.1", "::ffff:127.0.0.1", "2002:7f00:1::", "64:ff9b:1::1",
        "64:ff9b::7f00:1", "no address",
    ],
)  # fmt: skip
def test_private_addresses_are_not_public(address: str) -> None:
    assert not public(address)


@pytest.mark.parametrize(
    "address", ["160.79.104.10", "2607:6bc0::10", "8.8.8.8", "64:ff9b::808:808"]
)
def test_public_addresses_are_public(address: str) -> None:
    assert public(address)


def test_a_host_that_resolves_to_a_private_address_is_refused(tmp_path: Path) -> None:
    out = io.BytesIO()

    async def act() -> bytes:
        ended = asyncio.Event()
        place = str(tmp_path / "t.sock")
        settings = Settings(socket=place, hosts=("localhost",))
        serving = asyncio.ensure_future(serve(settings, out, ended))
        while b"ready" not in out.getvalue():
            await asyncio.sleep(0.005)
        answer = await said(place, b"CONNECT localhost:443 HTTP/1.1\r\nhost: localhost\r\n\r\n")
        ended.set()
        await serving
        return answer

    assert b"not a public one" in asyncio.run(act())


def test_secrets_are_masked_in_what_is_told(tmp_path: Path) -> None:
    _, trial = asked(tmp_path, f"CONNECT {SECRET}.evil.example:443 HTTP/1.1\r\n".encode() + b"\r\n")
    assert SECRET.encode() not in trial.out.getvalue()


def test_a_broken_connection_is_no_clean_end(tmp_path: Path) -> None:
    async def breaks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"half")
        await writer.drain()
        writer.transport.abort()

    trial = Trial(tmp_path, breaks)

    async def act() -> bytes:
        async with trial.open() as place:
            return await said(place, GOOD + b"x")

    asyncio.run(act())
    assert len(trial.told("connect")) == 1


def test_a_slow_reader_holds_the_far_side_up(tmp_path: Path) -> None:
    sent = 0

    async def flood(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        try:
            while sent < 50_000_000:
                writer.write(b"x" * 65536)
                await writer.drain()
                sent += 65536
        except OSError:
            return

    trial = Trial(tmp_path, flood)

    async def act() -> None:
        async with trial.open() as place:
            reader, writer = await asyncio.open_unix_connection(place)
            writer.write(GOOD)
            await reader.readuntil(b"\r\n\r\n")
            await asyncio.sleep(0.5)
            writer.transport.abort()

    asyncio.run(act())
    assert sent < 5_000_000


def test_too_many_and_too_long_are_refused(tmp_path: Path) -> None:
    answer, _ = asked(tmp_path, GOOD[:-2] + b"x: " + b"y" * 40_000 + b"\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 403 ")


PROBE = """\
import socket, sys
for target in sys.argv[1:]:
    s = socket.socket(socket.AF_UNIX)
    s.connect("/run/labkit/gateway.sock")
    s.sendall(f"CONNECT {target} HTTP/1.1\\r\\nhost: {target}\\r\\n\\r\\n".encode())
    print(s.recv(400).split(b"\\r\\n")[0].decode(), flush=True)
"""


def test_tunnels_run_beside_a_command_in_each_sandbox(
    sandbox: SidecarSandbox,
) -> None:
    sink, out = io.BytesIO(), io.BytesIO()
    terms = TunnelTerms(hosts=("localhost",), mask=(SECRET,))
    with tunnels(sandbox, terms, sink, Halt()) as found:
        spec = Spec(
            argv=("python3", "/labkit/probe.py", "localhost:443", "claude.ai:443"),
            image=IMAGE,
            returned="/workspace",
            memory_folders=("/labkit",),
            streamed_tar=write_tar(
                [Entry(path=b"labkit/probe.py", kind=Kind.FILE, data=PROBE.encode())]
            ),
            channel=found.channel,
            limits=Limits(seconds=60, memory=256, processes=32, scratch=32),
        )
        sandbox.run(spec, Streams(stdout=out, stderr=io.BytesIO()), lambda _: None)
    assert out.getvalue().splitlines() == [b"HTTP/1.1 403 Forbidden"] * 2
    assert (found.wire.metered, found.wire.ended, len(found.wire.refused)) == (False, True, 2)
    told = [json.loads(line) for line in sink.getvalue().splitlines()]
    assert ["not a public one" in str(event["why"]) for event in told if "why" in event] == [
        True, True, False, False
    ]  # fmt: skip
