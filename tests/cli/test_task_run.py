"""`labkit task run`: what is run, in which order, within which budget, and what it says."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.labs import ANA, BEN, GREET, RUNS, SHOUT, TARA, Lab, labkit, planned, wait_for
from gitrepo import Project

At = Callable[[str], Lab]


def logged(lab: Lab, member: str, action: str = "run") -> list[str]:
    lines = (lab.workspace.evals / "log" / f"{member}.jsonl").read_text().splitlines()
    events = [json.loads(line) for line in lines]
    return [event["subject"] for event in events if event["action"] == action]


def test_a_dry_run_shows_everything_and_starts_nothing(lab_at: At) -> None:
    lab = lab_at("frozen")
    before = lab.snapshot()
    out = lab.done("task", "run", "--dry-run", me=ANA, LABKIT_SANDBOX="docker", DOCKER_HOST="x")
    head, *rows, total, why = out.splitlines()
    assert head.split()[:3] == ["order", "run", "configuration"]
    assert [row.split()[1] for row in rows] == planned(lab, ANA)
    assert all("<= 10.0 min" in row and "unknown" in row and "model-" in row for row in rows)
    assert total.split()[:4] == ["2", "runs", "<=", "20.0"]
    assert why == "nothing has run yet: what is known are the limits"
    assert lab.snapshot() == before
    everything = lab.done("task", "run", "--dry-run", "--all", me=ANA).splitlines()
    assert sorted(row.split()[1] for row in everything[1:5]) == sorted(RUNS)


def test_a_dry_run_knows_what_runs_took(lab_at: At) -> None:
    lab = lab_at("run")
    record = lab.workspace.raw / planned(lab, ANA)[0] / "run.json"
    values = json.loads(record.read_text())
    record.write_text(json.dumps(values | {"tokens": 1000, "cost": 0.5, "requests": 3}))
    letter = planned(lab, ANA)[0].split("__")[1]
    lab.done("task", "freeze", "--more-attempts", "1", me=ANA)
    lab.edit(lab.workspace.settings, "attempts: 1", "attempts: 1\nbudget: {cost: 0.6}")
    out = lab.done("task", "run", "--dry-run", me=ANA)
    (row,) = [line for line in out.splitlines() if f"{letter}__2" in line]
    assert row.split()[-2:] == ["1,000", "0.50"]
    assert "spent so far: 1,000 tokens, cost 0.50; of the budget of 0.60 0.50 is spent" in out


def test_a_task_or_a_configuration_names_runs(lab_at: At) -> None:
    lab = lab_at("frozen")
    first, second = planned(lab, ANA)
    answer = lab.labkit("task", "run", "A", me=ANA)
    assert answer.code == 0, answer.err
    assert (lab.workspace.raw / first).is_dir()
    assert not (lab.workspace.raw / second).exists()
    assert f"B of {first.split('__')[0]} attempt 1 is missing while A has run: run it next" in (
        answer.err
    )
    lab.refused("task", "run", "C", me=ANA, code=2, says=("is called 'C'", "plan.csv"))


def test_flags_that_exclude_each_other(lab_at: At) -> None:
    lab = lab_at("frozen")
    lab.refused("task", "run", "--all", "--smoke", me=ANA, code=2, says=("exclude each other",))


def test_all_runs_others_too_under_ones_own_name(lab_at: At) -> None:
    lab = lab_at("frozen")
    lab.done("task", "run", "--all", "--yes", "--jobs", "2", me=ANA)
    assert sorted(path.name for path in lab.workspace.raw.iterdir()) == sorted(RUNS)
    assert sorted(logged(lab, ANA)) == sorted(RUNS)
    for run in RUNS:
        assert json.loads((lab.workspace.raw / run / "run.json").read_text())["runner"] == ANA
    answer = lab.labkit("task", "run", me=BEN)
    assert (answer.code, "ben has no run left to do" in answer.err) == (0, True)
    lab.refused("handin", me=BEN, code=2, says=("there are no runs to hand in",))
    lab.done("handin", me=ANA)
    lab.done("leaks")
    shutil.rmtree(lab.workspace.raw / RUNS[0])  # the holder's copy comes from the hand-in
    lab.done("grade", me=TARA)
    assert (lab.workspace.raw / RUNS[0] / "grade.json").is_file()


def test_others_runs_are_asked_about(lab_at: At) -> None:
    lab = lab_at("frozen")
    answer = lab.labkit("task", "run", "--all", me=ANA, answers="no\n")
    assert answer.code == 2
    assert "2 runs of ben will be recorded as run by ana" in answer.err
    assert "nothing was begun" in answer.err
    assert not lab.workspace.raw.exists()


@pytest.mark.parametrize(
    ("words", "env", "says"),
    [
        (("--all", "--yes"), {}, "is paid by a personal subscription and is planned for ben"),
        ((), {"CI": "true"}, "it runs for its owner, not in CI"),
    ],
    ids=["others", "ci"],
)
def test_a_subscription_pays_for_its_owner_only(
    lab_at: At, words: tuple[str, ...], env: dict[str, str], says: str
) -> None:
    lab = lab_at("sealed")
    for letter in "AB":
        path = lab.workspace.evals / "configs" / f"{letter}.yaml"
        path.write_text(
            f'id: {letter}\nagent: claude-code\nmodel: "model-{letter}"\nlogin: subscription\n'
        )
    lab.done("task", "freeze", "--pilot", me=ANA)
    lab.refused("task", "run", *words, me=ANA, code=2, says=(says,), **env)


def test_a_budget_that_is_used_up_begins_no_pair(lab_at: At) -> None:
    lab = lab_at("frozen")
    run = RUNS[0]
    folder = lab.workspace.evals / "voided" / f"{run}__1"
    folder.mkdir(parents=True)
    voided = {"schema": 1, "run": run, "when": "2026-01-02", "why": "x", "kind": "quota"}
    (folder / "voided.json").write_text(json.dumps(voided | {"seconds": 1, "tokens": 5, "cost": 2}))
    answer = lab.labkit("task", "run", "--budget-cost", "2", me=ANA)
    assert answer.code == 1, answer.err
    assert "stopped: of the budget of 2.00 2.00 is spent" in answer.err
    assert "not begun: " in answer.err
    assert "2 runs left: the same command goes on, with open pairs first" in answer.err
    assert not list(lab.workspace.raw.glob("*"))
    lab.edit(lab.workspace.settings, "attempts: 1", "attempts: 1\nbudget: {cost: 5}")
    says = ("--budget-cost 6 is more than the team's 5",)
    lab.refused("task", "run", "--budget-cost", "6", me=ANA, code=2, says=says)
    lab.done("task", "run", me=ANA)


def test_one_ctrl_c_lets_runs_end_and_begins_nothing(lab_at: At) -> None:
    lab = lab_at("frozen")
    first, _second = planned(lab, ANA)
    lab.steps(first, "wait: 2", 'finish: "Done."')
    lab.done("task", "freeze", "--again", "--pilot", me=ANA)
    with lab.start("task", "run", me=ANA) as program:
        wait_for(lambda: bool(list(lab.workspace.raw.glob(f".{first}.*"))))
        time.sleep(0.3)
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=30)
    assert (program.returncode, out) == (130, "")
    assert "nothing new is begun" in err
    assert err.endswith("labkit: interrupted; the same command goes on from here\n")
    assert [path.name for path in lab.workspace.raw.iterdir()] == [first], err
    assert logged(lab, ANA) == [first]
    assert not (lab.workspace.evals / "voided").exists()


def test_what_is_said_of_a_run(lab_at: At) -> None:
    lab = lab_at("frozen")
    answer = lab.labkit("task", "run", me=ANA)
    first, _second = planned(lab, ANA)
    assert f"[1/2] {first}: completed after " in answer.err
    assert re.search(r"2 runs finished: \d+\.\d s of agents' time", answer.err)


def test_a_smoke_rerun_stays_apart(lab_at: At) -> None:
    lab = lab_at("run")
    lab.refused("task", "run", "--smoke", me=ANA, code=2, says=("no smoke subset is chosen",))
    lab.edit(lab.workspace.settings, "attempts: 1", f"attempts: 1\nsmoke: [{GREET}]")
    path = lab.workspace.evals / "configs" / "A.yaml"
    path.write_text(path.read_text().replace("model-A", "model-C"))
    study = {name: text for name, text in lab.snapshot().items() if "/raw/" in name}
    answer = lab.labkit("task", "run", "--smoke", me=ANA)
    assert answer.code == 0, answer.err
    assert f"{GREET}__A__1: model model-A then, model-C now; the very same change" in answer.err
    smoke = lab.workspace.evals / "raw-smoke"
    assert sorted(p.name for p in (smoke / "1").glob("*__*")) == [
        f"{GREET}__A__1", f"{GREET}__B__1"
    ]  # fmt: skip
    assert {n: t for n, t in lab.snapshot().items() if "/raw/" in n} == study
    assert logged(lab, ANA, "smoke") == [f"1/{GREET}__A__1", f"1/{GREET}__B__1"]
    lab.done("task", "run", "--smoke", me=ANA)
    assert sorted(p.name for p in smoke.iterdir()) == ["1", "2"]
    # A rerun that lacks something is gone on with, unless its configurations are others now.
    shutil.rmtree(smoke / "2" / f"{GREET}__B__1")
    assert " 1 run in " in lab.labkit("task", "run", "--smoke", me=ANA).err
    assert sorted(p.name for p in smoke.iterdir()) == ["1", "2"]
    shutil.rmtree(smoke / "2" / f"{GREET}__B__1")
    path.write_text(path.read_text().replace("model-C", "model-D"))
    says = "rerun 2 stays incomplete: configuration A changed since it was begun, so rerun 3 begins"
    assert says in lab.labkit("task", "run", "--smoke", "--dry-run", me=ANA).err
    assert not (smoke / "3").exists()
    path.write_text(path.read_text().replace("model-D", "model-C"))
    path.write_text(path.read_text().replace("model-C", "model-A"))
    for member in (ANA, BEN):
        lab.done("handin", me=member)
    lab.done("leaks")


def test_attempts_are_added_for_all_or_for_those_chosen_before(lab_at: At) -> None:
    lab = lab_at("run")
    plan = lab.workspace.plan.read_bytes()
    says = ("not chosen before the first run", "name no task, for all")
    lab.refused("task", "freeze", "--more-attempts", "1", str(GREET), me=ANA, code=2, says=says)
    lab.refused("task", "freeze", str(GREET), me=ANA, code=2, says=("not single tasks",))
    lab.refused(
        "task", "freeze", "--more-attempts", "1", "--again", me=ANA, code=2, says=("--again",)
    )
    lab.refused(
        "task", "freeze", "--more-attempts", "1", "great", me=ANA, code=2, says=("no task 'great'",)
    )
    assert lab.done("task", "freeze", "--more-attempts", "2", me=ANA) == "plan-2.csv\n"
    assert lab.workspace.plan.read_bytes() == plan
    rows = (lab.workspace.evals / "plan-2.csv").read_text().splitlines()
    assert rows[0] == "order,run,runner,seed,after"
    assert [row.split(",")[0] for row in rows[1:]] == [str(order) for order in range(5, 13)]
    assert logged(lab, ANA, "more attempts") == ["plan-2.csv"]
    for which in "AB":
        for task in (GREET, SHOUT):
            for attempt in (2, 3):
                lab.steps(f"{task}__{which}__{attempt}", 'finish: "Again."')


def test_attempts_are_not_added_before_the_first_run_or_after_a_result(lab_at: At) -> None:
    words = ("task", "freeze", "--more-attempts", "1")
    lab_at("frozen").refused(*words, me=ANA, code=2, says=("nothing has run yet",))


@pytest.mark.parametrize("stage", ["graded", "blinded"])
def test_attempts_are_not_added_after_a_result(lab_at: At, stage: str) -> None:
    words = ("task", "freeze", "--more-attempts", "1")
    says = (f"the runs are {stage} already",)
    lab_at(stage).refused(*words, me=ANA, code=2, says=says)


def test_a_further_plan_that_no_log_tells_of_stops_everything(lab_at: At) -> None:
    lab = lab_at("run")
    lab.done("task", "freeze", "--more-attempts", "1", me=ANA)
    path = lab.workspace.evals / "plan-2.csv"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:3]))
    lab.refused("task", "run", me=BEN, code=3, says=("plan-2.csv (no log tells of it)",))


def test_a_reduced_plan_is_frozen_from_labkit_yaml(lab_at: At) -> None:
    lab = lab_at("sealed")
    text = "attempts: 1\nsecond_attempts: [nosuch]\nsmoke: [other]"
    lab.edit(lab.workspace.settings, "attempts: 1", text)
    says = ("second_attempts in labkit.yaml names nosuch", "smoke in labkit.yaml names other")
    lab.refused("task", "freeze", "--pilot", me=ANA, code=2, says=says)
    lab.edit(lab.workspace.settings, "[nosuch]\nsmoke: [other]", f"[{SHOUT}]\nsmoke: [{GREET}]")
    lab.done("task", "freeze", "--pilot", me=ANA)
    runs = [line.split(",")[1] for line in lab.workspace.plan.read_text().splitlines()[1:]]
    assert runs == [*RUNS, f"{SHOUT}__A__2", f"{SHOUT}__B__2"]
    assert json.loads(lab.workspace.suite.read_text())["smoke"] == [str(GREET)]


def test_ctrl_c_at_a_terminal_does_not_reach_what_runs(lab_at: At) -> None:
    lab = lab_at("frozen")
    first, _second = planned(lab, ANA)
    lab.steps(first, "wait: 2", 'finish: "Done."')
    lab.done("task", "freeze", "--again", "--pilot", me=ANA)
    with subprocess.Popen(
        labkit("task", "run", "--me", ANA),
        cwd=lab.project.folder,
        env=lab.environment(),
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    ) as program:
        wait_for(lambda: bool(list(lab.workspace.raw.glob(f".{first}.*"))))
        time.sleep(0.5)
        os.killpg(program.pid, signal.SIGINT)  # as a terminal does: everybody in the group
        _, err = program.communicate(timeout=30)
    assert program.returncode == 130, err
    assert [path.name for path in lab.workspace.raw.iterdir()] == [first], err


def test_two_peoples_runs_merge_without_a_conflict(lab_at: At, tmp_path: Path) -> None:
    lab = lab_at("frozen")
    first = Project(lab.workspace.evals)
    first.git("add", "-A")
    first.git("commit", "-qm", "Freeze")
    shutil.copytree(lab.folder, tmp_path / "other", symlinks=True)
    other = Lab(tmp_path / "other", lab.cache)
    second = Project(other.workspace.evals)
    for whose, where, repository in ((ANA, lab, first), (BEN, other, second)):
        lost = where.workspace.evals / "missing" / f"{planned(where, whose)[1]}.json"
        where.done("task", "run", planned(where, whose)[0], me=whose)
        record = {"schema": 1, "run": lost.stem, "runner": whose, "reasons": ["no credit"]}
        lost.parent.mkdir(exist_ok=True)
        lost.write_text(json.dumps(record))
        repository.git("add", "-A")
        repository.git("commit", "-qm", f"Runs of {whose}")
    first.git("pull", "-q", "--no-rebase", "--no-edit", str(second.folder), "HEAD")
    assert not first.git("status", "--porcelain")
    assert [logged(lab, whose) for whose in (ANA, BEN)] == [
        planned(lab, whose)[:1] for whose in (ANA, BEN)
    ]
    assert len(list((lab.workspace.evals / "missing").iterdir())) == 2
    assert not first.git("ls-files", "raw", "voided")
    # Each goes on with what is missing; nobody does what the other has done.
    answer = lab.labkit("task", "run", "--all", "--yes", me=ANA)
    assert answer.code == 0, answer.err
    taken = planned(lab, BEN)[1]
    assert sorted(logged(lab, ANA)) == sorted([*planned(lab, ANA), taken])
    lost = lab.workspace.evals / "missing" / f"{taken}.json"
    assert list((lab.workspace.evals / "missing").iterdir()) == [lost]  # it is ben's
    record = json.loads((lab.workspace.raw / taken / "run.json").read_text())
    assert record["earlier_failures"] == ["no credit"]
    _grown_meanwhile(first, second, f"missing/{taken}.json")
    for run in logged(other, BEN):
        shutil.copytree(other.workspace.raw / run, lab.workspace.raw / run)
    lab.done("leaks", me=ANA)


def test_a_run_that_two_have_done_is_taken_back_by_one_of_them(lab_at: At, tmp_path: Path) -> None:
    lab = lab_at("frozen")
    shutil.copytree(lab.folder, tmp_path / "other", symlinks=True)
    other = Lab(tmp_path / "other", lab.cache)
    mine, run = planned(lab, ANA)[0], planned(lab, BEN)[0]
    because = ("--because", "we did not talk")
    lab.done("task", "run", "--all", "--yes", run, mine, me=ANA)
    says = (f"nobody but {ANA} has done {mine}: it counts",)
    lab.refused("task", "void", mine, *because, me=ANA, code=2, says=says)
    other.done("task", "run", run, me=BEN)
    logs = "log", f"{BEN}.jsonl"
    shutil.copy(other.workspace.evals.joinpath(*logs), lab.workspace.evals.joinpath(*logs))
    lab.refused("task", "void", run, me=ANA, code=2, says=("without a reason",))
    lab.done("task", "void", run, *because, me=ANA)
    assert not (lab.workspace.raw / run).exists()
    assert (lab.workspace.evals / "voided" / f"{run}__1" / "run.json").is_file()
    told = json.loads((lab.workspace.evals / "missing" / f"{run}.{ANA}.json").read_text())
    assert (told["lost"], [each["kind"] for each in told["voided"]]) == (False, ["taken_back"])
    assert told["voided"][0]["seconds"] > 0
    answer = lab.labkit("task", "run", "--all", "--yes", me=ANA)
    assert run not in answer.err.replace("is missing while", "")  # it is ben's
    shutil.copytree(other.workspace.raw / run, lab.workspace.raw / run)
    lab.done("leaks", me=ANA)
    lab.refused("task", "void", run, *because, me=ANA, code=2, says=("tells of no run",))


def _grown_meanwhile(first: Project, second: Project, name: str) -> None:
    """Let a file grow in the second clone, and merge: git has nothing to decide."""
    theirs = second.folder / name
    grown = json.loads(theirs.read_text()) | {"reasons": ["no credit", "no network"]}
    theirs.write_text(json.dumps(grown))
    for repository in (first, second):
        repository.git("add", "-A")
        repository.git("commit", "-qm", "More runs")
    first.git("pull", "-q", "--no-rebase", "--no-edit", str(second.folder), "HEAD")
    assert not first.git("status", "--porcelain")


def test_after_kill_9_of_two_at_once_none_is_lost_or_doubled(lab_at: At) -> None:
    lab = lab_at("frozen")
    mine = planned(lab, ANA)
    for run in mine:
        lab.steps(run, "wait: 3", 'finish: "Done."')
    lab.done("task", "freeze", "--again", "--pilot", me=ANA)
    with lab.start("task", "run", "--jobs", "2", me=ANA) as program:
        wait_for(lambda: len(list(lab.workspace.raw.glob(".*__*"))) == 2)
        time.sleep(0.5)
        program.kill()
        program.communicate()
    answer = lab.labkit("task", "run", "--jobs", "2", me=ANA)
    assert answer.code == 0, answer.err
    assert answer.err.count("was interrupted earlier: it starts again") == 2
    assert sorted(logged(lab, ANA)) == sorted(mine)
    assert sorted(path.name for path in lab.workspace.raw.iterdir()) == sorted(mine)
    for run in mine:
        record = json.loads((lab.workspace.raw / run / "run.json").read_text())
        assert [each["kind"] for each in record["voided"]] == ["interrupted"]
        assert (lab.workspace.evals / "voided" / f"{run}__1" / "transcript.jsonl").is_file()
