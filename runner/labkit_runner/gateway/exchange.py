"""One request that is sent on, and its answer, handed back as it comes."""

import asyncio
import io
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass

import aiohttp
from aiohttp import hdrs, web
from multidict import CIMultiDict
from yarl import URL

from labkit_runner.gateway.apis.interface import Asked, Heard, Use, asked_for
from labkit_runner.gateway.book import Book, Came
from labkit_runner.gateway.codings import KNOWN, Unpacker, UnreadableError
from labkit_runner.gateway.doors import Door, codings, forwarded, returned, wait_of
from labkit_runner.gateway.hearing import Hearing, Tape
from labkit_runner.gateway.masks import Mask, Watch
from labkit_runner.gateway.reaching import unreachable
from labkit_runner.gateway.settings import Settings
from labkit_runner.gateway.telling import Teller

_FIRST_ERROR = 300


class BrokenError(Exception):
    """An exchange came to a bad end; `status` answers it where nothing was answered before."""

    def __init__(self, outcome: str, why: str, *, status: int = 0) -> None:
        super().__init__(why)
        self.outcome = outcome
        self.why = why
        self.status = status


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """What all exchanges of a run share."""

    settings: Settings
    teller: Teller
    book: Book
    session: aiohttp.ClientSession
    secret: Mask


