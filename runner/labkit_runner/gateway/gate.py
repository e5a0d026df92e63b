"""Every request of the sandbox: read, looked into, and sent on or refused."""

import asyncio
import json
import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from aiohttp import HttpVersion11, hdrs, web

from labkit_runner.gateway.apis import APIS
from labkit_runner.gateway.apis.interface import Asked, Use
from labkit_runner.gateway.codings import UnreadableError, unpacked
from labkit_runner.gateway.doors import Door, Doors, RefusedError
from labkit_runner.gateway.exchange import Exchange, Way
from labkit_runner.gateway.fingerprint import fingerprint
from labkit_runner.gateway.listening import Connection
from labkit_runner.gateway.telling import body_digest, bounded

MOST_BODY = 64 << 20
_MOST_BODIES = 256 << 20
_LONG_BODY = 1 << 20
_BODY_SECONDS = 60.0
_LONGEST = 300
_MOST_NAMES = 20
_MOST_PARTS = 5000


class Gate:
    """Decides what is sent on, and tells of everything."""

    def __init__(self, way: Way) -> None:
        self._way = way
        self._doors = Doors(way.settings.apis)
        self._fingerprinted: set[bool] = set()
        self._held = 0

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request."""
        if isinstance(request.protocol, Connection):
            request.protocol.in_time()
        number: int | None = None
        door: Door | None = None
        taken = 0
        try:
            door = self._door(request)
            body = await self._read(request, door.route.use)
            taken = len(body)
            self._held += taken
            asked = await self._asked(request, door, body)
            number = self._way.book.number()
            self._check(request, door, number, asked, body)
            self._tell(request, door, number, asked, taken)
            return await Exchange(self._way, door, number, asked).carry(request, body)
        except RefusedError as refused:
            return self._refuse(request, door, number, refused)
        finally:
            self._held -= taken

    def odd(self, method: str, target: str, why: str) -> None:
        """Tell of what was no request."""
        self._way.teller.tell("refused", method=method, target=target, why=why)

    def _door(self, request: web.BaseRequest) -> Door:
        if request.version != HttpVersion11:
            raise RefusedError("only HTTP/1.1 is spoken here", status=505)
        if request.headers.get(hdrs.UPGRADE):
            raise RefusedError("the connection stays HTTP/1.1", status=426)
        codings = request.headers.getall(hdrs.TRANSFER_ENCODING, [])
        if codings and (codings != ["chunked"] or hdrs.CONTENT_LENGTH in request.headers):
            raise RefusedError("the length of its body can be read in two ways", status=400)
        hosts = request.headers.getall(hdrs.HOST, [])
        return self._doors.find(request.method, request.raw_path, hosts)

    async def _read(self, request: web.BaseRequest, use: Use) -> bytes:
        found = bytearray()
        if request.headers.get(hdrs.EXPECT, "").lower() == "100-continue":
            await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            request.writer.output_size = 0
        try:
            async with asyncio.timeout(_BODY_SECONDS):
                async for piece in request.content.iter_any():
                    found += piece
                    if len(found) > MOST_BODY or self._held + len(found) > _MOST_BODIES:
                        raise RefusedError("the request is too large", status=413)
        except TimeoutError:
            raise RefusedError("the request did not come in time", status=408) from None
        except web.RequestPayloadError as error:
            raise RefusedError(f"its body is broken: {error}", status=400) from error
        if found and use is Use.OTHER:
            raise RefusedError("such a request has no body", status=400)
        return bytes(found)

    async def _asked(self, request: web.BaseRequest, door: Door, body: bytes) -> Asked | None:
        if door.route.use is Use.OTHER:
            return None
        coding = request.headers.get(hdrs.CONTENT_ENCODING, "")
        try:
            # In a thread where it takes long: other answers go on meanwhile.
            read = (
                _read_json(coding, body)
                if len(body) < _LONG_BODY and not coding
                else await asyncio.to_thread(_read_json, coding, body)
            )
        except (ValueError, RecursionError, UnreadableError) as error:
            raise RefusedError(f"its body cannot be read: {error}", status=400) from error
        asked = door.api.ask(door.path, read)
        if door.route.use is Use.COUNT:
            return replace(asked, main=False)
        return replace(asked, main=True) if self._way.settings.main == "any" else asked

    def _tell(
        self, request: web.BaseRequest, door: Door, number: int, asked: Asked | None, size: int
    ) -> None:
        teller = self._way.teller
        client = request.headers.get(hdrs.USER_AGENT, "")[:_LONGEST]
        self._tell_request(
            request,
            door,
            number,
            asked,
            bytes=size,
            params=bounded(teller.mask.clean(asked.params)) if asked else {},
            parts=_named(teller.part, asked) if asked else {},
        )
        if asked and door.route.use is Use.GENERATE and self._is_new(main=asked.main):
            found = fingerprint(asked, client)
            teller.tell("fingerprint", n=number, main=asked.main, **found)

    def _is_new(self, *, main: bool) -> bool:
        """Tell whether it is the first of its kind: side requests count until a main one came."""
        found = main not in self._fingerprinted and True not in self._fingerprinted
        self._fingerprinted.add(main)
        return found

    def _tell_request(
        self,
        request: web.BaseRequest,
        door: Door,
        number: int,
        asked: Asked | None,
        **more: Any,
    ) -> None:
        self._way.teller.tell(
            "request",
            n=number,
            method=request.method,
            path=door.path[:_LONGEST],
            api=door.api.name,
            use=door.route.use,
            client=request.headers.get(hdrs.USER_AGENT, "")[:_LONGEST],
            main=asked is not None and asked.main,
            model=asked.model[:_LONGEST] if asked else "",
            web=asked.web[:_MOST_NAMES] if asked else (),
            **more,
        )

    def _check(
        self, request: web.BaseRequest, door: Door, number: int, asked: Asked | None, body: bytes
    ) -> None:
        """Refuse what must not be sent on; of such a request its size and digest are told."""
        why = ""
        if asked and asked.web:
            names = ", ".join(asked.web[:_MOST_NAMES])
            why = f"what the provider would do on the network is not allowed here: {names}"
        elif which := self._way.book.bound(
            main=asked is not None and asked.main, generates=door.route.use is Use.GENERATE
        ):
            why = f"the run is over: its bound on {which} was reached"
        if why:
            if self._way.teller.listens:
                told = {"digest": body_digest(body), "params": {}, "parts": {}}
                self._tell_request(request, door, number, asked, bytes=len(body), **told)
            raise RefusedError(why, status=door.api.refusal)

    def _refuse(
        self,
        request: web.BaseRequest,
        door: Door | None,
        number: int | None,
        refused: RefusedError,
    ) -> web.StreamResponse:
        numbered = {} if number is None else {"n": number}
        target = request.raw_path[:_LONGEST]
        why = refused.why[:_LONGEST]
        self._way.teller.tell("refused", **numbered, method=request.method, target=target, why=why)
        api = door.api if door else APIS[self._way.settings.apis[0]]
        message = self._way.teller.mask.text(f"labkit's gateway: {why}")
        answer = web.json_response(api.error(refused.status, message), status=refused.status)
        if number is None:
            answer.force_close()
        return answer


def _named(part: Any, asked: Asked) -> dict[str, list[str]]:
    return {name: [part(value) for value in _few(values)] for name, values in asked.parts.items()}


def _few(values: tuple[Any, ...]) -> list[Any]:
    """Return pieces; so many that no conversation has them are one from there on."""
    first, rest = list(values[:_MOST_PARTS]), list(values[_MOST_PARTS:])
    return [*first, rest] if rest else first


def _read_json(coding: str, body: bytes) -> dict[str, Any]:
    text = unpacked(coding, body, MOST_BODY).decode()
    found = json.loads(text, object_pairs_hook=_unique, parse_float=_finite, parse_constant=_finite)
    if not isinstance(found, dict):
        raise ValueError("it is no JSON object")  # noqa: TRY004 - as for what is no JSON at all
    return found


def _finite(text: str) -> float:
    """Return a number; what is none, or too large for one, cannot be written down as JSON again."""
    found = float(text)
    if not math.isfinite(found):
        raise ValueError(f"{text[:40]} is no number that JSON can hold")
    return found


def _unique(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; two readers could read two different requests out of a name said twice."""
    listed = list(pairs)
    found = dict(listed)
    if len(found) != len(listed):
        raise ValueError("a name stands twice in one object")
    return found
