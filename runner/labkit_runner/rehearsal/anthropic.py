"""Anthropic Messages."""

import json

from labkit_runner.rehearsal.script import Fault
from labkit_runner.rehearsal.speech import Body, Event, Json, Reply, roles

_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


class Anthropic:
    """Speaks as Claude's API does."""

    def history(self, body: Body) -> int:
        """Return how many turns of the model a request already holds."""
        return roles(body.get("messages"), "assistant")

    def streamed(self, path: str, body: Body) -> bool:  # noqa: ARG002 - the protocol's signature
        """Whether the answer is asked for as a stream."""
        return bool(body.get("stream"))

    def whole(self, reply: Reply) -> Json:
        """Return the answer in one piece."""
        turn, usage = reply.turn, reply.turn.usage
        content: list[Json] = [{"type": "text", "text": turn.text}] if turn.text else []
        content += [
            {
                "type": "tool_use",
                "id": reply.name("toolu_", part),
                "name": call.name,
                "input": dict(call.input),
            }
            for part, call in enumerate(turn.calls)
        ]
        return {
            "id": reply.name("msg_"),
            "type": "message",
            "role": "assistant",
            "model": reply.model,
            "content": content,
            "stop_reason": turn.stop or ("tool_use" if turn.calls else "end_turn"),
            "stop_sequence": None,
            "usage": {
                "input_tokens": usage.input,
                "output_tokens": usage.output,
                "cache_creation_input_tokens": usage.cache_write,
                "cache_read_input_tokens": usage.cache_read,
            },
        }

    def events(self, reply: Reply) -> tuple[Event, ...]:
        """Return the answer as a stream."""
        whole = self.whole(reply)
        begun = {
            **whole,
            "content": [],
            "stop_reason": None,
            "usage": {**whole["usage"], "output_tokens": 1},
        }
        told: list[Json] = [{"type": "message_start", "message": begun}]
        for index, block in enumerate(whole["content"]):
            told += _block(index, block)
        ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
        used = {"output_tokens": whole["usage"]["output_tokens"]}
        told += [{"type": "message_delta", "delta": ended, "usage": used}, {"type": "message_stop"}]
        return tuple(Event(each, each["type"]) for each in told)

    def error(self, fault: Fault) -> Json:
        """Return the body of an error."""
        return _error(fault, _TYPES.get(fault.status, "api_error"), f"scripted {fault.status}")

    def stream_error(self, fault: Fault) -> Event:
        """Return an error in the middle of a stream."""
        return Event(_error(fault, "overloaded_error", "scripted stream error"), "error")


def _block(index: int, block: Json) -> list[Json]:
    if block["type"] == "text":
        empty: Json = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": block["text"]}
    else:
        empty = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    return [
        {"type": "content_block_start", "index": index, "content_block": empty},
        {"type": "content_block_delta", "index": index, "delta": delta},
        {"type": "content_block_stop", "index": index},
    ]


def _error(fault: Fault, kind: str, message: str) -> Json:
    told = {"type": fault.type or kind, "message": fault.message or message}
    return {"type": "error", "error": told}
