"""OpenAI Responses."""

import re
from typing import Any

from labkit_runner.gateway.apis.interface import (
    Asked,
    Heard,
    Json,
    Route,
    Use,
    fetched,
    items,
    mapping,
    named,
    number,
    single,
    text,
    told_error,
    without,
)
from labkit_runner.gateway.apis.searching import searches

_LOCAL = ("function", "custom", "local_shell", "apply_patch", "tool_search")
"""Types of tools that the client itself carries out; any other is the provider's."""
_REMOTE_CALLS = ("web_search", "file_search", "code_interpreter", "computer", "mcp", "image_gen")
_ELSEWHERE = ("prompt", "background", "conversation", "previous_response_id")
"""Parameters that bring in what does not stand in the request, or answer it out of sight."""
_ENDS = ("response.completed", "response.incomplete", "response.failed")


def openai_error(status: int, message: str) -> Json:
    """Return an error as OpenAI shapes it."""
    kind = "invalid_request_error" if status < 500 else "server_error"  # noqa: PLR2004
    return {"error": {"message": message, "type": kind, "param": None, "code": "labkit_gateway"}}


class Responses:
    """OpenAI Responses, as Codex speaks it."""

    name = "openai-responses"
    auth = "authorization"
    refusal = 400
    routes: tuple[Route, ...] = (
        Route(method="POST", path=re.compile("(?:/v1)?/responses"), use=Use.GENERATE, prefix="/v1"),
        Route(method="GET", path=re.compile("(?:/v1)?/models"), use=Use.OTHER, prefix="/v1"),
    )

    def ask(self, path: str, body: Json) -> Asked:  # noqa: ARG002 - the protocol's signature
        """Look into a request."""
        asked = body.get("input")
        return Asked(
            main=bool(body.get("tools")),
            model=text(body.get("model")),
            params=without(body, "model", "instructions", "tools", "input"),
            parts={
                "system": single(body.get("instructions")),
                "tools": single(body.get("tools")),
                "messages": tuple(asked) if isinstance(asked, list) else single(asked),
            },
            web=tuple(dict.fromkeys(_web(body))),
        )

    def hear(self, heard: Heard, event: Json) -> None:
        """Take one event."""
        kind = text(event.get("type"))
        if kind == "response.output_item.added":
            _item(heard, mapping(event.get("item")))
        elif kind in _ENDS:
            self.hear_whole(heard, mapping(event.get("response")))
        elif kind == "error":
            heard.error = told_error(event.get("error") or event)

    def hear_whole(self, heard: Heard, body: Json) -> None:
        """Take a whole response."""
        if body.get("error"):
            heard.error = told_error(body["error"])
        heard.model = text(body.get("model")) or heard.model
        status = text(body.get("status"))
        heard.complete = status in ("completed", "incomplete")
        heard.stop = text(mapping(body.get("incomplete_details")).get("reason")) or status
        heard.usage = _usage(body.get("usage")) or heard.usage
        for item in items(body.get("output")):
            _item(heard, item)
            if any(part.get("type") == "refusal" for part in items(item.get("content"))):
                heard.stop = "refusal"

    def error(self, status: int, message: str) -> Json:
        """Return an error as the API shapes it."""
        return openai_error(status, message)


def _usage(usage: Any) -> dict[str, int] | None:
    told = mapping(usage)
    if "input_tokens" not in told:
        return None
    cached = number(mapping(told.get("input_tokens_details")).get("cached_tokens"))
    return {
        "input": max(0, number(told["input_tokens"]) - cached),
        "output": number(told.get("output_tokens")),
        "cache_read": cached,
        "reasoning": number(mapping(told.get("output_tokens_details")).get("reasoning_tokens")),
    }


def _item(heard: Heard, item: Json) -> None:
    kind = text(item.get("type"))
    if kind.startswith(_REMOTE_CALLS):
        heard.web.add(named(kind))


def _web(body: Json) -> list[str]:
    found = _remote(body.get("tools"))
    found += [name for name in _ELSEWHERE if body.get(name)]
    found += searches(body)
    for item in items(body.get("input")):
        if item.get("type") == "item_reference":
            found.append("item_reference")
        for content in (item.get("content"), item.get("output")):
            found += [name for part in items(content) for name in _fetches(part)]
    return found


def _fetches(part: Json) -> list[str]:
    found = [f"{name} by url" for name in ("image_url", "file_url") if fetched(part.get(name))]
    return [*found, "file by id"] if part.get("file_id") else found


def _remote(tools: Any) -> list[str]:
    found = []
    for tool in items(tools):
        kind = text(tool.get("type"))
        if kind == "namespace":
            found += _remote(tool.get("tools"))
        elif kind == "shell":
            place = mapping(tool.get("environment")).get("type", "local")
            found += [] if place == "local" else ["shell elsewhere"]
        elif kind not in _LOCAL:
            found.append(named(kind))
    return found
