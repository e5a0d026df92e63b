"""How runs end: every case of the fault matrix, for every agent, by what each shows of it."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from accounts import (
    CLAUDE_MOST_TURNS,
    CLAUDE_REFUSED,
    claude_begun,
    claude_failed,
    claude_result,
    codex_begun,
    codex_completed,
    codex_failed,
    left,
)
from endings import (
    BROKEN,
    CALLED,
    DONE,
    EXITED,
    GOOD,
    HUNGRY,
    KILLED,
    SILENT_AGENT,
    STOPPED,
    TIMEOUT,
    exited,
    failing,
    wire,
)

from labkit.model import Ending
from labkit.sandbox.interface import Outcome
from labkit_runner.agents.claude import ClaudeCode
from labkit_runner.agents.codex import Codex
from labkit_runner.agents.interface import Account, Said
from labkit_runner.ending import decide
from labkit_runner.gateway.wire import Exchange, Wire
from labkit_runner.gateway.wire import Outcome as Came


def claude(lines: list[dict[str, object]], code: int | None) -> Account:
    return ClaudeCode().account(left(lines, code))


def codex(lines: list[dict[str, object]], code: int | None) -> Account:
    return Codex().account(left(lines, code))


# What each client leaves of a failed model call: its exit code, and its account. Those of mini,
# Gemini CLI and OpenCode are as observed of them; some call the failure a success.
CLIENTS: Mapping[str, tuple[int | None, Account]] = {
    "claude-code": (1, claude(claude_failed("API Error: it failed", None), 1)),
    "claude-code 2.0": (0, claude([*claude_begun(), claude_result(result="")], 0)),
    "codex": (1, codex(codex_failed("stream disconnected before completion"), 1)),
    "mini-swe-agent": (1, Account(said=Said.BROKEN, reason="InternalServerError")),
    "gemini-cli": (0, DONE),
    "gemini-cli 401": (145, Account(said=Said.BROKEN, reason="fatal")),
    "opencode": (1, Account(said=Said.BROKEN, reason="failed")),
    "command": (1, Account(said=Said.AGENT_ERROR, reason="it ended in 1")),
    "nothing said": (0, SILENT_AGENT),
}
FAULTS: Mapping[str, tuple[Exchange, str]] = {
    "400": (failing(400, message="bad"), "did not take the request (400): bad"),
    "401": (failing(401, type="authentication_error"), "the key was refused (401)"),
    "403": (failing(403), "the key was refused (403)"),
    "404": (failing(404, message="model: x"), "not known (404): model: x"),
    "408": (failing(408), "did not answer in time (408)"),
    "413": (failing(413, message="too large"), "larger than the model's API takes (413)"),
    "429": (failing(429, type="rate_limit_error"), "too many requests (429)"),
    "429 quota": (failing(429, code="insufficient_quota"), "the quota is used up (429)"),
    "400 credit": (failing(400, message="Your credit balance is too low"), "quota is used up"),
    "500": (failing(500), "the model's API failed (500)"),
    "500 with words": (failing(500, message="billing is down"), "API failed (500): billing is"),
    "502": (failing(502), "the model's API failed (502)"),
    "529": (failing(529, type="overloaded_error"), "overloaded (529)"),
    "overloaded in mid-stream": (failing(200, type="overloaded_error"), "is overloaded"),
    "failed in mid-stream": (failing(200, code="server_error"), "the model's API failed"),
    "dropped": (failing(200, Came.DROPPED, message="reset"), "broke in the middle"),
    "dropped with words": (failing(200, Came.DROPPED, message="context window"), "broke in the"),
    "refused": (failing(None, Came.DROPPED), "broke before an answer"),
    "cut": (failing(200, Came.CUT), "ended before its end"),
    "silent": (failing(None, Came.SILENT), "sent nothing for too long"),
    "down": (failing(None, Came.UNREACHABLE, message="refused"), "could not be reached: refused"),
}


OF_THE_REQUEST = {"400", "403", "404", "413"}
"""What an API says of requests that it does not take."""


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_model_that_fails_for_good_is_no_result(fault: str, client: str) -> None:
    code, account = CLIENTS[client]
    exchange, reason = FAULTS[fault]
    ending, why = decide(exited(code), "", wire(exchange), account)
    assert ending is Ending.INFRASTRUCTURE
    assert reason in why
    ending, why = decide(exited(code), "", wire(CALLED, exchange), account)
    own = fault in OF_THE_REQUEST
    assert ending is (Ending.AGENT_ERROR if own else Ending.INFRASTRUCTURE)
    assert reason in why


@pytest.mark.parametrize("fault", FAULTS)
def test_the_bound_on_failures_is_the_models_only_where_the_model_failed(fault: str) -> None:
    exchange, reason = FAULTS[fault]
    at_first = wire(*(exchange,) * 51, cap="failures")
    ending, why = decide(STOPPED, "bound", at_first, SILENT_AGENT)
    assert (ending, reason in why) == (Ending.INFRASTRUCTURE, True)
    later = wire(CALLED, *(exchange,) * 51, cap="failures")
    own = fault in OF_THE_REQUEST
    ending, _ = decide(STOPPED, "bound", later, SILENT_AGENT)
    assert ending is (Ending.AGENT_ERROR if own else Ending.INFRASTRUCTURE)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_model_that_fails_once_spoils_nothing(fault: str) -> None:
    exchanges = (GOOD, FAULTS[fault][0], replace(GOOD, number=3))
    assert decide(EXITED, "", wire(*exchanges), DONE)[0] is Ending.COMPLETED


@pytest.mark.parametrize("fault", FAULTS)
def test_a_side_request_that_fails_spoils_nothing(fault: str) -> None:
    aside = replace(FAULTS[fault][0], main=False)
    assert decide(EXITED, "", wire(GOOD, aside), DONE)[0] is Ending.COMPLETED


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(
    ("outcome", "why", "cap"),
    [
        (TIMEOUT, "", ""),  # OpenCode, Gemini and Codex try again for ever
        (STOPPED, "its bound on idle was reached", "idle"),
    ],
    ids=["deadline", "idle"],
)
def test_time_that_passed_on_a_failing_model_is_no_result(
    fault: str, outcome: Outcome, why: str, cap: str
) -> None:
    exchanges = wire(FAULTS[fault][0], cap=cap)
    ending, reason = decide(outcome, why, exchanges, SILENT_AGENT)
    assert ending is Ending.INFRASTRUCTURE
    assert FAULTS[fault][1] in reason


@pytest.mark.parametrize(
    "error",
    [
        {"message": "prompt is too long: 210000 tokens > 200000 maximum"},
        {"code": "context_length_exceeded", "message": "Your input exceeds the context window"},
        {"message": "This model's maximum context length is 8192 tokens"},
        {"message": "The input token count (9) exceeds the maximum number of tokens allowed (8)"},
    ],
)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_conversation_that_is_too_long_is_the_agents(client: str, error: dict[str, str]) -> None:
    code, account = CLIENTS[client]
    for status in (400, 413, 200):
        exchange = failing(status, Came.ERROR, **error)
        ending, why = decide(exited(code), "", wire(GOOD, exchange), account)
        assert ending is Ending.AGENT_ERROR
        assert "longer than the model takes" in why


TOO_LONG = failing(400, message="prompt is too long")
REFUSES = replace(GOOD, number=2, stop="refusal")
WAITS = replace(GOOD, number=2, outcome=Came.ABANDONED, status=None, first_byte=None)


@pytest.mark.parametrize(
    ("outcome", "why", "seen", "account", "ending", "reason"),
    [
        # Good ends.
        (EXITED, "", wire(GOOD), claude([*claude_begun(), claude_result()], 0), "completed", ""),
        (EXITED, "", wire(GOOD), codex(codex_completed(), 0), "completed", ""),
        (EXITED, "", None, DONE, "completed", ""),
        # Ends that are called good and are not.
        (EXITED, "", wire(), DONE, "agent_error", "had never asked the model"),
        (EXITED, "", wire(GOOD, WAITS), DONE, "agent_error", "in the middle of an answer"),
        # Turn caps: by the agent itself, with exit code 1 or 0, or by the gateway.
        (exited(1), "", wire(GOOD), claude(CLAUDE_MOST_TURNS, 1), "turn_cap", "maximum number"),
        (EXITED, "", wire(GOOD), Account(said=Said.TURN_CAP, reason="so"), "turn_cap", "so"),
        (exited(1), "", wire(GOOD, cap="requests"), BROKEN, "turn_cap", "bound on requests"),
        (STOPPED, "bound", wire(GOOD, cap="requests"), SILENT_AGENT, "turn_cap", "requests"),
        (EXITED, "", wire(GOOD, cap="requests"), DONE, "turn_cap", "requests"),
        (STOPPED, "bound", wire(GOOD, cap="tokens"), SILENT_AGENT, "token_cap", "tokens"),
        (STOPPED, "bound", wire(GOOD, cap="cost"), SILENT_AGENT, "cost_cap", "cost"),
        (STOPPED, "bound", wire(GOOD, cap="idle"), SILENT_AGENT, "idle", "idle"),
        (STOPPED, "bound", wire(GOOD, cap="silence"), SILENT_AGENT, "infrastructure", "nothing"),
        (STOPPED, "bound", wire(GOOD, cap="new"), SILENT_AGENT, "infrastructure", "new"),
        # Refusals; 2.1.332 asks once more by itself and may go on.
        (exited(1), "", wire(GOOD, REFUSES), claude(CLAUDE_REFUSED, 1), "refused", "policy"),
        (EXITED, "", wire(GOOD, REFUSES), DONE, "refused", "the model stopped: refusal"),
        (EXITED, "", wire(REFUSES, replace(GOOD, number=3)), DONE, "completed", ""),
        (EXITED, "", wire(replace(GOOD, stop="SAFETY")), DONE, "refused", "SAFETY"),
        # The deadline: also while an answer that is not streamed takes its time.
        (TIMEOUT, "", wire(GOOD), SILENT_AGENT, "deadline", "time was over"),
        (TIMEOUT, "", wire(), SILENT_AGENT, "deadline", ""),
        (TIMEOUT, "", wire(REFUSES), SILENT_AGENT, "deadline", ""),
        (TIMEOUT, "", wire(TOO_LONG), SILENT_AGENT, "deadline", ""),
        (TIMEOUT, "", None, SILENT_AGENT, "deadline", ""),
        (TIMEOUT, "", wire(GOOD, replace(WAITS, seconds=9)), SILENT_AGENT, "deadline", ""),
        (
            TIMEOUT, "", wire(GOOD, replace(WAITS, seconds=700, first_byte=1.0)), SILENT_AGENT,
            "deadline", "",
        ),
        (
            TIMEOUT, "", wire(GOOD, replace(WAITS, seconds=70)), SILENT_AGENT,
            "deadline", "time was over",
        ),
        # Interrupted and killed, from inside and from outside.
        (EXITED, "", wire(GOOD, WAITS), claude(claude_begun(), 0), "agent_error", "ended in 0"),
        (exited(143), "", wire(GOOD), claude(claude_begun(), 143), "agent_error", "ended in 143"),
        (exited(-15), "", wire(GOOD, WAITS), codex(codex_begun(), -15), "agent_error", "in -15"),
        (exited(None), "", wire(GOOD), SILENT_AGENT, "agent_error", "it ended without"),
        (KILLED, "", wire(GOOD), DONE, "infrastructure", "killed from outside"),
        (HUNGRY, "", wire(GOOD), SILENT_AGENT, "out_of_memory", "memory"),
        (HUNGRY, "", wire(GOOD, cap="idle"), SILENT_AGENT, "out_of_memory", "memory"),
        # labkit's own doing, and its gateway's end.
        (STOPPED, "the gateway ended: x", wire(GOOD), SILENT_AGENT, "infrastructure", "ended: x"),
        (exited(1), "the gateway ended: x", wire(GOOD), BROKEN, "infrastructure", "ended: x"),
        (STOPPED, "", wire(GOOD), SILENT_AGENT, "infrastructure", "stopped"),
        # Blame.
        (exited(1), "", wire(GOOD), BROKEN, "agent_error", "though the model had answered"),
        (exited(1), "", wire(), BROKEN, "infrastructure", "API Error"),
        (exited(1), "", wire(WAITS), BROKEN, "infrastructure", "API Error"),
        (exited(1), "", wire(GOOD, WAITS), BROKEN, "agent_error", "in the middle of an answer"),
        (exited(1), "", wire(), claude([], 1), "agent_error", "it ended in 1"),
        (exited(127), "", wire(), claude([], 127), "infrastructure", "127"),
        (exited(127), "", None, Account(said=Said.AGENT_ERROR), "agent_error", ""),
        # An agent whose requests offer no tools has no main conversation.
        (EXITED, "", wire(replace(GOOD, main=False)), DONE, "completed", ""),
        (exited(1), "", wire(replace(failing(429), main=False)), BROKEN, "infrastructure", "429"),
    ],
)  # fmt: skip
def test_every_other_end(
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


def test_a_reason_is_one_line_of_bounded_length() -> None:
    account = Account(said=Said.AGENT_ERROR, reason="a\n\n b\t" + "c" * 5000)
    assert decide(exited(1), "", wire(GOOD), account)[1] == "a b " + "c" * 996
