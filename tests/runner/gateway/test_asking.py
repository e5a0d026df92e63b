"""What requests are looked into for: the provider's own tools, and what identifies a run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from gateways import ANTHROPIC, CHAT, GEMINI, RESPONSES, TOOLS, gateway, upstream

from labkit_runner.gateway.apis import APIS
from labkit_runner.gateway.fingerprint import fingerprint

PATH = "/v1beta/models/m1:generateContent"
LINK = {"type": "url", "url": "https://example.org/x.pdf"}

REFUSED: list[tuple[str, Mapping[str, Any], str]] = [
    (ANTHROPIC, {"tools": [{"type": "web_search_20250305", "name": "web_search"}]}, "web_search_"),
    (ANTHROPIC, {"tools": [{"type": "web_fetch_20250910"}]}, "web_fetch_"),
    (ANTHROPIC, {"tools": [*TOOLS, {"type": "code_execution_20250825"}]}, "code_execution_"),
    (ANTHROPIC, {"tools": [{"type": "mcp_toolset"}]}, "mcp_toolset"),
    (ANTHROPIC, {"tools": [{"type": "of_tomorrow_20300101"}]}, "of_tomorrow_"),
    (ANTHROPIC, {"tools": {"type": "web_search_20250305"}}, "web_search_"),
    (ANTHROPIC, {"tools": [{"type": ["web_search"]}]}, "unnamed"),
    (ANTHROPIC, {"mcp_servers": [{"url": "https://x"}]}, "mcp_servers"),
    (ANTHROPIC, {"container": {"skills": []}}, "container"),
    (
        ANTHROPIC,
        {"messages": [{"role": "user", "content": [{"type": "document", "source": LINK}]}]},
        "document by url",
    ),
    (
        ANTHROPIC,
        {
            "messages": [
                {
                    "content": [
                        {"type": "tool_result", "content": [{"type": "image", "source": LINK}]}
                    ]
                }
            ]
        },
        "image by url",
    ),
    (RESPONSES, {"tools": [{"type": "web_search"}]}, "web_search"),
    (RESPONSES, {"tools": [{"type": "web_search_preview_2025_03_11"}]}, "web_search_preview"),
    (RESPONSES, {"tools": [{"type": "file_search"}]}, "file_search"),
    (RESPONSES, {"tools": [{"type": "code_interpreter"}]}, "code_interpreter"),
    (RESPONSES, {"tools": [{"type": "computer_use_preview"}]}, "computer_use_preview"),
    (RESPONSES, {"tools": [{"type": "mcp", "server_url": "https://x"}]}, "mcp"),
    (RESPONSES, {"tools": [{"type": "image_generation"}]}, "image_generation"),
    (RESPONSES, {"tools": [{"type": "namespace", "tools": [{"type": "mcp"}]}]}, "mcp"),
    (
        RESPONSES,
        {"tools": [{"type": "shell", "environment": {"type": "container_auto"}}]},
        "shell elsewhere",
    ),
    (RESPONSES, {"prompt": {"id": "pmpt_1"}}, "prompt"),
    (RESPONSES, {"background": True}, "background"),
    (RESPONSES, {"previous_response_id": "resp_1"}, "previous_response_id"),
    (
        RESPONSES,
        {"input": [{"content": [{"type": "input_file", "file_url": "https://x"}]}]},
        "file_url by url",
    ),
    (
        RESPONSES,
        {"input": [{"output": [{"type": "input_image", "image_url": "https://x"}]}]},
        "image_url by url",
    ),
    (RESPONSES, {"model": "openai/gpt-5:online"}, "the model openai/gpt-5:online"),
    (RESPONSES, {"models": ["m1", "openai/gpt-5:online"]}, "the model openai/gpt-5:online"),
    (RESPONSES, {"search_parameters": {"mode": "on"}}, "search_parameters"),
    (ANTHROPIC, {"model": "anthropic/claude:online"}, "the model anthropic/claude:online"),
    (ANTHROPIC, {"plugins": [{"id": "web"}]}, "plugins"),
    (CHAT, {"web_search_options": {"search_context_size": "low"}}, "web_search_options"),
    (CHAT, {"model": "gpt-4o-search-preview"}, "the model gpt-4o-search-preview"),
    (CHAT, {"model": "deepseek/x:online"}, "the model deepseek/x:online"),
    (CHAT, {"plugins": [{"id": "web"}]}, "plugins"),
    (CHAT, {"tools": [{"type": "web_search"}]}, "web_search"),
    (
        CHAT,
        {"messages": [{"content": [{"type": "image_url", "image_url": {"url": "https://x"}}]}]},
        "image_url by url",
    ),
    (GEMINI, {"tools": [{"googleSearch": {}}]}, "googleSearch"),
    (GEMINI, {"tools": [{"google_search": {}}]}, "google_search"),
    (GEMINI, {"tools": {"googleSearch": {}}}, "googleSearch"),
    (GEMINI, {"tools": [{"functionDeclarations": [], "urlContext": {}}]}, "urlContext"),
    (GEMINI, {"tools": [{"codeExecution": {}}]}, "codeExecution"),
    (GEMINI, {"cachedContent": "cachedContents/1"}, "cachedContent"),
    (GEMINI, {"generateContentRequest": {"tools": [{"googleSearch": {}}]}}, "googleSearch"),
    (
        GEMINI,
        {"contents": [{"parts": [{"fileData": {"fileUri": "https://youtu.be/x"}}]}]},
        "file by url",
    ),
    (
        GEMINI,
        {
            "tools": [{"googleSearch": {}}],
            "generateContentRequest": {"tools": [{"functionDeclarations": []}]},
        },
        "googleSearch",
    ),
    (
        GEMINI,
        {"systemInstruction": {"parts": [{"fileData": {"fileUri": "https://x"}}]}},
        "file by url",
    ),
    (
        GEMINI,
        {
            "contents": [
                {
                    "parts": [
                        {"functionResponse": {"parts": [{"file_data": {"file_uri": "https://x"}}]}}
                    ]
                }
            ]
        },
        "file by url",
    ),
]


@pytest.mark.parametrize(("api", "body", "name"), REFUSED)
def test_what_the_provider_would_do_on_the_network_is_seen(
    api: str, body: Mapping[str, Any], name: str
) -> None:
    assert any(each.startswith(name) for each in APIS[api].ask(PATH, body).web)


@pytest.mark.parametrize(
    ("api", "body"),
    [
        (
            ANTHROPIC,
            {
                "tools": [
                    *TOOLS,
                    {"type": "custom", "name": "x"},
                    {"type": "bash_20250124"},
                    {"type": "text_editor_20250728"},
                    {"type": "memory_20250818"},
                ],
                "messages": [
                    {
                        "content": [
                            {"type": "image", "source": {"type": "base64", "data": ""}},
                            {"type": "tool_use", "input": {"source": LINK}},
                        ]
                    }
                ],
            },
        ),
        (
            RESPONSES,
            {
                "tools": [
                    {"type": "function"},
                    {"type": "custom"},
                    {"type": "local_shell"},
                    {"type": "shell"},
                    {"type": "namespace", "tools": [{"type": "function"}]},
                ],
                "background": False,
                "previous_response_id": None,
                "input": [{"content": [{"type": "input_image", "image_url": "data:image/png;x"}]}],
            },
        ),
        (
            CHAT,
            {
                "model": "research-1",
                "tools": [{"type": "function"}, {"function": {}}],
                "messages": [
                    {"content": "https://example.org"},
                    {"content": [{"type": "image_url", "image_url": {"url": "data:x"}}]},
                ],
            },
        ),
        (GEMINI, {"tools": [{"functionDeclarations": [{"name": "google_search"}]}]}),
    ],
)
def test_what_the_agent_does_itself_is_let_through(api: str, body: Mapping[str, Any]) -> None:
    assert APIS[api].ask(PATH, body).web == ()


SYSTEM = "You are an agent. Today's date: 2026-11-30\nSession 01234567-89ab-cdef-0123-456789abcdef"
PLAIN: dict[str, Any] = {
    "model": "m1",
    "system": [{"type": "text", "text": SYSTEM, "cache_control": {"type": "ephemeral"}}],
    "tools": TOOLS,
    "messages": [{"role": "user", "content": "Fix it"}],
    "metadata": {"user_id": "u1"},
    "stream": True,
    "max_tokens": 1000,
    "output_config": {"effort": "high"},
}


def printed(**changed: Any) -> Mapping[str, Any]:
    return fingerprint(APIS[ANTHROPIC].ask("/v1/messages", {**PLAIN, **changed}), "claude-cli/2")


def test_a_fingerprint_names_what_the_model_was_given() -> None:
    found = printed()
    assert set(found) == {"model", "client", "system", "tools", "messages", "params"}
    assert found["params"] == {"max_tokens": 1000, "output_config.effort": "high"}


def test_ids_dates_and_cache_marks_are_left_out() -> None:
    other = SYSTEM.replace("11-30", "12-01").replace("01234567", "aaaaaaaa")
    assert printed() == printed(system=[{"type": "text", "text": other}], metadata={})


def test_the_id_of_the_runs_one_commit_is_left_out() -> None:
    def asked(commits: str) -> Mapping[str, Any]:
        return printed(messages=[{"role": "user", "content": f"Recent commits:\n{commits}"}])

    assert asked("517d4b1 base\n") == asked("1e16cea base\n")
    assert asked("517d4b1 base\n") != asked("517d4b1 base\n1e16cea mine\n")
    assert asked("517d4b1 mine\n") != asked("1e16cea mine\n")


@pytest.mark.parametrize(
    ("changed", "differs"),
    [
        ({"output_config": {"effort": "low"}}, "params"),
        ({"messages": [{"role": "user", "content": "Fix it, please"}]}, "messages"),
        ({"system": [{"type": "text", "text": SYSTEM + "."}]}, "system"),
        ({"tools": [*TOOLS, *TOOLS]}, "tools"),
        ({"model": "m2"}, "model"),
    ],
)
def test_what_differs_differs_in_one_part(changed: dict[str, Any], differs: str) -> None:
    one, other = printed(), printed(**changed)
    assert {name for name in one if one[name] != other[name]} == {differs}


def test_instructions_stand_apart_in_every_api() -> None:
    for api, body in (
        (RESPONSES, {"instructions": "Be good", "input": "Fix it"}),
        (CHAT, {"messages": [{"role": "system", "content": "Be good"}, {"role": "user"}]}),
        (GEMINI, {"systemInstruction": {"parts": []}, "contents": [{"parts": []}]}),
    ):
        asked = APIS[api].ask(PATH, body)
        assert (len(asked.parts["system"]), len(asked.parts["messages"])) == (1, 1)
        assert not asked.main


def test_a_gemini_model_stands_in_the_path() -> None:
    assert APIS[GEMINI].ask(PATH, {}).model == "m1"


def test_only_a_count_asks_by_an_inner_request() -> None:
    body = {"generateContentRequest": {"contents": [{"parts": [{"text": "hidden"}]}]}}
    assert APIS[GEMINI].ask("/v1beta/models/m1:countTokens", body).parts["messages"]
    asked = APIS[GEMINI].ask("/v1beta/models/m1:generateContent", body)
    assert not asked.parts["messages"]
    assert "generateContentRequest" in asked.params


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity"])
def test_a_number_that_json_cannot_hold_is_refused(tmp_path: Path, number: str) -> None:
    body = b'{"model": "m1", "temperature": ' + number.encode() + b', "messages": []}'
    with upstream() as server, gateway(tmp_path, server.url) as gate:
        status, answer = gate.ask(body)
    assert status == 400
    assert b"is no number that JSON can hold" in answer
    assert not server.requests


def test_a_very_long_parameter_is_named_by_its_digest() -> None:
    found = printed(output_config={"format": ["x" * 1000]})
    assert found["params"]["output_config.format"].startswith("sha256:")
