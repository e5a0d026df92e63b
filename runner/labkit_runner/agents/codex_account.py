"""What Codex says of its own end: `turn.completed` or `turn.failed` in its stream of JSON lines.

The stream has neither a version nor a model; the session file, the rollout, has both.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from labkit.transcripts.lines import json_object, numbered
from labkit_runner.agents.interface import Account, Ends, Left, Said
from labkit_runner.agents.jsonlines import last_line, mapping, text, whole
from labkit_runner.agents.words import values_of

_TOO_LONG = re.compile(r"context.{0,3}window|context.{0,3}length|too long", re.IGNORECASE)
_REFUSED = re.compile(r"usage policy|content_filter|cyber_policy", re.IGNORECASE)
_NOISE = b"Reading additional input from stdin...\n"
_INNER = re.compile(r"\s*((?:bwrap|codex-linux-sandbox)\b.*)")
"""With what the output of a command begins that the inner sandbox did not let start."""


@dataclass(slots=True)
class _Told:
    """What the stream told."""

    end: dict[str, Any] = field(default_factory=dict)
    message: str = ""
    error: str = ""
    worked: bool = False
    """Whether any tool did anything."""
    inner: str = ""
    """What the inner sandbox complained of."""


def read_account(left: Left) -> Account:
    """Read the account; whatever the bytes are, it never raises."""
    told = _Told()
    for event in _events(left.transcript):
        _take(told, event)
    rollouts = [_events(data) for path, data in sorted(left.sessions.items()) if "rollout" in path]
    version, model, turns = _session(event for each in rollouts for event in each)
    said, reason = _said(told, left)
    inner = _has_inner_sandbox(left.argv)
    return Account(
        said=said,
        ends=Ends.WORDS,
        reason=reason,
        version=version,
        model=model,
        turns=turns,
        tokens=_tokens(mapping(told.end, "usage")),
        final_message=told.message if said is Said.COMPLETED else "",
        broken_tools=told.inner if inner and not told.worked else "",
        inner_sandbox=inner,
    )


def _has_inner_sandbox(argv: tuple[str, ...]) -> bool:
    """Whether labkit let its own sandbox on; without a word of it, it is off."""
    words = argv[: argv.index("--")] if "--" in argv else argv
    named = values_of(words, "-s", "--sandbox")
    return any(value != "danger-full-access" for _, value in named)


def _events(data: bytes) -> list[dict[str, Any]]:
    return [json_object(line) or {} for _, line in numbered(data)]


def _take(told: _Told, event: dict[str, Any]) -> None:
    match event.get("type"):
        case "turn.completed":
            told.end = event
        case "turn.failed":
            told.end = event
            told.error = _plain(text(mapping(event, "error"), "message")) or told.error
        case "error":
            told.error = _plain(text(event, "message"))
        case "item.completed":
            _take_item(told, mapping(event, "item"))
        case _:
            pass


def _plain(message: str) -> str:
    """Return an error's words where the whole answer of the API stands in their place."""
    answer = json_object(message.encode()) or {}
    return text(mapping(answer, "error"), "message") or message


def _take_item(told: _Told, item: dict[str, Any]) -> None:
    match item.get("type"):
        case "agent_message":
            told.message = text(item, "text")
        case "command_execution":
            complaint = _INNER.match(text(item, "aggregated_output"))
            if item.get("exit_code") == 0 or complaint is None:
                told.worked = True
            else:
                told.inner = told.inner or complaint[1].strip()[:300]
        case "file_change" if item.get("status") == "completed":
            told.worked = True
        case _:
            pass


def _said(told: _Told, left: Left) -> tuple[Said, str]:
    match told.end.get("type"):
        case "turn.completed":
            return Said.COMPLETED, ""
        case "turn.failed" if _TOO_LONG.search(told.error):
            return Said.AGENT_ERROR, told.error
        case "turn.failed" if _REFUSED.search(told.error):
            return Said.REFUSED, told.error
        case "turn.failed":
            return Said.BROKEN, told.error
        case _ if left.exit_code and not left.transcript.strip():
            # It did not even begin: arguments or settings that it does not take.
            return Said.AGENT_ERROR, _complaint(left) or f"it ended in {left.exit_code}"
        case _:
            return Said.NOTHING, told.error or _complaint(left)


def _complaint(left: Left) -> str:
    return last_line(left.stderr.replace(_NOISE, b""))


def _session(events: Iterable[dict[str, Any]]) -> tuple[str, str, int | None]:
    """Return version, model and the number of answers that the session file tells."""
    version = model = ""
    answers: int | None = None
    for event in events:
        payload = mapping(event, "payload")
        match event.get("type"):
            case "session_meta":
                version = text(payload, "cli_version") or version
            case "turn_context":
                model = text(payload, "model") or model
            case "token_usage_record":
                answers = (answers or 0) + 1
            case _:
                pass
    return version, model, answers


def _tokens(usage: dict[str, Any]) -> int | None:
    """Return all tokens, in and out: those of the cache are among those that went in."""
    given, got = whole(usage, "input_tokens"), whole(usage, "output_tokens")
    return None if given is None or got is None else given + got
