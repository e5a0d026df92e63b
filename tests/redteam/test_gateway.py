"""Hostile requests to the gateway, and secrets that try to come back through it."""

import asyncio
import base64
import gzip
import http.client
import json
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from gateways import (
    ANTHROPIC,
    CHAT,
    GEMINI,
    MESSAGE,
    PATHS,
    RESPONSES,
    SECRET,
    Connection,
    Gateway,
    gateway,
    question,
    sse,
    streamed,
    upstream,
)
from hypothesis import given
from hypothesis import strategies as st

from labkit_runner.gateway.doors import Doors, RefusedError

BODY = json.dumps(question()).encode()
GOOD = b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (
    len(BODY),
    BODY,
)


def post(
    target: str = "/v1/messages", head: str = "", host: str = "Host: 127.0.0.1:8790\r\n"
) -> bytes:
    length = f"Content-Length: {len(BODY)}\r\n"
    return f"POST {target} HTTP/1.1\r\n{host}{length}{head}\r\n".encode() + BODY


def chunked(*head: str) -> bytes:
    return (
        b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\n"
        + "".join(f"{line}\r\n" for line in head).encode()
        + b"\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
    )


HOSTILE = {
    "another path of the host": post("/v1/files"),
    "billing": post("/v1/organizations/api_keys"),
    "climbing": post("/v1/messages/../files"),
    "climbing, encoded": post("/v1/messages/%2e%2e/files"),
    "encoded letter": post("/v1/%6dessages"),
    "encoded slash": post("/v1%2fmessages"),
    "double slash": post("//v1/messages"),
    "double slash inside": post("/v1//messages"),
    "trailing slash": post("/v1/messages/"),
    "backslash": post("/v1\\messages"),
    "semicolon": post("/v1/messages;x=y"),
    "fragment": post("/v1/messages#x"),
    "another letter case": post("/V1/Messages"),
    "a fullwidth letter": post("/v1/m\uff45ssages"),
    "a host for a path": post("//example.org/v1/messages"),
    "absolute form": post("http://example.org/v1/messages"),
    "absolute form of itself": post("http://127.0.0.1:8790/v1/messages"),
    "absolute form with TLS": post("https://example.org/v1/messages"),
    "no slash": post("v1/messages"),
    "user in target": post("@example.org/v1/messages"),
    "a line end in the query": post("/v1/messages?a=%0d%0aHost:+x"),
    "a method in the query": post("/v1/messages?%24httpMethod=DELETE"),
    "odd query": post("/v1/messages?a=<b>"),
    "another host": post(host="Host: example.org\r\n"),
    "metadata": post("/latest/meta-data/", host="Host: 169.254.169.254\r\n"),
    "two hosts": post(host="Host: 127.0.0.1\r\nHost: example.org\r\n"),
    "userinfo in host": post(host="Host: localhost@example.org\r\n"),
    "another method": b"DELETE /v1/messages HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "reading what was sent": b"GET /v1/messages HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "tunnel": b"CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n",
    "tunnel to itself": b"CONNECT 127.0.0.1:8790 HTTP/1.1\r\nHost: 127.0.0.1:8790\r\n\r\n",
    "asterisk": b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "trace": b"TRACE /v1/messages HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "websocket": b"GET /v1/responses HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n"
    b"Upgrade: websocket\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n\r\n",
    "upgrade of a good one": post(head="Connection: Upgrade\r\nUpgrade: h2c\r\n"),
    "HTTP/1.0": post().replace(b"HTTP/1.1", b"HTTP/1.0"),
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "HTTP/0.9": b"GET /\r\n",
    "two lengths": post(head="Content-Length: 3\r\n"),
    "two equal lengths": post(head=f"Content-Length: {len(BODY)}\r\n"),
    "length and chunks": chunked(f"Content-Length: {len(BODY)}", "Transfer-Encoding: chunked"),
    "chunks and length": chunked("Transfer-Encoding: chunked", "Content-Length: 4"),
    "odd transfer coding": chunked("Transfer-Encoding: xchunked"),
    "chunked twice": chunked("Transfer-Encoding: chunked, chunked"),
    "signed length": post().replace(b"Content-Length: ", b"Content-Length: +"),
    "folded header": post(head="X-One: a\r\n b\r\n"),
    "space before colon": post(head="X-One : a\r\n"),
    "bare line feeds": post().replace(b"\r\n", b"\n"),
    "a nought in a header": post(head="X-One: a\0b\r\n"),
    "huge header": post(head=f"X-One: {'a' * 100_000}\r\n"),
    "too many headers": post(head="".join(f"X-{n}: a\r\n" for n in range(1000))),
    "huge target": post("/v1/messages?a=" + "b" * 50_000),
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(100),
    "SSH": b"SSH-2.0-OpenSSH_9.2\r\n",
    "SOCKS": b"\x05\x01\x00",
    "DNS": b"\x00\x1d\xab\xcd\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x07example\x03org\0\0\1\0\1",
    "a body where none belongs": b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n"
    b"Content-Length: 1\r\n\r\nx",
}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with (
        upstream() as server,
        gateway(tmp_path_factory.mktemp("gateway"), server.url) as gate,
    ):
        yield server, gate


