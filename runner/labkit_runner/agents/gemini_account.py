"""What Gemini CLI says of its own end: the `result` line of its stream of JSON lines.

It says success after an answer that was cut, and of a missing model only its words: the wire knows.
"""

from typing import Any

from labkit.transcripts.lines import json_object, numbered
from labkit_runner.agents.interface import Account, Ends, Left, Said
from labkit_runner.agents.jsonlines import last_line, mapping, text, whole

_UNREAD = b"Skipping system settings"
_TOO_LONG = ("exceeds the maximum number of tokens", "input token count", "context window")
_OURS = ("FatalAuthenticationError", "FatalConfigError")


def read_account(left: Left) -> Account:
    """Read the account; whatever the bytes are, it never raises."""
    init: dict[str, Any] = {}
    result: dict[str, Any] = {}
    words: list[str] = []
    for _, line in numbered(left.transcript):
        event = json_object(line) or {}
        match event.get("type"):
            case "init":
                init = event
            case "message" if event.get("role") == "assistant":
                words.append(text(event, "content"))
            case "tool_use":
                words.clear()
            case "result":
                result = event
            case _:
                pass
    said, reason = _said(result, left)
    return Account(
        said=said,
        ends=Ends.WORDS,
        reason=reason,
        model=text(init, "model"),
        turns=_turns(left),
        tokens=whole(mapping(result, "stats"), "total_tokens"),
        final_message="".join(words) if said is Said.COMPLETED else "",
        broken_tools=_unread(left),
    )


def _said(result: dict[str, Any], left: Left) -> tuple[Said, str]:
    if not result:
        # With nothing at all said, it did not even begin: arguments that it does not take.
        if left.exit_code and not left.transcript.strip():
            return Said.AGENT_ERROR, last_line(left.stderr) or f"it ended in {left.exit_code}"
        return Said.NOTHING, last_line(left.stderr)
    if text(result, "status") == "success":
        return Said.COMPLETED, ""
    return _failed(mapping(result, "error"), left)


def _failed(error: dict[str, Any], left: Left) -> tuple[Said, str]:
    kind, reason = text(error, "type"), text(error, "message")
    if kind == "FatalTurnLimitedError":
        return Said.TURN_CAP, reason
    if any(each in reason.lower() for each in _TOO_LONG):
        return Said.AGENT_ERROR, reason
    if "[API Error" in reason or kind in _OURS or b"Error when talking to Gemini" in left.stderr:
        return Said.BROKEN, reason or kind
    return Said.AGENT_ERROR, reason or kind or "its end record has no reason"


def _unread(left: Left) -> str:
    """Return why the run says nothing, where it ran without the settings that hold it."""
    lines = left.stderr.splitlines()
    unread = [line for line in lines if line.startswith(b"Security Warning") and _UNREAD in line]
    return last_line(unread[0]) if unread else ""


def _turns(left: Left) -> int | None:
    """Return how many answers its session holds: the stream does not tell one from the next."""
    answers: set[str] = set()
    for data in left.sessions.values():
        for _, line in numbered(data):
            event = json_object(line) or {}
            if event.get("type") == "gemini":
                answers.add(text(event, "id"))
    return len(answers) or None
