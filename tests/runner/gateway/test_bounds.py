"""The bounds of a run: requests, tokens, cost, idleness; and what answers cost."""

import asyncio
import json
import threading
import time
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
    TOOLS,
    Connection,
    gateway,
    question,
    sse,
    streamed,
    upstream,
)
from hypothesis import given
from hypothesis import strategies as st

from labkit_runner.gateway.book import Book, Came, cost_of
from labkit_runner.gateway.settings import Caps, Settings

PRICES = {"m1": {"input": 3, "output": 15, "cache_read": 0.3}}


async def any_api(request: web.Request) -> web.StreamResponse:
    """Answer in whatever API was asked, whole."""
    if "messages" in request.path:
        return await streamed(request, sse(*MESSAGE))
    if "chat" in request.path:
        return web.json_response({"choices": [{"finish_reason": "stop"}]})
    if "responses" in request.path:
        return web.json_response({"status": "completed"})
    return web.json_response({"candidates": [{"finishReason": "STOP"}]})


@pytest.mark.parametrize(
    ("api", "refusal", "kind"),
    [
        (ANTHROPIC, 400, ("error", "type", "invalid_request_error")),
        (RESPONSES, 400, ("error", "code", "labkit_gateway")),
        (CHAT, 403, ("error", "code", "labkit_gateway")),
        (GEMINI, 400, ("error", "status", "INVALID_ARGUMENT")),
    ],
)
def test_the_turn_after_the_last_is_refused_in_the_apis_shape(
    tmp_path: Path, api: str, refusal: int, kind: tuple[str, str, str]
) -> None:
    body = {"model": "m1", "tools": [{"type": "function"}] if api != GEMINI else [{}]}
    if api == ANTHROPIC:
        body["tools"] = TOOLS
    settings: dict[str, Any] = {"apis": [api], "caps": {"requests": 2}}
    with upstream(any_api) as server, gateway(tmp_path, server.url, **settings) as gate:
        side = {name: value for name, value in body.items() if name != "tools"}
        assert gate.ask(side, PATHS[api])[0] == 200  # is no turn
        assert [gate.ask(body, PATHS[api])[0] for _ in range(4)] == [200, 200, refusal, refusal]
        status, answer = gate.ask(side, PATHS[api])
        assert status == refusal  # the run is over for every request
        wire = gate.close()
    told = json.loads(answer)
    assert told[kind[0]][kind[1]] == kind[2]
    assert "bound on requests" in told["error"]["message"]
    assert wire.cap == "requests"
    assert wire.answered == 2
    assert [each["limit"] for each in gate.events("cap")] == [2]
    assert len(server.requests) == 3


def test_what_was_not_answered_is_no_turn(tmp_path: Path) -> None:
    async def busy(_: web.Request) -> web.StreamResponse:
        return web.json_response({"type": "error"}, status=529)

    with upstream(busy) as server, gateway(tmp_path, server.url, caps={"requests": 1}) as gate:
        assert [gate.ask(question())[0] for _ in range(3)] == [529] * 3
        wire = gate.close()
    assert (wire.cap, wire.answered) == ("", 0)


def test_an_agent_that_tries_again_for_ever_is_ended(tmp_path: Path) -> None:
    count = 0

    async def cuts(request: web.Request) -> web.StreamResponse:
        nonlocal count
        count += 1
        return await streamed(request, sse(*MESSAGE[: 5 if count == 3 else 2]))

    with upstream(cuts) as server, gateway(tmp_path, server.url, caps={"failures": 2}) as gate:
        found = [gate.ask(question())[0] for _ in range(7)]
        wire = gate.close()
    assert found == [200] * 6 + [400]  # two failures, one answer, three failures in a row
    assert (wire.cap, wire.answered) == ("failures", 1)


