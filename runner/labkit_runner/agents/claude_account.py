"""What Claude Code says of its own end: the `result` line of its stream of JSON lines."""

from typing import Any

from labkit.transcripts.lines import clean, json_object, numbered
from labkit_runner.agents.interface import Account, Ends, Left, Said
from labkit_runner.agents.jsonlines import items, last_line, mapping, number, text, whole

_SYNTHETIC = "<synthetic>"
_TOO_LONG = ("prompt_too_long", "context_full")


def read_account(left: Left) -> Account:
    """Read the account; whatever the bytes are, it never raises."""
    init: dict[str, Any] = {}
    result: dict[str, Any] = {}
    turns: set[str] = set()
    for _, line in numbered(left.transcript):
        event = json_object(line) or {}
        match event.get("type"):
            case "system" if event.get("subtype") == "init":
                init = event
            case "assistant":
                turns |= _turn(event)
            case "result":
                result = event
            case _:
                pass
    said, reason = _said(result, left)
    return Account(
        said=said,
        ends=Ends.WORDS,
        reason=reason,
        version=text(init, "claude_code_version"),
        model=text(init, "model"),
        turns=len(turns) if turns or result else None,
        tokens=_tokens(result),
        cost=number(result, "total_cost_usd"),
        final_message=text(result, "result") if said is Said.COMPLETED else "",
    )


def _turn(event: dict[str, Any]) -> set[str]:
    """Return the id of a turn of the main conversation: lines of one message have one id."""
    message = mapping(event, "message")
    synthetic = event.get("error") or message.get("model") == _SYNTHETIC
    if synthetic or event.get("parent_tool_use_id"):
        return set()
    return {text(message, "id")}


def _said(result: dict[str, Any], left: Left) -> tuple[Said, str]:
    if not result:
        # With nothing at all said, it did not even begin: arguments that it does not take.
        if left.exit_code and not left.transcript.strip():
            return Said.AGENT_ERROR, last_line(left.stderr) or f"it ended in {left.exit_code}"
        return Said.NOTHING, last_line(left.stderr)
    reason = text(result, "result") or "; ".join(_errors(result))
    said = _kind(result, reason)
    return said, "" if said is Said.COMPLETED else reason or text(result, "subtype")


def _kind(result: dict[str, Any], reason: str) -> Said:
    kind = text(result, "subtype")
    if kind == "error_max_turns":
        return Said.TURN_CAP
    if text(result, "stop_reason") == "refusal":
        return Said.REFUSED
    too_long = text(result, "terminal_reason") in _TOO_LONG
    if too_long or (result.get("is_error") and "prompt is too long" in reason.lower()):
        return Said.AGENT_ERROR
    # An error of the API is called a success, with is_error beside it.
    if result.get("api_error_status") or (result.get("is_error") and kind == "success"):
        return Said.BROKEN
    return Said.COMPLETED if kind == "success" else Said.AGENT_ERROR


def _errors(result: dict[str, Any]) -> list[str]:
    return [clean(each) for each in items(result, "errors") if isinstance(each, str)]


def _tokens(result: dict[str, Any]) -> int | None:
    """Return all tokens of all models, in and out; one that it does not tell is not known."""
    used = [each for each in mapping(result, "modelUsage").values() if isinstance(each, dict)]
    kinds = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
    return sum(whole(each, kind) or 0 for each in used for kind in kinds) if used else None
