"""Which exchanges on the wire are the agent's own conversation, and what they say of its end.

Any program of the sandbox can ask the model: one that a command left behind, say. What it asks must
not decide how the run ended, and no agent may turn a bad run into one that does not count by asking
for what no API gives.
"""

import re

from labkit_runner import failures
from labkit_runner.agents.interface import Account, Ends, Said
from labkit_runner.gateway.wire import Exchange, Outcome, Wire

_ASKS = frozenset(("tool_use", "tool_calls", "function_call"))
_ENDS = frozenset(("end_turn", "stop", "stop_sequence"))
"""Stops that mean one thing; those of Responses and Gemini are the same with and without tools."""
_OF_THE_REQUEST = frozenset((400, 403, 404, 405, 413, 415, 422))
"""What an API says of a request that it does not take: whoever writes the request can have it."""
_OF_THE_ACCOUNT = re.compile(
    r"(?:you|your)\b.{0,80}\b(?:credit|quota|billing|spend|limits?)\b"
    r"|(?:your )?api.?key|your account|quota|billing|insufficient",
    re.IGNORECASE,
)
"""How messages about the key or its money begin: further on may stand what the request said."""
_ACCOUNT_CODES = frozenset(("insufficient_quota", "billing_error", "api_key_invalid"))


def own(wire: Wire) -> tuple[Exchange, ...]:
    """Return the agent's own conversation: what the same client asked of the same model.

    The first main request says which: no command of the run can have been there before it. Where
    there is none, as with an agent that offers no tools, every exchange counts.
    """
    main = [each for each in wire.exchanges if each.main]
    if not main:
        return wire.exchanges
    first = min(main, key=lambda each: each.number)
    same = (first.model, first.client)
    return tuple(each for each in main if (each.model, each.client) == same)


def last(wire: Wire | None) -> Exchange | None:
    """Return the exchange by which a run is judged: the last of its own conversation."""
    return next(reversed(own(wire)), None) if wire is not None else None


def whole(wire: Wire | None) -> Exchange | None:
    """Return the last of the agent's own answers that came whole."""
    answers = own(wire) if wire is not None else ()
    return next((each for each in reversed(answers) if is_whole(each)), None)


def is_whole(exchange: Exchange) -> bool:
    """Whether the model answered."""
    return exchange.outcome is Outcome.ANSWERED


def asks_for_tool(exchange: Exchange) -> bool:
    """Whether the model waits for what a tool says: no session ends so."""
    return exchange.stop in _ASKS or exchange.called is True


def may_have_called(wire: Wire | None) -> bool:
    """Whether some command of the run may have been at work."""
    if wire is None:
        return True
    silent = (Outcome.ERROR, Outcome.UNREACHABLE)
    began = [each for each in wire.exchanges if each.outcome not in silent]
    return any(asks_for_tool(each) or each.called is None for each in began)


def finished(wire: Wire | None, account: Account) -> Exchange | None:
    """Return the answer that ended the agent's work, where wire and agent agree that one did.

    What fails beside it or later is no part of it. Some agents call a broken answer a success: so
    their own word is not enough.
    """
    answer = whole(wire)
    if answer is None or account.said is not Said.COMPLETED:
        return None
    match account.ends:
        case Ends.WORDS:
            told = answer.stop in _ENDS or answer.called is False
            return answer if told and not asks_for_tool(answer) else None
        case Ends.TOOL:
            return answer
        case Ends.UNKNOWN:
            return None


def failure(wire: Wire, exchange: Exchange) -> str:
    """Return why an exchange failed without a fault of the agent's; empty when it did not."""
    if failures.is_too_long(exchange) or is_agents_own(wire, exchange):
        return ""
    return failures.failure(exchange)


def is_agents_own(wire: Wire, exchange: Exchange) -> bool:
    """Whether a failure comes from what was asked: the same model answered in this run before."""
    if exchange.outcome is not Outcome.ERROR or exchange.status not in _OF_THE_REQUEST:
        return False
    if not any(is_whole(each) for each in own(wire)):
        return False
    error = exchange.error
    codes = {error.get(name, "").lower() for name in ("type", "code")}
    return not codes & _ACCOUNT_CODES and not _OF_THE_ACCOUNT.match(error.get("message", ""))


def strays(wire: Wire, account: Account) -> tuple[str, ...]:
    """Return a remark on requests that failed and decided nothing."""
    mine = own(wire)
    done = finished(wire, account)
    found = [
        why
        for each in wire.exchanges
        if each.main and (each not in mine or (done is not None and each.number > done.number))
        if (why := failures.failure(each))
    ]
    if not found:
        return ()
    count = "a request" if len(found) == 1 else f"{len(found)} requests"
    return (f"{count} beside the agent's own conversation failed: {found[-1]}",)