def test_requests_at_once_do_not_pass_the_bound_together(tmp_path: Path) -> None:
    with upstream() as server, gateway(tmp_path, server.url, caps={"requests": 3}) as gate:
        threads = [threading.Thread(target=gate.ask, args=(question(),)) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        wire = gate.close()
    assert len(server.requests) == wire.answered == 3


@pytest.mark.parametrize(
    ("caps", "which"), [({"tokens": 200}, "tokens"), ({"cost": 0.001}, "cost")]
)
def test_tokens_and_cost_end_a_run_as_soon_as_they_are_passed(
    tmp_path: Path, caps: dict[str, float], which: str
) -> None:
    settings: dict[str, Any] = {"caps": caps, "prices": PRICES}
    with upstream() as server, gateway(tmp_path, server.url, **settings) as gate:
        gate.ask(question())  # 120 tokens, 0.0006
        assert gate.events("cap") == []
        gate.ask(question())
        [cap] = gate.wait("cap")  # before the next request
        status, answer = gate.ask(question())
        wire = gate.close()
    assert (cap["which"], cap["limit"]) == (which, caps[which])
    assert status == 400
    assert f"bound on {which}".encode() in answer
    assert wire.cap == which
    assert len(server.requests) == 2


def test_an_idle_run_is_ended(tmp_path: Path) -> None:
    async def slow(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await answer.prepare(request)
        for event in MESSAGE:
            time.sleep(0.15)
            await answer.write(sse(event))
        return answer

    caps = {"idle_seconds": 0.5}
    with upstream(slow) as server, gateway(tmp_path, server.url, caps=caps) as gate:
        gate.ask(question())  # takes longer than that, but is not idle
        assert gate.events("cap") == []
        [cap] = gate.wait("cap")
        [answered] = gate.events("response")
        wire = gate.close()
    assert wire.cap == "idle"
    assert cap["t"] - answered["t"] >= 0.49


def test_a_connection_that_asks_nothing_is_idle(tmp_path: Path) -> None:
    with gateway(tmp_path, "http://127.0.0.1:1", caps={"idle_seconds": 0.3}) as gate:
        connection = Connection(gate.place)
        connection.connect()
        connection.sock.sendall(b"POST /v1/messages HTTP/1.1\r\n")
        gate.wait("cap")
        connection.close()
        assert gate.close().cap == "idle"


def test_an_unknown_price_is_unknown(tmp_path: Path) -> None:
    prices = {**PRICES, "m2": {"input": 3}}
    with upstream() as server, gateway(tmp_path, server.url, prices=prices) as gate:
        gate.ask(question(model="latest"))  # the answer names m1
        gate.ask(question(model="m2"))
        wire = gate.close()
    assert [each.cost for each in wire.exchanges] == [pytest.approx(0.0006), None]
    assert wire.cost is None
    assert wire.tokens == 240


def test_an_answer_that_tells_no_usage_has_an_unknown_cost(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"apis": [CHAT], "prices": PRICES}
    with upstream(any_api) as server, gateway(tmp_path, server.url, **settings) as gate:
        gate.ask({"model": "m1", "tools": [{}]}, PATHS[CHAT])
        wire = gate.close()
    assert wire.answered == 1
    assert wire.last
    assert (wire.last.usage, wire.last.cost, wire.cost) == (None, None, None)


def plain(**more: Any) -> dict[str, Any]:
    """Return a request that offers no tools."""
    return {name: value for name, value in question(**more).items() if name != "tools"}


@pytest.mark.parametrize("main", ["any", "tools"])
def test_an_agent_that_offers_no_tools_has_turns_a_bound_and_a_fingerprint(
    tmp_path: Path, main: str
) -> None:
    settings: dict[str, Any] = {"caps": {"requests": 2}, "main": main}
    with upstream() as server, gateway(tmp_path, server.url, **settings) as gate:
        assert gate.ask(plain(), "/v1/messages/count_tokens")[0] == 200
        assert [gate.ask(plain())[0] for _ in range(4)] == [200, 200, 400, 400]
        wire = gate.close()
    assert (wire.cap, wire.answered) == ("requests", 2)
    assert wire.fingerprint["model"] == "m1"
    assert [each.main for each in wire.exchanges] == [False, True, True]


def test_side_requests_are_no_turns_once_there_is_a_main_conversation(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"caps": {"requests": 1}}
    with upstream() as server, gateway(tmp_path, server.url, **settings) as gate:
        asked = [plain(system="side"), question(system="main"), plain(), plain()]
        assert [gate.ask(each)[0] for each in asked] == [200] * 4
        prints = gate.events("fingerprint")
        wire = gate.close()
    assert wire.answered == 1
    assert [each["main"] for each in prints] == [False, True]
    assert wire.fingerprint["system"] == prints[1]["system"]


def test_all_requests_are_turns_of_an_agent_that_has_no_side_conversation(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"caps": {"requests": 2}, "main": "any"}
    with upstream() as server, gateway(tmp_path, server.url, **settings) as gate:
        assert [gate.ask(each)[0] for each in (question(), plain(), plain())] == [200, 200, 400]
        assert gate.close().answered == 2


async def until_it_leaves(request: web.Request) -> web.StreamResponse:
    """Begin an answer that tells some usage, and never end it."""
    answer = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await answer.prepare(request)
    for event in MESSAGE[:3]:
        await answer.write(sse(event))
    await asyncio.sleep(20)
    return answer


def leave(place: str) -> None:
    """Ask, read a little of the answer, and hang up."""
    connection = Connection(place)
    connection.request("POST", "/v1/messages", json.dumps(question()))
    connection.getresponse().read(20)
    connection.close()


@pytest.mark.parametrize("caps", [{"tokens": 999}, {"cost": 0.0149}])
def test_who_hangs_up_before_the_usage_is_told_is_bounded_all_the_same(
    tmp_path: Path, caps: dict[str, float]
) -> None:
    settings: dict[str, Any] = {"caps": caps, "prices": PRICES}
    with upstream(until_it_leaves) as server, gateway(tmp_path, server.url, **settings) as gate:
        leave(gate.place)  # it asked for at most 1000 tokens, at 15 for a million
        gate.wait("cap")
        wire = gate.close()
    assert wire.cap == next(iter(caps))
    assert (wire.tokens, wire.usage, wire.cost) == (None, None, None)


@pytest.mark.parametrize(("most", "capped"), [(50, True), (5000, False)])
def test_an_answer_without_usage_counts_a_token_a_byte(
    tmp_path: Path, most: int, *, capped: bool
) -> None:
    settings: dict[str, Any] = {"apis": [CHAT], "caps": {"tokens": most}}
    with upstream(any_api) as server, gateway(tmp_path, server.url, **settings) as gate:
        gate.ask({"model": "m1", "tools": [{}]}, PATHS[CHAT])
        wire = gate.close()
    assert wire.cap == ("tokens" if capped else "")
    assert (wire.answered, wire.tokens) == (1, None)


def test_what_has_no_price_counts_at_the_highest_that_is_known(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"caps": {"cost": 0.0017}, "prices": PRICES}
    with upstream() as server, gateway(tmp_path, server.url, **settings) as gate:
        gate.ask(question(model="unknown"))
        wire = gate.close()
    assert wire.cap == ""  # the answer names m1
    came = Came(
        main=True, generates=True, answered=True, is_free=False, whole=True, cost=None,
        usage={"input": 100, "output": 20}, names=("unknown",), sent=9, got=9,
    )  # fmt: skip
    over: list[str] = []
    found = Settings(socket="", apis=(), url="", prices=PRICES, caps=Caps(cost=0.0017))
    Book(found, lambda which, _: over.append(which)).heard(came)
    assert over == ["cost"]


def test_counting_tokens_and_listing_models_cost_nothing(tmp_path: Path) -> None:
    async def small(_: web.Request) -> web.StreamResponse:
        return web.json_response({"input_tokens": 7})

    with upstream(small) as server, gateway(tmp_path, server.url) as gate:
        assert gate.ask(question(), "/v1/messages/count_tokens")[0] == 200
        assert gate.ask(None, "/v1/models?limit=1", "GET")[0] == 200
        assert gate.ask(None, "/", "HEAD") == (200, b"")
        wire = gate.close()
    assert (wire.cost, wire.tokens, wire.answered) == (0, 0, 0)
    assert [each.outcome for each in wire.exchanges] == ["answered"] * 3
    assert wire.last is None


COUNTS = st.dictionaries(
    st.sampled_from(["input", "output", "cache_read", "cache_write", "reasoning"]),
    st.integers(0, 10**9),
)
PRICE = st.none() | st.floats(0, 1000)


@given(
    usage=COUNTS,
    prices=st.fixed_dictionaries(
        {}, optional=dict.fromkeys(("input", "output", "cache_read", "cache_write"), PRICE)
    ),
)
def test_a_cost_is_known_when_every_price_that_is_needed_is(
    usage: dict[str, int], prices: dict[str, float | None]
) -> None:
    needed = [kind for kind, count in usage.items() if count and kind != "reasoning"]
    found = cost_of(usage, prices)
    if any(prices.get(kind) is None for kind in needed):
        assert found is None
    else:
        exact = sum(usage[kind] * (prices[kind] or 0.0) for kind in needed) / 1e6
        assert found == pytest.approx(exact)
    assert cost_of(None, prices) is None
    assert cost_of(usage, None) is None
