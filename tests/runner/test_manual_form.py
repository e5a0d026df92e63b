from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from labkit.errors import InputError
from labkit.model import ConfigurationId, Ending, RunId, TaskId
from labkit.treediff import TreeDiff
from labkit_runner.manual import Begun, Told, Way
from labkit_runner.manualexport import Brought
from labkit_runner.manualform import FORM, Declaration, blank_form, read_declaration
from labkit_runner.veil import Veil

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
BEGUN = Begun(
    run=RunId(TaskId("bug-a"), ConfigurationId("A"), 1), runner="ana", way=Way.EXPORT,
    started=(NOW - timedelta(minutes=60)).isoformat(), suite_version="v1",
)  # fmt: skip
FILLED = {
    "machine": "a VM", "isolated_by": "itself", "network": "none", "agent_version": "'1'",
    "model": "m", "began": "2026-01-02T02:24+00:00", "ended": "2026-01-02T03:54+01:00",
    "no_hidden_tests": "true", "no_evals": "true", "fresh_session": "true",
    "model_network_only": "true", "same_prompt": "true",
}  # fmt: skip


def declared(folder: Path, **changes: str) -> Declaration:
    told = FILLED | changes
    lines = [
        f"{name}: {told[name]}" if (name := line.partition(":")[0]) in told else line
        for line in blank_form(BEGUN).splitlines()
    ]
    (folder / FORM).write_text("\n".join(lines), encoding="utf-8")
    return read_declaration(folder, BEGUN, NOW, Veil())


def brought(declaration: Declaration, minutes: float) -> Brought:
    nothing = TreeDiff(patch=b"", result_tree="", changed=(), stat=b"", left_out=())
    return Brought(
        declaration=declaration, base_tree="", difference=nothing, minutes=minutes,
        told=Told(transcripts={}, count=0),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"machine": "''"}, '"machine" is empty'),
        ({"no_evals": "false"}, '"no_evals" is not true: No evals/ folder'),
        ({"fresh_session": "'yes'"}, "must be true or false"),
        ({"began": "yesterday"}, "must be a time with a zone"),
        ({"ended": "'2026-01-02T02:54'"}, "has no zone"),
        ({"ended": "2026-01-02T02:20+00:00"}, '"ended" is not after "began"'),
        ({"began": "2026-01-02T02:03+00:00"}, '"began" is before the run was written out'),
        ({"ended": "2026-01-02T03:06+00:00"}, '"ended" is yet to come'),
        ({"by": "ben"}, "'ben', but the file is called ana"),
    ],
)
def test_what_cannot_be_declared_is_refused(
    tmp_path: Path, changes: dict[str, str], says: str
) -> None:
    with pytest.raises(InputError) as refused:
        declared(tmp_path, **changes)
    assert says in "".join(refused.value.problems)
    assert FORM in refused.value.message


def test_whole_minutes_are_as_exact_as_people_note_them(tmp_path: Path) -> None:
    found = declared(tmp_path, began="2026-01-02T02:04+00:00", ended="2026-01-02T03:05+00:00")
    assert found.minutes == 61


def test_a_run_is_late_by_what_is_said_or_by_the_declared_times(tmp_path: Path) -> None:
    found = declared(tmp_path)
    assert (found.minutes, found.ending) == (30, Ending.COMPLETED)
    assert not brought(found, 30).is_late(1800)
    assert brought(found, 31).is_late(1800)
    assert brought(found, 1).is_late(20 * 60)
    assert not list(brought(found, 31).problems(1800))
    assert list(brought(found, 31.5).problems(1800))
    assert list(brought(found, float("nan")).problems(1800))


def test_a_deadline_that_was_not_reached_is_refused(tmp_path: Path) -> None:
    found = declared(tmp_path, ending="deadline")
    assert list(brought(found, 30).problems(1700)) == []
    (problem,) = brought(found, 30).problems(3600)
    assert problem == (
        'declaration.yaml: "ending" is deadline, but --minutes 30 is less than the 60 min that a '
        "run has"
    )
