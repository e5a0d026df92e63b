"""What answers tell of tokens and ends, over any splitting of their bytes."""

import itertools
import json
from collections.abc import Mapping
from typing import Any

import pytest
from gateways import ANTHROPIC, CHAT, GEMINI, MESSAGE, RESPONSES, sse
from hypothesis import given
from hypothesis import strategies as st

from labkit_runner.gateway.apis import APIS
from labkit_runner.gateway.apis.interface import Heard
from labkit_runner.gateway.hearing import Hearing
from labkit_runner.gateway.sse import Events

CACHED = {"input_tokens": 5, "cache_read_input_tokens": 70, "cache_creation_input_tokens": 30}
RESPONSE = {
    "id": "resp_1",
    "status": "completed",
    "model": "m1-2026",
    "output": [{"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}],
    "error": None,
    "usage": {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 60},
        "output_tokens": 30,
        "output_tokens_details": {"reasoning_tokens": 10},
    },
}
CHAT_USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 30,
    "prompt_tokens_details": {"cached_tokens": 60},
    "completion_tokens_details": {"reasoning_tokens": 10},
}
GEMINI_END = {
    "candidates": [{"content": {"parts": [{"text": "Hi"}]}, "finishReason": "STOP"}],
    "usageMetadata": {
        "promptTokenCount": 100,
        "cachedContentTokenCount": 60,
        "candidatesTokenCount": 20,
        "thoughtsTokenCount": 10,
    },
    "modelVersion": "m1-2026",
}
OPENAI = {"input": 40, "output": 30, "cache_read": 60, "reasoning": 10}
STREAMS: dict[str, tuple[str, tuple[Any, ...], dict[str, int] | None, str]] = {
    "anthropic": (ANTHROPIC, MESSAGE, {"input": 100, "output": 20}, "end_turn"),
    "anthropic cached": (
        ANTHROPIC,
        (
            {"type": "message_start", "message": {"usage": {**CACHED, "output_tokens": 1}}},
            {"type": "ping"},
            {"type": "something_new", "usage": {"input_tokens": 9}},
            {
                "type": "message_delta",
                "delta": {"stop_reason": "tool_use"},
                "usage": {"output_tokens": 8},
            },
            {"type": "message_stop"},
        ),
        {"input": 5, "output": 8, "cache_read": 70, "cache_write": 30},
        "tool_use",
    ),
    "responses": (
        RESPONSES,
        (
            {"type": "response.created", "response": {"status": "in_progress", "usage": None}},
            {"type": "response.output_text.delta", "delta": "Hi"},
            {"type": "response.completed", "response": RESPONSE},
        ),
        OPENAI,
        "completed",
    ),
    "chat with usage": (
        CHAT,
        (
            {"choices": [{"delta": {"content": "Hi"}, "finish_reason": None}], "usage": None},
            {"choices": [{"delta": {}, "finish_reason": "stop"}]},
            {"choices": [], "usage": CHAT_USAGE},
            "[DONE]",
        ),
        OPENAI,
        "stop",
    ),
    "chat without": (
        CHAT,
        ({"choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}]}, "[DONE]"),
        None,
        "stop",
    ),
    "gemini": (
        GEMINI,
        (
            {
                "candidates": [{"content": {"parts": [{"text": "H"}]}}],
                "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 1},
            },
            GEMINI_END,
        ),
        OPENAI,
        "STOP",
    ),
}


def hear(api: str, data: bytes, cuts: list[int] | None = None, *, streamed: bool = True) -> Heard:
    hearing = Hearing(APIS[api], streamed=streamed)
    places = [0, *sorted(cut % (len(data) + 1) for cut in cuts or ()), len(data)]
    for start, end in itertools.pairwise(places):
        hearing.feed(data[start:end])
    hearing.end(failed=False)
    return hearing.heard


@pytest.mark.parametrize("name", list(STREAMS))
@pytest.mark.parametrize("ends", [b"\n", b"\r\n", b"\r"])
@given(cuts=st.lists(st.integers(0, 5000), max_size=20))
def test_streams_are_understood_however_they_are_split(
    name: str, ends: bytes, cuts: list[int]
) -> None:
    api, events, usage, stop = STREAMS[name]
    heard = hear(api, sse(*events).replace(b"\n", ends), cuts)
    assert heard.usage == usage
    assert (heard.stop, heard.complete, heard.error) == (stop, True, {})


@pytest.mark.parametrize("name", list(STREAMS))
def test_without_its_end_a_stream_is_not_complete(name: str) -> None:
    api, events, _, _ = STREAMS[name]
    assert not hear(api, sse(events[0]) if name != "chat without" else b"").complete


@given(
    data=st.lists(
        st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), min_size=1),
        max_size=5,
    ),
    cuts=st.lists(st.integers(0, 500), max_size=10),
)
def test_events_come_out_as_they_were_put_in(data: list[str], cuts: list[int]) -> None:
    stream = "".join(f": hm\nevent: x\ndata: {each}\nid: 1\n\n" for each in data).encode()
    places = [0, *sorted(cut % (len(stream) + 1) for cut in cuts), len(stream)]
    events = Events()
    found = [
        text for start, end in itertools.pairwise(places) for text in events.feed(stream[start:end])
    ]
    assert found == data


def test_events_of_several_lines_and_a_byte_order_mark() -> None:
    assert Events().feed(b"\xef\xbb\xbfdata: {\ndata:}\n\ndata\n\n") == ["{\n}", ""]


