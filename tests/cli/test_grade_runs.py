"""`labkit grade`: which runs, how often, by how many at once, and what a stop leaves behind."""

import json
import re
import shutil
import signal
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from cli.labs import ANA, GREET, RUNS, SHOUT, STUDENTS, TARA, Lab, Stages, wait_for

from labkit.records import load_grade
from labkit.sandbox.choose import Choice, choose

pytestmark = pytest.mark.bubblewrap
At = Callable[[str], Lab]


def graded(lab: Lab) -> set[str]:
    """Return the runs that have a grade."""
    return {path.parent.name for path in lab.workspace.raw.glob("*/grade.json")}


def told(lab: Lab) -> list[str]:
    """Return the runs whose grades the holder's log tells of, in order."""
    path = lab.workspace.evals / "log" / f"{TARA}.jsonl"
    lines = [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []
    return [line["subject"] for line in lines if line["action"] == "grade"]


def newest(lab: Lab, run: str) -> object:
    """Return the digests of the newest entry about a run's grade."""
    path = lab.workspace.evals / "log" / f"{TARA}.jsonl"
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    wanted = ("grade", run)
    return [one["digests"] for one in lines if (one["action"], one["subject"]) == wanted][-1]


def digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def graded_with(lab: Lab, expression: str) -> Lab:
    """Bring a frozen lab to its grades, with this as the way A greets strangers."""
    edit = f"edit: {{path: words.py, find: '\"Hello \" + name', replace: '{expression}'}}"
    lab.steps(RUNS[0], edit, 'finish: "Mended."')
    lab.done("task", "freeze", "--again", "--pilot", me=ANA)
    for command in ("task run", "handin"):
        for name in STUDENTS:
            lab.done(*command.split(), me=name)
    lab.done("leaks")
    return lab


def test_runs_tasks_and_configurations_select(lab_at: At) -> None:
    lab = lab_at("checked")
    one = lab.labkit("grade", RUNS[0], me=TARA)
    assert one.code == 0, one.err
    assert graded(lab) == {RUNS[0]}
    assert f"[1/1] {RUNS[0]}: pass\n" in one.err
    assert one.out == ""
    lab.done("grade", "runs", str(SHOUT), RUNS[0], me=TARA)
    assert graded(lab) == {RUNS[0], RUNS[2], RUNS[3]}
    lab.done("grade", "B", me=TARA)
    assert graded(lab) == set(RUNS)
    assert "graded already: 4 runs\n" in lab.labkit("grade", me=TARA).err
    assert sorted(told(lab)) == sorted(RUNS)


def test_a_word_that_names_nothing_is_told_with_its_neighbours(stages: Stages) -> None:
    lab = stages.original("checked")
    says = (
        "no run, task or configuration of the plan is called 'greet-empty__A__2'"
        '; did you mean "greet-empty__A__1"?',
        "is called 'shout-lout'; did you mean \"shout-loud\"?",
        "is called 'C'",
        "evals/plan.csv lists the runs",
    )
    lab.refused("grade", "greet-empty__A__2", "shout-lout", "C", "A", me=TARA, code=2, says=says)


def test_a_missing_run_cannot_be_graded(lab_at: At) -> None:
    lab = lab_at("run")
    log = next(
        path
        for path in (lab.workspace.evals / "log").glob("*.jsonl")
        if RUNS[0].encode() in path.read_bytes()
    )
    lines = log.read_bytes().splitlines(keepends=True)
    cut = next(at for at, line in enumerate(lines) if RUNS[0].encode() in line)
    log.write_bytes(b"".join(lines[:cut]))  # the run never was, nor what came after it
    for line in lines[cut:]:
        run = json.loads(line)["subject"]
        shutil.rmtree(lab.workspace.raw / run)
        record = {"schema": 1, "run": run, "runner": log.stem, "reasons": ["x"]}
        path = lab.workspace.evals / "missing" / f"{run}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(record), encoding="utf-8")
    lab.done("leaks")
    says = (f"{RUNS[0]} is recorded missing: there is nothing to grade", "labkit task run")
    lab.refused("grade", RUNS[0], me=TARA, code=2, says=says)


def test_a_killed_grade_goes_on(lab_at: At) -> None:
    lab = lab_at("checked")
    with lab.start("grade", "--jobs", "1", me=TARA) as program:
        wait_for(lambda: bool(told(lab)))
        program.kill()
        program.communicate()
    assert program.returncode == -9
    before = {run: digest(lab.workspace.raw / run / "grade.json") for run in set(told(lab))}
    assert before
    again = lab.labkit("grade", me=TARA)
    assert again.code == 0, again.err
    assert graded(lab) == set(RUNS)
    assert sorted(told(lab)) == sorted(RUNS)
    for run, kept in before.items():
        assert digest(lab.workspace.raw / run / "grade.json") == kept
        assert f"] {run}:" not in again.err
    assert not list((lab.cache / "labkit" / "scratch").glob("*"))
    assert not list(lab.workspace.raw.glob("*/.labkit-*"))


def test_two_graders_at_once_are_refused(lab_at: At) -> None:
    lab = lab_at("checked")
    lock = lab.workspace.evals / ".lock"
    lock.unlink(missing_ok=True)
    with lab.start("grade", me=TARA) as first:
        wait_for(lambda: lock.exists() and b"grade" in lock.read_bytes())
        first.send_signal(signal.SIGSTOP)
        second = lab.labkit("grade", me=TARA)
        first.send_signal(signal.SIGCONT)
        _, err = first.communicate(timeout=60)
    assert second.code == 2, err + second.err
    assert first.returncode == 0, err
    assert "another labkit is at work here: labkit grade of tara" in second.err
    assert sorted(told(lab)) == sorted(RUNS)


def test_ctrl_c_ends_what_is_being_graded(lab_at: At) -> None:
    lab = graded_with(lab_at("frozen"), '__import__("time").sleep(100)')
    scratch = lab.cache / "labkit" / "scratch"
    with lab.start("grade", RUNS[0], me=TARA) as program:
        wait_for(lambda: bool(list(scratch.glob("*"))))
        time.sleep(1)
        program.send_signal(signal.SIGINT)
        begun = time.monotonic()
        _, err = program.communicate(timeout=60)
    assert time.monotonic() - begun < 10
    assert program.returncode == 130
    assert err.endswith("labkit: interrupted; the same command goes on from here\n")
    assert not list(scratch.glob("*"))
    assert not graded(lab)


def test_an_ungraded_run_is_tried_again_when_asked(lab_at: At) -> None:
    lab = graded_with(lab_at("frozen"), '__import__("time").sleep(3)')
    sandbox = choose(Choice.BUBBLEWRAP, cache=lab.cache / "labkit", site=None)
    with lab.start("grade", RUNS[0], me=TARA) as program:
        while program.poll() is None:
            sandbox.kill({"labkit.lab": lab.workspace.label})
            time.sleep(0.1)
        _, err = program.communicate()
    assert program.returncode == 1, err
    reason = "not graded: the grading sandbox was killed from outside (3 tries, each time)"
    assert f"ungraded: {RUNS[0]}: {reason}" in err
    again = lab.labkit("grade", RUNS[0], me=TARA)
    assert again.code == 1
    assert "graded already: 1 run\n" in again.err
    assert "labkit grade --regrade tries these again" in again.err
    answer = lab.labkit("grade", "--regrade", me=TARA)
    assert answer.code == 0, answer.err
    assert answer.out.splitlines()[1].split() == [RUNS[0], "ungraded", "fail", "changed"]
    assert "FLAKY" not in answer.err
    folder = lab.workspace.raw / RUNS[0]
    assert load_grade(folder / "grade.json").because == "it was ungraded"
    assert load_grade(folder / "grade-1.json").reason == reason
    assert graded(lab) == set(RUNS)


def test_a_grade_that_is_made_again_keeps_the_one_before(lab_at: At) -> None:
    lab = lab_at("graded")
    folder = lab.workspace.raw / RUNS[0]
    names = ("grade.json", "grade.txt", "result.txt")
    first = {name: (folder / name).read_bytes() for name in names}
    answer = lab.labkit("grade", "--regrade", RUNS[0], me=TARA)
    assert answer.code == 0, answer.err
    assert answer.out.splitlines()[1].split() == [RUNS[0], "pass", "pass"]
    for name in names:
        stem, _, ending = name.partition(".")
        assert (folder / f"{stem}-1.{ending}").read_bytes() == first[name]
    grade = load_grade(folder / "grade.json")
    assert grade.supersedes == sha256(first["grade.json"]).hexdigest()
    assert grade.because == "it was asked for, with the same hidden tests"
    assert newest(lab, RUNS[0]) == {
        "grade.json": digest(folder / "grade.json"),
        "supersedes": grade.supersedes,
    }
    assert "graded again\n  because: it was asked for" in (folder / "grade.txt").read_text()
    assert "FLAKY" not in answer.err
    lab.done("grade", "--regrade", "A", me=TARA)
    assert (folder / "grade-2.json").is_file()
    assert load_grade(folder / "grade.json").supersedes == digest(folder / "grade-2.json")
    assert not (lab.workspace.raw / RUNS[1] / "grade-1.json").exists()
    lab.done("blind", me=TARA)


def test_a_plain_regrade_has_nothing_to_do_where_all_are_graded(lab_at: At) -> None:
    lab = lab_at("graded")
    assert "graded already: 4 runs" in lab.labkit("grade", "--regrade", me=TARA).err
    assert sorted(told(lab)) == sorted(RUNS)


def test_a_flaky_grade_is_said_loudly(lab_at: At) -> None:
    lab = graded_with(
        lab_at("frozen"), '"Hello " + (name or __import__("random").choice(["stranger", "x"]))'
    )
    lab.labkit("grade", me=TARA)
    folder = lab.workspace.raw / RUNS[0]
    first = load_grade(folder / "grade.json").verdict
    tries = 0
    while True:
        answer = lab.labkit("grade", "--regrade", RUNS[0], me=TARA)
        tries += 1
        if load_grade(folder / "grade.json").verdict is not first:
            break
        assert tries < 40
    assert answer.code == 1
    assert f"FLAKY GRADE: {RUNS[0]} was {first} and is now " in answer.err
    assert re.search(rf"{RUNS[0]} +{first} +\w+ +changed", answer.out)


def test_a_grade_that_was_edited_by_hand_is_made_anew_and_follows_the_kept_one(lab_at: At) -> None:
    lab = lab_at("graded")
    folder = lab.workspace.raw / RUNS[1]
    lab.done("grade", "--regrade", RUNS[1], me=TARA)
    lab.edit(folder / "grade.json", '"verdict": "fail"', '"verdict": "pass"')
    answer = lab.labkit("grade", me=TARA)
    assert answer.code == 0, answer.err
    grade = load_grade(folder / "grade.json")
    assert grade.verdict == "fail"
    assert grade.because == "its grade.json was not the one that the holder's log tells of"
    assert grade.supersedes == digest(folder / "grade-1.json")
    assert not (folder / "grade-2.json").exists()


def test_a_kept_grade_that_was_changed_is_found(lab_at: At) -> None:
    lab = lab_at("unblinded")
    lab.done("grade", "--regrade", RUNS[1], me=TARA)
    lab.done("summary")
    lab.edit(lab.workspace.raw / RUNS[1] / "grade-1.json", '"fail"', '"pass"')
    lab.refused("summary", code=3, says=(RUNS[1], "is not kept beside grade.json as it was"))


def test_help_shows_both_ways(stages: Stages) -> None:
    text = stages.original("joined").done("grade", "--help")
    for part in ("labkit grade [OPTIONS] [RUN]...", "grade try [OPTIONS] TASK DIFF", "--jobs"):
        assert part in text
    assert str(GREET) not in text
