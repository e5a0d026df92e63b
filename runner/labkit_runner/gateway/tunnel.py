"""The way out of a run that is paid by a subscription: tunnels to the vendor's own hosts.

A subscription's token lies in the sandbox, so nothing can be added, metered or read on the way: a
tunnel carries encrypted bytes. What can be held is where it leads: to named hosts, on one port, at
public addresses. Runs as the gateway does, in the same place, and tells of itself in the same form.
"""

import asyncio
import ipaddress
import json
import socket
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import h11

from labkit_runner.gateway.masks import Mask
from labkit_runner.gateway.telling import Teller
from labkit_runner.gateway.tether import told

PORT = 443
_PIECE = 65536
_MOST_HEAD = 16384
_HEAD_PIECE = 4096
_MOST_TUNNELS = 64
_SECONDS = 30.0
"""For a request to come whole, and for a host to be reached."""
_FOR_ALL = 0o666
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_OWN_NAT64 = ipaddress.ip_network("64:ff9b:1::/48")
_CONNECTED = b"HTTP/1.1 200 Connection established\r\n\r\n"
_REFUSED = (
    b"HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-type: text/plain\r\n"
    b"content-length: %d\r\n\r\n%s"
)


class Refused(Exception):  # noqa: N818 - what it is
    """Why no tunnel is made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that the process is told: one JSON line on its standard input."""

    socket: str
    hosts: tuple[str, ...]
    mask: tuple[str, ...] = field(default=(), repr=False)


def read_settings(line: bytes) -> Settings:
    """Read the line; raises ValueError, KeyError or TypeError when it is not what it has to be."""
    told = json.loads(line)
    return Settings(
        socket=told["socket"], hosts=tuple(told["hosts"]), mask=tuple(told.get("mask", ()))
    )


def wanted_host(method: str, target: str, hosts: tuple[str, ...]) -> str:
    """Return the host that a request asks a tunnel to; raises Refused when it is not allowed.

    Allowed is exactly `name:443` with a listed name: no address, no dot at the end, no user.
    """
    if method != "CONNECT":
        raise Refused("only tunnels are made here")
    host, colon, port = target.rpartition(":")
    if not colon or port != str(PORT):
        raise Refused(f"only port {PORT} is allowed")
    if host.lower() not in hosts:
        raise Refused("this host is not allowed")
    return host.lower()


def public(address: str) -> bool:
    """Whether an address is one of the public network."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    inner = getattr(found, "ipv4_mapped", None) or getattr(found, "sixtofour", None)
    if found in _NAT64:
        inner = ipaddress.ip_address(int(found) & 0xFFFFFFFF)
    if found in _OWN_NAT64:
        return False
    return found.is_global and not found.is_multicast and (inner is None or inner.is_global)


Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Reach = Callable[[str], Awaitable[Ends]]
"""Connects to a host by its name."""


async def reach_public(host: str) -> Ends:
    """Connect to a host at one of its addresses, which all have to be public."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, PORT, type=socket.SOCK_STREAM)
    except OSError as error:
        raise Refused(f"the host has no address here: {error.strerror}") from error
    addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
    if odd := [each for each in addresses if not public(each)]:
        raise Refused(f"the host's address is not a public one: {odd[0]}")
    why = "it has no address"
    for address in addresses:
        try:
            return await asyncio.wait_for(asyncio.open_connection(address, PORT), _SECONDS)
        except (OSError, TimeoutError) as error:
            why = getattr(error, "strerror", None) or "no answer in time"
    raise Refused(f"the host cannot be reached: {why}")


class Tunnels:
    """Makes tunnels for whoever connects."""

    def __init__(self, settings: Settings, teller: Teller, reach: "Reach") -> None:
        self._settings = settings
        self._teller = teller
        self._reach = reach
        self._open: set[asyncio.Task[None]] = set()

    def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take a connection of the sandbox."""
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def close(self) -> None:
        """End every tunnel."""
        for task in tuple(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        method, target = "", ""
        try:
            self._require_room()
            method, target, rest = await asyncio.wait_for(_read_head(reader), _SECONDS)
            host = wanted_host(method, target, self._settings.hosts)
            other = await self._reach(host)
            await self._carry(host, (reader, writer), other, rest)
        except Refused as refusal:
            self._refuse(writer, method, target, str(refusal))
        except TimeoutError:
            self._refuse(writer, method, target, "no whole request came in time")
        finally:
            writer.close()

    def _require_room(self) -> None:
        if len(self._open) > _MOST_TUNNELS:
            raise Refused(f"more than {_MOST_TUNNELS} connections at once")

    def _refuse(self, writer: asyncio.StreamWriter, method: str, target: str, why: str) -> None:
        shown = target[:300]
        if method == "CONNECT":
            host, _, port = shown.rpartition(":")
            self._teller.tell("connect", host=host, port=port, allowed=False, why=why)
        self._teller.tell("refused", method=method[:20], target=shown, why=why)
        said = f"labkit: {why}\n".encode()
        with suppress(OSError):
            writer.write(_REFUSED % (len(said), said))

    async def _carry(self, host: str, near: "Ends", far: "Ends", rest: bytes) -> None:
        counts = {"sent": len(rest), "received": 0}

        def count(way: str) -> Callable[[int], None]:
            def add(size: int) -> None:
                counts[way] += size

            return add

        begun = time.monotonic()
        try:
            near[1].write(_CONNECTED)
            far[1].write(rest)
            await asyncio.gather(
                _copy(near[0], far[1], count("sent")), _copy(far[0], near[1], count("received"))
            )
        finally:
            far[1].close()
            seconds = round(time.monotonic() - begun, 3)
            self._teller.tell(
                "connect", host=host, port=PORT, allowed=True, bytes=counts, seconds=seconds
            )


async def _read_head(reader: asyncio.StreamReader) -> tuple[str, str, bytes]:
    """Return method, target and what came after the head of a request."""
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=_MOST_HEAD)
    try:
        while (event := connection.next_event()) is h11.NEED_DATA:
            connection.receive_data(await reader.read(_HEAD_PIECE))
    except h11.RemoteProtocolError as error:
        raise Refused(f"it is not HTTP as it has to be: {error}") from error
    except OSError as error:
        raise Refused("the connection broke before its request was whole") from error
    if not isinstance(event, h11.Request):
        raise Refused("the connection was closed without a request")
    rest, _ = connection.trailing_data
    return event.method.decode(), event.target.decode("latin-1"), bytes(rest)


async def _copy(
    source: asyncio.StreamReader, target: asyncio.StreamWriter, count: Callable[[int], None]
) -> None:
    """Hand on what comes, no faster than it is taken; an end as an end, a break as a break."""
    try:
        while piece := await source.read(_PIECE):
            target.write(piece)
            count(len(piece))
            await target.drain()
        if target.can_write_eof():
            target.write_eof()
    except OSError:
        target.transport.abort()


async def serve(
    settings: Settings, out: IO[bytes], ended: asyncio.Event, reach: Reach = reach_public
) -> None:
    """Make tunnels until `ended` is set."""
    teller = Teller(out, Mask(settings.mask))
    tunnels = Tunnels(settings, teller, reach)
    server = await asyncio.start_unix_server(tunnels.connected, settings.socket)
    Path(settings.socket).chmod(_FOR_ALL)
    teller.tell("ready", metered=False)
    await ended.wait()
    server.close()
    await tunnels.close()
    teller.tell("end")


async def _main() -> None:
    async with told(sys.stdin.buffer) as (line, ended):
        await serve(read_settings(line), sys.stdout.buffer, ended)


if __name__ == "__main__":
    asyncio.run(_main())
