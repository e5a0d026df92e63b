"""How a sidecar's process hears from labkit: one line of settings, and then that it is over."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import IO

_LONGEST = 16 << 20


@asynccontextmanager
async def told(source: IO[bytes]) -> AsyncIterator[tuple[bytes, asyncio.Event]]:
    """Give the settings' line, and an event that is set when the source ends: labkit is gone."""
    reader = asyncio.StreamReader(limit=_LONGEST)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), source)
    ended = asyncio.Event()
    line = await reader.readline()

    async def wait() -> None:
        while await reader.read(4096):
            pass
        ended.set()

    waiting = asyncio.create_task(wait())
    yield line, ended
    waiting.cancel()
