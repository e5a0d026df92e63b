"""What goes wrong between an agent and its model, and what a run is called then.

The real clients, the real gateway; only the model is scripted, and its faults with it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from wholeruns import MEND, Stage, stage

from labkit.bounds import Caps
from labkit.model import Ending
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit_runner.causes import Broken
from labkit_runner.rehearsal.script import Fault, FaultKind, Script, Turn
from labkit_runner.voided import Voided

AGENTS = ["claude-code", "codex"]
LONG = "python3 -c 'import time; time.sleep(100)'"
# Of every process that runs the agent's own program.
INTERRUPT = """\
for each in /proc/[0-9]*; do
  case $(readlink $each/exe) in */agent/*) kill -INT ${each#/proc/};; esac
done; python3 -c 'import time; time.sleep(5)'"""
SHORT = Caps(silence_seconds=4, idle_seconds=60)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A fault, and what a run with it is."""

    fault: Fault
    ending: Ending = Ending.INFRASTRUCTURE
    kind: Broken | None = None
    said: str = ""
    """What the reason holds."""
    otherwise: dict[str, Ending] | None = None
    """Agents that take it otherwise."""


def status(number: int, **more: object) -> Fault:
    return Fault(kind=FaultKind.STATUS, status=number, **more)  # type: ignore[arg-type] # by name


QUOTA = {
    "type": "insufficient_quota",
    "code": "insufficient_quota",
    "message": "You exceeded your current quota, please check your plan and billing details.",
}
CASES = {
    "400": Case(fault=status(400, type="invalid_request_error"), kind=Broken.REQUEST, said="400"),
    "401": Case(fault=status(401, type="authentication_error"), kind=Broken.AUTH, said="401"),
    "404": Case(fault=status(404, type="not_found_error"), kind=Broken.MODEL, said="404"),
    "429 once": Case(
        fault=status(429, times=1, headers={"retry-after": "1"}), ending=Ending.COMPLETED
    ),
    "429": Case(fault=status(429, type="rate_limit_error"), kind=Broken.RATE_LIMIT, said="429"),
    "quota": Case(fault=status(429, **QUOTA), kind=Broken.QUOTA, said="quota"),
    "500 once": Case(fault=status(500, times=1), ending=Ending.COMPLETED),
    "500": Case(fault=status(500), kind=Broken.OVERLOADED, said="500"),
    "529": Case(fault=status(529, type="overloaded_error"), kind=Broken.OVERLOADED, said="529"),
    "dropped once": Case(fault=Fault(kind=FaultKind.DROP, times=1), ending=Ending.COMPLETED),
    "dropped": Case(fault=Fault(kind=FaultKind.DROP), kind=Broken.NETWORK),
    "cut": Case(fault=Fault(kind=FaultKind.CUT), kind=Broken.NETWORK),
    "no answer": Case(fault=Fault(kind=FaultKind.HANG), kind=Broken.NETWORK),
    "closed": Case(fault=Fault(kind=FaultKind.REFUSE), kind=Broken.NETWORK),
}


def ending(found: Stage, script: Script, url: str = "") -> tuple[Ending, str, Broken | None]:
    """Return how a run ended, why, and what broke it."""
    try:
        record, _ = found.play(script, url=url)
    except Voided as voided:
        return Ending.INFRASTRUCTURE, voided.message, voided.kind
    return record.ending, record.why, None


@pytest.fixture
def on_stage(bubblewrap_sandbox: BubblewrapSandbox, tmp_path: Path) -> Callable[[str], Stage]:
    """Return what sets an agent on a stage with short patience."""

    def make(name: str) -> Stage:
        found = stage(bubblewrap_sandbox, tmp_path, name)
        found.caps = SHORT
        return found

    return make


@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_fault_of_the_model_is_no_fail_of_the_agent(
    on_stage: Callable[[str], Stage], name: str, case: Case
) -> None:
    found = on_stage(name)
    turn_one = replace(case.fault, turn=1)
    got, why, kind = ending(found, Script(turns=found.turns("true", MEND), faults=(turn_one,)))
    wanted = (case.otherwise or {}).get(name, case.ending)
    assert got is wanted, why
    assert kind is case.kind
    assert case.said in why


@pytest.mark.parametrize("name", AGENTS)
def test_an_endpoint_that_is_down_is_no_fail_of_the_agent(
    on_stage: Callable[[str], Stage], name: str
) -> None:
    found = on_stage(name)
    got, why, kind = ending(found, Script(turns=found.turns(MEND)), url="http://127.0.0.1:9")
    assert (got, kind) == (Ending.INFRASTRUCTURE, Broken.NETWORK), why


@pytest.mark.parametrize("name", AGENTS)
def test_a_loop_ends_at_the_turn_cap(on_stage: Callable[[str], Stage], name: str) -> None:
    found = on_stage(name)
    found.configuration = replace(found.configuration, turn_cap=3)
    looping = Script(turns=found.turns("true")[:1], loop=True)
    record, played = found.play(looping)
    assert record.ending is Ending.TURN_CAP, record.why
    assert record.turns == len([each for each in played.main if each.status == 200]) == 3


@pytest.mark.parametrize("name", AGENTS)
def test_work_without_an_end_ends_at_the_deadline(
    on_stage: Callable[[str], Stage], name: str
) -> None:
    found = on_stage(name)
    found.limits = replace(found.limits, seconds=8)
    record, _ = found.play(Script(turns=found.turns(LONG)))
    assert record.ending is Ending.DEADLINE, record.why
    assert record.turns == 1


@pytest.mark.parametrize("name", AGENTS)
def test_a_run_that_asks_for_nothing_is_idle(on_stage: Callable[[str], Stage], name: str) -> None:
    found = on_stage(name)
    found.caps = replace(SHORT, idle_seconds=4)
    record, _ = found.play(Script(turns=found.turns(LONG)))
    assert record.ending is Ending.IDLE, record.why


@pytest.mark.parametrize("name", AGENTS)
def test_tokens_and_money_are_bounded(on_stage: Callable[[str], Stage], name: str) -> None:
    found = on_stage(name)
    found.caps = replace(SHORT, tokens=3000)
    record, _ = found.play(Script(turns=found.turns("true")[:1], loop=True))
    assert record.ending is Ending.TOKEN_CAP, record.why
    assert 3000 <= (record.tokens or 0) < 6000


def test_a_model_that_will_not_go_on_has_refused(on_stage: Callable[[str], Stage]) -> None:
    found = on_stage("claude-code")
    record, _ = found.play(Script(turns=(Turn(text="I cannot.", stop="refusal"),), loop=True))
    assert record.ending is Ending.REFUSED, record.why


@pytest.mark.parametrize("name", AGENTS)
def test_an_interrupted_agent_has_not_completed(
    on_stage: Callable[[str], Stage], name: str
) -> None:
    found = on_stage(name)
    got, why, _ = ending(found, Script(turns=found.turns(INTERRUPT, "true")))
    assert got is not Ending.COMPLETED, why