class Exchange:
    """One exchange with the model's API."""

    def __init__(self, way: Way, door: Door, number: int, asked: Asked | None) -> None:
        self._way = way
        self._door = door
        self._asked = asked
        self._number = number
        self._main = asked is not None and asked.main
        self._generates = door.route.use is Use.GENERATE
        self._sent_size = 0
        self._got = 0
        self._outcome = "abandoned"
        self._why = ""
        self._status: int | None = None
        self._retry_after: str | None = None
        self._start = time.monotonic()
        self._first: float | None = None
        self._size = 0
        self._hearing = Hearing(door.api, streamed=False)
        self._tape = Tape(way.teller, number)
        self._unpacker = Unpacker("")
        self._watch = Watch(way.secret)

    async def carry(self, request: web.BaseRequest, body: bytes) -> web.StreamResponse:
        """Send the request on and hand its answer back; whatever happens is told."""
        self._way.book.open(main=self._main, generates=self._generates)
        self._sent_size = len(body)
        answer: web.StreamResponse | None = None
        try:
            async with await self._sent(request, body) as upstream:
                answer = self._answer(upstream)
                await self._hand_back(request, upstream, answer)
        except BrokenError as broken:
            self._outcome, self._why = broken.outcome, broken.why
            if broken.status and (answer is None or not answer.prepared):
                return self._excuse(broken)
            if request.transport is not None:
                request.transport.close()  # without the end that the answer should have had
        except ConnectionError:
            pass  # the agent went away: abandoned, unless it had heard all
        finally:
            self._close()
        return answer or web.Response()

    async def _sent(self, request: web.BaseRequest, body: bytes) -> aiohttp.ClientResponse:
        settings = self._way.settings
        headers = CIMultiDict(forwarded(request.headers.items()))
        headers[hdrs.ACCEPT_ENCODING] = codings(
            request.headers.get(hdrs.ACCEPT_ENCODING, ""), KNOWN
        )
        if settings.secret:
            name = settings.auth or self._door.api.auth
            bearer = "Bearer " if name.lower() == "authorization" else ""
            headers[name] = f"{bearer}{settings.secret}"
        try:
            async with asyncio.timeout(settings.caps.silence_seconds):
                return await self._way.session.request(
                    request.method,
                    URL(settings.url + self._door.onward, encoded=True),
                    headers=headers,
                    data=io.BytesIO(body) if request.method == "POST" else None,
                    allow_redirects=False,
                    proxy=settings.proxy or None,
                )
        except TimeoutError:
            raise self._silent() from None
        except (aiohttp.ClientConnectorError, aiohttp.ClientHttpProxyError) as error:
            raise BrokenError("unreachable", unreachable(error), status=502) from error
        except (aiohttp.ClientError, OSError) as error:
            raise BrokenError("dropped", str(error) or type(error).__name__) from error

    def _silent(self) -> BrokenError:
        most = self._way.settings.caps.silence_seconds
        self._way.book.reach("silence", most)
        return BrokenError("silent", f"nothing came for {most:g} s", status=504)

    def _answer(self, upstream: aiohttp.ClientResponse) -> web.StreamResponse:
        self._status = upstream.status
        self._retry_after = wait_of(upstream.headers)
        streamed = upstream.content_type == "text/event-stream"
        self._hearing = Hearing(self._door.api, streamed=streamed)
        try:
            self._unpacker = Unpacker(upstream.headers.get(hdrs.CONTENT_ENCODING, ""))
        except UnreadableError as error:
            raise BrokenError("dropped", str(error), status=502) from error
        answer = web.StreamResponse(status=upstream.status, reason=upstream.reason)
        headers = returned(upstream.headers.items())
        if self._way.secret.found(f"{upstream.reason}\n{headers}"):
            raise self._leak()
        answer.headers.extend(headers)
        return answer

    async def _hand_back(
        self, request: web.BaseRequest, upstream: aiohttp.ClientResponse, answer: web.StreamResponse
    ) -> None:
        await answer.prepare(request)
        held = b""
        async for piece in self._pieces(upstream):
            held += piece
            unpacked = self._unpacked(piece)
            if self._secret_in(unpacked) is not None:  # else its beginning may have come: wait
                await answer.write(held)
                held = b""
            for each in unpacked:
                self._got += len(each)
                self._hearing.feed(each)
                self._tape.feed(each)
        if held:
            await answer.write(held)
        failed = upstream.status >= _FIRST_ERROR
        self._hearing.end(failed=failed)
        self._outcome = self._judged(failed=failed)
        if request.method != "HEAD":
            await answer.write_eof()

    async def _pieces(self, upstream: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
        while True:
            try:
                async with asyncio.timeout(self._way.settings.caps.silence_seconds):
                    piece = await upstream.content.readany()
            except TimeoutError:
                raise self._silent() from None
            except (aiohttp.ClientError, OSError) as error:
                raise BrokenError("dropped", str(error) or type(error).__name__) from error
            if not piece:
                return
            if self._first is None:
                self._first = time.monotonic()
            self._size += len(piece)
            yield piece

    def _unpacked(self, piece: bytes) -> list[bytes]:
        try:
            return list(self._unpacker.feed(piece))
        except UnreadableError as error:
            raise BrokenError("dropped", str(error)) from error

    def _secret_in(self, pieces: list[bytes]) -> bool | None:
        """Return None where the secret's beginning may have come; raises when it is there."""
        found: bool | None = False
        for piece in pieces:
            found = self._watch.look(piece.decode("latin-1"))
            if found:
                raise self._leak()
        return found

    def _leak(self) -> BrokenError:
        why = "the answer held the key: it was not handed on"
        self._way.teller.tell(
            "refused",
            n=self._number,
            method="",
            target=self._door.path,
            why=why,
        )
        return BrokenError("dropped", why, status=502)

    def _judged(self, *, failed: bool) -> str:
        if failed or self._hearing.heard.error:
            return "error"
        if self._generates and not self._hearing.heard.complete:
            return "cut"
        return "answered"

    def _excuse(self, broken: BrokenError) -> web.StreamResponse:
        self._status = None
        message = f"labkit's gateway: {broken.why}"
        shaped = self._door.api.error(broken.status, self._way.teller.mask.text(message))
        return web.json_response(shaped, status=broken.status)

    def _close(self) -> None:
        heard, way = self._hearing.heard, self._way
        if self._outcome == "abandoned" and heard.complete:
            self._outcome = "answered"  # some do not wait for the end of the connection
        if self._why and not heard.error:
            heard.error = {"type": "gateway", "message": self._why[:500]}
        if not self._generates:
            heard.usage = {}
        elif not heard.complete and self._outcome != "error":
            heard.usage = None  # what was told so far is not all
        cost = way.book.price(self._asked, heard) if heard.usage != {} else 0.0
        way.book.close(main=self._main, generates=self._generates)
        self._tape.end()
        now = time.monotonic()
        way.teller.tell(
            "response",
            n=self._number,
            status=self._status,
            outcome=self._outcome,
            seconds=round(now - self._start, 4),
            first_byte=None if self._first is None else round(self._first - self._start, 4),
            usage=heard.usage,
            cost=cost,
            model=heard.model,
            stop=heard.stop,
            error=heard.error,
            web=sorted(heard.web),
            bytes=self._size,
            cut_bytes=self._tape.cut_bytes,
            retry_after=self._retry_after,
        )
        way.book.heard(self._came(heard, cost))

    def _came(self, heard: Heard, cost: float | None) -> Came:
        refused = self._outcome == "error" and (self._status or 0) >= _FIRST_ERROR
        return Came(
            main=self._main,
            generates=self._generates,
            answered=self._outcome == "answered",
            is_free=refused or self._outcome == "unreachable",
            whole=heard.complete,
            usage=heard.usage,
            cost=cost,
            names=(self._asked.model if self._asked else "", heard.model),
            sent=self._sent_size,
            got=self._got,
            asked_for=asked_for(self._asked.params) if self._asked else 0,
        )
