"""Whatever the model's API does wrong reaches the agent as it is, and is told as it was."""

import asyncio
import gzip
import http.client
import json
import socket
import threading
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from aiohttp import web
from backports import zstd
from gateways import (
    CHAT,
    MESSAGE,
    PATHS,
    SECRET,
    Answer,
    Connection,
    gateway,
    question,
    sse,
    streamed,
    upstream,
    well,
)

from labkit_runner.gateway.wire import Outcome

QUICK = {"silence_seconds": 0.4}


def error(status: int, kind: str, **headers: str) -> Answer:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.json_response(
            {"type": "error", "error": {"type": kind, "message": "scripted"}},
            status=status,
            headers=headers,
        )

    return answer


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (404, "not_found_error"),
        (413, "request_too_large"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (529, "overloaded_error"),
    ],
)
def test_errors_pass_as_they_are(tmp_path: Path, status: int, kind: str) -> None:
    answer = error(status, kind, **{"retry-after": "2", "request-id": "req_1"})
    with upstream(answer) as server, gateway(tmp_path, server.url) as gate:
        connection = Connection(gate.place)
        connection.request("POST", "/v1/messages", json.dumps(question()))
        got = connection.getresponse()
        assert got.status == status
        assert got.headers["retry-after"] == "2"
        assert got.headers["request-id"] == "req_1"
        assert json.loads(got.read())["error"]["type"] == kind
        connection.close()
        [told] = gate.wait("response")
        wire = gate.close()
    assert wire.last
    assert wire.last.outcome is Outcome.ERROR
    assert wire.last.status == status
    assert wire.last.error == {"type": kind, "message": "scripted"}
    assert told["retry_after"] == "2"
    assert wire.last.usage is None
    assert wire.answered == 0
    assert wire.cost == 0  # an error that tells of no tokens has not used any


def test_an_error_that_is_no_json_is_told(tmp_path: Path) -> None:
    async def page(_: web.Request) -> web.StreamResponse:
        return web.Response(status=502, text="<h1>Bad gateway</h1>", content_type="text/html")

    with upstream(page) as server, gateway(tmp_path, server.url) as gate:
        assert gate.ask(question())[0] == 502
        wire = gate.close()
    assert wire.last
    assert wire.last.error == {"message": "<h1>Bad gateway</h1>"}


def test_a_broken_stream_never_looks_like_an_end(tmp_path: Path) -> None:
    async def breaks(request: web.Request) -> web.StreamResponse:
        return await streamed(request, sse(*MESSAGE[:3]), end=False)

    with upstream(breaks) as server, gateway(tmp_path, server.url) as gate:
        with pytest.raises(http.client.IncompleteRead) as caught:
            gate.ask(question())
        wire = gate.close()
    assert b"Hello" in caught.value.partial
    assert wire.last
    assert wire.last.outcome is Outcome.DROPPED
    assert wire.last.usage is None  # what was told so far is not all


def test_a_body_shorter_than_it_said_breaks_as_well(tmp_path: Path) -> None:
    async def short(request: web.Request) -> web.StreamResponse:
        return await streamed(request, b"{", end=False, headers={"content-length": "100"})

    with upstream(short) as server, gateway(tmp_path, server.url) as gate:
        with pytest.raises(http.client.IncompleteRead):
            gate.ask(question())
        wire = gate.close()
    assert wire.last
    assert wire.last.outcome is Outcome.DROPPED


def test_a_clean_early_end_stays_one(tmp_path: Path) -> None:
    async def cut(request: web.Request) -> web.StreamResponse:
        return await streamed(request, sse(*MESSAGE[:3]))

    with upstream(cut) as server, gateway(tmp_path, server.url) as gate:
        assert gate.ask(question()) == (200, sse(*MESSAGE[:3]))
        wire = gate.close()
    assert wire.last
    assert wire.last.outcome is Outcome.CUT
    assert wire.answered == 0


def test_an_error_inside_a_stream_is_an_error(tmp_path: Path) -> None:
    async def fails(request: web.Request) -> web.StreamResponse:
        late = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
        return await streamed(request, sse(*MESSAGE[:2], late))

    with upstream(fails) as server, gateway(tmp_path, server.url) as gate:
        assert gate.ask(question())[0] == 200
        wire = gate.close()
    assert wire.last
    assert (wire.last.outcome, wire.last.status) == (Outcome.ERROR, 200)
    assert wire.last.error["type"] == "overloaded_error"


def test_a_connection_closed_without_an_answer_is_closed_here_too(tmp_path: Path) -> None:
    async def refuses(request: web.Request) -> web.StreamResponse:
        assert request.transport
        request.transport.close()
        return web.Response()

    with upstream(refuses) as server, gateway(tmp_path, server.url) as gate:
        with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
            gate.ask(question())
        wire = gate.close()
    assert wire.last
    assert (wire.last.outcome, wire.last.status) == (Outcome.DROPPED, None)
    assert len(server.requests) == 1  # nothing is asked twice


