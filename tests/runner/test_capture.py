"""What is kept of a run's own folder."""

import io
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from endings import CALLED, ENDED, GOOD, STRAY, exited, wire

from labkit.archive import Entry, Kind, write_tar
from labkit_runner import accounting, capture
from labkit_runner.agents.interface import Account, Ends, Launch, Left, Said
from labkit_runner.capture import Captured
from labkit_runner.masking import Masker

LAUNCH = Launch(
    argv=("x",),
    version="1",
    transcript="transcript.json",
    transcript_path="t.json",
    sessions=("s/**",),
)


def captured(files: Mapping[str, bytes], most: int = 10**6) -> Captured:
    return capture.capture(home(files), LAUNCH, most)


def home(files: Mapping[str, bytes]) -> io.BytesIO:
    entries = [Entry(path=b"h/" + k.encode(), kind=Kind.FILE, data=v) for k, v in files.items()]
    return io.BytesIO(write_tar(entries))


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture, "MOST_BYTES", 1000)
    monkeypatch.setattr(capture, "_MOST_FILE", 800)


def test_what_nobody_asked_for_takes_no_room() -> None:
    found = captured({"a.cache": bytes(5000), "s/1": b"one", "t.json": b"{}", "z": bytes(5000)})
    assert (found.transcript, found.sessions, found.note) == (b"{}", {"s/1": b"one"}, "")


def test_sessions_that_are_too_large_are_noted_and_the_rest_is_read() -> None:
    found = captured({"s/1": bytes(700), "s/2": bytes(700), "s/3": b"x", "t.json": b"{}"})
    assert set(found.sessions) == {"s/1", "s/3"}
    assert found.transcript == b"{}"
    assert "s/2" in found.note
    assert "too large" in captured({"t.json": bytes(900)}).note


def test_the_whole_folder_is_bounded() -> None:
    found = captured({"a": bytes(9000), "t.json": b"{}"}, most=8000)
    assert found.transcript is None
    assert "not read to its end" in found.note


class _Reader:
    def account(self, left: Left) -> Account:
        return Account(said=Said.NOTHING, reason=f"{len(left.transcript)} bytes")


@pytest.mark.parametrize(
    ("size", "code", "said"),
    [(900, 0, Said.COMPLETED), (900, 1, Said.NOTHING), (9, 0, Said.NOTHING)],
)
def test_a_transcript_lost_for_its_size_leaves_the_wire_to_decide(
    tmp_path: Path, size: int, code: int, said: Said
) -> None:
    (tmp_path / "stderr.txt").write_bytes(b"")
    bench: Any = SimpleNamespace(limits=SimpleNamespace(returned_bytes=10**6))
    job: Any = SimpleNamespace(masker=Masker(()), agent=_Reader())
    kept = accounting.Kept(tmp_path, home({"t.json": bytes(size)}))
    account = accounting.account_of(bench, job, LAUNCH, exited(code), kept)
    assert account.said is said
    assert any("t.json" in each for each in account.remarks) is (size > 800)


def test_the_record_tells_what_was_lost_said_in_vain_and_asked_beside() -> None:
    account = Account(
        said=Said.COMPLETED, ends=Ends.WORDS, broken_tools="bwrap: no", remarks=("s/1 was lost",)
    )
    done: Any = SimpleNamespace(account=account, wire=wire(CALLED, ENDED, STRAY))
    lost, in_vain, beside, *_ = accounting.remarks_of(done, "m")
    assert lost == "s/1 was lost"
    assert "bwrap: no" in in_vain
    assert beside.startswith("a request beside")


def test_the_recorded_answers_tell_which_called_a_tool(tmp_path: Path) -> None:
    seen = wire(replace(GOOD, called=None))
    assert accounting.called_of(tmp_path, seen) == seen
    piece = {"kind": "piece", "n": 1, "text": '{"content": [{"type": "tool_use"}]}'}
    lines = [piece, {"kind": "response", "n": 1, "bytes": 9}]
    (tmp_path / "wire.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    told = accounting.called_of(tmp_path, seen)
    assert told is not None
    assert told.exchanges[0].called is True
