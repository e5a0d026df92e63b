"""Evidence that somebody touched after the run is found before it counts."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.labs import ANA, BEN, RUNS, TARA, Lab, planned

from labkit.cli.handing import require_own
from labkit.errors import IntegrityError
from labkit.model import Member, RunId

pytestmark = pytest.mark.bubblewrap


def _edit_diff(folder: Path) -> str:
    path = folder / "diff.patch"
    path.write_bytes(path.read_bytes() + b"\n")
    return "diff.patch is not what the run left"


def _drop_stderr(folder: Path) -> str:
    (folder / "stderr.txt").unlink()
    return "stderr.txt is missing"


def _faster(folder: Path) -> str:
    """Make a run look faster, digests and all: only the signed log knows."""
    path = folder / "run.json"
    values = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**values, "seconds": 0.001}), encoding="utf-8")
    return "does not tell of this run.json"


def _other_suite(folder: Path) -> str:
    path = folder / "run.json"
    values = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**values, "suite_version": "another"}), encoding="utf-8")
    return "was made with suite another"


@pytest.mark.parametrize(
    "touch",
    [_edit_diff, _drop_stderr, _faster, _other_suite],
    ids=["diff edited", "file gone", "figures improved", "other suite"],
)
def test_touched_evidence_is_neither_checked_nor_graded(
    lab_at: Callable[[str], Lab], touch: Callable[[Path], str]
) -> None:
    lab = lab_at("checked")
    for sealed in lab.workspace.handover.glob("*-raw-*.age"):
        sealed.unlink()  # or the hand-ins would tell
    says = touch(lab.workspace.raw / RUNS[0])
    lab.refused("leaks", code=3, says=(RUNS[0], says))
    lab.refused("grade", me=TARA, code=3, says=(RUNS[0], says))


def test_evidence_that_differs_from_the_hand_in_is_not_graded(
    lab_at: Callable[[str], Lab],
) -> None:
    lab = lab_at("checked")
    _edit_diff(lab.workspace.raw / RUNS[0])
    lab.refused("grade", me=TARA, code=3, says=("diff.patch", "with other content"))


def test_touched_evidence_is_not_summarised(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("unblinded")
    says = _faster(lab.workspace.raw / RUNS[1])
    lab.refused("summary", code=3, says=(RUNS[1], says))


def test_a_log_that_was_rewritten_vouches_for_nothing(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("checked")
    logs = sorted((lab.workspace.evals / "log").glob("*.jsonl"))
    path = next(log for log in logs if log.stem != ANA and b'"run"' in log.read_bytes())
    path.write_bytes(path.read_bytes().replace(b'"run.json":"', b'"run.json":"0', 1))
    lab.refused("grade", me=TARA, code=3, says=(path.name, "line"))


def test_a_verdict_that_a_runner_hands_in_is_refused(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("graded")
    verdict = (lab.workspace.raw / RUNS[0] / "grade.json").read_bytes()
    runs = {RunId.parse(planned(lab, ANA)[0]): {"run.json": b"{}", "grade.json": verdict}}
    with pytest.raises(IntegrityError, match=r"grade\.json, which no run leaves"):
        require_own(lab.workspace, Member(ANA), runs)
    others = {RunId.parse(planned(lab, BEN)[0]): {"run.json": b"{}"}}
    with pytest.raises(IntegrityError, match="the plan does not give to ana"):
        require_own(lab.workspace, Member(ANA), others)


def test_a_grade_that_was_changed_is_graded_again_and_never_summarised(
    lab_at: Callable[[str], Lab],
) -> None:
    lab = lab_at("graded")
    path = lab.workspace.raw / RUNS[1] / "grade.json"
    honest = path.read_bytes()
    path.write_bytes(honest.replace(b'"fail"', b'"pass"'))
    assert path.read_bytes() != honest
    lab.refused("blind", me=TARA, code=3, says=(RUNS[1], "no holder's log tells"))
    assert f"[1/1] {RUNS[1]}: fail" in lab.labkit("grade", me=TARA).err
    lab.done("blind", me=TARA)


def test_a_run_made_twice_or_lost_on_purpose_is_told(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("run")
    run = planned(lab, ANA)[0]
    shutil.rmtree(lab.workspace.raw / run)
    lab.done("task", "run", me=ANA)
    lab.refused("leaks", code=3, says=(f"{run}: the log of ana tells of 2 runs of it",))


def test_a_finished_run_cannot_be_turned_into_a_missing_one(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("run")
    run = planned(lab, ANA)[0]
    shutil.rmtree(lab.workspace.raw / run)
    record = lab.workspace.evals / "missing" / f"{run}.json"
    record.parent.mkdir(exist_ok=True)
    record.write_text(
        f'{{"schema": 1, "run": "{run}", "runner": "ana", "reasons": ["x"]}}', encoding="utf-8"
    )
    lab.refused("leaks", code=3, says=(f"{run}: recorded missing, but the log of ana tells",))


def test_a_record_that_a_killed_session_had_no_time_to_remove_goes_later(
    lab_at: Callable[[str], Lab],
) -> None:
    lab = lab_at("run")
    run = planned(lab, ANA)[0]
    record = lab.workspace.evals / "missing" / f"{run}.json"
    record.parent.mkdir(exist_ok=True)
    record.write_text(f'{{"schema": 1, "run": "{run}", "runner": "ana", "reasons": []}}')
    lab.done("leaks")  # the run is here: that is no contradiction
    lab.done("task", "run", me=ANA)
    assert not record.exists()


def test_a_run_that_a_killed_session_did_not_record_is_recorded_later(
    lab_at: Callable[[str], Lab],
) -> None:
    lab = lab_at("run")
    log = lab.workspace.evals / "log" / f"{ANA}.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:-1]))
    lab.refused("leaks", code=3, says=("does not tell of this run.json",))
    lab.done("task", "run", me=ANA)
    lab.done("leaks")
