"""What OpenCode says of its own end: the last of its steps, or an `error` line.

It tries a model that fails for ever and says nothing of it: the wire knows.
"""

from typing import Any

from labkit.transcripts.lines import json_object, numbered
from labkit_runner.agents.interface import Account, Ends, Left, Said
from labkit_runner.agents.jsonlines import last_line, mapping, text, whole
from labkit_runner.agents.opencode_start import EXIT, REFUSED

_TOO_LONG = ("ContextOverflowError", "MessageOutputLengthError")
_ABORTED = "MessageAbortedError"


def read_account(left: Left) -> Account:
    """Read the account; whatever the bytes are, it never raises."""
    steps: list[dict[str, Any]] = []
    last: dict[str, Any] = {}
    words: list[str] = []
    for _, line in numbered(left.transcript):
        event = json_object(line) or {}
        match event.get("type"):
            case "step_start":
                words.clear()
            case "text":
                words.append(text(mapping(event, "part"), "text"))
            case "step_finish":
                steps.append(mapping(event, "part"))
            case _:
                pass
        last = event or last
    said, reason = _said(last, left)
    tokens = [whole(mapping(each, "tokens"), "total") for each in steps]
    return Account(
        said=said,
        ends=Ends.WORDS,
        reason=reason,
        turns=len(steps) if steps else None,
        tokens=sum(each or 0 for each in tokens) if steps else None,
        final_message="\n".join(words) if said is Said.COMPLETED else "",
        broken_tools=_refused(left),
    )


def _said(last: dict[str, Any], left: Left) -> tuple[Said, str]:
    match last.get("type"):
        case "error":
            return _failed(mapping(last, "error"))
        case "step_finish":
            return _stopped(text(mapping(last, "part"), "reason"))
        case _:
            pass
    # With nothing at all said, it did not even begin: arguments that it does not take.
    if left.exit_code and not left.transcript.strip():
        return Said.AGENT_ERROR, last_line(left.stderr) or f"it ended in {left.exit_code}"
    return Said.NOTHING, last_line(left.stderr)


def _stopped(why: str) -> tuple[Said, str]:
    match why:
        case "stop":
            return Said.COMPLETED, ""
        case "content-filter":
            return Said.REFUSED, "the model's answer was filtered"
        case "length":
            return Said.AGENT_ERROR, "the model's answer was longer than it may be"
        case _:
            return Said.NOTHING, ""


def _failed(error: dict[str, Any]) -> tuple[Said, str]:
    kind = text(error, "name")
    reason = text(mapping(error, "data"), "message") or kind
    if kind in _TOO_LONG:
        return Said.AGENT_ERROR, reason
    return (Said.NOTHING if kind == _ABORTED else Said.BROKEN), reason


def _refused(left: Left) -> str:
    """Return why OpenCode was not started: that is said before it could say anything itself."""
    first = json_object(left.transcript.split(b"\n", 1)[0]) or {}
    if first.get("type") != REFUSED or left.exit_code != EXIT:
        return ""
    named = first.get("plugins")
    names = ", ".join(str(each)[:200] for each in named[:5]) if isinstance(named, list) else ""
    return f"OpenCode would run the workspace's plugins, and no switch of it holds: {names}"
