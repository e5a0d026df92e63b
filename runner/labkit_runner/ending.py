"""How a run ended: judged by its host, by the wire and by the agent itself, in that order.

Never by an exit code alone. `docs/agents.md` has the whole table.
"""

from collections.abc import Callable
from dataclasses import dataclass

from labkit.model import Ended, Ending
from labkit.sandbox.interface import Outcome
from labkit_runner import failures
from labkit_runner.agents.interface import Account, Said
from labkit_runner.gateway.wire import Exchange, Wire
from labkit_runner.gateway.wire import Outcome as Came

Verdict = tuple[Ending, str]
"""An ending, and its reason for people."""

_LONG_WAIT = 60.0
"""A model that says nothing for so long is not about to answer: the deadline is not the agent's."""
_CAPS = {
    "requests": Ending.TURN_CAP,
    "tokens": Ending.TOKEN_CAP,
    "cost": Ending.COST_CAP,
    "idle": Ending.IDLE,
}
_REFUSALS = frozenset(
    ("refusal", "content_filter", "safety", "prohibited_content", "blocklist", "spii")
)
"""Why models stop that will not go on, in the words of their APIs, in lower case."""
_NOT_STARTED = 127
_LONGEST = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """What the witnesses saw."""

    outcome: Outcome
    why: str
    """Why labkit stopped it; empty when it did not."""
    wire: Wire | None
    account: Account

    @property
    def cap(self) -> str:
        return self.wire.cap if self.wire else ""

    @property
    def last(self) -> Exchange | None:
        """The last exchange: of the main conversation, where the agent is known to have one."""
        if self.wire is None:
            return None
        return self.wire.final

    @property
    def failed(self) -> str:
        """Why the last exchange failed without a fault of the agent's; empty when it did not."""
        if self.last is None or failures.is_too_long(self.last):
            return ""
        return failures.failure(self.last)


def decide(outcome: Outcome, why: str, wire: Wire | None, account: Account) -> Verdict:
    """Return the ending, and its reason for people: always exactly one.

    `why` is what the run's Halt says; `wire` is None where the run had no gateway.
    """
    seen = _Seen(outcome=outcome, why=why, wire=wire, account=account)
    judges: tuple[Callable[[_Seen], Verdict | None], ...] = (_host, _tools, _cap, _time, _wire)
    for judge in judges:
        verdict = judge(seen)
        if verdict is not None:
            return _short(verdict)
    return _short(_agent(seen))


def _short(verdict: Verdict) -> Verdict:
    """Return the reason on one line: agents' own can be long."""
    return verdict[0], " ".join(verdict[1].split())[:_LONGEST]


def _host(seen: _Seen) -> Verdict | None:
    if seen.outcome.ended is Ended.KILLED:
        return Ending.INFRASTRUCTURE, "the run was killed from outside its sandbox"
    stopped = seen.why or seen.outcome.ended is Ended.STOPPED
    if stopped and not seen.cap:
        return Ending.INFRASTRUCTURE, seen.why or "the run was stopped"
    if seen.outcome.ended is Ended.OUT_OF_MEMORY:
        return Ending.OUT_OF_MEMORY, "its sandbox ran out of memory"
    return None


def _tools(seen: _Seen) -> Verdict | None:
    broken = seen.account.broken_tools
    return (Ending.INFRASTRUCTURE, f"its tools did not work: {broken}") if broken else None


def _cap(seen: _Seen) -> Verdict | None:
    if not seen.cap:
        return None
    if seen.cap == "idle" and seen.failed:
        return Ending.INFRASTRUCTURE, f"it waited after {seen.failed}"
    if seen.cap == "silence":
        return Ending.INFRASTRUCTURE, seen.failed or "the model sent nothing for too long"
    ending = _CAPS.get(seen.cap, Ending.INFRASTRUCTURE)
    return ending, f"its bound on {seen.cap} was reached"


def _time(seen: _Seen) -> Verdict | None:
    if seen.outcome.ended is not Ended.TIMEOUT:
        return None
    if seen.failed:
        return Ending.INFRASTRUCTURE, f"its time was over after {seen.failed}"
    last = seen.last
    if last and last.first_byte is None and last.seconds >= _LONG_WAIT:
        waited = f"the model had sent nothing for {last.seconds:.0f} seconds"
        return Ending.INFRASTRUCTURE, f"{waited} when the run's time was over"
    return Ending.DEADLINE, "its time was over"


def _wire(seen: _Seen) -> Verdict | None:
    last = seen.last
    if last is None:
        return None
    if failures.is_too_long(last):
        return Ending.AGENT_ERROR, "its conversation became longer than the model takes"
    if seen.failed:
        return Ending.INFRASTRUCTURE, seen.failed
    if last.stop.lower() in _REFUSALS:
        return Ending.REFUSED, seen.account.reason or f"the model stopped: {last.stop}"
    return None


def _agent(seen: _Seen) -> Verdict:
    account = seen.account
    match account.said:
        case Said.COMPLETED:
            return _completed(seen)
        case Said.TURN_CAP:
            return Ending.TURN_CAP, account.reason
        case Said.REFUSED:
            return Ending.REFUSED, account.reason
        case Said.BROKEN:
            return _broken(seen)
        case Said.AGENT_ERROR | Said.NOTHING:
            return _failed(seen)


def _completed(seen: _Seen) -> Verdict:
    if seen.wire is None or (seen.last is not None and _is_whole(seen.last)):
        return Ending.COMPLETED, seen.account.reason
    if seen.last is None:
        return Ending.AGENT_ERROR, "it called itself complete and had never asked the model"
    return Ending.AGENT_ERROR, "it called itself complete in the middle of an answer"


def _broken(seen: _Seen) -> Verdict:
    """Judge an agent that blames the model: the wire knows better."""
    reason = seen.account.reason
    if seen.last is not None and _is_whole(seen.last):
        return Ending.AGENT_ERROR, f"it gave up, though the model had answered: {reason}"
    return Ending.INFRASTRUCTURE, reason or "the model could not be reached"


def _failed(seen: _Seen) -> Verdict:
    reason, code = seen.account.reason, seen.outcome.exit_code
    if code == _NOT_STARTED and seen.wire is not None and not seen.wire.exchanges:
        return Ending.INFRASTRUCTURE, reason or "the agent could not be started"
    if seen.account.said is Said.NOTHING:
        how = "it ended" if code is None else f"it ended in {code}"
        said = f": {reason}" if reason else ""
        return Ending.AGENT_ERROR, f"{how} without saying how its work went{said}"
    return Ending.AGENT_ERROR, reason


def _is_whole(exchange: Exchange) -> bool:
    return exchange.outcome is Came.ANSWERED
