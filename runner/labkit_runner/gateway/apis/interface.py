"""What the gateway has to know of an API."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

Json = Mapping[str, Any]
_NAMES = re.compile(r"[A-Za-z0-9_.:@/ -]{1,80}")


class Use(StrEnum):
    """What an allowed request is for."""

    GENERATE = "generate"
    COUNT = "count"
    """Counting tokens: the body is a conversation, nothing is generated."""
    OTHER = "other"
    """Listing models, or asking whether anybody is there: no body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """An allowed method and path."""

    method: str
    path: re.Pattern[str]
    """The whole path as it has to stand in the request, nothing encoded."""
    use: Use
    prefix: str = ""
    """What the provider's address already holds of the path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a request asks for."""

    main: bool
    model: str
    params: Json
    parts: Mapping[str, tuple[Any, ...]]
    """The pieces of its conversation by name: `system`, `tools`, `messages`."""
    web: tuple[str, ...]
    """What it would have the provider do on the network."""


@dataclass(slots=True, kw_only=True)
class Heard:
    """What an answer has told so far."""

    usage: dict[str, int] | None = None
    model: str = ""
    stop: str = ""
    complete: bool = False
    """Its own end mark was seen."""
    web: set[str] = field(default_factory=set)
    error: dict[str, str] = field(default_factory=dict)


class Api(Protocol):
    """A model's API."""

    name: str
    auth: str
    """The header that its keys go in."""
    routes: tuple[Route, ...]
    refusal: int
    """The status that its clients take for final."""

    def ask(self, path: str, body: Json) -> Asked:
        """Look into a request."""
        ...

    def hear(self, heard: Heard, event: Json) -> None:
        """Take one event of a streamed answer; one of an unknown kind changes nothing."""
        ...

    def hear_whole(self, heard: Heard, body: Json) -> None:
        """Take a whole answer."""
        ...

    def error(self, status: int, message: str) -> Json:
        """Return an error in this API's own shape."""
        ...


def mapping(value: Any) -> Json:
    """Return a JSON object, or an empty one for whatever else stands there."""
    return value if isinstance(value, dict) else {}


def listed(value: Any) -> list[Any]:
    """Return a JSON list, or an empty one for whatever else stands there."""
    return value if isinstance(value, list) else []


def items(value: Any) -> list[Json]:
    """Return the objects of a JSON list; some servers take a single object for a list of one."""
    if isinstance(value, dict):
        return [value]
    return [each for each in listed(value) if isinstance(each, dict)]


def single(value: Any) -> tuple[Any, ...]:
    """Return what is told as one piece, or nothing where nothing stands."""
    return (value,) if value else ()


def text(value: Any) -> str:
    """Return a JSON text, or nothing for whatever else stands there."""
    return value if isinstance(value, str) else ""


def number(value: Any) -> int:
    """Return a count of tokens."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def named(value: Any) -> str:
    """Return a name for people, whatever stands there."""
    found = _NAMES.match(text(value))
    return found[0] if found else "unnamed"


def told_error(value: Any) -> dict[str, str]:
    """Return what an error says of itself, in bounds."""
    if isinstance(value, str):
        return {"message": value[:500]}
    found = mapping(value)
    return {
        name: str(found[name])[:500]
        for name in ("type", "code", "message", "status")
        if found.get(name) is not None and not isinstance(found[name], dict | list)
    } | _details(found)


def _details(error: Json) -> dict[str, str]:
    """Return which limits an error names in its details, and how long it asks to wait."""
    told: dict[str, str] = {}
    for each in items(error.get("details")):
        names = [text(one.get("quotaId")) for one in items(each.get("violations"))]
        if quota := " ".join(filter(None, names)):
            told["quota"] = quota[:500]
        if delay := text(each.get("retryDelay")):
            told["retry_delay"] = delay[:50]
    return told


def fetched(url: Any) -> bool:
    """Tell whether the provider would fetch an address; data in the request itself it would not."""
    return bool(text(url)) and not text(url).lower().startswith("data:")


def without(body: Json, *names: str) -> Json:
    """Return a request's parameters: what is no part of its conversation."""
    return {name: value for name, value in body.items() if name not in names}
