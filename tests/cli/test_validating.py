"""What `labkit task validate` says, keeps, recalls and leaves alone."""

import json
import shutil
from collections.abc import Callable

from cli.labs import ANA, GREET, SHOUT, Lab

from labkit.bundle import PROOF

At = Callable[[str], Lab]
RUNS = ("--repeats", "3", "--sandbox", "bubblewrap")


def proof(lab: Lab) -> str:
    return (lab.workspace.draft(GREET) / PROOF).read_text(encoding="utf-8")


def test_a_verdict_is_a_line_and_what_it_rests_on_is_indented(lab_at: At) -> None:
    lab = lab_at("drafted")
    answer = lab.labkit("task", "validate", str(GREET), "--sandbox", "bubblewrap")
    assert answer.code == 0, answer.err
    lines = answer.err.splitlines()
    assert lines[:2] == ["proving 1 task in bubblewrap", f"[1/1] {GREET} (bugfix): sound"]
    assert all(line.startswith("  ") for line in lines[2:])
    assert "  found: 1 fail_to_pass, 1 pass_to_pass, 0 unstable, 2 guarded" in lines
    runs = next(line for line in lines if line.startswith("  runs: "))
    public = json.loads(lab.workspace.validation(GREET).read_text(encoding="utf-8"))
    assert 3 <= public["repeats"] <= 8
    assert f"{public['repeats']} of each side" in runs
    assert f"{public['chance_of_notice']:.2f}" in runs
    assert public["cheats"]["tried"] == 8
    assert "  cheats: 8 of 8 fail" in lines


def test_unchanged_tasks_are_recalled_until_they_change(lab_at: At) -> None:
    lab = lab_at("drafted")
    lab.done("task", "validate", *RUNS)
    kept = proof(lab)
    sealed_part = (lab.workspace.draft(GREET) / "evidence.json").read_bytes()
    second = lab.labkit("task", "validate", *RUNS)
    assert second.code == 0
    for task in (GREET, SHOUT):
        assert f"{task} (bugfix): unchanged since " in second.err
    assert ": sound" in second.err
    assert proof(lab) == kept
    lab.workspace.prompt(GREET).write_text(
        "Please greet people without a name as strangers.\n", encoding="utf-8"
    )
    third = lab.labkit("task", "validate", *RUNS)
    assert f"{GREET} (bugfix): sound" in third.err
    assert f"{SHOUT} (bugfix): unchanged since " in third.err
    fourth = lab.labkit("task", "validate", "--again", *RUNS)
    assert "unchanged since" not in fourth.err
    assert (lab.workspace.draft(SHOUT) / "evidence.json").is_file()
    assert sealed_part != (lab.workspace.draft(GREET) / "evidence.json").read_bytes()


def test_a_task_that_is_not_sound_is_recalled_with_its_reason(lab_at: At) -> None:
    lab = lab_at("drafted")
    shutil.rmtree(lab.workspace.draft(GREET) / "hidden" / "tests")
    (lab.workspace.draft(GREET) / "hidden" / "x.txt").write_bytes(b"")
    for word in (": NOT SOUND", ": unchanged since "):
        answer = lab.labkit("task", "validate", str(GREET), *RUNS)
        assert answer.code == 1
        assert word in answer.err
        assert "  problem: hidden/ holds no test file" in answer.err
        assert "1 of 1 task not sound yet" in answer.err


def test_a_quick_look_writes_nothing(lab_at: At) -> None:
    lab = lab_at("drafted")
    answer = lab.labkit("task", "validate", "--quick", *RUNS)
    assert answer.code == 0
    assert "  cheats:" not in answer.err
    assert not lab.workspace.validation(GREET).exists()
    assert sorted(path.name for path in lab.workspace.draft(GREET).iterdir()) == [
        "hidden",
        "oracle.yaml",
    ]
    lab.refused("task", "seal", str(GREET), me=ANA, code=2, says=("not proven sound",))


def test_one_bad_task_stops_no_other(lab_at: At) -> None:
    lab = lab_at("drafted")
    (lab.workspace.draft(GREET) / "notes.txt").write_bytes(b"")
    answer = lab.labkit("task", "validate", *RUNS)
    assert answer.code == 2
    assert f"[1/2] {GREET} (bugfix): NOT EXAMINED" in answer.err
    assert "notes.txt has no place in a draft" in answer.err
    assert f"[2/2] {SHOUT} (bugfix): sound" in answer.err
    assert "1 of 2 tasks could not be examined" in answer.err
    assert lab.workspace.validation(SHOUT).is_file()
    assert not lab.workspace.validation(GREET).exists()


def test_a_broken_repository_is_named_and_stops_no_other(lab_at: At) -> None:
    """An object of one task's base is gone, as in a partial clone."""
    lab = lab_at("drafted")
    shout = lab.workspace.task(SHOUT).read_text(encoding="utf-8")
    base = next(line.split()[1].strip("'\"") for line in shout.splitlines() if "base:" in line)
    blob = lab.project.git("rev-parse", f"{base}:words.py")
    path = lab.project.folder / ".git" / "objects" / blob[:2] / blob[2:]
    path.chmod(0o644)
    path.unlink()
    answer = lab.labkit("task", "validate", *RUNS)
    assert answer.code in (1, 3)
    assert f"{SHOUT} (bugfix): NOT EXAMINED" in answer.err
    assert blob in answer.err
    assert "could not be examined" in answer.err
