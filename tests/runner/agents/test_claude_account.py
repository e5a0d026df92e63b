import json

import pytest
from accounts import (
    CLAUDE_MOST_TURNS,
    CLAUDE_REFUSED,
    claude_begun,
    claude_failed,
    claude_result,
    claude_says,
    left,
    stream,
)
from hypothesis import given
from hypothesis import strategies as st

from labkit_runner.agents.claude import ClaudeCode
from labkit_runner.agents.interface import Account, Ends, Left, Said

GOOD = [*claude_begun(), claude_result()]


def account(given_left: Left) -> Account:
    return ClaudeCode().account(given_left)


def test_a_good_end_is_read_whole() -> None:
    assert account(left(GOOD)) == Account(
        said=Said.COMPLETED,
        ends=Ends.WORDS,
        version="2.1.332",
        model="claude-sonnet-4-5",
        turns=1,  # two lines of one message
        tokens=3162,
        cost=0.011,
        final_message="Mended.",
    )


def test_the_first_line_need_not_be_the_beginning() -> None:
    hook = {"type": "system", "subtype": "hook_started", "claude_code_version": "no"}
    assert account(left([hook, *GOOD])).version == "2.1.332"


@pytest.mark.parametrize(
    ("lines", "code", "said", "reason"),
    [
        (CLAUDE_MOST_TURNS, 1, Said.TURN_CAP, "maximum number of turns"),
        (CLAUDE_REFUSED, 1, Said.REFUSED, "violate a policy"),
        (claude_failed("API Error: 400 no", 400), 1, Said.BROKEN, "400 no"),
        (claude_failed("Invalid API key", 401, terminal="completed"), 1, Said.BROKEN, "key"),
        (claude_failed("API Error: 529 busy", 529), 1, Said.BROKEN, "529"),
        (claude_failed("API Error: Unable to connect", None), 1, Said.BROKEN, "connect"),
        (
            claude_failed("Prompt is too long", 400, terminal="prompt_too_long"),
            1,
            Said.AGENT_ERROR,
            "too long",
        ),
        (claude_failed("API Error: prompt is too long: 9 > 8", 400), 1, Said.AGENT_ERROR, "long"),
        (
            [claude_result(subtype="error_during_execution", is_error=True, result=...)],
            1,
            Said.AGENT_ERROR,
            "error_during_execution",
        ),
        (claude_begun(), 0, Said.NOTHING, ""),
        (claude_begun(), 143, Said.NOTHING, ""),
        ([], 0, Said.NOTHING, ""),
        ([], None, Said.NOTHING, ""),
        ([], 1, Said.AGENT_ERROR, "unknown option"),
    ],
)
def test_every_end_is_told_apart(
    lines: list[dict[str, object]], code: int | None, said: Said, reason: str
) -> None:
    found = account(
        left(lines, code, stderr=b"error: unknown option '--x'\n" if not lines else b"")
    )
    assert found.said is said
    assert reason in found.reason


def test_words_about_errors_in_a_good_end_are_words() -> None:
    done = claude_result(result="The check 'prompt is too long' now says API Error: 529.")
    assert account(left([*claude_begun(), done])).said is Said.COMPLETED


def test_only_turns_of_the_main_conversation_count() -> None:
    block = {"type": "text", "text": "x"}
    helper = claude_says(block, "msg_9", parent_tool_use_id="toolu_1")
    failed = claude_failed("API Error: 500", 500)
    assert account(left([*failed[:-1], helper, failed[-1]])).turns == 1


def test_a_torn_last_line_is_left_out() -> None:
    torn = stream(GOOD)[:-20]
    found = account(Left(transcript=torn, stderr=b"", sessions={}, exit_code=None))
    assert (found.said, found.turns, found.version) == (Said.NOTHING, 1, "2.1.332")


@pytest.mark.parametrize(
    "result",
    [
        {"type": "result"},
        claude_result(total_cost_usd=-1, modelUsage=[], result=5),
        claude_result(total_cost_usd=1e999, modelUsage={"m": {"inputTokens": "9"}}),
        claude_result(total_cost_usd=True, modelUsage={"m": None}),
    ],
)
def test_figures_of_a_wrong_kind_are_not_known(result: dict[str, object]) -> None:
    found = account(left([result]))
    assert found.cost is None
    assert found.tokens in (None, 0)


PIECES = st.lists(
    st.one_of(
        st.binary(max_size=40),
        st.sampled_from([json.dumps(line).encode() for line in GOOD]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
            lambda each: (
                st.lists(each, max_size=3)
                | st.dictionaries(
                    st.sampled_from(["type", "message", "subtype", "id", "result", "modelUsage"]),
                    each | st.sampled_from(["assistant", "system", "result", "init"]),
                    max_size=4,
                )
            ),
            max_leaves=8,
        ).map(lambda value: json.dumps(value).encode()),
    ),
    max_size=8,
)


@given(PIECES, st.binary(max_size=30), st.none() | st.integers(-20, 300))
def test_it_never_raises(pieces: list[bytes], stderr: bytes, code: int | None) -> None:
    transcript = b"\n".join(pieces)
    found = account(Left(transcript=transcript, stderr=stderr, sessions={}, exit_code=code))
    (found.reason + found.final_message + found.version + found.model).encode()


@given(st.integers(0, len(stream(GOOD))))
def test_no_part_of_a_good_end_is_a_good_end(size: int) -> None:
    whole = stream(GOOD)
    found = account(Left(transcript=whole[:size], stderr=b"", sessions={}, exit_code=0))
    assert (found.said is Said.COMPLETED) == (size >= len(whole) - 1)
