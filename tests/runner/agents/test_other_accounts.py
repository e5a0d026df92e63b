"""How mini-swe-agent, Gemini CLI and OpenCode tell of their ends."""

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit_runner.agents.gemini_account import read_account as gemini
from labkit_runner.agents.interface import Account, Ends, Left, Said
from labkit_runner.agents.mini_account import read_account as mini
from labkit_runner.agents.opencode_account import read_account as opencode


def left(transcript: bytes, stderr: bytes = b"", code: int | None = 0, **sessions: bytes) -> Left:
    return Left(transcript=transcript, stderr=stderr, sessions=sessions, exit_code=code)


def lines(*events: Mapping[str, object]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in events)


def trajectory(status: str, *messages: dict[str, object], content: str = "") -> bytes:
    info = {
        "exit_status": status,
        "submission": "mended\n" if status == "Submitted" else "",
        "mini_version": "2.4.6",
        "model_stats": {"api_calls": 1, "instance_cost": 0.25},
        "config": {"model": {"model_name": "openai/org/m1"}},
    }
    end = {"role": "exit", "content": content or status}
    return json.dumps({"info": info, "messages": [*messages, end]}).encode()


ANSWER: dict[str, object] = {
    "role": "assistant",
    "extra": {"response": {"usage": {"total_tokens": 1050}}},
}


def test_mini_tells_version_model_turns_tokens_and_its_last_word() -> None:
    told = mini(left(trajectory("Submitted", ANSWER, {"role": "tool"}, ANSWER)))
    assert told == Account(
        said=Said.COMPLETED, ends=Ends.TOOL, version="2.4.6", model="org/m1", turns=2, tokens=2100,
        cost=0.25, final_message="mended",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("LimitsExceeded", Said.TURN_CAP),
        ("AuthenticationError", Said.BROKEN),
        ("RateLimitError", Said.BROKEN),
        ("NotFoundError", Said.BROKEN),
        ("InternalServerError", Said.BROKEN),
        ("APIConnectionError", Said.BROKEN),
        ("Timeout", Said.BROKEN),
        ("ContextWindowExceededError", Said.AGENT_ERROR),
        ("ContentPolicyViolationError", Said.REFUSED),
        ("RepeatedFormatError", Said.AGENT_ERROR),
        ("", Said.NOTHING),
    ],
)
def test_minis_end_is_its_status(status: str, said: Said) -> None:
    told = mini(left(trajectory(status, content="in its words"), code=1))
    assert (told.said, told.reason, told.final_message) == (said, "in its words", "")


@pytest.mark.parametrize(
    ("code", "said"), [(None, Said.NOTHING), (0, Said.NOTHING), (2, Said.AGENT_ERROR)]
)
def test_mini_without_a_trajectory_did_not_begin(code: int | None, said: Said) -> None:
    told = mini(left(b"", b"Usage: mini\nNo such option: --x\n", code))
    assert (told.said, told.reason) == (said, "No such option: --x")


INIT: dict[str, object] = {"type": "init", "model": "gemini-2.5-pro"}


def word(text: str) -> dict[str, object]:
    return {"type": "message", "role": "assistant", "content": text, "delta": True}


def failed(kind: str, message: str) -> dict[str, object]:
    error = {"type": kind, "message": message}
    return {"type": "result", "status": "error", "error": error, "stats": {"total_tokens": 5}}


def test_gemini_tells_model_tokens_turns_and_its_last_words() -> None:
    end: dict[str, object] = {
        "type": "result",
        "status": "success",
        "stats": {"total_tokens": 3150},
    }
    stream = lines(
        INIT, word("I look."), {"type": "tool_use"}, word("It is "), word("mended."), end
    )
    session = lines({"type": "gemini", "id": "1"}, {"type": "gemini", "id": "1"}, {"type": "user"})
    session += lines({"type": "gemini", "id": "2"})
    told = gemini(left(stream, chat=session))
    assert told == Account(
        said=Said.COMPLETED, ends=Ends.WORDS, model="gemini-2.5-pro", turns=2, tokens=3150,
        final_message="It is mended.",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("end", "stderr", "said"),
    [
        (failed("FatalTurnLimitedError", "Reached max session turns"), b"", Said.TURN_CAP),
        (failed("unknown", '[API Error: {"error":{"code":401}}]'), b"", Said.BROKEN),
        (failed("unknown", "[API Error: no such model]"), b"", Said.BROKEN),
        (failed("unknown", "x"), b"Error when talking to Gemini API Full report", Said.BROKEN),
        (failed("FatalAuthenticationError", "no key"), b"", Said.BROKEN),
        (
            failed("unknown", "[API Error: input token count 9 exceeds]"),
            b"",
            Said.AGENT_ERROR,
        ),
        (failed("FatalToolExecutionError", "x"), b"", Said.AGENT_ERROR),
        (word("I look."), b"", Said.NOTHING),
    ],
    ids=lambda value: str(value)[:60],
)
def test_geminis_end_is_its_result(end: dict[str, object], stderr: bytes, said: Said) -> None:
    assert gemini(left(lines(INIT, end), stderr, 1)).said is said


