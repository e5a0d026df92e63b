"""How runs end whose agents, or what these left running, say what is not so."""

from dataclasses import replace

import pytest
from endings import (
    BROKEN,
    CALLED,
    COPIED,
    DONE,
    ENDED,
    EXITED,
    GOOD,
    INNER,
    SILENT_AGENT,
    STOPPED,
    STRAY,
    TIMEOUT,
    TOOL,
    UNREADY,
    WORDS,
    exited,
    failing,
    wire,
)
from hypothesis import given
from hypothesis import strategies as st

from labkit.model import Ended, Ending
from labkit.sandbox.interface import Outcome
from labkit_runner import conversation
from labkit_runner.agents.interface import Account, Ends, Said
from labkit_runner.ending import decide
from labkit_runner.gateway.wire import Exchange, Wire
from labkit_runner.gateway.wire import Outcome as Came


@pytest.mark.parametrize(
    ("outcome", "why", "seen", "account", "ending", "reason"),
    [
        (EXITED, "", wire(GOOD), INNER, "infrastructure", "tools did not work: bwrap: no"),
        (STOPPED, "b", wire(GOOD, cap="requests"), INNER, "turn_cap", "requests"),
        (TIMEOUT, "", wire(GOOD), INNER, "deadline", ""),
        # Where no tool was called on the wire, nobody can have made it up.
        (exited(78), "", wire(), UNREADY, "infrastructure", "Skipping system"),
        (EXITED, "", wire(replace(ENDED, called=False)), UNREADY, "infrastructure", "Skipping"),
        (EXITED, "", wire(replace(GOOD, called=True), ENDED), UNREADY, "agent_error", ""),
        (EXITED, "", wire(ENDED), UNREADY, "agent_error", ""),
        (EXITED, "", None, UNREADY, "agent_error", ""),
        (STOPPED, "b", wire(cap="idle"), UNREADY, "idle", ""),
        # Ends that are forged: killed, or in the middle of work.
        (exited(137), "", wire(CALLED, ENDED), WORDS, "agent_error", "was killed (137)"),
        (exited(-9), "", wire(CALLED, ENDED), WORDS, "agent_error", "was killed (-9)"),
        (exited(None), "", wire(CALLED, ENDED), WORDS, "agent_error", "was killed"),
        (exited(137), "", None, DONE, "agent_error", "was killed (137)"),
        (EXITED, "", wire(CALLED), WORDS, "agent_error", "waited for a tool"),
        (EXITED, "", wire(replace(GOOD, called=True)), WORDS, "agent_error", "for a tool"),
        (EXITED, "", wire(replace(GOOD, stop="tool_calls")), TOOL, "completed", ""),
        # What others in the sandbox ask decides nothing.
        (EXITED, "", wire(CALLED, ENDED, STRAY), WORDS, "completed", ""),
        (EXITED, "", wire(CALLED, ENDED, COPIED), WORDS, "completed", ""),
        (EXITED, "", wire(CALLED, COPIED), TOOL, "completed", ""),
        (EXITED, "", wire(CALLED, replace(COPIED, number=2), ENDED), WORDS, "completed", ""),
        (EXITED, "", wire(CALLED, STRAY), WORDS, "agent_error", "waited for a tool"),
        (exited(1), "", wire(CALLED, STRAY), BROKEN, "agent_error", "had answered"),
        (TIMEOUT, "", wire(CALLED, STRAY), SILENT_AGENT, "deadline", ""),
        (STOPPED, "b", wire(CALLED, STRAY, cap="idle"), SILENT_AGENT, "idle", ""),
        (STOPPED, "b", wire(CALLED, STRAY, cap="failures"), SILENT_AGENT, "agent_error", "bound"),
        (
            STOPPED, "b", wire(CALLED, replace(STRAY, outcome=Came.SILENT), cap="silence"),
            SILENT_AGENT, "agent_error", "beside its own conversation",
        ),
        # An agent that calls a cut answer a success; here Gemini, whose stop tells nothing.
        (
            EXITED, "", wire(replace(GOOD, stop="STOP", called=True), failing(200, Came.CUT)),
            WORDS, "infrastructure", "before its end",
        ),
        (EXITED, "", wire(GOOD, failing(200, Came.CUT)), WORDS, "infrastructure", "its end"),
        (
            EXITED, "", wire(replace(GOOD, stop="STOP", called=False), failing(200, Came.CUT)),
            WORDS, "completed", "",
        ),
    ],
)  # fmt: skip
def test_what_is_said_counts_where_the_wire_agrees(
    outcome: Outcome,
    why: str,
    seen: Wire | None,
    account: Account,
    ending: str,
    reason: str,
) -> None:
    found = decide(outcome, why, seen, account)
    assert found[0] == ending, found
    assert reason in found[1]


def test_requests_that_failed_beside_the_conversation_are_remarked_on() -> None:
    assert conversation.strays(wire(CALLED, ENDED), WORDS) == ()
    (remark,) = conversation.strays(wire(CALLED, ENDED, STRAY, COPIED), WORDS)
    assert remark.startswith("2 requests beside the agent's own conversation failed: ")
    assert conversation.strays(wire(CALLED, failing(500)), BROKEN) == ()


