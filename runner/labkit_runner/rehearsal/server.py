"""The model's server: which turn a request asks for, what goes wrong with it, and a log of both.

The turn is read from the request itself, from how many turns of the model its history holds: a
client that tries again gets the same turn again. Only how often a fault was played is kept.
"""

import asyncio
import json
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from aiohttp import web

from labkit.model import Api
from labkit_runner.rehearsal.anthropic import Anthropic
from labkit_runner.rehearsal.chat import Chat
from labkit_runner.rehearsal.gemini import Gemini
from labkit_runner.rehearsal.responses import Responses
from labkit_runner.rehearsal.script import Fault, FaultKind, Script, Turn
from labkit_runner.rehearsal.speech import Event, Json, Reply, Speech

_ENDS: tuple[tuple[str, Api], ...] = (
    ("/messages", Api.ANTHROPIC),
    ("/responses", Api.RESPONSES),
    ("/chat/completions", Api.CHAT),
    (":streamGenerateContent", Api.GEMINI),
    (":generateContent", Api.GEMINI),
)
_COUNTS = {"/messages/count_tokens": "input_tokens", ":countTokens": "totalTokens"}
_SPEECHES: dict[Api, Speech] = {
    Api.ANTHROPIC: Anthropic(),
    Api.RESPONSES: Responses(),
    Api.CHAT: Chat(),
    Api.GEMINI: Gemini(),
}
_LARGEST = 64 * 1024 * 1024
_EARLY = 2
"""How many events an answer has that ends too early."""
_KEYS = ("authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request that came, for the log."""

    method: str
    path: str
    """With its query."""
    headers: dict[str, str]
    """In lower case; of keys only how long they are."""
    body: dict[str, Any]
    api: Api | None = None
    """None: no request to a model."""
    main: bool = False
    turn: int = 0
    fault: FaultKind | None = None
    status: int = 200


class Model:
    """A model that plays a script."""

    def __init__(self, script: Script, *, log: Callable[[Asked], None] = lambda _: None) -> None:
        self.script = script
        self.log = log
        self._played = [0] * len(script.faults)
        self._asked = 0

    def app(self) -> web.Application:
        """Return it as a web application."""
        app = web.Application(client_max_size=_LARGEST)
        app.router.add_route("*", "/{path:.*}", self._answer)
        return app

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = await _body(request)
        api = next((api for end, api in _ENDS if request.path.endswith(end)), None)
        if request.method == "POST" and body is not None and api is not None:
            return await self._speak(request, body, api)
        status, told = _other(request, body)
        self.log(replace(_asked(request, body or {}), status=status))
        return web.json_response(told, status=status)

    async def _speak(self, request: web.Request, body: Json, api: Api) -> web.StreamResponse:
        speech = _SPEECHES[api]
        main = self._is_main(body)
        turn = speech.history(body)
        fault = self._fault(turn) if main else None
        status = fault.status if fault and fault.kind is FaultKind.STATUS else 200
        asked = replace(_asked(request, body), api=api, main=main, turn=turn, status=status)
        self.log(replace(asked, fault=fault.kind if fault else None))
        self._asked += 1
        said = self.script.turn(turn) if main else self.script.side
        answer = _Answer(request, speech, _reply(request, body, said, self._asked))
        return await (answer.spoil(fault) if fault else answer.say())

    def _is_main(self, body: Json) -> bool:
        text = self.script.main_text
        return bool(body.get("tools")) and (not text or text in json.dumps(body))

    def _fault(self, turn: int) -> Fault | None:
        for place, fault in enumerate(self.script.faults):
            meant = fault.turn in (None, turn)
            if meant and (fault.times is None or self._played[place] < fault.times):
                self._played[place] += 1
                return fault
        return None


class _Answer:
    """One answer on its way."""

    def __init__(self, request: web.Request, speech: Speech, reply: Reply) -> None:
        self.request = request
        self.speech = speech
        self.reply = reply

    async def say(self) -> web.StreamResponse:
        await asyncio.sleep(self.reply.turn.seconds)
        if self.speech.streamed(self.request.path, self.reply.body):
            return await self._stream(self.speech.events(self.reply))
        return web.json_response(self.speech.whole(self.reply), headers=self._headers())

    async def spoil(self, fault: Fault) -> web.StreamResponse:
        match fault.kind:
            case FaultKind.STATUS:
                return web.json_response(
                    self.speech.error(fault),
                    status=fault.status,
                    headers={**self._headers(), **fault.headers},
                )
            case FaultKind.HANG:
                await asyncio.sleep(fault.seconds)
                return self._reset()
            case FaultKind.REFUSE:
                return self._reset()
            case FaultKind.DROP:
                await self._stream(self._begun(), ended=False)
                return self._reset()
            case FaultKind.CUT:
                return await self._stream(self._begun())
            case FaultKind.STREAM_ERROR:
                return await self._stream((*self._begun(), self.speech.stream_error(fault)))

    def _begun(self) -> tuple[Event, ...]:
        return self.speech.events(self.reply)[:-1][:_EARLY]

    def _headers(self) -> dict[str, str]:
        return {"request-id": self.reply.name("req_")}

    async def _stream(self, events: tuple[Event, ...], *, ended: bool = True) -> web.StreamResponse:
        head = {"content-type": "text/event-stream", "cache-control": "no-cache"}
        response = web.StreamResponse(headers={**self._headers(), **head})
        # In chunks, so that an answer that breaks can be told from one that ends.
        response.enable_chunked_encoding()
        with suppress(ConnectionError):  # the client went away: there is nobody to tell
            await response.prepare(self.request)
            for event in events:
                await response.write(event.encode())
            if ended:
                await response.write_eof()
        return response

    def _reset(self) -> web.StreamResponse:
        transport = self.request.transport
        if transport is not None:
            connection = transport.get_extra_info("socket")
            if connection is not None and connection.family != socket.AF_UNIX:
                linger = struct.pack("ii", 1, 0)  # an end by reset, not by a good-bye
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            transport.abort()
        return web.Response(status=500)


def _reply(request: web.Request, body: Json, turn: Turn, number: int) -> Reply:
    in_path = request.path.rsplit("/", 1)[-1].split(":")[0]
    return Reply(turn=turn, body=body, number=number, model=str(body.get("model") or in_path))


async def _body(request: web.Request) -> Json | None:
    """Return the request's JSON object, None when it has none."""
    try:
        value = json.loads(await request.read() or b"{}")
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _other(request: web.Request, body: Json | None) -> tuple[int, Json]:
    """Return status and body for what is no request to a model."""
    if "upgrade" in request.headers:
        return 426, {"error": {"message": "there is no websocket here"}}
    if request.method == "HEAD":
        return 200, {}
    if request.method == "GET" and request.path.rstrip("/").endswith("/models"):
        return 200, {"object": "list", "data": [], "models": [], "has_more": False}
    for end, name in _COUNTS.items():
        if request.method == "POST" and request.path.endswith(end):
            return 200, {name: len(json.dumps(body)) // 4}
    if body is None:
        return 400, {"error": {"type": "invalid_request_error", "message": "this is not JSON"}}
    return 404, {"error": {"type": "not_found_error", "message": "not found"}}


def _asked(request: web.Request, body: Json) -> Asked:
    headers = {
        name.lower(): f"<{len(value)} characters>" if name.lower() in _KEYS else value
        for name, value in request.headers.items()
    }
    return Asked(method=request.method, path=request.path_qs, headers=headers, body=body)