@pytest.mark.parametrize("name", list(HOSTILE))
def test_nothing_hostile_reaches_the_model(running: Any, name: str) -> None:
    server, gate = running
    before, told = len(server.requests), len(gate.events("refused"))
    answer = gate.raw(HOSTILE[name], seconds=1.0)
    assert len(server.requests) == before
    assert not answer.startswith(b"HTTP/1.1 2")
    assert len(gate.wait("refused", told + 1)) >= told + 1


def test_who_takes_it_for_a_proxy_is_told(running: Any) -> None:
    _, gate = running
    answer = gate.raw(HOSTILE["tunnel"], seconds=1.0)
    assert answer.startswith(b"HTTP/1.1 403")
    assert b"this is no proxy" in answer


def test_what_follows_a_refused_request_is_no_way_in(running: Any) -> None:
    server, gate = running
    before = len(server.requests)
    gate.raw(post("/v1/files") + GOOD, seconds=1.0)
    gate.raw(HOSTILE["two lengths"] + GOOD, seconds=1.0)
    gate.raw(b"CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n" + GOOD, seconds=1.0)
    assert len(server.requests) == before
    assert gate.ask(question())[0] == 200  # it still works


def test_a_request_inside_a_request_stays_a_body(running: Any) -> None:
    server, gate = running
    before = len(server.requests)
    inner = b"GET /v1/files HTTP/1.1\r\nHost: x\r\n\r\n"
    body = json.dumps(question(note=inner.decode())).encode()
    assert gate.ask(body)[0] == 200
    assert len(server.requests) == before + 1
    assert server.bodies[-1] == body


@given(
    target=st.text(
        st.sampled_from("/v1messagesmodels.%2e2f\\?#@:;=&~ \t\0é") | st.characters(codec="utf-8"),
        max_size=30,
    )
)
def test_only_the_exact_paths_are_doors(target: str) -> None:
    doors = Doors([ANTHROPIC, RESPONSES, CHAT, GEMINI])
    try:
        door = doors.find("POST", target, ["localhost"])
    except RefusedError:
        return
    assert door.path in {
        "/v1/messages",
        "/v1/messages/count_tokens",
        "/v1/responses",
        "/responses",
        "/v1/chat/completions",
        "/chat/completions",
    } or door.path.startswith("/v1")
    assert ".." not in door.path.split("/")
    assert not set("%\\#@; \t\r\n\0") & set(door.path)


@pytest.mark.parametrize(
    ("api", "body"),
    [
        (ANTHROPIC, {"tools": [{"type": "web_search_20250305", "name": "web_search"}]}),
        (RESPONSES, {"tools": [{"type": "web_search"}]}),
        (CHAT, {"web_search_options": {}, "tools": [{"type": "web_search"}]}),
        (GEMINI, {"tools": [{"googleSearch": {}}]}),
    ],
)
def test_the_providers_own_tools_are_refused_by_name(
    tmp_path: Path, api: str, body: dict[str, Any]
) -> None:
    packed = gzip.compress(json.dumps({"model": "m1", **body}).encode())
    with upstream() as server, gateway(tmp_path, server.url, apis=[api]) as gate:
        status, answer = gate.ask(packed, PATHS[api], **{"content-encoding": "gzip"})
        wire = gate.close()
    assert status == (403 if api == CHAT else 400)
    assert server.requests == []
    [refused] = wire.refused
    message = json.loads(answer)["error"]["message"]
    assert "search" in message.lower()
    assert message.removeprefix("labkit's gateway: ") in refused
    assert wire.exchanges == ()


def test_a_tool_behind_a_second_name_is_refused(tmp_path: Path) -> None:
    twice = b'{"tools": [{"type": "web_search_20250305"}], "model": "m1", "tools": []}'
    with upstream() as server, gateway(tmp_path, server.url) as gate:
        assert gate.ask(twice)[0] == 400
        gate.close()
    assert server.requests == []


def test_a_body_has_a_bound(tmp_path: Path) -> None:
    with upstream() as server, gateway(tmp_path, server.url) as gate:
        connection = Connection(gate.place, 60)
        connection.putrequest("POST", "/v1/messages")
        connection.putheader("Content-Length", str(1 << 40))
        connection.endheaders()
        with suppress(ConnectionError):
            for _ in range(200):
                connection.send(b" " * (1 << 20))
        connection.close()
        gate.wait("refused")
        assert gate.ask(question())[0] == 200
        wire = gate.close()
    assert "too large" in wire.refused[0]
    assert len(server.requests) == 1


