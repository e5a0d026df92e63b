"""Playing a script for as long as it is needed: on a port of this machine, or on a Unix socket."""

import asyncio
import errno
import json
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from aiohttp import web

from labkit.errors import InfrastructureError
from labkit_runner.rehearsal.script import Script
from labkit_runner.rehearsal.server import Asked, Model

T = TypeVar("T")

_PATIENCE = 30.0


@dataclass(slots=True, kw_only=True)
class Played:
    """A script that is being played."""

    url: str = ""
    """Where the model is, without a path; empty on a Unix socket."""
    asked: list[Asked] = field(default_factory=list)
    """What came so far."""

    @property
    def main(self) -> list[Asked]:
        """The requests of the main conversation."""
        return [each for each in self.asked if each.main]


@contextmanager
def playing(script: Script, *, unix: Path | None = None, port: int = 0) -> Iterator[Played]:
    """Play a script in a thread of its own while the context lasts.

    Raises InfrastructureError when the place is taken.
    """
    played = Played()
    loop = asyncio.new_event_loop()
    model = Model(script, log=played.asked.append)
    runner = web.AppRunner(model.app(), handler_cancellation=True, shutdown_timeout=1)
    thread = threading.Thread(target=loop.run_forever, name="rehearsal", daemon=True)
    thread.start()
    try:
        played.url = _now(loop, _listen(runner, unix, port))
        yield played
    finally:
        _now(loop, runner.cleanup())
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_PATIENCE)
        loop.close()


def _now(loop: asyncio.AbstractEventLoop, doing: Coroutine[Any, Any, T]) -> T:
    return asyncio.run_coroutine_threadsafe(doing, loop).result(_PATIENCE)


async def _listen(runner: web.AppRunner, unix: Path | None, port: int) -> str:
    try:
        return await _start(runner, unix, port)
    except OSError as error:
        place = unix or f"port {port} of this machine"
        why = "it is taken" if error.errno == errno.EADDRINUSE else error.strerror
        raise InfrastructureError(
            f"the scripted model could not listen at {place}: {why}", hint="use another --port"
        ) from error


async def serve(
    script: Script, *, unix: Path | None, port: int, log: Path | None, ready: Callable[[str], None]
) -> None:
    """Play a script until the program is ended; say where through `ready`."""
    runner = web.AppRunner(Model(script, log=_log_to(log)).app(), handler_cancellation=True)
    try:
        ready(await _listen(runner, unix, port))
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()


async def _start(runner: web.AppRunner, unix: Path | None, port: int) -> str:
    await runner.setup()
    if unix is not None:
        await web.UnixSite(runner, str(unix)).start()
        unix.chmod(0o666)
        return ""
    await web.TCPSite(runner, "127.0.0.1", port).start()
    return f"http://127.0.0.1:{runner.addresses[0][1]}"


def _log_to(path: Path | None) -> Callable[[Asked], None]:
    if path is None:
        return lambda _: None

    def log(asked: Asked) -> None:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(asked)) + "\n")

    return log
