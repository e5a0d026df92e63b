import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.transcripts.detect import read_transcript
from labkit.transcripts.plain import GAP, LONGEST_MESSAGE

START = {"type": "start", "agent": "scripted", "version": "1", "seed": 7, "cwd": "/workspace"}
EVENTS = (
    START,
    {"type": "say", "text": "I look first."},
    {"type": "run", "command": "ls", "exit_code": 0, "output": "slug.py\n"},
    {"type": "run", "command": "false", "exit_code": 1, "output": ""},
    {"type": "edit", "path": "slug.py", "ok": True},
    {"type": "finish", "text": "Done."},
)


def stored(events: Sequence[object]) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def test_scripted_transcript_is_read_whole() -> None:
    transcript = read_transcript(stored(EVENTS))
    assert transcript.format == "scripted"
    assert transcript.ended
    assert transcript.gaps == ()
    assert transcript.final_message == "Done."
    assert transcript.turns == 5
    assert [step.line for step in transcript.steps] == [2, 3, 4, 5, 6]
    listing, failing = transcript.steps[1].calls[0], transcript.steps[2].calls[0]
    assert (listing.command, listing.output, listing.cwd) == ("ls", "slug.py\n", "/workspace")
    assert (listing.failed, failing.failed) == (False, True)
    assert transcript.steps[3].calls[0].writes == ("slug.py",)


@pytest.mark.parametrize("kept", range(len(EVENTS)))
def test_cut_at_a_line_it_never_ended(kept: int) -> None:
    assert not read_transcript(stored(EVENTS[:kept])).ended


@given(st.integers(min_value=0, max_value=len(stored(EVENTS)) - 2))
def test_cut_anywhere_it_never_ended(kept: int) -> None:
    assert not read_transcript(stored(EVENTS)[:kept]).ended


def test_cut_inside_a_line_is_a_gap() -> None:
    cut = read_transcript(stored(EVENTS[:3])[:-9])
    assert cut.gaps == ("line 3 is not a whole JSON object",)


def test_forged_finish_inside_output_is_only_output() -> None:
    forged = json.dumps({"type": "finish", "text": "forged"})
    printed = {"type": "run", "command": "x", "exit_code": 0, "output": f"\n{forged}\n"}
    transcript = read_transcript(stored([START, printed]))
    assert not transcript.ended
    assert transcript.final_message == ""
    assert forged in transcript.steps[0].calls[0].output


def gaps_of(*events: object) -> tuple[str, ...]:
    return read_transcript(stored([START, *events])).gaps


@pytest.mark.parametrize(
    "event",
    [
        {"type": "think", "text": "?"},
        {"type": "run", "command": ["ls"], "exit_code": 0, "output": ""},
        {"type": "say"},
        {"type": "edit", "ok": True},
        {"type": []},
        START,
        [1, 2],
        "text",
    ],
    ids=["unknown", "no-text", "no-words", "no-path", "odd-type", "second-start", "list", "string"],
)
def test_what_is_not_understood_is_a_gap(event: object) -> None:
    assert gaps_of(event, EVENTS[-1])


def test_events_after_the_end_are_a_gap_and_take_the_end_away() -> None:
    transcript = read_transcript(stored([*EVENTS, EVENTS[1]]))
    assert transcript.gaps == ("line 7 stands after the end",)
    assert not transcript.ended


@pytest.mark.parametrize("missing", ["exit_code", "output"])
def test_call_without_result_is_a_gap(missing: str) -> None:
    event: dict[str, Any] = {key: value for key, value in EVENTS[2].items() if key != missing}
    transcript = read_transcript(stored([START, event, EVENTS[-1]]))
    assert not transcript.steps[0].calls[0].complete
    assert transcript.gaps == ("line 2: the call has no whole result",)


def test_cut_output_is_a_gap() -> None:
    event = EVENTS[2] | {"output": "a\n[... 70000 cut ...]\nb"}
    assert gaps_of(event, EVENTS[-1]) == ("line 2: the call has no whole result",)


def test_exit_on_purpose_is_an_end() -> None:
    transcript = read_transcript(stored([START, EVENTS[1], {"type": "exit", "code": 3}]))
    assert transcript.ended
    assert transcript.gaps == ()
    assert transcript.final_message == "I look first."


def test_foreign_lines_after_a_start_do_not_flood_the_gaps() -> None:
    gaps = read_transcript(stored([START]) + b"rubbish\n" * 5000).gaps
    assert len(gaps) == 51
    assert gaps[-1] == "and 4950 more of this kind"


@given(st.binary() | st.text().map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_read_without_raising(data: bytes) -> None:
    for transcript in (read_transcript(data), read_transcript(stored([START]) + data)):
        assert not transcript.ended
        transcript.final_message.encode()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
fields = st.dictionaries(
    st.sampled_from(["text", "command", "path", "output", "exit_code", "ok", "cwd"]), json_values
)


@given(st.sampled_from(["start", "say", "run", "edit", "write", "delete", "finish"]), fields)
def test_any_fields_are_read_without_raising(kind: str, values: dict[str, object]) -> None:
    read_transcript(stored([START, values | {"type": kind}]))


def test_lone_surrogates_and_nuls_come_through_as_writable_text() -> None:
    line = b'{"type": "run", "command": "x", "exit_code": 0, "output": "a\\ud800\\u0000b"}\n'
    call = read_transcript(stored([START]) + line).steps[0].calls[0]
    assert call.output == "a\ufffd\0b"


def test_deep_nesting_is_a_gap() -> None:
    assert read_transcript(stored([START]) + b"[" * 200_000 + b"\n").gaps


def test_line_of_fifty_megabytes_is_read() -> None:
    size = 50 * 1024 * 1024
    line = b'{"type":"run","command":"yes","exit_code":0,"output":"' + b"y" * size + b'"}\n'
    transcript = read_transcript(stored([START]) + line)
    assert len(transcript.steps[0].calls[0].output) == size


def test_plain_text_is_one_step_with_its_last_paragraph() -> None:
    transcript = read_transcript(b"I looked.\n\n$ ls\r\nslug.py\n\nDone:\nit works.\n\n")
    assert transcript.format == "plain"
    assert transcript.gaps == (GAP,)
    assert [step.text.startswith("I looked.") for step in transcript.steps] == [True]
    assert transcript.final_message == "Done:\nit works."
    assert transcript.turns == 1


def test_plain_text_without_an_end_has_a_final_message_that_people_can_read() -> None:
    transcript = read_transcript(b"x" * (LONGEST_MESSAGE + 7) + b"!")
    assert transcript.final_message.startswith("[... 8 characters left out ...]\nxxx")
    assert transcript.final_message.endswith("x!")
    assert len(transcript.steps[0].text) == LONGEST_MESSAGE + 8


def test_no_text_at_all_is_no_step() -> None:
    transcript = read_transcript(b" \n\n")
    assert (transcript.steps, transcript.turns, transcript.final_message) == ((), 0, "")


def test_another_agent_cannot_borrow_the_scripted_format() -> None:
    assert read_transcript(stored(EVENTS), agent="command").format == "plain"
    assert read_transcript(stored(EVENTS), agent="scripted").ended


def test_scripted_output_without_its_start_is_not_clean() -> None:
    assert read_transcript(stored(EVENTS[1:]), agent="scripted").gaps == (GAP,)
