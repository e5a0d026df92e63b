"""Evidence that somebody touched after the run is found before it counts."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.labs import ANA, RUNS, TARA, Lab

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
