"""The limits on byte streams, and what happens when they cannot be kept."""

import io
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.errors import InfrastructureError, ReturnedTooLargeError
from labkit.model import Ended
from labkit.sandbox.bootstrap import READY
from labkit.sandbox.streams import Output, Sink, read_whole

pieces = st.lists(st.binary(max_size=50), max_size=20)


@given(pieces, st.integers(0, 300))
def test_a_sink_keeps_the_beginning_and_counts_the_rest(parts: list[bytes], limit: int) -> None:
    target = io.BytesIO()
    sink = Sink(target, limit)
    for part in parts:
        sink.write(part)
    sink.check()
    whole = b"".join(parts)
    assert target.getvalue() == whole[:limit]
    assert sink.cut == max(0, len(whole) - limit)


def test_what_a_sink_keeps_is_on_disk_at_once(tmp_path: Path) -> None:
    with (tmp_path / "transcript.jsonl").open("wb") as target:
        Sink(target, 100).write(b"one event")
        assert (tmp_path / "transcript.jsonl").read_bytes() == b"one event"


@given(pieces)
def test_reading_back_brings_every_byte(parts: list[bytes]) -> None:
    whole = b"".join(parts)
    assert read_whole(iter(parts), len(whole), lambda stream: stream.read()) == (whole, True)


@given(pieces.filter(any))
def test_reading_back_stops_at_the_limit(parts: list[bytes]) -> None:
    limit = len(b"".join(parts)) - 1
    with pytest.raises(ReturnedTooLargeError):
        read_whole(iter(parts), limit, lambda stream: stream.read())
    assert read_whole(iter(parts), limit, lambda _: 7) == (7, False)


def test_the_ready_mark_is_taken_off_once() -> None:
    stdout, stderr = io.BytesIO(), io.BytesIO()
    output = Output(stdout, stderr, 100)
    output.out(READY)
    output.out(READY + b"x")
    output.check_after(Ended.EXITED)
    assert stdout.getvalue() == READY + b"x"


def test_without_the_ready_mark_the_complaint_is_told() -> None:
    output = Output(io.BytesIO(), io.BytesIO(), 100)
    output.err(b"tar: no space")
    output.out(b"x" + READY)
    with pytest.raises(InfrastructureError, match="tar: no space"):
        output.check_after(Ended.EXITED)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_told_and_does_not_stop_the_taking() -> None:
    with open("/dev/full", "wb", buffering=0) as full:  # noqa: PTH123 - a device, unbuffered
        output = Output(full, io.BytesIO(), 10**6)
        output.out(READY)
        for _ in range(5):
            output.out(bytes(1000))
        with pytest.raises(InfrastructureError, match=os.strerror(28)):
            output.check_after(Ended.EXITED)
