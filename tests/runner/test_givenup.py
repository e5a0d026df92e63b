import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from wires import a_record

from labkit.model import ConfigurationId, RunId, TaskId
from labkit.records import load_missing, record_text
from labkit.spending import Spent
from labkit.workspace import Workspace
from labkit_runner.givenup import abandon, spent_in_sessions
from labkit_runner.manual import Begun, Way, begin, session_of

RUN = RunId(TaskId("bug-a"), ConfigurationId("A"), 1)
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
READY = {"kind": "ready", "metered": True}
ASKED = {"kind": "request", "n": 1, "main": True, "model": "m"}
ANSWERED = {
    "kind": "response", "n": 1, "status": 200, "outcome": "answered", "seconds": 1,
    "usage": {"input": 70, "output": 30}, "cost": 0.25, "stop": "", "error": None, "web": [],
}  # fmt: skip


def begun(space: Workspace, way: Way = Way.CONTAINER) -> Begun:
    found = Begun(
        run=RUN, runner="ana", way=way, started="2026-01-01T00:00:00+00:00", suite_version="v1"
    )
    begin(space, found)
    return found


def write_session(folder: Path, *, ready: dict[str, object] = READY, whole: bool = True) -> None:
    folder.mkdir(parents=True)
    lines = "".join(f"{json.dumps(line)}\n" for line in (ready, ASKED, ANSWERED))
    (folder / "wire.jsonl").write_text(lines)
    if whole:
        (folder / "run.json").write_text(record_text(a_record(str(RUN), seconds=42.5)))


def given_up(space: Workspace, way: Way = Way.CONTAINER) -> tuple[object, ...]:
    abandon(space, begun(space, way), "tired", NOW)
    lost = load_missing(space.missing(RUN))
    assert lost.reasons == ("2026-01-02T03:04:05+00:00 abandoned by ana: tired",)
    (tried,) = lost.voided
    return tried["seconds"], tried["tokens"], tried["cost"]


def test_what_a_session_took_stays_when_it_is_given_up(tmp_path: Path) -> None:
    space = Workspace(tmp_path)
    write_session(session_of(space, RUN))
    assert given_up(space) == (42.5, 100, 0.25)
    assert (space.voided / f"{RUN}__1" / "wire.jsonl").is_file()


def test_what_a_subscription_took_is_unknown_and_not_nothing(tmp_path: Path) -> None:
    space = Workspace(tmp_path)
    write_session(session_of(space, RUN), ready={"kind": "ready", "metered": False})
    assert given_up(space) == (42.5, None, None)


def test_a_session_with_a_damaged_record_can_be_given_up(tmp_path: Path) -> None:
    space = Workspace(tmp_path)
    write_session(session_of(space, RUN), whole=False)
    (session_of(space, RUN) / "run.json").write_text("{")
    assert given_up(space) == (None, 100, 0.25)


@pytest.mark.parametrize("way", Way)
def test_the_time_since_the_beginning_is_not_what_a_run_took(tmp_path: Path, way: Way) -> None:
    assert given_up(Workspace(tmp_path), way) == (None, None, None)


def test_open_sessions_count_as_spent_until_a_run_tells_of_them(tmp_path: Path) -> None:
    space = Workspace(tmp_path)
    assert spent_in_sessions(space) == Spent()
    write_session(session_of(space, RUN))
    write_session(space.by_hand / f".{str(RUN)[:-1]}2.x7", whole=False)
    assert spent_in_sessions(space) == Spent(tokens=200, cost=0.5)
    space.run(RUN).mkdir(parents=True)
    assert spent_in_sessions(space) == Spent(tokens=100, cost=0.25)
