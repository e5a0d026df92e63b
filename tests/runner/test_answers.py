"""What the model answered, as one digest."""

import json
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit_runner.gateway.answers import answered_by, answers_digest, asked_models, with_calls
from labkit_runner.gateway.wire import read_wire

_TEXT = st.text(min_size=1, max_size=20)


def line(kind: str, **more: Any) -> bytes:
    return json.dumps({"kind": kind, "t": 0.5, **more}).encode()


def told(*answers: Iterable[str], main: bool = True, **response: Any) -> list[bytes]:
    found = []
    for number, pieces in enumerate(answers, 1):
        found.append(line("request", n=number, main=main))
        found += [line("piece", n=number, text=piece) for piece in pieces]
        found.append(
            line("response", n=number, **({"outcome": "answered", "model": "m-1"} | response))
        )
    return found


def sse(*events: Mapping[str, Any]) -> str:
    return "".join(f"event: x\ndata: {json.dumps(each)}\n\n" for each in events)


def anthropic(*deltas: str, message: str = "msg_1", tokens: int = 5) -> str:
    return sse(
        {"type": "message_start", "message": {"id": message, "usage": {"input_tokens": tokens}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *(
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": each},
            }
            for each in deltas
        ),
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 3},
        },
    )


def chat(*deltas: str, identity: str = "c1", created: int = 1) -> str:
    return sse(
        *(
            {
                "id": identity,
                "created": created,
                "choices": [{"index": 0, "delta": {"content": each}}],
            }
            for each in deltas
        )
    )


SAME = {
    "ids, usage and pieces": (
        anthropic("Hel", "lo"),
        anthropic("Hello", message="msg_2", tokens=9),
    ),
    "times": (chat("a", "b"), chat("ab", identity="c2", created=2)),
    "whole answers": (
        json.dumps({"id": "a", "content": [{"type": "text", "text": "x"}]}),
        json.dumps({"content": [{"text": "x", "type": "text"}], "id": "b"}),
    ),
}
OTHER = {
    "the words": (anthropic("Hello"), anthropic("Hullo")),
    "a call's arguments": (
        json.dumps({"content": [{"type": "tool_use", "input": {"line": 1}}]}),
        json.dumps({"content": [{"type": "tool_use", "input": {"line": 2}}]}),
    ),
    "where the words stand": (
        json.dumps({"content": [{"text": "a"}, {"name": "b"}]}),
        json.dumps({"content": [{"name": "a"}, {"text": "b"}]}),
    ),
}


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_the_same_words_have_one_digest(one: str, other: str) -> None:
    assert answers_digest(told([one])) == answers_digest(told([other])) != ""


@pytest.mark.parametrize(("one", "other"), OTHER.values(), ids=OTHER)
def test_other_words_have_another(one: str, other: str) -> None:
    assert answers_digest(told([one])) != answers_digest(told([other]))


@given(_TEXT, st.lists(st.integers(min_value=0, max_value=400), max_size=5), st.data())
def test_how_an_answer_is_cut_never_counts(text: str, cuts: list[int], data: st.DataObject) -> None:
    at = data.draw(st.integers(min_value=0, max_value=len(text)))
    whole = anthropic(text[:at], text[at:])
    places = [0, *sorted(min(each, len(whole)) for each in cuts), len(whole)]
    pieces = [whole[a:b] for a, b in pairwise(places)]
    assert answers_digest(told(pieces)) == answers_digest(told([anthropic(text)]))


def test_side_requests_and_failures_do_not_count() -> None:
    main = told([anthropic("x")])
    aside = [each.replace(b'"n": 1', b'"n": 7') for each in told([anthropic("title")], main=False)]
    failed = [each.replace(b'"n": 1', b'"n": 8') for each in told(["oops"], outcome="error")]
    assert answers_digest([*main, *aside, *failed]) == answers_digest(main)


