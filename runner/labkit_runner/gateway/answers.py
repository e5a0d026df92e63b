"""What the model answered in a run, as one digest: two runs that have the same are no two draws.

Real models stream the same words in other pieces, with other ids and times; none of that counts.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from labkit.fields import canonical_json
from labkit_runner.gateway.wire import Outcome, told

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


def answers_digest(lines: Iterable[bytes]) -> str:
    """Return the digest of all answers of the main conversation, in their order.

    Empty where that is not known: nothing was answered, or an answer was not recorded whole.
    """
    events = told(lines)
    main = {each["n"] for each in events if each["kind"] == "request" and each["main"]}
    pieces: dict[int, list[str]] = {number: [] for number in sorted(main)}
    answered = set()
    for each in events:
        if each.get("n") not in main:
            continue
        if each["kind"] == "piece":
            pieces[each["n"]].append(each["text"])
        elif each["kind"] == "response" and each["outcome"] == Outcome.ANSWERED:
            if each.get("cut_bytes"):
                return ""
            answered.add(each["n"])
    said = [_said("".join(parts)) for number, parts in pieces.items() if number in answered]
    return hashlib.sha256(canonical_json(said)).hexdigest() if said else ""


def answered_by(lines: Iterable[bytes]) -> tuple[str, ...]:
    """Return the names under which models answered the main conversation, sorted."""
    events = told(lines)
    main = {each["n"] for each in events if each["kind"] == "request" and each["main"]}
    names = {
        each["model"]
        for each in events
        if each["kind"] == "response" and each["n"] in main and each.get("model")
    }
    return tuple(sorted(names))


def asked_models(lines: Iterable[bytes]) -> dict[str, int]:
    """Return how many requests were answered by the model that they asked for, of all requests."""
    events = told(lines)
    models = {each["n"]: each["model"] for each in events if each["kind"] == "request"}
    answered = [
        models[each["n"]]
        for each in events
        if each["kind"] == "response"
        and each["outcome"] == Outcome.ANSWERED
        and models.get(each["n"])
    ]
    return dict(sorted(Counter(answered).items()))


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


def _leaves(text: str) -> Iterator[tuple[str, object]]:
    with suppress(ValueError, RecursionError):
        yield from _inside(json.loads(text), "")
        return
    for line in text.split("\n"):
        data = line.removeprefix("data:").strip()
        if not line.startswith("data:") or data == "[DONE]":
            continue
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            value = data
        yield from _inside(value, "")


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
