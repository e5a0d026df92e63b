import json
from dataclasses import replace

import pytest
from accounts import (
    codex_begun,
    codex_completed,
    codex_failed,
    codex_rollout,
    command,
    item,
    left,
    stream,
)
from hypothesis import given
from hypothesis import strategies as st

from labkit_runner.agents.codex import Codex
from labkit_runner.agents.interface import Account, Ends, Left, Said

BWRAP = "bwrap: No permissions to create a new namespace, likely because the kernel ...\n"
BROKEN = command("ls", BWRAP, 1)


def account(given_left: Left) -> Account:
    return Codex().account(given_left)


def test_a_good_end_is_read_whole() -> None:
    assert account(left(codex_completed(), sessions=codex_rollout())) == Account(
        said=Said.COMPLETED,
        ends=Ends.WORDS,
        version="0.171.0",
        model="gpt-5.5",
        turns=2,
        tokens=5150,
        final_message="Mended.",
    )


@pytest.mark.parametrize(
    ("lines", "code", "said", "reason"),
    [
        (codex_failed("unexpected status 401 Unauthorized: no"), 1, Said.BROKEN, "401"),
        (codex_failed("exceeded retry limit, last status: 429 Too Many"), 1, Said.BROKEN, "429"),
        (codex_failed("Quota exceeded. Check your plan."), 1, Said.BROKEN, "Quota"),
        (codex_failed("stream closed before response.completed"), 1, Said.BROKEN, "closed"),
        (
            codex_failed("Codex ran out of room in the model's context window."),
            1,
            Said.AGENT_ERROR,
            "context window",
        ),
        (codex_failed("this violates the usage policy"), 1, Said.REFUSED, "usage policy"),
        (codex_begun(), None, Said.NOTHING, ""),
        (codex_begun(), -15, Said.NOTHING, ""),
        ([], 1, Said.AGENT_ERROR, "unexpected argument"),
        ([], 0, Said.NOTHING, ""),
    ],
)
def test_every_end_is_told_apart(
    lines: list[dict[str, object]], code: int | None, said: Said, reason: str
) -> None:
    found = account(left(lines, code, stderr=b"" if lines else b"error: unexpected argument\n"))
    assert found.said is said
    assert reason in found.reason


def test_the_words_of_an_error_are_taken_out_of_an_answer_of_the_api() -> None:
    answer = json.dumps({"error": {"message": "no such model", "type": "invalid_request_error"}})
    assert account(left(codex_failed(answer), 1)).reason == "no such model"


def test_what_it_always_says_is_no_complaint() -> None:
    noise = b"Reading additional input from stdin...\n"
    assert account(left(codex_begun(), 1, stderr=noise)).reason == ""
    assert account(left([], 1, stderr=b"error: bad word\n" + noise)).reason == "error: bad word"


def test_an_error_among_the_items_is_no_end() -> None:
    warned = item(type="error", message="Model metadata for `x` not found.")
    assert account(left([warned, *codex_completed()])).said is Said.COMPLETED


OUTER = ("codex", "exec", "--sandbox", "danger-full-access")
INNER = ("codex", "exec", "--sandbox=workspace-write", "--", "Mend it.")


def test_tools_that_never_worked_are_told() -> None:
    failed_patch = item(type="file_change", changes=[], status="failed")
    run = left([*codex_begun()[:3], BROKEN, failed_patch, *codex_completed()[4:]])
    found = account(replace(run, argv=INNER))
    assert found.broken_tools.startswith("bwrap: No permissions")
    assert found.inner_sandbox
    for argv in ((), OUTER, (*OUTER, "--", "--sandbox", "read-only")):
        found = account(replace(run, argv=argv))
        assert (found.broken_tools, found.inner_sandbox) == ("", False)


@pytest.mark.parametrize(
    "worked",
    [
        command("ls", "calc.py\n", 0),
        command("false", "", 1),
        command("cat log", "see bwrap: for more\n", 1),
        command("sed -i s/a/b/ c; cat log", "done\nbwrap: x\n", 1),
        command("cat log", BWRAP, 0),
        item(type="file_change", changes=[], status="completed"),
    ],
    ids=["command", "failed", "named", "later", "shown", "patch"],
)
def test_tools_that_worked_once_are_not_broken(worked: dict[str, object]) -> None:
    lines = [*codex_begun()[:3], BROKEN, worked, *codex_completed()[4:]]
    assert account(replace(left(lines), argv=INNER)).broken_tools == ""


@given(st.binary(max_size=300), st.binary(max_size=100), st.none() | st.integers(-20, 300))
def test_random_bytes_never_raise(data: bytes, session: bytes, code: int | None) -> None:
    sessions = {".codex/sessions/rollout-1.jsonl": session}
    found = account(Left(transcript=data, stderr=data, sessions=sessions, exit_code=code))
    found.reason.encode()


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda each: (
        st.lists(each, max_size=2)
        | st.dictionaries(
            st.sampled_from(["type", "item", "error", "message", "usage", "payload", "exit_code"]),
            each
            | st.sampled_from(
                ["turn.completed", "turn.failed", "item.completed", "command_execution", "error"]
            ),
            max_size=4,
        )
    ),
    max_leaves=8,
)


@given(st.lists(VALUES, max_size=6))
def test_events_of_a_wrong_kind_never_raise(values: list[object]) -> None:
    data = b"\n".join(json.dumps(value).encode() for value in values)
    account(Left(transcript=data, stderr=b"", sessions={"rollout": data}, exit_code=0))


@given(st.integers(0, len(stream(codex_completed()))))
def test_no_part_of_a_good_end_is_a_good_end(size: int) -> None:
    whole = stream(codex_completed())
    found = account(Left(transcript=whole[:size], stderr=b"", sessions={}, exit_code=0))
    assert (found.said is Said.COMPLETED) == (size >= len(whole) - 1)
