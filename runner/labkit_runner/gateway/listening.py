"""The gateway's side of HTTP: connections that cannot hold it up, and what is no HTTP at all."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

_MOST_CONNECTIONS = 256
_HEAD_SECONDS = 30.0
_SILENT = logging.getLogger("labkit-gateway")
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
Odd = Callable[[str, str, str], None]
"""Told method, target and reason of what could not be read as a request."""


class Connection(RequestHandler):
    """One connection of the sandbox."""

    def __init__(self, server: "Listening", **settings: Any) -> None:
        super().__init__(server, **settings)
        self._server = server
        self._head: asyncio.TimerHandle | None = None
        self._begun = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take a connection, if there are not too many."""
        super().connection_made(transport)
        if len(self._server.connections) > _MOST_CONNECTIONS:
            self._server.odd("", "", f"more than {_MOST_CONNECTIONS} connections at once")
            self.force_close()
            return
        loop = asyncio.get_running_loop()
        self._head = loop.call_later(self._server.head_seconds, self._late)

    def in_time(self) -> None:
        """A whole head has come."""
        if self._head is not None:
            self._head.cancel()
            self._head = None

    def data_received(self, data: bytes) -> None:
        """Take what comes."""
        self._begun = True
        super().data_received(data)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Forget the connection."""
        if self._head is not None and self._begun:
            self._server.odd("", "", "a connection that ended before its request was whole")
        self.in_time()
        super().connection_lost(exc)

    def _late(self) -> None:
        self._head = None
        self._server.odd("", "", "a connection on which no request came in time")
        self.force_close()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Tell what could not be read, and close the connection."""
        self.in_time()
        why = "it is not HTTP as it has to be" if status < 500 else "the gateway failed on it"  # noqa: PLR2004
        self._server.odd("", "", f"{why}: {(message or repr(exc)).splitlines()[0][:200]}")
        if request.writer.output_size > 0:
            raise ConnectionError
        answer = web.Response(status=status, text=why)
        answer.force_close()
        return answer


class Listening(web.Server):
    """Makes connections; a client that goes away ends what is done for it."""

    def __init__(self, handler: Handler, odd: Odd, *, head_seconds: float = _HEAD_SECONDS) -> None:
        super().__init__(
            handler,
            handler_cancellation=True,
            auto_decompress=False,
            access_log=None,
            logger=_SILENT,
            keepalive_timeout=3600.0,
            max_line_size=16384,
            max_field_size=65536,
        )
        self.odd = odd
        self.head_seconds = head_seconds

    def __call__(self) -> RequestHandler:
        """Make a connection."""
        return Connection(self, loop=self._loop, **self._kwargs)
