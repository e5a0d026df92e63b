"""OpenAI Chat Completions, and what other providers make of them."""

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
    listed,
    mapping,
    named,
    number,
    single,
    text,
    told_error,
    without,
)
from labkit_runner.gateway.apis.responses import openai_error
from labkit_runner.gateway.apis.searching import searches

_LOCAL = ("function", "custom")


class Chat:
    """OpenAI Chat Completions, as mini-swe-agent and OpenCode speak it."""

    name = "openai-chat"
    auth = "authorization"
    refusal = 403  # 400 is tried again and again by LiteLLM's users, 403 by nobody
    routes: tuple[Route, ...] = (
        Route(
            method="POST",
            path=re.compile("(?:/v1)?/chat/completions"),
            use=Use.GENERATE,
            prefix="/v1",
        ),
        Route(method="GET", path=re.compile("(?:/v1)?/models"), use=Use.OTHER, prefix="/v1"),
    )

    def ask(self, path: str, body: Json) -> Asked:  # noqa: ARG002 - the protocol's signature
        """Look into a request."""
        messages = listed(body.get("messages"))
        system = [each for each in messages if _instructs(each)]
        return Asked(
            main=bool(body.get("tools") or body.get("functions")),
            model=text(body.get("model")),
            params=without(body, "model", "messages", "tools", "functions"),
            parts={
                "system": tuple(system),
                "tools": single(body.get("tools") or body.get("functions")),
                "messages": tuple(each for each in messages if not _instructs(each)),
            },
            web=tuple(dict.fromkeys(_web(body))),
        )

    def hear(self, heard: Heard, event: Json) -> None:
        """Take one chunk."""
        self.hear_whole(heard, event)

    def hear_whole(self, heard: Heard, body: Json) -> None:
        """Take a whole completion; a chunk has the same shape, with less in it."""
        if body.get("error"):
            heard.error = told_error(body["error"])
        heard.model = text(body.get("model")) or heard.model
        heard.usage = _usage(body.get("usage")) or heard.usage
        for choice in items(body.get("choices")):
            said = mapping(choice.get("message")) or mapping(choice.get("delta"))
            if said.get("annotations"):
                heard.web.add("annotations")
            if choice.get("finish_reason"):
                heard.complete = True
                heard.stop = heard.stop or named(choice["finish_reason"])
            if said.get("refusal"):
                heard.stop = "refusal"

    def error(self, status: int, message: str) -> Json:
        """Return an error as the API shapes it."""
        return openai_error(status, message)


def _instructs(message: Any) -> bool:
    return mapping(message).get("role") in ("system", "developer")


def _usage(usage: Any) -> dict[str, int] | None:
    told = mapping(usage)
    if "prompt_tokens" not in told:
        return None
    cached = number(mapping(told.get("prompt_tokens_details")).get("cached_tokens"))
    return {
        "input": max(0, number(told["prompt_tokens"]) - cached),
        "output": number(told.get("completion_tokens")),
        "cache_read": cached,
        "reasoning": number(mapping(told.get("completion_tokens_details")).get("reasoning_tokens")),
    }


def _web(body: Json) -> list[str]:
    found = [
        named(tool.get("type"))
        for tool in items(body.get("tools"))
        if tool.get("type", "function") not in _LOCAL
    ]
    found += searches(body)
    for message in items(body.get("messages")):
        for part in items(message.get("content")):
            url = part.get("image_url")
            if fetched(mapping(url).get("url") or url):
                found.append("image_url by url")
            if mapping(part.get("file")).get("file_id"):
                found.append("file by id")
    return found
