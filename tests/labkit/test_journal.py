import json
import os
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from labkit.errors import InputError, IntegrityError
from labkit.fields import canonical_json
from labkit.journal import Event, append, newest, read
from labkit.model import Member
from labkit.signing import SigningKey

NOW = datetime(2026, 3, 29, 1, 30, tzinfo=timezone(timedelta(hours=1)))
ANA, BEN = Member("ana"), Member("ben")


@pytest.fixture
def key(tmp_path: Path) -> SigningKey:
    return SigningKey.generate(tmp_path / "keys" / "ana.pem")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log" / "ana.jsonl"


def three(log: Path, key: SigningKey) -> None:
    for number in range(3):
        event = Event(action="run", subject=f"task-{number}", digests={"run.json": str(number)})
        append(log, event, member=ANA, key=key, now=NOW + timedelta(minutes=number))


def test_what_was_appended_is_read_back(log: Path, key: SigningKey) -> None:
    three(log, key)
    entries = read(log, public=key.public)
    assert [entry.seq for entry in entries] == [1, 2, 3]
    assert [entry.event.subject for entry in entries] == ["task-0", "task-1", "task-2"]
    assert entries[1].event.digests == {"run.json": "1"}
    assert entries[0].at == NOW
    assert entries[0].at.utcoffset() == timedelta(hours=1)
    assert entries[0].prev == ""
    assert entries[2].prev == entries[1].digest


def test_append_returns_what_read_returns(log: Path, key: SigningKey) -> None:
    made = append(log, Event(action="seal"), member=ANA, key=key, now=NOW)
    assert read(log, public=key.public) == (made,)


def test_no_file_is_an_empty_log(log: Path, key: SigningKey) -> None:
    assert read(log, public=key.public) == ()


