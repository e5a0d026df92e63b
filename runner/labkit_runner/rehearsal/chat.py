"""OpenAI Chat Completions."""

import json

from labkit_runner.rehearsal.script import Fault
from labkit_runner.rehearsal.speech import Body, Event, Json, Reply, roles

_TYPES = {
    400: "invalid_request_error",
    401: "invalid_request_error",
    404: "invalid_request_error",
    429: "rate_limit_error",
}


class Chat:
    """Speaks as OpenAI's older API does, and with it most other providers'."""

    def history(self, body: Body) -> int:
        """Return how many turns of the model a request already holds."""
        return roles(body.get("messages"), "assistant")

    def streamed(self, path: str, body: Body) -> bool:  # noqa: ARG002 - the protocol's signature
        """Whether the answer is asked for as a stream."""
        return bool(body.get("stream"))

    def whole(self, reply: Reply) -> Json:
        """Return the answer in one piece."""
        message: Json = {"role": "assistant", "content": reply.turn.text or None}
        if reply.turn.calls:
            message["tool_calls"] = _calls(reply)
        choice = {"index": 0, "message": message, "finish_reason": _stop(reply), "logprobs": None}
        head = _head(reply, "chat.completion")
        return {**head, "choices": [choice], "usage": _usage(reply)}

    def events(self, reply: Reply) -> tuple[Event, ...]:
        """Return the answer as a stream; its usage only where the request asks for it."""
        head = _head(reply, "chat.completion.chunk")
        deltas: list[Json] = [{"role": "assistant", "content": ""}]
        if reply.turn.text:
            deltas.append({"content": reply.turn.text})
        for index, call in enumerate(_calls(reply)):
            named = {**call["function"], "arguments": ""}
            deltas.append({"tool_calls": [{"index": index, **call, "function": named}]})
            arguments = {"arguments": call["function"]["arguments"]}
            deltas.append({"tool_calls": [{"index": index, "function": arguments}]})
        chunks = [
            {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
            for delta in deltas
        ]
        ended = {"index": 0, "delta": {}, "finish_reason": _stop(reply)}
        chunks.append({**head, "choices": [ended]})
        if (reply.body.get("stream_options") or {}).get("include_usage"):
            chunks.append({**head, "choices": [], "usage": _usage(reply)})
        return (*(Event(chunk) for chunk in chunks), Event("[DONE]"))

    def error(self, fault: Fault) -> Json:
        """Return the body of an error."""
        return error(fault)

    def stream_error(self, fault: Fault) -> Event:
        """Return an error in the middle of a stream."""
        return Event(error(fault))


def error(fault: Fault) -> Json:
    """Return an error as OpenAI's APIs tell it."""
    told = {
        "message": fault.message or f"scripted {fault.status}",
        "type": fault.type or _TYPES.get(fault.status, "server_error"),
        "param": None,
        "code": fault.code or None,
    }
    return {"error": told}


def _head(reply: Reply, kind: str) -> Json:
    return {"id": reply.name("chatcmpl-"), "object": kind, "created": 0, "model": reply.model}


def _stop(reply: Reply) -> str:
    return reply.turn.stop or ("tool_calls" if reply.turn.calls else "stop")


def _calls(reply: Reply) -> list[Json]:
    return [
        {
            "id": reply.name("call_", part),
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(dict(call.input))},
        }
        for part, call in enumerate(reply.turn.calls)
    ]


def _usage(reply: Reply) -> Json:
    usage = reply.turn.usage
    given = usage.input + usage.cache_read
    return {
        "prompt_tokens": given,
        "completion_tokens": usage.output,
        "total_tokens": given + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }
