"""Gemini."""

from labkit_runner.rehearsal.script import Fault
from labkit_runner.rehearsal.speech import Body, Event, Json, Reply, roles

_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}


class Gemini:
    """Speaks as Gemini's API does."""

    def history(self, body: Body) -> int:
        """Return how many turns of the model a request already holds."""
        return roles(body.get("contents"), "model")

    def streamed(self, path: str, body: Body) -> bool:  # noqa: ARG002 - the protocol's signature
        """Whether the answer is asked for as a stream."""
        return path.endswith(":streamGenerateContent")

    def whole(self, reply: Reply) -> Json:
        """Return the answer in one piece."""
        return _ended(reply, _parts(reply))

    def events(self, reply: Reply) -> tuple[Event, ...]:
        """Return the answer as a stream: the parts first, why it stops and the usage last."""
        begun = [Event(_chunk(reply, [part])) for part in _parts(reply)]
        return (*begun, Event(_ended(reply, [{"text": ""}])))

    def error(self, fault: Fault) -> Json:
        """Return the body of an error."""
        told = {
            "code": fault.status,
            "message": fault.message or f"scripted {fault.status}",
            "status": fault.code or fault.type or _STATUSES.get(fault.status, "INTERNAL"),
            "details": [],
        }
        return {"error": told}

    def stream_error(self, fault: Fault) -> Event:
        """Return an error in the middle of a stream."""
        return Event(self.error(fault))


def _parts(reply: Reply) -> list[Json]:
    parts: list[Json] = [{"text": reply.turn.text}] if reply.turn.text else []
    return parts + [
        {"functionCall": {"name": call.name, "args": dict(call.input)}} for call in reply.turn.calls
    ]


def _chunk(reply: Reply, parts: list[Json]) -> Json:
    candidate = {"content": {"role": "model", "parts": parts}, "index": 0}
    return {
        "candidates": [candidate],
        "modelVersion": reply.model,
        "responseId": reply.name("answer"),
    }


def _ended(reply: Reply, parts: list[Json]) -> Json:
    chunk = _chunk(reply, parts)
    chunk["candidates"][0]["finishReason"] = reply.turn.stop or "STOP"
    usage = reply.turn.usage
    given, shown = usage.input + usage.cache_read, usage.output - usage.reasoning
    chunk["usageMetadata"] = {
        "promptTokenCount": given,
        "cachedContentTokenCount": usage.cache_read,
        "candidatesTokenCount": shown,
        "thoughtsTokenCount": usage.reasoning,
        "totalTokenCount": given + usage.output,
    }
    return chunk