def test_a_line_end_that_comes_in_two_pieces_is_one() -> None:
    events = Events()
    assert events.feed(b"data: a\r") == []
    assert events.feed(b"\ndata: b\r\n\r") == ["a\nb"]
    assert events.feed(b"\ndata: c\n\n") == ["c"]


def test_an_endless_line_takes_bounded_memory_and_is_passed_over() -> None:
    events = Events()
    for _ in range(40):
        assert events.feed(b"data: " + b"x" * (1 << 20)) == []
    assert events.feed(b"\n\ndata: 1\n\n") == ["1"]


@pytest.mark.parametrize(
    ("api", "body", "usage", "stop"),
    [
        (
            ANTHROPIC,
            {
                "type": "message",
                "model": "m",
                "stop_reason": "refusal",
                "content": [],
                "usage": {**CACHED, "output_tokens": 8},
            },
            {"input": 5, "output": 8, "cache_read": 70, "cache_write": 30},
            "refusal",
        ),
        (RESPONSES, RESPONSE, OPENAI, "completed"),
        (
            RESPONSES,
            {
                **RESPONSE,
                "status": "incomplete",
                "incomplete_details": {"reason": "max_output_tokens"},
            },
            OPENAI,
            "max_output_tokens",
        ),
        (
            RESPONSES,
            {**RESPONSE, "output": [{"type": "message", "content": [{"type": "refusal"}]}]},
            OPENAI,
            "refusal",
        ),
        (
            CHAT,
            {
                "choices": [{"message": {"content": "Hi"}, "finish_reason": "length"}],
                "usage": CHAT_USAGE,
            },
            OPENAI,
            "length",
        ),
        (
            CHAT,
            {"choices": [{"message": {"refusal": "No"}, "finish_reason": "stop"}]},
            None,
            "refusal",
        ),
        (GEMINI, GEMINI_END, OPENAI, "STOP"),
        (GEMINI, [{"candidates": []}, GEMINI_END], OPENAI, "STOP"),
        (
            GEMINI,
            {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 3}},
            {"input": 3, "output": 0, "cache_read": 0, "reasoning": 0},
            "SAFETY",
        ),
    ],
)
def test_whole_answers_are_understood(
    api: str, body: Any, usage: dict[str, int] | None, stop: str
) -> None:
    heard = hear(api, json.dumps(body).encode(), streamed=False)
    assert (heard.usage, heard.stop, heard.complete) == (usage, stop, True)


@pytest.mark.parametrize(
    ("api", "body", "error"),
    [
        (
            ANTHROPIC,
            {"type": "error", "error": {"type": "overloaded_error", "message": "m" * 900}},
            {"type": "overloaded_error", "message": "m" * 500},
        ),
        (
            RESPONSES,
            {"error": {"message": "quota", "type": "t", "param": None, "code": "insufficient"}},
            {"type": "t", "code": "insufficient", "message": "quota"},
        ),
        (CHAT, {"error": "plain words"}, {"message": "plain words"}),
        (
            GEMINI,
            [{"error": {"code": 429, "message": "m", "status": "RESOURCE_EXHAUSTED"}}],
            {"code": "429", "message": "m", "status": "RESOURCE_EXHAUSTED"},
        ),
    ],
)
def test_errors_are_understood(api: str, body: Any, error: Mapping[str, str]) -> None:
    heard = hear(api, json.dumps(body).encode(), streamed=False)
    assert heard.error == error
    assert not heard.complete


@pytest.mark.parametrize(
    ("api", "event", "used"),
    [
        (
            ANTHROPIC,
            {
                "type": "content_block_start",
                "content_block": {"type": "server_tool_use", "name": "web_search"},
            },
            {"web_search"},
        ),
        (
            ANTHROPIC,
            {"type": "message_delta", "usage": {"server_tool_use": {"web_search_requests": 2}}},
            {"web_search_requests"},
        ),
        (
            RESPONSES,
            {"type": "response.output_item.added", "item": {"type": "web_search_call"}},
            {"web_search_call"},
        ),
        (CHAT, {"choices": [{"delta": {"annotations": [{}]}}]}, {"annotations"}),
        (
            GEMINI,
            {"candidates": [{"groundingMetadata": {"webSearchQueries": ["x"]}}]},
            {"groundingMetadata"},
        ),
    ],
)
def test_the_use_of_a_providers_tools_is_flagged(api: str, event: Any, used: set[str]) -> None:
    assert hear(api, sse(event)).web == used


_NAMES = (
    "type",
    "usage",
    "message",
    "delta",
    "response",
    "error",
    "choices",
    "candidates",
    "content",
    "parts",
    "output",
    "usageMetadata",
    "content_block",
    "item",
    "model",
    "tools",
    "messages",
    "input",
    "contents",
    "source",
    "input_tokens",
    "prompt_tokens",
    "promptTokenCount",
    "finish_reason",
    "server_tool_use",
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(_NAMES),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("api", list(APIS))
@given(body=st.dictionaries(st.sampled_from(["type", "usage", "error", "tools"]), _JSON) | _JSON)
def test_nothing_odd_in_either_direction_breaks_the_gateway(api: str, body: Any) -> None:
    hear(api, json.dumps(body).encode(), streamed=False)
    for kind in ("message_start", "message_delta", "response.completed", "error"):
        hear(api, sse({**body, "type": kind} if isinstance(body, dict) else {"type": kind}))
    if isinstance(body, dict):
        APIS[api].ask("/v1beta/models/m:x", body)
