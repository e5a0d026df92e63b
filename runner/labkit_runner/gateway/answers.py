"""What the model answered in a run, as one digest: two runs that have the same are no two draws.

Real models stream the same words in other pieces, with other ids and times; none of that counts.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from labkit.fields import canonical_json
from labkit_runner.gateway.wire import Outcome, Wire, told

_IDENTITY = frozenset(
    {
        "id", "call_id", "item_id", "response_id", "responseId", "request_id", "uuid", "created",
        "created_at", "completed_at", "createTime", "timestamp", "expires_at", "sequence_number",
        "index", "output_index", "content_index", "summary_index", "type", "role", "object",
        "usage", "usageMetadata", "token_count", "tokenCount", "logprobs", "avgLogprobs",
        "system_fingerprint", "service_tier", "obfuscation", "signature", "thoughtSignature",
        "thought_signature", "encrypted_content", "prompt_cache_key", "safety_identifier",
        "metadata", "model", "modelVersion",
    }
)  # fmt: skip
"""Fields that differ between two answers that say the same."""
_CALL_FIELDS = frozenset(("functionCall", "tool_calls"))
_CALL_TYPES = (
    *("tool_use", "function_call", "custom_tool_call", "shell_call", "local_shell_call"),
    *("apply_patch_call", "computer_call"),
)
"""How answers ask for a tool that is not the provider's own."""


def answers_digest(lines: Iterable[bytes]) -> str:
    """Return the digest of all answers of the main conversation, in their order.

    Empty where that is not known: nothing was answered, or an answer was not recorded whole.
    """
    asked: dict[int, bool] = {}
    pieces: dict[int, list[str]] = {}
    said: dict[int, str] = {}
    for each in told(lines):
        number = each.get("n", 0)
        match each["kind"]:
            case "cut":
                return ""
            case "request":
                asked.update(_asked(each))
            case "piece":
                pieces.setdefault(number, []).append(each["text"])
            case "response":
                parts = pieces.pop(number, [])
                if each["outcome"] == Outcome.ANSWERED:
                    said[number] = "" if each.get("cut_bytes") else _digest(_said("".join(parts)))
            case _:
                pass
    found = [said[number] for number in _conversation(asked) if number in said]
    return _digest(found) if found and all(found) else ""


def answered_by(lines: Iterable[bytes]) -> tuple[str, ...]:
    """Return the names under which models answered the main conversation, sorted."""
    asked: dict[int, bool] = {}
    names: dict[int, str] = {}
    for each in told(lines):
        if each["kind"] == "request":
            asked.update(_asked(each))
        elif each["kind"] == "response" and each.get("model"):
            names[each["n"]] = each["model"]
    return tuple(sorted({names[number] for number in _conversation(asked) if number in names}))


def _asked(request: Mapping[str, Any]) -> dict[int, bool]:
    """Return a request's number and whether it is main; nothing for one that generates nothing."""
    generates = request.get("use", "generate") == "generate"
    return {request["n"]: request["main"]} if generates else {}


def _conversation(asked: Mapping[int, bool]) -> list[int]:
    """Return the requests of the main conversation; all, where none is said to be of it."""
    return sorted(number for number, main in asked.items() if main) or sorted(asked)


def _digest(value: object) -> str:
    return hashlib.sha256(canonical_json(value)).hexdigest()


def with_calls(wire: Wire, lines: Iterable[bytes]) -> Wire:
    """Return the wire with what its answers say of tools; the stop of some APIs does not."""
    calls: dict[int, bool | None] = {}
    for number, parts, is_cut in _recorded(lines):
        called = _calls("".join(parts))
        calls[number] = called or (None if is_cut else False)
    return replace(
        wire,
        exchanges=tuple(replace(x, called=calls.get(x.number)) for x in wire.exchanges),
    )


def _recorded(lines: Iterable[bytes]) -> Iterator[tuple[int, list[str], bool]]:
    """Yield every answer that is over: its number, its pieces, and whether some are missing."""
    pieces: dict[int, list[str]] = {}
    for each in told(lines):
        if each["kind"] == "piece":
            pieces.setdefault(each["n"], []).append(each["text"])
        elif each["kind"] == "response":
            parts = pieces.pop(each["n"], [])
            is_cut = bool(each.get("cut_bytes")) or (bool(each.get("bytes")) and not parts)
            yield each["n"], parts, is_cut


def _calls(text: str) -> bool:
    return any(
        name in _CALL_FIELDS or (name == "type" and value in _CALL_TYPES)
        for name, value in _names(text)
    )


def asked_models(lines: Iterable[bytes]) -> dict[str, int]:
    """Return how many requests were answered by the model that they asked for, of all requests."""
    models: dict[int, str] = {}
    answered: Counter[str] = Counter()
    for each in told(lines):
        if each["kind"] == "request":
            models[each["n"]] = each["model"]
        elif each["kind"] == "response" and each["outcome"] == Outcome.ANSWERED:
            answered[models.get(each["n"], "")] += 1
    del answered[""]
    return dict(sorted(answered.items()))


def _said(text: str) -> list[tuple[str, object]]:
    """Return what an answer says, field by field; a text that came in pieces is one again."""
    found: list[tuple[str, object]] = []
    for name, value in _leaves(text):
        if found and isinstance(value, str) and found[-1][0] == name:
            before = found[-1][1]
            if isinstance(before, str):
                found[-1] = (name, before + value)
                continue
        found.append((name, value))
    return [each for each in found if each[1] != ""]


def _names(text: str) -> Iterator[tuple[str, Any]]:
    """Yield every field with a value of an answer, wherever it stands."""
    waiting = [value for value in _values(text) if isinstance(value, dict | list)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            yield from ((name, inner) for name, inner in value.items() if inner)
        inside = value.values() if isinstance(value, dict) else value
        waiting += [each for each in inside if isinstance(each, dict | list)]


def _leaves(text: str) -> Iterator[tuple[str, object]]:
    for value in _values(text):
        yield from _inside(value, "")


def _values(text: str) -> Iterator[Any]:
    """Yield the JSON of an answer: all of it, or event by event where it was streamed."""
    with suppress(ValueError, RecursionError):
        yield json.loads(text)
        return
    for line in text.split("\n"):
        data = line.removeprefix("data:").strip()
        if not line.startswith("data:") or data == "[DONE]":
            continue
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            value = data
        yield value


def _inside(value: Any, name: str) -> Iterator[tuple[str, object]]:
    match value:
        case Mapping():
            for key in value:
                if key not in _IDENTITY:
                    yield from _inside(value[key], key)
        case list():
            for item in value:
                yield from _inside(item, name)
        case None:
            return
        case _:
            yield name, value
