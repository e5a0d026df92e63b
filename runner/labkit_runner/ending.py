"""How a run ended."""

from labkit.model import Ended, Ending
from labkit.sandbox.interface import Outcome
from labkit_runner.agents.interface import Account, Said
from labkit_runner.gateway.wire import Wire


def decide(outcome: Outcome, why: str, wire: Wire | None, account: Account) -> tuple[Ending, str]:
    """Return the ending, and its reason for people."""
    del why, wire
    match outcome.ended:
        case Ended.TIMEOUT:
            return Ending.DEADLINE, ""
        case Ended.OUT_OF_MEMORY:
            return Ending.OUT_OF_MEMORY, ""
        case Ended.KILLED:
            return Ending.INFRASTRUCTURE, "the run was killed from outside its sandbox"
        case Ended.EXITED | Ended.STOPPED:
            pass
    if account.said is Said.COMPLETED:
        return Ending.COMPLETED, account.reason
    return Ending.AGENT_ERROR, account.reason