def test_many_connections_do_not_shut_the_gateway(tmp_path: Path) -> None:
    with upstream() as server, gateway(tmp_path, server.url) as gate:
        clients = []
        for _ in range(300):
            client = socket.socket(socket.AF_UNIX)
            client.connect(gate.place)
            clients.append(client)
        gate.wait("refused")
        for client in clients:
            client.close()
        late = time.monotonic() + 10
        while True:
            try:
                assert gate.ask(question())[0] == 200
                break
            except (ConnectionError, http.client.HTTPException):
                assert time.monotonic() < late
        gate.close()


# --- secrets

ECHOES: dict[str, Callable[[str], bytes]] = {
    "plain": str.encode,
    "base64": lambda text: base64.b64encode(b"ab" + text.encode()),
    "hex": lambda text: text.encode().hex().encode(),
    "escaped": lambda text: "".join(f"\\u{ord(each):04x}" for each in text).encode(),
}


@pytest.mark.parametrize("form", list(ECHOES))
@pytest.mark.parametrize("step", [1, 5, 1000])
@pytest.mark.parametrize("coding", ["", "gzip"])
def test_an_answer_with_the_key_is_not_handed_on(
    tmp_path: Path, form: str, step: int, coding: str
) -> None:
    text = ECHOES[form](SECRET)
    data = sse(*MESSAGE[:2]) + b'data: {"type": "x", "text": "' + text + b'"}\n\n'
    data += sse(*MESSAGE[2:])
    packed = gzip.compress(data) if coding else data

    async def echo(request: web.Request) -> web.StreamResponse:
        headers = {"content-encoding": coding} if coding else {}
        pieces = [packed[at : at + step] for at in range(0, len(packed), step)]
        return await streamed(request, *pieces, headers=headers)

    with upstream(echo) as server, gateway(tmp_path, server.url) as gate:
        try:
            got = gate.ask(question(), **{"accept-encoding": coding or "identity"})[1]
            raise AssertionError(f"a clean end: {got!r}")
        except http.client.IncompleteRead as broken:
            got = broken.partial
        wire = gate.close()
    assert text not in got
    assert not _in_lines(gate, form)
    assert "held the key" in wire.refused[0]
    assert wire.answered == 0


def _in_lines(gate: Gateway, form: str) -> bool:
    lines = b"".join(gate.lines)
    return SECRET.encode() in lines or ECHOES[form](SECRET) in lines


@pytest.mark.parametrize("place", ["header", "error", "reason"])
def test_the_key_in_an_error_or_a_header_is_not_handed_on(tmp_path: Path, place: str) -> None:
    async def tells(_: web.Request) -> web.StreamResponse:
        if place == "header":
            return web.json_response({}, headers={"x-debug": f"key={SECRET}"})
        if place == "reason":
            return web.Response(status=401, reason=f"Bad key {SECRET}")
        message = f"Incorrect API key provided: {SECRET}"
        return web.json_response({"error": {"message": message}}, status=401)

    with upstream(tells) as server, gateway(tmp_path, server.url) as gate:
        answer = gate.raw(GOOD.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1), seconds=5)
        wire = gate.close()
    assert SECRET.encode() not in answer
    assert not _in_lines(gate, "plain")
    assert wire.answered == 0


def test_what_the_agent_says_of_secrets_is_masked_where_it_is_told(tmp_path: Path) -> None:
    canary = "canary-31a9c4"
    encoded = base64.b64encode(f"..{canary}".encode()).decode()
    body = question(messages=[{"role": "user", "content": f"{canary} {encoded} {SECRET}"}])

    async def echo(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await answer.prepare(request)
        await answer.write(b'data: {"type": "x", "t": "' + canary[:6].encode())
        await asyncio.sleep(0.2)  # so that these come as two pieces
        await answer.write(canary[6:].encode() + b'"}\n\n' + sse(*MESSAGE))
        return answer

    with upstream(echo) as server, gateway(tmp_path, server.url, mask=[canary]) as gate:
        status, answer = gate.ask(body, **{"user-agent": f"agent {canary}"})
        gate.ask(body, f"/v1/{canary}")
        gate.ask(body, f"/v1/messages?x={SECRET}")
        gate.close()
    assert status == 200
    assert canary.encode() in answer  # it is no key: masked in the record alone
    lines = b"".join(gate.lines)
    for text in (canary, encoded[3:-3], SECRET):
        assert text.encode() not in lines
    told = "".join(each["text"] for each in gate.events("piece"))
    assert "[masked]" in told
    assert canary not in told
    assert lines.count(b"[masked]") >= 4


def test_the_key_stands_in_no_argument_and_no_variable(tmp_path: Path) -> None:
    with gateway(tmp_path, "http://127.0.0.1:1") as gate:
        folder = Path("/proc") / str(gate.process.pid)
        assert SECRET.encode() not in (folder / "cmdline").read_bytes()
        assert SECRET.encode() not in (folder / "environ").read_bytes()
        assert Path(gate.place).stat().st_mode & 0o777 == 0o666
        gate.close()
