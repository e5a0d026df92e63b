"""What mini-swe-agent says of its own end: `info.exit_status` of its trajectory."""

from typing import Any

from labkit.transcripts.lines import json_object
from labkit_runner.agents.interface import Account, Ends, Left, Said
from labkit_runner.agents.jsonlines import items, last_line, mapping, number, text, whole

_SAID = {
    "": Said.NOTHING,
    "Submitted": Said.COMPLETED,
    "LimitsExceeded": Said.TURN_CAP,
    "ContentPolicyViolationError": Said.REFUSED,
    "ContextWindowExceededError": Said.AGENT_ERROR,
    **dict.fromkeys(
        (
            *("APIConnectionError", "APIError", "APIResponseValidationError", "APIStatusError"),
            *("APITimeoutError", "AuthenticationError", "BadGatewayError", "BadRequestError"),
            *("BudgetExceededError", "InternalServerError", "InvalidRequestError"),
            *("JSONSchemaValidationError", "MidStreamFallbackError", "NotFoundError"),
            *("PermissionDeniedError", "RateLimitError", "ServiceUnavailableError", "Timeout"),
            *("UnprocessableEntityError", "UnsupportedParamsError"),
        ),
        Said.BROKEN,
    ),
}


def read_account(left: Left) -> Account:
    """Read the account; whatever the bytes are, it never raises."""
    record = json_object(left.transcript) or {}
    info = mapping(record, "info")
    if not info:
        return _without_record(left)
    status = text(info, "exit_status")
    said = _SAID.get(status, Said.AGENT_ERROR)
    messages = [each for each in items(record, "messages") if isinstance(each, dict)]
    answers = [answer for each in messages if (answer := _answer(each))]
    stats = mapping(info, "model_stats")
    model = mapping(mapping(info, "config"), "model")
    return Account(
        said=said,
        ends=Ends.TOOL,
        reason="" if said is Said.COMPLETED else _reason(messages, status, left),
        version=text(info, "mini_version"),
        model=text(model, "model_name").partition("/")[2],
        turns=len(answers),
        tokens=_tokens(answers),
        cost=number(stats, "instance_cost"),
        final_message=text(info, "submission").strip() if said is Said.COMPLETED else "",
    )


def _without_record(left: Left) -> Account:
    """It keeps its trajectory from the first step on: without one, it did not even begin."""
    last = last_line(left.stderr)
    if left.exit_code:
        return Account(said=Said.AGENT_ERROR, reason=last or f"it ended in {left.exit_code}")
    return Account(said=Said.NOTHING, reason=last)


def _reason(messages: list[dict[str, Any]], status: str, left: Left) -> str:
    last = messages[-1] if messages and messages[-1].get("role") == "exit" else {}
    return text(last, "content")[:1000] or status or last_line(left.stderr)


def _answer(message: dict[str, Any]) -> dict[str, Any]:
    """Return the model's answer that a message holds, or is; empty where there is none."""
    if text(message, "object") == "response":
        return message
    return mapping(mapping(message, "extra"), "response")


def _tokens(answers: list[dict[str, Any]]) -> int | None:
    """Return what all answers together used, as their own usage says."""
    told = [whole(mapping(each, "usage"), "total_tokens") for each in answers]
    counts = [each for each in told if each is not None]
    return sum(counts) if counts else None
