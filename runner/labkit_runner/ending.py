"""How a run ended: judged by its host, by the wire and by the agent itself, in that order.

Never by an exit code alone. `docs/agents.md` has the whole table.
"""

from collections.abc import Callable
from dataclasses import dataclass

from labkit.model import Ended, Ending
from labkit.sandbox.interface import Outcome
from labkit_runner import conversation, failures
from labkit_runner.agents.interface import Account, Ends, Said
from labkit_runner.gateway.wire import Exchange, Wire
from labkit_runner.gateway.wire import Outcome as Came

Verdict = tuple[Ending, str]
"""An ending, and its reason for people."""

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
_BY_SIGNAL = 128
"""Exit codes above say that a signal ended it."""
_LONGEST = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """What the witnesses saw."""

    outcome: Outcome
    why: str
    """Why labkit stopped it; empty when it did not."""
    wire: Wire | None
    account: Account
    changed: bool
    """Whether the run changed anything."""

    @property
    def cap(self) -> str:
        return self.wire.cap if self.wire else ""

    @property
    def last(self) -> Exchange | None:
        """The exchange that decides: what failed beside the agent's work or after it does not."""
        return conversation.finished(self.wire, self.account) or conversation.last(self.wire)

    @property
    def failed(self) -> str:
        """Why that exchange failed without a fault of the agent's; empty when it did not."""
        if self.wire is None or self.last is None:
            return ""
        return conversation.failure(self.wire, self.last)


def decide(
    outcome: Outcome, why: str, wire: Wire | None, account: Account, *, changed: bool = False
) -> Verdict:
    """Return the ending, and its reason for people: always exactly one.

    `why` is what the run's Halt says; `wire` is None where the run had no gateway. What an agent
    says of itself never turns a run that counts into one that does not, unless the wire agrees.
    """
    seen = _Seen(outcome=outcome, why=why, wire=wire, account=account, changed=changed)
    judges: tuple[Callable[[_Seen], Verdict | None], ...] = (_host, _cap, _time, _wire, _tools)
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
    if not is_believed(seen.wire, seen.account, changed=seen.changed):
        return None
    return Ending.INFRASTRUCTURE, f"its tools did not work: {seen.account.broken_tools}"


def is_believed(wire: Wire | None, account: Account, *, changed: bool) -> bool:
    """Whether an agent says that its tools did not work, and no command can have made that up."""
    if not account.broken_tools or changed:
        return False
    return account.inner_sandbox or not conversation.may_have_called(wire)


def _cap(seen: _Seen) -> Verdict | None:
    if not seen.cap:
        return None
    if seen.cap == "idle" and seen.failed:
        return Ending.INFRASTRUCTURE, f"it waited after {seen.failed}"
    if seen.cap == "silence":
        return _silence(seen)
    if seen.cap == "failures":
        return _failures(seen)
    ending = _CAPS.get(seen.cap, Ending.INFRASTRUCTURE)
    return ending, f"its bound on {seen.cap} was reached"


def _silence(seen: _Seen) -> Verdict:
    mine = conversation.own(seen.wire) if seen.wire else ()
    silent = [x for x in seen.wire.exchanges if x.outcome is Came.SILENT] if seen.wire else []
    if silent and not any(each in mine for each in silent):
        return Ending.AGENT_ERROR, "a request beside its own conversation was never answered"
    return Ending.INFRASTRUCTURE, seen.failed or "the model sent nothing for too long"


def _failures(seen: _Seen) -> Verdict:
    """Judge a run in which one request after the other failed."""
    if seen.failed:
        return Ending.INFRASTRUCTURE, seen.failed
    if conversation.whole(seen.wire) is None:
        return Ending.INFRASTRUCTURE, "its bound on failures was reached"
    return Ending.AGENT_ERROR, "its bound on failures was reached, though the model had answered"


def _time(seen: _Seen) -> Verdict | None:
    if seen.outcome.ended is not Ended.TIMEOUT:
        return None
    if seen.failed:
        return Ending.INFRASTRUCTURE, f"its time was over after {seen.failed}"
    return Ending.DEADLINE, "its time was over"


def _wire(seen: _Seen) -> Verdict | None:
    last = seen.last
    if last is None:
        return None
    if failures.is_too_long(last):
        return Ending.AGENT_ERROR, "its conversation became longer than the model takes"
    if seen.failed:
        return Ending.INFRASTRUCTURE, seen.failed
    if failed := failures.failure(last):
        return Ending.AGENT_ERROR, f"it asked for what the model's API does not give: {failed}"
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
    code = seen.outcome.exit_code
    if code is None or not 0 <= code <= _BY_SIGNAL:
        ended = "" if code is None else f" ({code})"
        return Ending.AGENT_ERROR, f"it called itself complete and was killed{ended}"
    if seen.wire is None:
        return Ending.COMPLETED, seen.account.reason
    answer = conversation.whole(seen.wire)
    if answer and seen.account.ends is Ends.WORDS and conversation.asks_for_tool(answer):
        return Ending.AGENT_ERROR, "it called itself complete while the model waited for a tool"
    if seen.last is not None and conversation.is_whole(seen.last):
        return Ending.COMPLETED, seen.account.reason
    if seen.last is None:
        return Ending.AGENT_ERROR, "it called itself complete and had never asked the model"
    return Ending.AGENT_ERROR, "it called itself complete in the middle of an answer"


def _broken(seen: _Seen) -> Verdict:
    """Judge an agent that blames the model: the wire knows better."""
    reason = seen.account.reason
    if seen.last is not None and conversation.is_whole(seen.last):
        return Ending.AGENT_ERROR, f"it gave up, though the model had answered: {reason}"
    if conversation.whole(seen.wire) is not None:
        # It left an answer before its end: whoever writes such a record can do that too.
        return Ending.AGENT_ERROR, f"it gave up in the middle of an answer: {reason}"
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
