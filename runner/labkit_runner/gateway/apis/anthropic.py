"""Anthropic Messages."""

import re
from typing import Any

from labkit_runner.gateway.apis.interface import (
    Asked,
    Heard,
    Json,
    Route,
    Use,
    items,
    listed,
    mapping,
    named,
    number,
    single,
    text,
    told_error,
    without,
)
from labkit_runner.gateway.apis.searching import searches

_LOCAL = re.compile(r"custom|(?:bash|text_editor|computer|memory)_\d+|tool_search_tool_\w+")
"""Types of tools that the client itself carries out; any other is the provider's."""
_KINDS = {
    "input_tokens": "input",
    "output_tokens": "output",
    "cache_read_input_tokens": "cache_read",
    "cache_creation_input_tokens": "cache_write",
}


class Anthropic:
    """Anthropic Messages, as Claude Code speaks it."""

    name = "anthropic-messages"
    auth = "x-api-key"
    refusal = 400
    routes: tuple[Route, ...] = (
        Route(method="POST", path=re.compile("/v1/messages"), use=Use.GENERATE),
        Route(method="POST", path=re.compile("/v1/messages/count_tokens"), use=Use.COUNT),
        Route(method="GET", path=re.compile(r"/v1/models(?:/[A-Za-z0-9._-]+)?"), use=Use.OTHER),
        Route(method="HEAD", path=re.compile("/"), use=Use.OTHER),
    )

    def ask(self, path: str, body: Json) -> Asked:  # noqa: ARG002 - the protocol's signature
        """Look into a request."""
        return Asked(
            main=bool(body.get("tools")),
            model=text(body.get("model")),
            params=without(body, "model", "system", "tools", "messages"),
            parts={
                "system": single(body.get("system")),
                "tools": single(body.get("tools")),
                "messages": tuple(listed(body.get("messages"))),
            },
            web=tuple(dict.fromkeys(_web(body))),
        )

    def hear(self, heard: Heard, event: Json) -> None:
        """Take one event."""
        match event.get("type"):
            case "message_start":
                message = mapping(event.get("message"))
                heard.model = text(message.get("model")) or heard.model
                _use(heard, message.get("usage"))
            case "content_block_start":
                _block(heard, mapping(event.get("content_block")))
            case "message_delta":
                stop = mapping(event.get("delta")).get("stop_reason")
                heard.stop = text(stop) or heard.stop
                _use(heard, event.get("usage"))
            case "message_stop":
                heard.complete = True
            case "error":
                heard.error = told_error(event.get("error"))
            case _:
                pass

    def hear_whole(self, heard: Heard, body: Json) -> None:
        """Take a whole message."""
        if "error" in body:
            heard.error = told_error(body["error"])
            return
        heard.model = text(body.get("model"))
        heard.stop = text(body.get("stop_reason"))
        heard.complete = body.get("type") == "message"
        _use(heard, body.get("usage"))
        for block in items(body.get("content")):
            _block(heard, block)

    def error(self, status: int, message: str) -> Json:
        """Return an error as the API shapes it."""
        kinds = {400: "invalid_request_error", 403: "permission_error", 504: "timeout_error"}
        kind = kinds.get(status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": message}}


def _web(body: Json) -> list[str]:
    found = [
        named(tool.get("type"))
        for tool in items(body.get("tools"))
        if tool.get("type") is not None and not _LOCAL.fullmatch(text(tool.get("type")))
    ]
    found += ["mcp_servers"] if body.get("mcp_servers") else []
    found += ["container"] if body.get("container") else []
    found += searches(body)
    for message in items(body.get("messages")):
        found += _fetches(message.get("content"))
    return found + _fetches(body.get("system"))


def _fetches(content: Any) -> list[str]:
    found = []
    for block in items(content):
        source = mapping(block.get("source"))
        if source.get("type") in ("url", "file"):
            found.append(f"{named(block.get('type'))} by {source['type']}")
        if block.get("type") in ("tool_result", "document"):
            found += _fetches(block.get("content"))
            found += _fetches(source.get("content"))
    return found


def _use(heard: Heard, usage: Any) -> None:
    told = mapping(usage)
    counts = {
        kind: number(told[name])
        for name, kind in _KINDS.items()
        if told.get(name) is not None  # message_delta repeats some and is right
    }
    if counts:
        heard.usage = {**(heard.usage or {}), **counts}
    for name, count in mapping(told.get("server_tool_use")).items():
        if number(count):
            heard.web.add(named(name))


def _block(heard: Heard, block: Json) -> None:
    kind = text(block.get("type"))
    if kind in ("server_tool_use", "mcp_tool_use"):
        heard.web.add(named(block.get("name") or kind))
    elif kind.endswith("_tool_result"):
        heard.web.add(named(kind))
