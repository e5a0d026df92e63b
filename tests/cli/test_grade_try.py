"""`labkit grade try`: the verdict that any diff would get, with nothing written anywhere."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.labs import GREET, RUNS, SHOUT, Lab, Stages
from cli.test_grade_runs import graded_with

from labkit.sandbox.choose import Choice, choose

pytestmark = pytest.mark.bubblewrap
At = Callable[[str], Lab]


@pytest.fixture
def fix(stages: Stages, tmp_path: Path) -> Path:
    """Return a file with the right diff for greet-empty."""
    lab = stages.original("proven")
    commit = lab.commit("Greet strangers")
    path = tmp_path / "fix.diff"
    path.write_text(
        lab.project.git("diff", f"{commit}^", commit, "--", "words.py") + "\n", encoding="utf-8"
    )
    return path


def tried(lab: Lab, *words: str, answers: str = "", **env: str) -> tuple[int, str, str]:
    """Try a diff and return exit code and outputs; nothing on disk may change."""
    before = lab.snapshot()
    answer = lab.labkit("grade", "try", *words, answers=answers, **env)
    assert lab.snapshot() == before
    return answer.code, answer.out, answer.err


@pytest.mark.parametrize(
    ("stage", "source"),
    [
        ("proven", "the draft"),
        ("sealed", "the sealed bundle"),
        ("frozen", "the frozen suite"),
        ("graded", "the frozen suite"),
    ],
)
def test_a_diff_is_graded_at_any_stage(stages: Stages, fix: Path, stage: str, source: str) -> None:
    lab = stages.original(stage)
    code, out, err = tried(lab, str(GREET), str(fix))
    assert code == 0, err
    assert f"{GREET}: trying {fix} with the hidden tests of {source}\n" in err
    assert out.startswith("verdict    PASS\nwhy        ")
    assert f"\nrun        none, for {GREET}\n" in out
    assert "__A__1" not in out


def test_a_diff_comes_in_over_standard_input_and_may_fail(stages: Stages, fix: Path) -> None:
    lab = stages.original("proven")
    code, out, _ = tried(lab, str(SHOUT), "-", answers=fix.read_text(encoding="utf-8"))
    assert code == 1
    assert out.startswith("verdict    FAIL\n")
    code, out, _ = tried(lab, str(GREET), "-", answers="this is no diff\n")
    assert code == 1
    assert "not_applied" in out


def test_the_record_is_there_for_programs(stages: Stages, fix: Path) -> None:
    code, out, _ = tried(stages.original("graded"), str(GREET), str(fix), "--json")
    assert code == 0
    values = json.loads(out)
    assert (values["task"], values["verdict"]) == (str(GREET), "pass")
    assert set(values["tests"].values()) == {"passed"}
    suite = json.loads((stages.original("graded").workspace.suite).read_text(encoding="utf-8"))
    assert values["suite_version"] == suite["version"]
    assert values["commitment"] == suite["tasks"][str(GREET)]["commitment"]
    assert not {"run", "supersedes", "because"} & set(values)
    code, out, _ = tried(stages.original("proven"), str(GREET), str(fix), "--json")
    assert (json.loads(out)["suite_version"], json.loads(out)["commitment"]) == ("", "")


def test_a_run_and_a_try_of_its_diff_say_the_same(stages: Stages) -> None:
    lab = stages.original("graded")
    for run, code in ((RUNS[0], 0), (RUNS[1], 1)):
        folder = lab.workspace.raw / run
        assert tried(lab, str(GREET), str(folder / "diff.patch"))[0] == code
        grade = json.loads((folder / "grade.json").read_text(encoding="utf-8"))
        assert grade["verdict"] == ("pass", "fail")[code]


def test_what_cannot_be_tried_is_told(stages: Stages, fix: Path, tmp_path: Path) -> None:
    lab = stages.original("sealed")

    def refused(*words: str, code: int = 2, says: tuple[str, ...], **env: str) -> None:
        lab.refused("grade", "try", *words, code=code, says=says, **env)

    says = ('no task greet-emty; did you mean "greet-empty"?', "labkit task list")
    refused("greet-emty", str(fix), says=says)
    refused("A b", str(fix), says=("task id 'A b' is not allowed",))
    refused(str(GREET), str(tmp_path / "none"), says=(f"no file {tmp_path / 'none'}",))
    refused(str(GREET), str(tmp_path), says=(f"{tmp_path} cannot be read",))
    words = (str(GREET), str(fix), "--message", str(tmp_path / "none"))
    refused(*words, says=(f"no file {tmp_path / 'none'}",))
    says = ("no holder's key in", "this step is the holder's")
    refused(str(GREET), str(fix), says=says, LABKIT_HOME=str(tmp_path))
    refused(str(GREET), str(fix), "--sandbox", "moon", says=("no sandbox is called 'moon'",))


def test_a_draft_is_tried_only_as_it_was_proven(lab_at: At, fix: Path) -> None:
    lab = lab_at("proven")
    path = lab.workspace.draft(GREET) / "hidden" / "tests" / "test_greet.py"
    path.write_text(path.read_text(encoding="utf-8") + "\n# more\n", encoding="utf-8")
    says = ("is not proven sound as it is now", f"labkit task validate {GREET}")
    lab.refused("grade", "try", str(GREET), str(fix), code=2, says=says)


def test_a_task_that_changed_since_is_noted(lab_at: At, fix: Path) -> None:
    lab = lab_at("frozen")
    lab.edit(lab.workspace.prompt(GREET), "please", "quickly")
    code, _, err = tried(lab, str(GREET), str(fix))
    assert code == 0
    assert f"note: task {GREET} is not as it was frozen" in err


def test_a_try_that_the_infrastructure_breaks_every_time_is_ungraded(lab_at: At) -> None:
    lab = lab_at("frozen")
    slow = graded_with(lab, '__import__("time").sleep(100)').workspace.raw / RUNS[0] / "diff.patch"
    sandbox = choose(Choice.BUBBLEWRAP, cache=lab.cache / "labkit", site=None)
    with lab.start("grade", "try", str(GREET), str(slow)) as program:
        killed = 0
        while program.poll() is None:
            killed += sandbox.kill({"labkit.run": f"try-{program.pid}"})
            time.sleep(0.1)
        out, err = program.communicate()
    assert program.returncode == 3, err
    assert killed >= 3
    assert out.startswith(
        "verdict    UNGRADED\n"
        "why        not graded: the grading sandbox was killed from outside (3 tries, each time)\n"
    )