EXCHANGES = st.builds(
    Exchange,
    number=st.integers(1, 9),
    main=st.booleans(),
    model=st.sampled_from(["m", "no-such-model"]),
    outcome=st.sampled_from(Came),
    status=st.none() | st.integers(100, 599) | st.sampled_from([400, 404, 429, 500]),
    client=st.sampled_from(["cli", "python"]),
    called=st.none() | st.booleans(),
    seconds=st.floats(0, 1000),
    first_byte=st.none() | st.floats(0, 1000),
    stop=st.sampled_from(["", "end_turn", "tool_use", "refusal", "SAFETY"]),
    error=st.dictionaries(st.sampled_from(["type", "code", "message"]), st.text(max_size=9)),
)
WIRES = st.builds(
    Wire,
    exchanges=st.lists(EXCHANGES, max_size=3).map(tuple),
    cap=st.sampled_from(["", "requests", "tokens", "failures", "idle", "silence", "new"]),
)
OUTCOMES = st.builds(
    Outcome,
    ended=st.sampled_from(Ended),
    exit_code=st.none() | st.integers(-20, 255),
    seconds=st.just(1.0),
    cut_bytes=st.just(0),
    image_digest=st.just(""),
)
ACCOUNTS = st.builds(
    Account,
    said=st.sampled_from(Said),
    reason=st.sampled_from(["", "so"]),
    broken_tools=st.sampled_from(["", "bwrap: no"]),
    inner_sandbox=st.booleans(),
    ends=st.sampled_from(Ends),
)


@given(OUTCOMES, st.sampled_from(["", "why"]), st.none() | WIRES, ACCOUNTS)
def test_every_run_has_one_end_and_only_good_ones_are_complete(
    outcome: Outcome, why: str, seen: Wire | None, account: Account
) -> None:
    ending, reason = decide(outcome, why, seen, account)
    if ending is Ending.COMPLETED:
        assert (outcome.ended, account.said, why) == (Ended.EXITED, Said.COMPLETED, "")
        assert outcome.exit_code is not None
        assert 0 <= outcome.exit_code <= 128
        if seen is not None:
            answer = conversation.whole(seen)
            assert answer is not None
            assert seen.cap == ""
            assert account.ends is not Ends.WORDS or not conversation.asks_for_tool(answer)
    elif ending not in (Ending.AGENT_ERROR, Ending.REFUSED, Ending.TURN_CAP):
        assert reason, "an end that is no work of the agent's has a reason"


def test_a_changed_workspace_is_no_sign_of_broken_tools() -> None:
    assert decide(EXITED, "", wire(GOOD), INNER)[0] is Ending.INFRASTRUCTURE
    assert decide(EXITED, "", wire(GOOD), INNER, changed=True)[0] is Ending.COMPLETED


FOREIGN = st.lists(
    EXCHANGES.map(lambda each: replace(each, main=True, model="no-such-model")), max_size=3
)


@given(OUTCOMES, st.none() | st.lists(EXCHANGES, max_size=3), FOREIGN, ACCOUNTS, st.booleans())
def test_what_is_asked_of_another_model_changes_no_ending(
    outcome: Outcome,
    more: list[Exchange] | None,
    foreign: list[Exchange],
    account: Account,
    changed: bool,  # noqa: FBT001 - drawn
) -> None:
    first = replace(GOOD, number=0, client="cli", called=False)
    own = [first, *(replace(each, model="m") for each in more or ())]
    account = replace(account, broken_tools="")
    before = decide(outcome, "", wire(*own), account, changed=changed)
    assert decide(outcome, "", wire(*own, *foreign), account, changed=changed) == before


FORGED = st.builds(
    Account,
    said=st.sampled_from(Said),
    broken_tools=st.sampled_from(["", "Skipping system settings"]),
    ends=st.sampled_from(Ends),
)
ASKED = st.builds(
    Exchange,
    number=st.integers(2, 9),
    main=st.booleans(),
    model=st.sampled_from(["m", "no-such-model"]),
    client=st.sampled_from(["cli", "python"]),
    outcome=st.sampled_from([Came.ANSWERED, Came.ABANDONED, Came.ERROR]),
    status=st.sampled_from([400, 403, 404, 413, 422]),
    error=st.dictionaries(
        st.sampled_from(["message"]), st.sampled_from(["no field 'billing'", "prompt is too long"])
    ),
    stop=st.sampled_from(["", "end_turn", "tool_use"]),
    called=st.none() | st.booleans(),
)


@given(
    st.sampled_from([Ended.EXITED, Ended.TIMEOUT]),
    st.integers(0, 255),
    st.sampled_from(["", "failures", "idle", "requests"]),
    st.lists(ASKED, max_size=4),
    FORGED,
)
def test_no_agent_at_work_can_make_its_run_void(
    ended: Ended, code: int, cap: str, asked: list[Exchange], account: Account
) -> None:
    """Whatever it writes down and asks for: once it was answered, its run counts."""
    at_work = replace(GOOD, client="cli", stop="tool_use", called=True)
    outcome = replace(exited(code), ended=ended)
    ending, why = decide(outcome, "", wire(at_work, *asked, cap=cap), account)
    assert ending is not Ending.INFRASTRUCTURE, why