def test_nobody_there_is_told_in_the_apis_own_shape(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with gateway(tmp_path, f"http://127.0.0.1:{port}") as gate:
        status, body = gate.ask(question())
        wire = gate.close()
    assert status == 502
    assert json.loads(body)["error"]["type"] == "api_error"
    assert wire.last
    assert (wire.last.outcome, wire.last.status) == (Outcome.UNREACHABLE, None)
    assert "127.0.0.1" in wire.last.error["message"]


async def never(_: web.Request) -> web.StreamResponse:
    await asyncio.sleep(30)
    return web.Response()


def test_silence_is_not_waited_for(tmp_path: Path) -> None:
    with upstream(never) as server, gateway(tmp_path, server.url, caps=QUICK) as gate:
        status, body = gate.ask(question())
        [cap] = gate.wait("cap")
        wire = gate.close()
    assert status == 504
    assert json.loads(body)["error"]["type"] == "timeout_error"
    assert (cap["which"], cap["limit"]) == ("silence", 0.4)
    assert wire.last
    assert wire.last.outcome is Outcome.SILENT


def test_silence_in_mid_stream_breaks_the_answer(tmp_path: Path) -> None:
    async def stops(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await answer.prepare(request)
        await answer.write(sse(*MESSAGE[:3]))
        await asyncio.sleep(30)
        return answer

    with upstream(stops) as server, gateway(tmp_path, server.url, caps=QUICK) as gate:
        with pytest.raises(http.client.IncompleteRead):
            gate.ask(question())
        wire = gate.close()
    assert wire.cap == "silence"
    assert wire.last
    assert wire.last.outcome is Outcome.SILENT


def test_a_slow_answer_is_no_silence(tmp_path: Path) -> None:
    async def slow(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await answer.prepare(request)
        for event in MESSAGE:
            await asyncio.sleep(0.2)
            await answer.write(sse(event))
        return answer

    with upstream(slow) as server, gateway(tmp_path, server.url, caps=QUICK) as gate:
        assert gate.ask(question()) == (200, sse(*MESSAGE))
        wire = gate.close()
    assert (wire.cap, wire.answered) == ("", 1)


def test_pieces_pass_as_they_come(tmp_path: Path) -> None:
    seen = threading.Event()

    async def waits(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await answer.prepare(request)
        await answer.write(b"data: {}\n")
        while not seen.is_set():
            await asyncio.sleep(0.01)
        await answer.write(sse(*MESSAGE))
        return answer

    with upstream(waits) as server, gateway(tmp_path, server.url) as gate:
        connection = Connection(gate.place)
        connection.request("POST", "/v1/messages", json.dumps(question()))
        answer = connection.getresponse()
        assert answer.read1(100) == b"data: {}\n"  # while the rest was not written yet
        seen.set()
        assert answer.read() == sse(*MESSAGE)
        connection.close()


def test_an_agent_that_goes_away_ends_the_request(tmp_path: Path) -> None:
    ended = []

    async def long(request: web.Request) -> web.StreamResponse:
        try:
            answer = web.StreamResponse(headers={"content-type": "text/event-stream"})
            await answer.prepare(request)
            await answer.write(sse(*MESSAGE[:2]))
            await asyncio.sleep(30)
            return answer
        finally:
            ended.append(True)

    with upstream(long) as server, gateway(tmp_path, server.url) as gate:
        connection = Connection(gate.place)
        connection.request("POST", "/v1/messages", json.dumps(question()))
        connection.getresponse().read1(100)
        connection.close()
        [told] = gate.wait("response")
        late = time.monotonic() + 10
        while not ended:
            assert time.monotonic() < late
            time.sleep(0.01)
        wire = gate.close()
    assert told["outcome"] == "abandoned"
    assert wire.answered == 0
    assert wire.cap == ""


def test_an_agent_that_has_heard_the_end_may_go(tmp_path: Path) -> None:
    async def lingers(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await answer.prepare(request)
        await answer.write(sse(*MESSAGE))
        await asyncio.sleep(30)
        return answer

    with upstream(lingers) as server, gateway(tmp_path, server.url) as gate:
        connection = Connection(gate.place)
        connection.request("POST", "/v1/messages", json.dumps(question()))
        answer = connection.getresponse()
        found = b""
        while b"message_stop" not in found:
            found += answer.read1(1000)
        connection.close()
        gate.wait("response")
        wire = gate.close()
    assert wire.answered == 1


def test_redirects_are_not_followed(tmp_path: Path) -> None:
    async def moved(_: web.Request) -> web.StreamResponse:
        return web.Response(status=307, headers={"location": "/v1/elsewhere"})

    with upstream(moved) as server, gateway(tmp_path, server.url) as gate:
        assert gate.ask(question())[0] == 307
        wire = gate.close()
    assert len(server.requests) == 1
    assert wire.last
    assert wire.last.outcome is Outcome.ERROR


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "zstd": zstd.compress,
}


@pytest.mark.parametrize("coding", list(PACKED))
@pytest.mark.parametrize("step", [7, 1 << 20])
def test_packed_answers_stay_packed_and_are_understood(
    tmp_path: Path, coding: str, step: int
) -> None:
    packed = PACKED[coding](sse(*MESSAGE))

    async def packs(request: web.Request) -> web.StreamResponse:
        assert request.headers["accept-encoding"] == coding
        pieces = [packed[at : at + step] for at in range(0, len(packed), step)]
        return await streamed(request, *pieces, headers={"content-encoding": coding})

    with upstream(packs) as server, gateway(tmp_path, server.url) as gate:
        accepted = {"accept-encoding": f"br, {coding};q=0.9"}
        assert gate.ask(question(), **accepted) == (200, packed)
        wire = gate.close()
    assert wire.answered == 1
    assert (wire.usage or {})["input"] == 100


@pytest.mark.parametrize("coding", list(PACKED))
def test_packed_requests_are_looked_into_and_passed_as_they_came(
    tmp_path: Path, coding: str
) -> None:
    packed = PACKED[coding](json.dumps(question()).encode())
    with upstream() as server, gateway(tmp_path, server.url) as gate:
        assert gate.ask(packed, **{"content-encoding": coding})[0] == 200
        gate.close()
    assert server.bodies == [packed]
    assert server.requests[0].headers["content-encoding"] == coding
    assert gate.events("request")[0]["main"]


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("br", b"{}"),
        ("gzip", b"{}"),
        ("gzip, gzip", gzip.compress(gzip.compress(b"{}"))),
        ("zstd", b"\x28\xb5\x2f\xfdnonsense"),
        ("", b'{"model": "m1", "model": "m2"}'),
        ("", b"[]"),
        ("", b"\xff\xfe"),
        ("", '{"model": "m1"}'.encode("utf-16")),
        ("", b"[" * 100_000),
        ("gzip", gzip.compress(b" " * (65 << 20))),
    ],
    ids=[
        "unknown coding", "no gzip", "gzip twice", "no zstd", "name twice", "a list", "no UTF-8",
        "UTF-16", "deep", "a bomb",
    ],
)  # fmt: skip
def test_a_body_that_cannot_be_read_is_not_sent_on(
    tmp_path: Path, coding: str, body: bytes
) -> None:
    headers = {"content-encoding": coding} if coding else {}
    with upstream() as server, gateway(tmp_path, server.url) as gate:
        status, answer = gate.ask(body, **headers)
        wire = gate.close()
    assert status == 400
    assert json.loads(answer)["error"]["type"] == "invalid_request_error"
    assert server.requests == []
    assert len(wire.refused) == 1


def test_what_cannot_be_unpacked_here_is_not_handed_on(tmp_path: Path) -> None:
    async def brotli(request: web.Request) -> web.StreamResponse:
        return await streamed(request, b"??", headers={"content-encoding": "br"})

    with upstream(brotli) as server, gateway(tmp_path, server.url) as gate:
        assert gate.ask(question())[0] == 502
        gate.close()


def test_headers_are_the_apis_own(tmp_path: Path) -> None:
    async def headers(request: web.Request) -> web.StreamResponse:
        more = {"x-ratelimit": "7", "set-cookie": "a=b", "connection": "x-hop", "x-hop": "1"}
        return await streamed(request, sse(*MESSAGE), headers=more)

    with upstream(headers) as server, gateway(tmp_path, server.url) as gate:
        connection = Connection(gate.place)
        sent = {
            "anthropic-beta": "a,b",
            "x-api-key": "dummy",
            "Authorization": "Bearer dummy",
            "cookie": "c=d",
            "connection": "keep-alive, x-mine",
            "x-mine": "1",
            "user-agent": "claude-cli/2.1",
        }
        connection.request("POST", "/v1/messages?key=dummy&beta=true", json.dumps(question()), sent)
        got = connection.getresponse()
        got.read()
        connection.close()
        gate.close()
    asked = server.requests[0]
    assert asked.headers["anthropic-beta"] == "a,b"
    assert asked.headers["user-agent"] == "claude-cli/2.1"
    assert asked.headers.getall("x-api-key") == [SECRET]
    assert not {"authorization", "cookie", "x-mine"} & {name.lower() for name in asked.headers}
    assert asked.raw_path == "/v1/messages?beta=true"
    assert got.headers["x-ratelimit"] == "7"
    assert got.headers["set-cookie"] is None
    assert got.headers["x-hop"] is None


def test_an_address_with_a_path_is_kept(tmp_path: Path) -> None:
    settings = {"apis": [CHAT]}
    with upstream() as server, gateway(tmp_path, f"{server.url}/relay/v1", **settings) as gate:
        gate.ask(question(), PATHS[CHAT])
        gate.ask(question(), "/chat/completions")
        gate.close()
    assert [each.raw_path for each in server.requests] == ["/relay/v1/chat/completions"] * 2
    assert server.requests[0].headers["authorization"] == f"Bearer {SECRET}"


def test_a_continue_is_given_to_who_waits_for_it(tmp_path: Path) -> None:
    body = json.dumps(question()).encode()
    head = (
        b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
        b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
    )
    with upstream(well) as server, gateway(tmp_path, server.url) as gate:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(10)
            client.connect(gate.place)
            client.sendall(head)
            assert client.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
            client.sendall(body)
            assert client.recv(100).startswith(b"HTTP/1.1 200 OK")
        gate.close()
