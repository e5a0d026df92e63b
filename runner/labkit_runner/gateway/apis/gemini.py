"""Gemini's generateContent."""

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

_PATH = "/v1(?:beta|alpha)?/models"
_MODEL = "[A-Za-z0-9._-]+"
_LOCAL = ("functionDeclarations", "function_declarations")
_STATUSES = {400: "INVALID_ARGUMENT", 403: "PERMISSION_DENIED", 504: "DEADLINE_EXCEEDED"}


class Gemini:
    """The Gemini API, as Gemini CLI speaks it."""

    name = "gemini"
    auth = "x-goog-api-key"
    refusal = 400
    routes: tuple[Route, ...] = (
        Route(
            method="POST",
            path=re.compile(f"{_PATH}/{_MODEL}:(?:streamGenerateContent|generateContent)"),
            use=Use.GENERATE,
        ),
        Route(method="POST", path=re.compile(f"{_PATH}/{_MODEL}:countTokens"), use=Use.COUNT),
        Route(method="GET", path=re.compile(f"{_PATH}(?:/{_MODEL})?"), use=Use.OTHER),
    )

    def ask(self, path: str, body: Json) -> Asked:
        """Look into a request."""
        inner = mapping(body.get("generateContentRequest"))
        web = (*_web(body), *_web(inner))
        counts = path.endswith(":countTokens")
        if counts:  # nobody else reads it
            body = {**body, **inner}
        system = body.get("systemInstruction") or body.get("system_instruction")
        names = ("systemInstruction", "system_instruction", "tools", "contents", "model")
        return Asked(
            main=bool(body.get("tools")),
            model=path.rpartition("/")[2].partition(":")[0],
            params=without(body, *names, *(["generateContentRequest"] if counts else [])),
            parts={
                "system": single(system),
                "tools": single(body.get("tools")),
                "messages": tuple(listed(body.get("contents"))),
            },
            web=tuple(dict.fromkeys(web)),
        )

    def hear(self, heard: Heard, event: Json) -> None:
        """Take one piece of the answer; each tells the usage so far."""
        self.hear_whole(heard, event)

    def hear_whole(self, heard: Heard, body: Json) -> None:
        """Take a whole answer."""
        if body.get("error"):
            heard.error = told_error(body["error"])
        heard.model = text(body.get("modelVersion")) or heard.model
        heard.usage = _usage(body.get("usageMetadata")) or heard.usage
        blocked = mapping(body.get("promptFeedback")).get("blockReason")
        candidates = items(body.get("candidates"))
        for stop in (blocked, *(each.get("finishReason") for each in candidates)):
            if stop:
                heard.stop, heard.complete = named(stop), True
        for candidate in candidates:
            heard.web.update(_used(candidate))

    def error(self, status: int, message: str) -> Json:
        """Return an error as the API shapes it."""
        word = _STATUSES.get(status, "UNAVAILABLE")
        return {"error": {"code": status, "message": message, "status": word}}


def _usage(usage: Any) -> dict[str, int] | None:
    told = mapping(usage)
    if "promptTokenCount" not in told:
        return None
    cached = number(told.get("cachedContentTokenCount"))
    thoughts = number(told.get("thoughtsTokenCount"))
    prompt = number(told["promptTokenCount"]) + number(told.get("toolUsePromptTokenCount"))
    return {
        "input": max(0, prompt - cached),
        "output": number(told.get("candidatesTokenCount")) + thoughts,
        "cache_read": cached,
        "reasoning": thoughts,
    }


def _used(candidate: Json) -> list[str]:
    names = ("groundingMetadata", "urlContextMetadata")
    found = [name for name in names if candidate.get(name)]
    for part in items(mapping(candidate.get("content")).get("parts")):
        found += [name for name in ("executableCode", "codeExecutionResult") if part.get(name)]
    return found


def _web(body: Json) -> list[str]:
    found = [
        named(name) for tool in items(body.get("tools")) for name in tool if name not in _LOCAL
    ]
    found += [name for name in ("cachedContent", "cached_content") if body.get(name)]
    for name in ("contents", "systemInstruction", "system_instruction"):
        for content in items(body.get(name)):
            found += _fetches(content)
    return found


def _fetches(content: Json) -> list[str]:
    """Return what is fetched for a list of parts: for what a function returned as well."""
    found = []
    for part in items(content.get("parts")):
        for data in (part.get("fileData"), part.get("file_data")):
            uris = (mapping(data).get("fileUri"), mapping(data).get("file_uri"))
            found += ["file by url" for uri in uris if fetched(uri)]
        for name in ("functionResponse", "function_response"):
            found += _fetches(mapping(part.get(name)))
    return found
