"""What is said of a place that cannot be reached."""

import asyncio
import socket

import aiohttp
import pytest

from labkit_runner.gateway.reaching import unreachable


async def _failing(url: str) -> str:
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.ClientConnectorError) as caught:
            await session.get(url)
    return unreachable(caught.value)


def test_a_closed_port_is_told_as_a_place_and_a_reason() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert asyncio.run(_failing(f"http://127.0.0.1:{port}/")) == (
        f"127.0.0.1:{port}: Connection refused"
    )


def test_a_name_that_is_not_there_is_told_without_parts_of_the_program() -> None:
    told = asyncio.run(_failing("http://nowhere.invalid/"))
    assert told.startswith("nowhere.invalid:80: ")
    assert "ssl" not in told
    assert "[" not in told