def test_gemini_without_its_managed_settings_is_no_result() -> None:
    skipped = b"Security Warning: Skipping system settings file '/etc/x': not owned by root\n"
    told = gemini(left(lines(INIT), skipped))
    assert "Skipping system settings file" in told.broken_tools
    assert gemini(left(lines(INIT), b"it said: " + skipped)).broken_tools == ""


def step(reason: str) -> dict[str, object]:
    return {"type": "step_finish", "part": {"reason": reason, "tokens": {"total": 1050}}}


def said_text(text: str) -> dict[str, object]:
    return {"type": "text", "part": {"text": text}}


def test_opencode_tells_turns_tokens_and_its_last_words() -> None:
    start: dict[str, object] = {"type": "step_start"}
    stream = lines(start, said_text("I look."), step("tool-calls"), start, said_text("Mended."))
    told = opencode(left(stream + lines(step("stop"))))
    assert told == Account(
        said=Said.COMPLETED, ends=Ends.WORDS, turns=2, tokens=2100, final_message="Mended."
    )


def error(name: str, message: str) -> dict[str, object]:
    return {"type": "error", "error": {"name": name, "data": {"message": message}}}


@pytest.mark.parametrize(
    ("last", "said"),
    [
        (error("APIError", "invalid key"), Said.BROKEN),
        (error("UnknownError", "connection reset"), Said.BROKEN),
        (error("ContextOverflowError", "too long"), Said.AGENT_ERROR),
        (error("MessageAbortedError", ""), Said.NOTHING),
        (step("tool-calls"), Said.NOTHING),
        (step("content-filter"), Said.REFUSED),
        (step("length"), Said.AGENT_ERROR),
        (said_text("x"), Said.NOTHING),
    ],
    ids=lambda value: str(value)[:70],
)
def test_opencodes_end_is_its_last_line(last: dict[str, object], said: Said) -> None:
    assert opencode(left(lines(step("tool-calls"), last), code=1)).said is said


def test_opencode_that_was_not_started_is_no_result() -> None:
    refused = lines({"type": "labkit_refused", "plugins": [".opencode/plugin/p.js"]})
    assert ".opencode/plugin/p.js" in opencode(left(refused, code=78)).broken_tools
    # Only the starter ends so, and only before anything is asked.
    assert opencode(left(refused, code=0)).broken_tools == ""
    # Said later, it is a word of the session.
    assert opencode(left(lines(step("stop")) + refused, code=78)).broken_tools == ""


@pytest.mark.parametrize("read", [mini, gemini, opencode])
def test_arguments_that_it_does_not_take_are_its_own_error(read: object) -> None:
    assert callable(read)
    told = read(left(b"", b"Unknown argument: --x\n", 1))
    assert (told.said, told.reason) == (Said.AGENT_ERROR, "Unknown argument: --x")


SAMPLES = [
    trajectory("Submitted", ANSWER, ANSWER),
    lines(INIT, word("x"), failed("unknown", "[API Error: x]")),
    lines({"type": "step_start"}, said_text("x"), step("stop"), error("APIError", "x")),
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *(
                        "type",
                        "info",
                        "messages",
                        "part",
                        "error",
                        "data",
                        "tokens",
                        "total",
                        "stats",
                    ),
                    *(
                        "extra",
                        "response",
                        "usage",
                        "exit_status",
                        "config",
                        "model",
                        "status",
                        "id",
                    ),
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(
    st.binary(max_size=200)
    | st.sampled_from(SAMPLES).flatmap(
        lambda data: st.integers(0, len(data)).map(lambda cut: data[:cut])
    )
    | JSON.map(lambda value: json.dumps(value).encode())
)
def test_any_bytes_have_an_account(data: bytes) -> None:
    for read in (mini, gemini, opencode):
        for code in (0, 1, None):
            told = read(left(data, data, code, chat=data))
            assert told.said in Said
            told.final_message.encode()
            told.reason.encode()
