"""Why an exchange with a model failed, in words that tell a team what to do."""

import re
from typing import assert_never

from labkit_runner.causes import Broken, cause
from labkit_runner.gateway.wire import Exchange, Outcome

_TOO_LONG = re.compile(
    r"context_length_exceeded|prompt is too long|context.?(?:window|length)|maximum context"
    r"|input token count.{0,40}exceed|input is too long",
    re.IGNORECASE,
)
_BUSY = "the model's API is overloaded"
_WORDS = {
    Broken.REQUEST: "the model's API did not take the request",
    Broken.AUTH: "the key was refused",
    Broken.QUOTA: "the quota is used up",
    Broken.MODEL: "the model or its address is not known",
    Broken.RATE_LIMIT: "too many requests",
}
"""By what broke; any other is the API's own failure."""
_STATUSES = {
    408: "the model's API did not answer in time",
    413: "the request is larger than the model's API takes",
    503: _BUSY,
    529: _BUSY,
}
"""What a status says more exactly."""
_IS_BUSY = re.compile(r"overloaded|unavailable", re.IGNORECASE)
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
    kind = cause(exchange)
    said = _WORDS.get(kind, "the model's API failed")
    if not kind.lasts:
        said = _STATUSES.get(status, said)
    named = f"{error.get('type', '')} {error.get('code', '')} {error.get('status', '')}"
    if kind is Broken.OVERLOADED and status in (0, 200) and _IS_BUSY.search(named):
        said = _BUSY
    return _with(f"{said} ({status})" if status >= 400 else said, exchange)  # noqa: PLR2004 - HTTP's own


def _with(cause: str, exchange: Exchange) -> str:
    message = " ".join(exchange.error.get("message", "").split())[:_LONGEST]
    return f"{cause}: {message}" if message else cause