def test_what_is_not_known_has_no_digest() -> None:
    assert answers_digest([]) == ""
    assert answers_digest(told([anthropic("x")], cut_bytes=7)) == ""
    assert answers_digest([*told(["x"], outcome="dropped"), b'{"kind": "pie']) == ""


def test_who_answered_is_told() -> None:
    assert answered_by(told(["a"], ["b"], model="m-2026")) == ("m-2026",)
    assert answered_by(told(["a"], model=None)) == ()


def test_an_agent_without_tools_has_all_that_it_asked_for_its_conversation() -> None:
    aside = told(["x"], ["y"], main=False)
    assert answers_digest(aside) == answers_digest(told(["x"], ["y"])) != ""
    assert answered_by(aside) == ("m-1",)


def test_answers_of_a_wire_that_was_cut_are_not_known() -> None:
    assert answers_digest([*told(["x"]), line("cut", limit=5)]) == ""


CALLS = {
    "anthropic": sse({"type": "content_block_start", "content_block": {"type": "tool_use"}}),
    "anthropic whole": json.dumps({"content": [{"type": "tool_use", "id": "1", "input": {}}]}),
    "chat": sse({"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "1"}]}}]}),
    "responses": sse({"type": "response.output_item.done", "item": {"type": "function_call"}}),
    "a patch": sse({"type": "response.output_item.added", "item": {"type": "custom_tool_call"}}),
    "gemini": sse({"candidates": [{"content": {"parts": [{"functionCall": {"name": "x"}}]}}]}),
}
WORDS = {
    "anthropic": anthropic("I would call", ' {"type": "tool_use"}'),
    "chat": sse({"choices": [{"delta": {"content": "tool_calls", "tool_calls": []}}]}),
    "responses": sse(
        {"type": "response.completed", "response": {"tools": [{"type": "function", "name": "x"}]}}
    ),
    "gemini": sse({"candidates": [{"content": {"parts": [{"text": '"functionCall": {}'}]}}]}),
    "numbers": "5",
}


def called(*answers: str, **response: Any) -> list[bool | None]:
    more: dict[str, Any] = {
        "status": 200,
        "seconds": 1,
        "usage": None,
        "cost": None,
        "stop": "",
        "error": {},
    }
    lines = [
        line("request", n=event["n"], main=True, model="m")
        if event["kind"] == "request"
        else json.dumps(event).encode()
        for event in map(
            json.loads, told(*[[each] for each in answers], web=[], **more, **response)
        )
    ]
    return [each.called for each in with_calls(read_wire(lines), lines).exchanges]


def test_answers_that_call_a_tool_are_told_from_those_that_do_not() -> None:
    assert called(*CALLS.values()) == [True] * len(CALLS)
    assert called(*WORDS.values()) == [False] * len(WORDS)


def test_of_an_answer_that_was_not_recorded_whole_it_is_not_known() -> None:
    assert called(WORDS["gemini"], CALLS["gemini"], cut_bytes=5) == [None, True]
    assert called("", bytes=9, cut_bytes=0) == [False]


def test_every_answered_request_counts_for_the_model_that_it_asked() -> None:
    lines = [
        b'{"kind": "request", "t": 1, "n": 1, "model": "m", "main": true}',
        b'{"kind": "response", "t": 1, "n": 1, "outcome": "answered"}',
        b'{"kind": "request", "t": 1, "n": 2, "model": "small", "main": false}',
        b'{"kind": "response", "t": 1, "n": 2, "outcome": "answered"}',
        b'{"kind": "request", "t": 1, "n": 3, "model": "lost", "main": true}',
        b'{"kind": "response", "t": 1, "n": 3, "outcome": "error"}',
        b'{"kind": "request", "t": 1, "n": 4, "model": "", "main": false}',
        b'{"kind": "response", "t": 1, "n": 4, "outcome": "answered"}',
        b'{"kind": "request", "t": 1, "n": 5, "model": "m", "main": true}',
    ]
    assert asked_models(lines) == {"m": 1, "small": 1}
