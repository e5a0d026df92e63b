"""The scripted model over real connections."""

import http.client
import json
import socket
from pathlib import Path
from typing import Any

import pytest

from labkit.errors import InfrastructureError
from labkit.model import Api
from labkit_runner.rehearsal.play import Played, playing
from labkit_runner.rehearsal.script import Fault, FaultKind, Script, ToolCall, Turn, Usage

USAGE = Usage(input=100, output=20, cache_read=30, cache_write=4, reasoning=5)
TURNS = (
    Turn(text="First.", calls=(ToolCall(name="Bash", input={"command": "ls"}),), usage=USAGE),
    Turn(text="Last."),
)
PATHS = {
    Api.ANTHROPIC: "/v1/messages?beta=true",
    Api.RESPONSES: "/v1/responses",
    Api.CHAT: "/v1/chat/completions",
    Api.GEMINI: "/v1beta/models/m1:generateContent",
}
HISTORIES: dict[Api, dict[str, Any]] = {
    Api.ANTHROPIC: {"messages": [{"role": "user"}, {"role": "assistant"}, {"role": "user"}]},
    Api.RESPONSES: {
        "input": [
            {"role": "user"},
            {"type": "reasoning"},
            {"type": "message", "role": "assistant"},
            {"type": "function_call"},
            {"type": "function_call_output"},
        ]
    },
    Api.CHAT: {"messages": [{"role": "user"}, {"role": "assistant"}, {"role": "tool"}]},
    Api.GEMINI: {"contents": [{"role": "user"}, {"role": "model"}, {"role": "user"}]},
}
TOOLS = {"tools": [{"name": "Bash"}], "model": "m1"}
ALL = pytest.mark.parametrize("api", list(Api))


def ask(played: Played, api: Api, body: dict[str, Any], *, stream: bool = False) -> tuple[int, str]:
    path = PATHS[api]
    if stream and api is Api.GEMINI:
        path = path.replace("generateContent", "streamGenerateContent?alt=sse")
    elif stream:
        body = {**body, "stream": True}
    return sent(played, "POST", path, body)[:2]


def sent(
    played: Played, method: str, path: str, body: dict[str, Any] | None = None
) -> tuple[int, str, http.client.HTTPMessage]:
    connection = http.client.HTTPConnection(played.url.removeprefix("http://"), timeout=10)
    data = None if body is None else json.dumps(body)
    try:
        connection.request(method, path, data, {"authorization": "Bearer secret"})
        with connection.getresponse() as response:
            return response.status, response.read().decode(), response.headers
    finally:
        connection.close()


def events(text: str) -> list[Any]:
    data = [line.removeprefix("data: ") for line in text.split("\n") if line.startswith("data: ")]
    return [json.loads(each) for each in data if each != "[DONE]"]


@ALL
@pytest.mark.parametrize("stream", [False, True])
def test_the_turn_is_read_from_the_history(api: Api, *, stream: bool) -> None:
    with playing(Script(turns=TURNS)) as played:
        for _ in range(2):  # as a client that tries again
            assert "First." in ask(played, api, TOOLS, stream=stream)[1]
        assert "Last." in ask(played, api, {**TOOLS, **HISTORIES[api]}, stream=stream)[1]
    assert [each.turn for each in played.main] == [0, 0, 1]
    assert {each.api for each in played.asked} == {api}


USED = {
    Api.ANTHROPIC: (
        "usage",
        {
            "input_tokens": 100,
            "output_tokens": 20,
            "cache_creation_input_tokens": 4,
            "cache_read_input_tokens": 30,
        },
    ),
    Api.RESPONSES: (
        "usage",
        {
            "input_tokens": 130,
            "input_tokens_details": {"cached_tokens": 30},
            "output_tokens": 20,
            "output_tokens_details": {"reasoning_tokens": 5},
            "total_tokens": 150,
        },
    ),
    Api.CHAT: (
        "usage",
        {
            "prompt_tokens": 130,
            "completion_tokens": 20,
            "total_tokens": 150,
            "prompt_tokens_details": {"cached_tokens": 30},
            "completion_tokens_details": {"reasoning_tokens": 5},
        },
    ),
    Api.GEMINI: (
        "usageMetadata",
        {
            "promptTokenCount": 130,
            "cachedContentTokenCount": 30,
            "candidatesTokenCount": 15,
            "thoughtsTokenCount": 5,
            "totalTokenCount": 150,
        },
    ),
}


@ALL
def test_the_usage_is_told_in_the_words_of_the_api(api: Api) -> None:
    with playing(Script(turns=TURNS)) as played:
        told = json.loads(ask(played, api, TOOLS)[1])
    name, expected = USED[api]
    assert told[name] == expected


def test_a_chat_stream_tells_its_usage_only_when_asked() -> None:
    with playing(Script(turns=TURNS)) as played:
        silent = ask(played, Api.CHAT, TOOLS, stream=True)[1]
        asked = {**TOOLS, "stream_options": {"include_usage": True}}
        telling = ask(played, Api.CHAT, asked, stream=True)[1]
    assert not any("usage" in event for event in events(silent))
    assert events(telling)[-1]["usage"]["total_tokens"] == 150


def test_requests_without_tools_or_without_the_text_are_answered_apart() -> None:
    script = Script(turns=TURNS, side=Turn(text="aside"), main_text="Mend it")
    with playing(script) as played:
        assert "aside" in ask(played, Api.ANTHROPIC, {"model": "m"})[1]
        assert "aside" in ask(played, Api.ANTHROPIC, {**TOOLS, "system": "Warmup"})[1]
        assert "First." in ask(played, Api.ANTHROPIC, {**TOOLS, "system": "Mend it"})[1]
    assert [each.main for each in played.asked] == [False, False, True]


