"""OpenAI Responses."""

import json

from labkit_runner.rehearsal import chat
from labkit_runner.rehearsal.script import Fault, ToolCall
from labkit_runner.rehearsal.speech import Body, Event, Json, Reply, listed

_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "reasoning")


class Responses:
    """Speaks as OpenAI's Responses API does."""

    def history(self, body: Body) -> int:
        """Return how many turns of the model a request already holds: items in a row are one."""
        count, inside = 0, False
        for item in listed(body.get("input")):
            ours = isinstance(item, dict) and _is_models(item)
            count += ours and not inside
            inside = ours
        return count

    def streamed(self, path: str, body: Body) -> bool:  # noqa: ARG002 - the protocol's signature
        """Whether the answer is asked for as a stream."""
        return bool(body.get("stream"))

    def whole(self, reply: Reply) -> Json:
        """Return the answer in one piece."""
        turn, usage = reply.turn, reply.turn.usage
        output = [_message(reply)] if turn.text else []
        output += [_call(reply, part, call) for part, call in enumerate(turn.calls)]
        given = usage.input + usage.cache_read
        return {
            "id": reply.name("resp_"),
            "object": "response",
            "created_at": 0,
            "status": "incomplete" if turn.stop else "completed",
            "model": reply.model,
            "output": output,
            "error": None,
            "incomplete_details": {"reason": turn.stop} if turn.stop else None,
            "usage": {
                "input_tokens": given,
                "input_tokens_details": {"cached_tokens": usage.cache_read},
                "output_tokens": usage.output,
                "output_tokens_details": {"reasoning_tokens": usage.reasoning},
                "total_tokens": given + usage.output,
            },
        }

    def events(self, reply: Reply) -> tuple[Event, ...]:
        """Return the answer as a stream."""
        whole = self.whole(reply)
        begun = {**whole, "status": "in_progress", "output": [], "usage": None}
        told: list[Json] = [
            {"type": "response.created", "response": begun},
            {"type": "response.in_progress", "response": begun},
        ]
        for index, item in enumerate(whole["output"]):
            told += _item(index, item)
        told.append({"type": f"response.{whole['status']}", "response": whole})
        return tuple(
            Event({**each, "sequence_number": number}, each["type"])
            for number, each in enumerate(told)
        )

    def error(self, fault: Fault) -> Json:
        """Return the body of an error."""
        return chat.error(fault)

    def stream_error(self, fault: Fault) -> Event:
        """Return an error in the middle of a stream."""
        failed = {
            "id": "resp_failed",
            "status": "failed",
            "error": {
                "code": fault.code or "server_error",
                "message": fault.message or "scripted stream error",
            },
        }
        return Event({"type": "response.failed", "response": failed}, "response.failed")


def _is_models(item: Json) -> bool:
    kind = item.get("type", "message")
    return kind in _CALLS or (kind == "message" and item.get("role") == "assistant")


def _message(reply: Reply) -> Json:
    return {
        "type": "message",
        "id": reply.name("msg_"),
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": reply.turn.text, "annotations": []}],
    }


def _call(reply: Reply, part: int, call: ToolCall) -> Json:
    told = {"call_id": reply.name("call_", part), "name": call.name, "status": "completed"}
    if call.raw:
        identity = reply.name("ctc_", part)
        return {"type": "custom_tool_call", "id": identity, **told, "input": call.raw}
    arguments = json.dumps(dict(call.input))
    return {"type": "function_call", "id": reply.name("fc_", part), **told, "arguments": arguments}


def _item(index: int, item: Json) -> list[Json]:
    place = {"item_id": item["id"], "output_index": index}
    if item["type"] == "message":
        empty: Json = {**item, "content": [], "status": "in_progress"}
        middle = _text(place, item["content"][0])
    else:
        custom = item["type"] == "custom_tool_call"
        key = "input" if custom else "arguments"
        name = f"response.{'custom_tool_call_input' if custom else 'function_call_arguments'}"
        empty = {**item, key: "", "status": "in_progress"}
        middle = [
            {"type": f"{name}.delta", **place, "delta": item[key]},
            {"type": f"{name}.done", **place, key: item[key]},
        ]
    return [
        {"type": "response.output_item.added", "output_index": index, "item": empty},
        *middle,
        {"type": "response.output_item.done", "output_index": index, "item": item},
    ]


def _text(place: Json, part: Json) -> list[Json]:
    place = {**place, "content_index": 0}
    return [
        {"type": "response.content_part.added", **place, "part": {**part, "text": ""}},
        {"type": "response.output_text.delta", **place, "delta": part["text"]},
        {"type": "response.output_text.done", **place, "text": part["text"]},
        {"type": "response.content_part.done", **place, "part": part},
    ]
