"""What agents leave, in their own shapes and cut short: Claude Code and Codex in many ends."""

import json
from collections.abc import Mapping
from typing import Any

from labkit_runner.agents.interface import Left

Line = dict[str, Any]


def left(
    lines: list[Line],
    exit_code: int | None = 0,
    *,
    stderr: bytes = b"",
    sessions: Mapping[str, bytes] | None = None,
) -> Left:
    """Return what a run with such a transcript left."""
    return Left(
        transcript=stream(lines), stderr=stderr, sessions=sessions or {}, exit_code=exit_code
    )


def stream(lines: list[Line]) -> bytes:
    """Return a stream of JSON lines."""
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def claude_begun(version: str = "2.1.332") -> list[Line]:
    """Return how Claude Code begins: one turn in two lines, and what its tool said."""
    init = {
        "type": "system",
        "subtype": "init",
        "cwd": "/workspace",
        "model": "claude-sonnet-4-5",
        "permissionMode": "bypassPermissions",
        "claude_code_version": version,
    }
    says = {"type": "text", "text": "I read it."}
    calls = {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"file_path": "/a"}}
    result = {"tool_use_id": "toolu_1", "type": "tool_result", "content": "1\tx"}
    return [
        init,
        *(claude_says(block, "msg_1") for block in (says, calls)),
        {"type": "user", "message": {"role": "user", "content": [result]}},
    ]


def claude_says(block: Line, identity: str, **more: Any) -> Line:
    """Return one line of an answer."""
    message = {
        "id": identity,
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [block],
        "usage": {"input_tokens": 1200, "output_tokens": 1},
    }
    return {"type": "assistant", "message": message, "parent_tool_use_id": None, **more}


def claude_result(**changes: Any) -> Line:
    """Return Claude Code's end record, of a good end."""
    used = {
        "inputTokens": 3000,
        "outputTokens": 120,
        "cacheReadInputTokens": 40,
        "cacheCreationInputTokens": 2,
        "costUSD": 0.011,
    }
    whole = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "api_error_status": None,
        "num_turns": 4,
        "result": "Mended.",
        "stop_reason": "end_turn",
        "total_cost_usd": 0.011,
        "usage": {"input_tokens": 3000, "output_tokens": 120},
        "modelUsage": {"claude-sonnet-4-5": used},
        "terminal_reason": "completed",
    }
    return {name: value for name, value in (whole | changes).items() if value is not ...}


def claude_failed(text: str, status: int | None, *, terminal: str = "api_error") -> list[Line]:
    """Return how Claude Code ends when the API fails: a line of its own making, and `success`."""
    block = {"type": "text", "text": text}
    synthetic = claude_says(block, "5e1f", error="unknown")
    synthetic["message"]["model"] = "<synthetic>"
    result = claude_result(
        is_error=True, api_error_status=status, result=text, terminal_reason=terminal,
        stop_reason="stop_sequence",
    )  # fmt: skip
    return [*claude_begun(), synthetic, result]


CLAUDE_MOST_TURNS = [
    *claude_begun(),
    claude_result(
        subtype="error_max_turns",
        is_error=True,
        result=...,
        errors=["Reached maximum number of turns (3)"],
        terminal_reason="max_turns",
        stop_reason="tool_use",
    ),
]
CLAUDE_REFUSED = [
    *claude_begun(),
    claude_result(
        is_error=True,
        result="API Error: unable to respond to this request, which appears to violate a policy",
        stop_reason="refusal",
    ),
]


def codex_begun() -> list[Line]:
    """Return how Codex begins: some words and a command."""
    return [
        {"type": "thread.started", "thread_id": "01a2"},
        {"type": "turn.started"},
        item(type="agent_message", text="I read it."),
        command("cat calc.py", "def add(a, b):\n", 0),
    ]


def item(**values: Any) -> Line:
    """Return a finished item."""
    return {"type": "item.completed", "item": {"id": "item_0", **values}}


def command(words: str, output: str, code: int) -> Line:
    """Return a finished command."""
    return item(
        type="command_execution",
        command=f"/usr/bin/bash -lc '{words}'",
        aggregated_output=output,
        exit_code=code,
        status="completed" if code == 0 else "failed",
    )


def codex_completed() -> list[Line]:
    """Return how Codex ends well."""
    used = {"input_tokens": 5000, "cached_input_tokens": 800, "output_tokens": 150}
    return [
        *codex_begun(),
        item(type="agent_message", text="Mended."),
        {"type": "turn.completed", "usage": used},
    ]


def codex_failed(message: str) -> list[Line]:
    """Return how Codex ends when it cannot go on."""
    return [
        *codex_begun(),
        {"type": "error", "message": f"Reconnecting... 1/5 ({message})"},
        {"type": "error", "message": message},
        {"type": "turn.failed", "error": {"message": message}},
    ]


def codex_rollout() -> dict[str, bytes]:
    """Return a session file of two answers."""
    lines = [
        {"type": "session_meta", "payload": {"cli_version": "0.171.0"}},
        {"type": "turn_context", "payload": {"model": "gpt-5.5", "effort": "high"}},
        {"type": "token_usage_record", "payload": {}},
        {"type": "token_usage_record", "payload": {}},
    ]
    return {".codex/sessions/2026/11/30/rollout-2026-a.jsonl": stream(lines)}