def test_the_same_events_give_the_same_file(tmp_path: Path, key: SigningKey) -> None:
    for folder in ("one", "two"):
        three(tmp_path / folder / "ana.jsonl", key)
    one, two = (tmp_path / folder / "ana.jsonl" for folder in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()


def test_an_entry_names_the_newest_of_the_others(log: Path, key: SigningKey) -> None:
    other = SigningKey.generate(log.parent.parent / "keys" / "ben.pem")
    bens = log.with_name("ben.jsonl")
    append(bens, Event(action="seal"), member=BEN, key=other, now=NOW)
    second = append(bens, Event(action="run"), member=BEN, key=other, now=NOW)
    mine = append(log, Event(action="run"), member=ANA, key=key, now=NOW)
    assert mine.seen == {"ben": second.digest}
    assert newest(log.parent) == {"ana": mine.digest, "ben": second.digest}


@pytest.mark.parametrize("number", [0, 1, 2])
def test_every_changed_byte_names_its_line(log: Path, key: SigningKey, number: int) -> None:
    three(log, key)
    lines = log.read_bytes().splitlines()
    for place in range(0, len(lines[number]), 7):
        altered = bytearray(lines[number])
        altered[place] ^= 1
        log.write_bytes(b"\n".join([*lines[:number], bytes(altered), *lines[number + 1 :]]) + b"\n")
        with pytest.raises(IntegrityError, match=rf"ana\.jsonl, line {number + 1}"):
            read(log, public=key.public)


def removed(lines: list[bytes]) -> list[bytes]:
    return [lines[0], lines[2]]


def swapped(lines: list[bytes]) -> list[bytes]:
    return [lines[0], lines[2], lines[1]]


def doubled(lines: list[bytes]) -> list[bytes]:
    return [lines[0], lines[0], lines[1], lines[2]]


@pytest.mark.parametrize("change", [removed, swapped, doubled])
def test_a_broken_chain_names_the_line(log: Path, key: SigningKey, change: object) -> None:
    three(log, key)
    assert callable(change)
    log.write_bytes(b"\n".join(change(log.read_bytes().splitlines())) + b"\n")
    with pytest.raises(IntegrityError, match=r"line 2: it does not follow the line before"):
        read(log, public=key.public)


def test_a_history_written_anew_contradicts_what_followed(log: Path, key: SigningKey) -> None:
    three(log, key)
    followed = log.read_bytes().splitlines()[1:]
    log.unlink()
    append(log, Event(action="another"), member=ANA, key=key, now=NOW)
    log.write_bytes(log.read_bytes() + b"\n".join(followed) + b"\n")
    with pytest.raises(IntegrityError, match=r"line 2: it does not follow the line before"):
        read(log, public=key.public)


def test_a_wrong_number_is_refused_though_it_is_signed(log: Path, key: SigningKey) -> None:
    append(log, Event(action="run"), member=ANA, key=key, now=NOW)
    values = json.loads(log.read_bytes()) | {"seq": 2}
    del values["signature"]
    values["signature"] = key.sign(b"labkit/journal/v1\0" + canonical_json(values))
    log.write_bytes(canonical_json(values) + b"\n")
    with pytest.raises(IntegrityError, match=r"line 1: it does not follow the line before"):
        read(log, public=key.public)


FULL_DISK = """
import resource, sys
from datetime import UTC, datetime
from pathlib import Path
from labkit.errors import ToolError
from labkit.journal import Event, append
from labkit.model import Member
from labkit.signing import SigningKey
path = Path(sys.argv[1])
most = path.stat().st_size + 50
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
try:
    key = SigningKey.load(Path(sys.argv[2]))
    append(path, Event(action="run"), member=Member("ana"), key=key, now=datetime.now(UTC))
except ToolError:
    sys.exit(7)
"""


def test_a_full_disk_leaves_the_log_whole(log: Path, key: SigningKey, tmp_path: Path) -> None:
    three(log, key)
    before = log.read_bytes()
    argv = [sys.executable, "-c", FULL_DISK, str(log), str(tmp_path / "keys" / "ana.pem")]
    path = os.pathsep.join(sys.path)
    assert subprocess.run(argv, check=False, env={"PYTHONPATH": path}).returncode == 7
    assert log.read_bytes() == before


def test_anothers_signature_is_refused(log: Path, key: SigningKey, tmp_path: Path) -> None:
    three(log, key)
    other = SigningKey.generate(tmp_path / "keys" / "ben.pem")
    with pytest.raises(IntegrityError, match="line 1: the signature is not that of its member"):
        read(log, public=other.public)


def test_an_entry_moved_to_another_members_file_is_refused(log: Path, key: SigningKey) -> None:
    three(log, key)
    moved = log.rename(log.with_name("ben.jsonl"))
    with pytest.raises(IntegrityError, match="line 1: it is an entry of ana"):
        read(moved, public=key.public)


def test_the_same_entry_written_otherwise_is_refused(log: Path, key: SigningKey) -> None:
    three(log, key)
    lines = log.read_text().splitlines()
    lines[1] = json.dumps(json.loads(lines[1]))
    log.write_text("\n".join(lines) + "\n")
    with pytest.raises(IntegrityError, match="line 2: it is not as labkit wrote it"):
        read(log, public=key.public)


@pytest.mark.parametrize("line", ["[]", "null", "{}", "x", '{"schema":1}', "[" * 100_000])
def test_rubbish_is_refused_with_its_line(log: Path, key: SigningKey, line: str) -> None:
    three(log, key)
    with log.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(IntegrityError, match="line 4"):
        read(log, public=key.public)


def test_a_line_cut_short_stops_reading_and_appending(log: Path, key: SigningKey) -> None:
    three(log, key)
    log.write_bytes(log.read_bytes()[:-40])
    with pytest.raises(IntegrityError, match="line 3: the line is cut short"):
        read(log, public=key.public)
    with pytest.raises(IntegrityError, match="line 3: the line is cut short"):
        append(log, Event(action="run"), member=ANA, key=key, now=NOW)


def test_a_time_without_a_zone_is_refused(log: Path, key: SigningKey) -> None:
    with pytest.raises(InputError, match="without a zone"):
        append(log, Event(action="run"), member=ANA, key=key, now=NOW.replace(tzinfo=None))
    assert not log.exists()


def test_appending_at_the_same_time_loses_nothing(log: Path, key: SigningKey) -> None:
    def work(name: str) -> None:
        for number in range(10):
            event = Event(action="run", subject=f"{name}-{number}")
            append(log, event, member=ANA, key=key, now=datetime.now(UTC))

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({entry.event.subject for entry in read(log, public=key.public)}) == 40
