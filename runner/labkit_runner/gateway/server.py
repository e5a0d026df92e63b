"""The gateway's process: settings in, a socket to the sandbox, and all that happens told.

It ends in good order when its standard input is closed, and with labkit in whatever way that ends.
"""

import asyncio
import ssl
import sys
from pathlib import Path
from typing import IO

import aiohttp
from aiohttp import web

from labkit_runner.gateway.book import Book
from labkit_runner.gateway.exchange import Way
from labkit_runner.gateway.gate import Gate
from labkit_runner.gateway.listening import Listening
from labkit_runner.gateway.masks import Mask
from labkit_runner.gateway.settings import Settings, read_settings
from labkit_runner.gateway.telling import Teller
from labkit_runner.gateway.tether import told

_AUTOMATIC = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")
_FOR_ALL = 0o666
"""Of the socket: who can reach its folder may connect."""


async def serve(settings: Settings, out: IO[bytes], ended: asyncio.Event) -> None:
    """Let requests through until `ended` is set."""
    secrets = [settings.secret] if settings.secret else []
    teller = Teller(out, Mask([*secrets, *settings.mask]))
    book = Book(settings, lambda which, limit: teller.tell("cap", which=which, limit=limit))
    async with _session(settings) as session:
        way = Way(
            settings=settings, teller=teller, book=book, session=session, secret=Mask(secrets)
        )
        gate = Gate(way)
        runner = web.ServerRunner(Listening(gate.handle, gate.odd))
        await runner.setup()
        await web.UnixSite(runner, settings.socket).start()
        Path(settings.socket).chmod(_FOR_ALL)
        teller.tell("ready")
        idle = asyncio.create_task(book.watch_idle())
        await ended.wait()
        idle.cancel()
        await runner.cleanup()
    teller.tell("end")


def _session(settings: Settings) -> aiohttp.ClientSession:
    checked = ssl.create_default_context(cadata=settings.ca or None)
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(ssl=checked, limit=0, keepalive_timeout=10.0),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=30.0),
        skip_auto_headers=_AUTOMATIC,
        auto_decompress=False,
        trust_env=False,
        max_line_size=65536,
        max_field_size=65536,
    )


async def _main() -> None:
    async with told(sys.stdin.buffer) as (line, ended):
        await serve(read_settings(line), sys.stdout.buffer, ended)


if __name__ == "__main__":
    asyncio.run(_main())
