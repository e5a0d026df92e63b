"""Why an exchange with a model failed, in words that tell a team what to do."""

import re
from typing import assert_never

from labkit_runner.gateway.wire import Exchange, Outcome

_TOO_LONG = re.compile(
    r"context_length_exceeded|prompt is too long|context.?(?:window|length)|maximum context"
    r"|input token count.{0,40}exceed|input is too long",
    re.IGNORECASE,
)
_QUOTA = re.compile(r"quota|billing|credit balance|spend(?:ing)? limit", re.IGNORECASE)
_AUTH, _QUOTA_WORD, _RATE = "the key was refused", "the quota is used up", "too many requests"
_BUSY, _MODEL = "the model's API is overloaded", "the model or its address is not known"
_STATUSES = {
    400: "the model's API did not take the request",
    401: _AUTH,
    402: _QUOTA_WORD,
    403: _AUTH,
    404: _MODEL,
    408: "the model's API did not answer in time",
    413: "the request is larger than the model's API takes",
    429: _RATE,
    503: _BUSY,
    529: _BUSY,
}
_TYPES = (
    (re.compile(r"overloaded|unavailable", re.IGNORECASE), _BUSY),
    (re.compile(r"rate.?limit", re.IGNORECASE), _RATE),
    (re.compile(r"authentication|permission|unauthenticated", re.IGNORECASE), _AUTH),
)
_LONGEST = 300


def is_too_long(exchange: Exchange) -> bool:
    """Whether the model did not answer because the conversation is longer than it takes."""
    error = exchange.error
    told = " ".join((error.get("code", ""), error.get("type", ""), error.get("message", "")))
    return exchange.outcome is Outcome.ERROR and _TOO_LONG.search(told) is not None


def failure(exchange: Exchange) -> str:
    """Return why an exchange failed, for people; empty when the model is not to blame."""
    match exchange.outcome:
        case Outcome.ANSWERED | Outcome.ABANDONED:
            return ""
        case Outcome.ERROR:
            return _error(exchange)
        case Outcome.CUT:
            return "the model's answer ended before its end"
        case Outcome.DROPPED:
            when = "before an" if exchange.status is None else "in the middle of an"
            return _with(f"the connection to the model broke {when} answer", exchange)
        case Outcome.SILENT:
            return _with("the model sent nothing for too long", exchange)
        case Outcome.UNREACHABLE:
            return _with("the model could not be reached", exchange)
    assert_never(exchange.outcome)


def _error(exchange: Exchange) -> str:
    status, error = exchange.status or 0, exchange.error
    told = " ".join(error.values())
    if _QUOTA.search(told) and status in (0, 200, 400, 402, 403, 429):
        cause = _QUOTA_WORD
    elif status in _STATUSES:
        cause = _STATUSES[status]
    else:
        kind = f"{error.get('type', '')} {error.get('code', '')} {error.get('status', '')}"
        found = (words for pattern, words in _TYPES if pattern.search(kind))
        cause = next(found, "the model's API failed")
    return _with(f"{cause} ({status})" if status >= 400 else cause, exchange)  # noqa: PLR2004 - HTTP's own


def _with(cause: str, exchange: Exchange) -> str:
    message = " ".join(exchange.error.get("message", "").split())[:_LONGEST]
    return f"{cause}: {message}" if message else cause
