"""`labkit evaluate`: what is measured, what is refused, what an interruption leaves."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from cli.desk import CASES, Desk
from cli.labs import wait_for

ON = ("evaluate", "--suite", "suite.yaml", "--candidate")
VAL = ("five", "four", "six", "three", "two")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk.at(tmp_path)


def report(desk: Desk, *words: str, code: int = 0) -> dict[str, Any]:
    """Evaluate with --json and return the report."""
    values: dict[str, Any] = json.loads(desk.done(*ON, *words, "--json", code=code).out)
    return values


def test_the_val_split_is_measured_and_everything_is_kept(desk: Desk) -> None:
    answer = desk.done(*ON, "mine.py:small", "-n", "2")
    assert "mine (val, version" in answer.out
    assert "all    5 of 5  60 %" in answer.out
    assert "odd" in answer.out
    assert "[10/10]" in answer.err
    (run,) = desk.runs()
    assert f"samples and report: {run}" in answer.err
    assert run.name.endswith("-val")
    assert len((run / "samples.jsonl").read_text().splitlines()) == 10
    for name in ("report.json", "report.md", "junit.xml", "rollouts/two/1", "rollouts/six/2"):
        assert (run / name).exists()
    values = json.loads((run / "report.json").read_text())
    assert (values["split"], values["subset"], values["n"]) == ("val", False, 2)
    assert values["candidate"] == "mine.py:small"
    assert values["reward"] == pytest.approx(0.6)


def test_a_test_case_is_never_run(desk: Desk) -> None:
    desk.refused(
        *ON,
        "mine.py:echo",
        "--split",
        "test",
        says=("never runs the test split", "labkit finalize"),
    )
    desk.refused(*ON, "mine.py:echo", "--ids", "two,seven", says=("no case is called 'seven'",))
    desk.done(*ON, "mine.py:echo", "--probe")
    desk.done(*ON, "mine.py:echo", "--split", "train")
    assert {line.split()[0] for line in desk.asked()} == {*VAL, "one"}


def test_seeds_are_forwarded(desk: Desk) -> None:
    desk.done(*ON, "mine.py:echo", "--split", "train", "-n", "3", "--seed", "10")
    assert desk.asked() == ["one 1 10", "one 2 11", "one 3 12"]


def test_workers_change_no_number(desk: Desk) -> None:
    serial = report(desk, "mine.py:by_seed", "-n", "4")
    at_once = report(desk, "mine.py:by_seed", "-n", "4", "--workers", "4")
    assert serial["passed"] == 0
    for values in (serial, at_once):
        values["latency_ms"] = None
        for figures in values["slices"].values():
            figures["latency_ms"] = None
        for case in values["cases"]:
            for trial in case["trials"]:
                trial["latency_ms"] = None
    assert serial == at_once


def test_some_cases_are_a_subset_and_every_k_is_there_that_can_be(desk: Desk) -> None:
    values = report(desk, "mine.py:small", "--ids", "two, six", "-n", "3", "--ks", "1,2,7")
    assert (values["subset"], values["n_tasks"]) == (True, 2)
    assert set(values["pass_at"]) == {"1", "2"}
    answer = desk.done(*ON, "mine.py:small", "-n", "2", "--ks", "7")
    assert "--ks 7: no case has so many samples (-n 2)" in answer.err


@pytest.mark.parametrize("policy", ["all", "any", "majority"])
def test_the_policy_decides_what_passes(desk: Desk, policy: str) -> None:
    values = report(desk, "mine.py:by_seed", "-n", "3", "--policy", policy)
    assert values["passed"] == (5 if policy == "any" else 0)
    assert values["flakes"] == 5


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("mine.py:echo", "--split", "vall"), ("--split is 'vall'", "one of: train, val")),
        (("mine.py:echo", "--policy", "al"), ('did you mean "all"?', "all, any, majority")),
        (("mine.py:echo", "--keep", "x"), ("--keep is 'x'", "all, failed, none")),
        (("mine.py:echo", "--ks", "1,x,0"), ("'x' is no whole number", "'0' is no whole number")),
        (("mine.py:echo", "--ids", "two,tow"), ("no case is called 'tow' in the val split",)),
        (("mine.py:gone",), ("mine.py",)),
        (("nonsense",), ("'nonsense' is no candidate",)),
        (("mine.py:echo", "--retry-errored"), ("no earlier run of mine.py:echo like this one",)),
    ],
)
def test_what_means_nothing_is_refused_before_anything_is_written(
    desk: Desk, words: tuple[str, ...], says: tuple[str, ...]
) -> None:
    desk.refused(*ON, *words, says=says)
    assert desk.runs() == []
    assert desk.asked() == []


def test_an_empty_split_is_refused(desk: Desk) -> None:
    desk.write("suite.yaml", CASES.replace(", split: train", ""))
    desk.refused(
        *ON,
        "mine.py:echo",
        "--split",
        "train",
        says=("no case in the train split", "val 6, test 2"),
    )


def test_one_sample_of_what_may_be_random_is_warned_about(desk: Desk) -> None:
    words = "within-task variance and pass^k cannot be estimated from one trial"
    assert words in desk.done(*ON, "mine.py:echo").err
    assert words not in desk.done(*ON, "mine.py:echo", "-n", "2").err
    probed = desk.done(*ON, "mine.py:small", "--probe", "--json")
    assert "probe: Seeds 0 and 1 gave the same on 3 cases" in probed.err
    assert words not in probed.err
    assert any("gave the same" in note for note in json.loads(probed.out)["notes"])
    random = desk.done(*ON, "mine.py:by_seed", "--probe")
    assert "probe: Seeds 0 and 1 gave different samples" in random.err
    assert words in random.err


def test_recorded_answers_are_no_random_draw(desk: Desk) -> None:
    lines = [json.dumps({"id": name, "output": "2"}) for name in VAL]
    desk.write("answers.jsonl", "\n".join(lines) + "\n")
    answer = desk.done(*ON, "patches:answers.jsonl", "--json")
    assert "one trial" not in answer.err
    assert json.loads(answer.out)["passed"] == 1


@pytest.mark.parametrize(
    ("ids", "says"), [("two", "no error can be estimated"), ("two,four,six", "too few")]
)
def test_few_tasks_are_warned_about(desk: Desk, ids: str, says: str) -> None:
    assert says in desk.done(*ON, "mine.py:echo", "--ids", ids).err


def test_a_malformed_case_is_told_and_missing(desk: Desk) -> None:
    desk.write("suite.yaml", CASES.replace("inputs: 2", "inputs: no"))
    answer = desk.done(*ON, "mine.py:echo", "--json")
    assert "two is never run: suite.yaml, cases 2, line 5" in answer.err
    values = json.loads(answer.out)
    assert (values["n_tasks"], values["n_scored"], values["coverage"]) == (5, 4, 0.8)
    assert values["reward"] == 1.0


def test_an_outage_is_no_drop(desk: Desk) -> None:
    values = report(desk, "mine.py:half", code=1)
    assert (values["n_scored"], values["reward"], values["coverage"]) == (2, 1.0, 0.4)
    values = report(desk, "mine.py:down", code=3)
    assert (values["n_scored"], values["reward"]) == (0, None)


def test_errored_samples_are_taken_again_when_asked(desk: Desk) -> None:
    desk.done(*ON, "mine.py:once", "-n", "2", code=3)
    desk.done(*ON, "mine.py:once", "-n", "2", code=3)
    assert len(desk.runs()) == 2
    desk.write("back", "")
    values = report(desk, "mine.py:once", "-n", "2", "--retry-errored")
    assert (values["n_scored"], values["coverage"]) == (5, 1.0)
    first, second = desk.runs()
    assert json.loads((first / "report.json").read_text())["n_scored"] == 0
    assert json.loads((second / "report.json").read_text())["n_scored"] == 5


def test_a_run_is_never_overwritten(desk: Desk) -> None:
    desk.done(*ON, "mine.py:echo", "--out", "mine")
    desk.refused(*ON, "mine.py:echo", "--out", "mine", says=("mine holds a finished run",))
    desk.refused(
        *(*ON, "mine.py:small", "--out", "mine"),
        says=("another candidate: mine.py:echo, not mine.py:small",),
    )
    desk.refused(*ON, "mine.py:echo", "--out", "eight", says=("something else than a run",))
    desk.write("suite.yaml", CASES.replace("inputs: 2", "inputs: 9"))
    desk.refused(*ON, "mine.py:echo", "--out", "mine", says=("another suite version",))


@pytest.mark.parametrize("out", [(), ("--out", "mine")])
def test_ctrl_c_leaves_a_run_that_the_same_command_goes_on_with(
    desk: Desk, out: tuple[str, ...]
) -> None:
    words = (*ON, "mine.py:slow", "-n", "2", *out)
    with desk.start(*words) as program:
        wait_for(lambda: len(desk.asked()) > 2)
        program.send_signal(signal.SIGINT)
        _, err = program.communicate(timeout=60)
    assert program.returncode == 130
    assert "of 10 samples are kept in " in err
    assert "the same command goes on from here" in err
    before = len(desk.asked())
    answer = desk.done(*words, "--json")
    assert "going on with the run in" in answer.err
    assert json.loads(answer.out)["coverage"] == 1.0
    assert set(desk.asked()) == {f"{name} {k} {k - 1}" for name in VAL for k in (1, 2)}
    assert len(desk.asked()) <= 11, f"{before} before"
    assert len(desk.runs()) == (0 if out else 1)


def test_two_commands_never_write_one_run(desk: Desk) -> None:
    with desk.start(*ON, "mine.py:slow", "-n", "3", "--out", "mine") as program:
        wait_for(lambda: bool(desk.asked()))
        answer = desk.labkit(*ON, "mine.py:slow", "-n", "3", "--out", "mine")
        assert answer.code == 2
        assert "another labkit is at work here: a run in mine" in answer.err
        program.communicate(timeout=60)
    with desk.start(*ON, "mine.py:slow", "-n", "4") as program:
        wait_for(lambda: len(desk.runs()) == 1)
        desk.done(*ON, "mine.py:slow", "-n", "4")
        program.communicate(timeout=60)
    assert len(desk.runs()) == 2
    assert not list((desk.folder.parent / "desk-runs").glob(".*"))


def test_nothing_but_samples_is_kept_when_that_is_asked(desk: Desk) -> None:
    desk.done(*ON, "mine.py:echo", "--keep", "none")
    (run,) = desk.runs()
    assert not (run / "rollouts").exists()


@pytest.mark.bubblewrap
def test_graders_that_run_commands_get_a_sandbox(desk: Desk) -> None:
    desk.write(
        "suite.yaml",
        "cases:\n  - id: shell\n    inputs: 1\n    grader:\n      name: shell_exit_zero\n"
        "      command: test -f app.txt && grep -qx 1 /labkit/answer.txt\n    folder: eight\n",
    )
    desk.write("eight/app.txt", "")
    assert report(desk, "mine.py:echo")["passed"] == 1
    desk.done("suite", "check", ".")


def test_a_sandbox_is_looked_for_only_where_it_is_needed(desk: Desk) -> None:
    desk.done(*ON, "mine.py:echo", "--sandbox", "nonsense")
    desk.refused(
        *ON, "cmd:true", "--sandbox", "nonsense", says=("no sandbox is called 'nonsense'",)
    )


@pytest.mark.bubblewrap
def test_harbor_tasks_are_a_suite(desk: Desk) -> None:
    for name, text in {
        "task.toml": "[metadata]\ncategory = 'sums'\n",
        "instruction.md": "Make /app/x hold a 2.\n",
        "environment/Dockerfile": "FROM debian\nWORKDIR /app\nCOPY x .\n",
        "environment/x": "1\n",
        "tests/test.sh": "#!/bin/sh\ngrep -c 2 /app/x > /logs/verifier/reward.txt\n",
        "solution/solve.sh": "#!/bin/sh\necho 2 > /app/x\n",
    }.items():
        desk.write(f"harbor/two/{name}", text)
    assert "harbor: 1 case" in desk.done("suite", "check", "harbor").out
    on = ("evaluate", "--suite", "harbor", "--json", "--candidate")
    for candidate, passed in (("solutions:harbor", 1), ("nothing", 0), ("cmd:echo 2 > x", 1)):
        values = json.loads(desk.done(*on, candidate).out)
        assert (values["passed"], values["n_scored"]) == (passed, 1), candidate
    desk.refused("suite", "seal", "harbor", says=("harbor has no test case",))
    desk.write("harbor/two/environment/Dockerfile", "FROM debian\nWORKDIR /app\nRUN make\n")
    answer = desk.done("suite", "check", "harbor", code=1)
    assert "it needs an image" in answer.err
    desk.done("suite", "check", "harbor", "--image", "mine:1")


def test_what_is_not_a_fixture_task_has_no_known_fix(desk: Desk) -> None:
    answer = desk.done(*ON, "known-fixes", code=3)
    (run,) = desk.runs()
    assert "is no fixture task: it has no known fix" in (run / "samples.jsonl").read_text()
    assert "one trial" not in answer.err
    assert report(desk, "nothing")["passed"] == 0
