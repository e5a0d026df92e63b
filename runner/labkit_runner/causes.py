"""What broke a try, told from its last exchange with the model: the one place that judges it.

By the status first, then by the error's type and code, and by its wording last of all: messages
name what they are not about ("see .../account/billing" in a rate limit), so no word decides alone.
"""

import re
from enum import StrEnum

from labkit_runner.gateway.wire import Exchange, Outcome


class Broken(StrEnum):
    """What broke a try."""

    QUOTA = "quota"
    """The credit, the plan or the day's allowance is used up."""
    AUTH = "auth"
    """The key or the login is not taken."""
    MODEL = "model"
    """The model's API does not know the model, or does not serve it for this key."""
    RATE_LIMIT = "rate_limit"
    OVERLOADED = "overloaded"
    """The model's API failed: 500, 529."""
    NETWORK = "network"
    """It could not be reached, or the connection broke or fell silent."""
    REQUEST = "request"
    """It did not take a request, and that is not the agent's doing."""
    AGENT = "agent"
    """The agent never came to work: it did not start, or its tools are broken."""
    GATEWAY = "gateway"
    SANDBOX = "sandbox"
    """The engine, the disk, or somebody who killed it from outside."""
    INTERRUPTED = "interrupted"
    """By Ctrl-C, or together with labkit itself."""
    ABANDONED = "abandoned"
    """By the person who did the run by hand."""

    @property
    def lasts(self) -> bool:
        """Whether waiting a little mends nothing and every run would meet it."""
        return self in (Broken.QUOTA, Broken.AUTH, Broken.MODEL)

    @property
    def is_remote(self) -> bool:
        """Whether it comes from the model's side, which needs longer than a machine to recover."""
        return self in (Broken.RATE_LIMIT, Broken.OVERLOADED, Broken.NETWORK, Broken.REQUEST)


_KINDS = {
    400: Broken.REQUEST,
    401: Broken.AUTH,
    402: Broken.QUOTA,
    403: Broken.AUTH,
    404: Broken.MODEL,
    413: Broken.REQUEST,
    422: Broken.REQUEST,
    429: Broken.RATE_LIMIT,
}
"""By the status of the last answer; any other is the API's own failure."""
_MAY_BE_MONEY = frozenset((0, 200, 400, 403, 429))
"""The statuses that APIs give to quota too; 200 is an error in the middle of a stream."""
_SAY_LITTLE = frozenset((0, 200))
_TYPES = (
    (
        Broken.QUOTA,
        r"insufficient.?(?:quota|funds|balance|credit)|current_quota|quota_exceeded|billing"
        r"|credit|payment_required|usage_limit_reached|usage_not_included|spend.?limit",
    ),
    (Broken.RATE_LIMIT, r"rate.?limit|too.?many|throttl"),
    (Broken.OVERLOADED, r"overloaded|unavailable|server_error|api_error|internal"),
    (Broken.AUTH, r"authentication|permission|unauthenticated|invalid_api_key"),
)
_PASSING = re.compile(
    r"per.?(?:second|minute|hour)|\b[rt]pm\b|(?:retry|try again) in \d", re.IGNORECASE
)
_WHOLE_DAY = re.compile(r"per.?(?:day|month)", re.IGNORECASE)
_MONEY = re.compile(
    r"exceeded your (?:current|monthly|daily) quota|quota (?:is |has been )?(?:exceeded|used up)"
    r"|credit balance|out of credits?|insufficient (?:balance|credits?|funds|quota)"
    r"|reached your specified (?:api )?(?:usage|spend)|spend(?:ing)? limit|usage limit"
    r"|billing hard limit|free quota",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"https?://\S+")


def cause(exchange: Exchange) -> Broken:
    """Tell what broke a run by its last exchange of the main conversation."""
    match exchange.outcome:
        case Outcome.ERROR:
            return _of_error(exchange.status or 0, exchange)
        case Outcome.ANSWERED | Outcome.ABANDONED:
            return Broken.AGENT
        case _:
            return Broken.NETWORK


def _of_error(status: int, exchange: Exchange) -> Broken:
    if status in _MAY_BE_MONEY and _is_money(exchange):
        return Broken.QUOTA
    if status in _SAY_LITTLE:
        return _typed(exchange) or Broken.OVERLOADED
    return _KINDS.get(status, Broken.OVERLOADED)


def _is_money(exchange: Exchange) -> bool:
    """Whether credit, plan or allowance is used up, and not only a rate that passes."""
    typed = _typed(exchange)
    if typed is not None:
        return typed is Broken.QUOTA
    error = exchange.error
    if limits := error.get("quota", ""):
        return _WHOLE_DAY.search(limits) is not None
    said = _ADDRESS.sub("", error.get("message", ""))
    if _PASSING.search(said) or exchange.retry_after is not None:
        return False
    return _MONEY.search(said) is not None


def _typed(exchange: Exchange) -> Broken | None:
    """Return what an error's type and code say; None: nothing that is known."""
    error = exchange.error
    named = " ".join(error.get(name, "") for name in ("type", "code", "status"))
    return next((kind for kind, words in _TYPES if re.search(words, named, re.IGNORECASE)), None)