@ALL
@pytest.mark.parametrize("status", [400, 401, 404, 413, 429, 500, 529])
def test_an_error_is_told_as_often_as_the_script_says(api: Api, status: int) -> None:
    fault = Fault(kind=FaultKind.STATUS, status=status, times=2, message="so sorry")
    with playing(Script(turns=TURNS, faults=(fault,))) as played:
        found = [ask(played, api, TOOLS) for _ in range(3)]
    assert [status for status, _ in found] == [status, status, 200]
    assert json.loads(found[0][1])["error"]["message"] == "so sorry"
    assert [each.fault for each in played.asked] == [FaultKind.STATUS, FaultKind.STATUS, None]


def test_a_fault_belongs_to_its_turn_and_brings_its_headers() -> None:
    fault = Fault(kind=FaultKind.STATUS, status=429, turn=1, headers={"retry-after": "7"})
    with playing(Script(turns=TURNS, faults=(fault,))) as played:
        assert ask(played, Api.CHAT, TOOLS)[0] == 200
        body = {**TOOLS, **HISTORIES[Api.CHAT]}
        status, _, headers = sent(played, "POST", PATHS[Api.CHAT], body)
    assert (status, headers["retry-after"]) == (429, "7")


@ALL
def test_a_dropped_stream_breaks_and_a_cut_one_ends(api: Api) -> None:
    for kind in (FaultKind.DROP, FaultKind.CUT):
        with playing(Script(turns=TURNS, faults=(Fault(kind=kind),))) as played:
            if kind is FaultKind.DROP:
                with pytest.raises((http.client.IncompleteRead, ConnectionResetError)):
                    ask(played, api, TOOLS, stream=True)
            else:
                text = ask(played, api, TOOLS, stream=True)[1]
                assert events(text)
                for end in ("message_stop", "response.completed", "[DONE]", 'finishReason": "S'):
                    assert end not in text


@ALL
def test_an_answer_of_a_few_words_is_cut_before_its_end_as_well(api: Api) -> None:
    fault = Fault(kind=FaultKind.CUT, turn=1)
    with playing(Script(turns=TURNS, faults=(fault,))) as played:
        text = ask(played, api, {**TOOLS, **HISTORIES[api]}, stream=True)[1]
    assert events(text)
    for end in ("message_stop", "response.completed", "[DONE]", 'finishReason": "S'):
        assert end not in text


def test_a_dropped_connection_is_reset_and_not_closed() -> None:
    with playing(Script(turns=TURNS, faults=(Fault(kind=FaultKind.DROP),))) as played:
        place = played.url.removeprefix("http://").split(":")
        with socket.create_connection((place[0], int(place[1])), timeout=10) as connection:
            body = json.dumps({**TOOLS, "stream": True}).encode()
            head = f"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
            connection.sendall(head.encode() + body)
            with pytest.raises(ConnectionResetError):
                list(iter(lambda: connection.recv(4096), b""))


@ALL
def test_an_error_can_come_in_the_middle_of_a_stream(api: Api) -> None:
    fault = Fault(kind=FaultKind.STREAM_ERROR, message="too busy")
    with playing(Script(turns=TURNS, faults=(fault,))) as played:
        status, text = ask(played, api, TOOLS, stream=True)
    assert status == 200
    assert "too busy" in json.dumps(events(text)[-1])


def test_a_refused_connection_has_no_answer() -> None:
    with (
        playing(Script(turns=TURNS, faults=(Fault(kind=FaultKind.REFUSE),))) as played,
        pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)),
    ):
        ask(played, Api.CHAT, TOOLS)


def test_a_hanging_answer_says_nothing_and_does_not_keep_the_play_from_ending() -> None:
    with playing(Script(turns=TURNS, faults=(Fault(kind=FaultKind.HANG),))) as played:
        place = played.url.removeprefix("http://").split(":")
        with socket.create_connection((place[0], int(place[1]))) as connection:
            body = json.dumps(TOOLS).encode()
            head = f"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
            connection.sendall(head.encode() + body)
            connection.settimeout(0.3)
            with pytest.raises(TimeoutError):
                connection.recv(1)


def test_the_last_turn_can_be_said_for_ever() -> None:
    long = {"messages": [{"role": "assistant"}] * 9}
    for loop, said in ((True, "Last."), (False, "Nothing more to do.")):
        with playing(Script(turns=TURNS, loop=loop)) as played:
            assert said in ask(played, Api.CHAT, {**TOOLS, **long})[1]


def test_keys_are_not_written_down_and_other_requests_are() -> None:
    with playing(Script(turns=TURNS)) as played:
        ask(played, Api.CHAT, TOOLS)
        assert sent(played, "GET", "/v1/models")[0] == 200
        assert sent(played, "GET", "/v1/files")[0] == 404
    assert "secret" not in str(played.asked)
    assert [(each.path, each.status) for each in played.asked[1:]] == [
        ("/v1/models", 200),
        ("/v1/files", 404),
    ]


def test_a_unix_socket_serves_as_well(tmp_path: Path) -> None:
    place = tmp_path / "s"
    with (
        playing(Script(turns=TURNS), unix=place) as played,
        socket.socket(socket.AF_UNIX) as connection,
    ):
        connection.connect(str(place))
        connection.sendall(b"HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 200")
    assert played.asked[0].method == "HEAD"


def test_a_taken_port_is_told() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with (
            pytest.raises(
                InfrastructureError,
                match=r"listen at port \d+ of this machine: it is taken",
            ),
            playing(Script(turns=TURNS), port=taken.getsockname()[1]),
        ):
            pass
