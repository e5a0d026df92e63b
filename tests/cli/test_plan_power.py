"""`labkit plan power` at every phase: it reads the plan and earlier runs, and writes nothing."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from cli.labs import Lab, Stages

from labkit.cli import forecasting
from labkit.cli.forecasting import Wanted, supposed_rate
from labkit.phases import progress


def told(lab: Lab, *words: str) -> Any:
    before = lab.snapshot()
    found = json.loads(lab.done("plan", "power", "--json", *words))
    assert lab.snapshot() == before
    return found


def test_before_there_are_tasks_it_asks_for_their_number(stages: Stages) -> None:
    lab = stages.original("joined")
    lab.refused("plan", "power", code=2, says=("there are no tasks", "--tasks 9"))
    found = told(lab, "--tasks", "9", "--attempts", "2")
    assert found["plan"]["runs"] == 36
    assert found["plan"]["from"] == "labkit.yaml, with other tasks and attempts as asked for"
    assert found["effort"]["most_runs_of_one"] == 18
    text = lab.done("plan", "power", "--tasks", "9", "--attempts", "2")
    assert "| as planned | 9 tasks x 2 attempts | 36 | none |" in text


def test_drafts_count_as_tasks_and_safety_tasks_only_as_runs(
    lab_at: Callable[[str], Lab],
) -> None:
    lab = lab_at("drafted")
    found = told(lab)
    assert (found["plan"]["tasks"], found["plan"]["runs"]) == (2, 4)
    assert found["plan"]["from"] == "the tasks that are here, nothing being frozen yet"
    one, other = sorted(lab.workspace.evals.glob("tasks/*.yaml"))
    lab.edit(one, "tags: []", "tags: [safety]")
    found = told(lab)
    assert (found["plan"]["tasks"], found["plan"]["safety"], found["plan"]["runs"]) == (1, 1, 4)
    lab.edit(other, "tags: []", "tags: [safety]")
    lab.refused("plan", "power", code=2, says=("every task is a safety task", "task new"))


def test_a_draft_that_cannot_be_read_counts(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("drafted")
    next(lab.workspace.evals.glob("tasks/*.yaml")).write_text("title: [\n", encoding="utf-8")
    assert told(lab)["plan"]["tasks"] == 2


def test_one_configuration_is_not_enough_yet(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("drafted")
    (lab.workspace.evals / "configs" / "B.yaml").unlink()
    found = told(lab)
    assert found["plan"]["configurations"] == 2
    assert found["plan"]["from"].endswith("two configurations are supposed, as fewer are written")


def test_a_frozen_plan_is_told_as_it_is(stages: Stages) -> None:
    lab = stages.original("frozen")
    found = told(lab)
    assert found["plan"]["from"] == "the frozen suite"
    assert found["effort"]["most_runs_of_one"] == 2
    assert found["effort"]["minutes"] is None
    assert found["effort"]["most_minutes"] == 40
    other = told(lab, "--tasks", "12")
    assert other["plan"]["runs"] == 24
    assert other["effort"]["most_runs_of_one"] == 12


def test_runs_that_are_here_are_the_pilot(stages: Stages) -> None:
    found = told(stages.original("run"), "--tasks", "9")
    assert found["effort"]["pilot_runs"] == 4
    assert found["effort"]["minutes"]["measured"] == 4
    minutes = found["effort"]["minutes"]
    assert minutes["all_runs"] == pytest.approx(18 * minutes["a_run"])
    assert found["effort"]["tokens"] is None


def test_another_lab_may_be_the_pilot(stages: Stages) -> None:
    lab, pilot = stages.original("joined"), stages.original("unblinded")
    project = str(pilot.project.folder)
    found = told(lab, "--tasks", "9", "--pilot", project)
    assert found["effort"]["pilot_runs"] == 4
    text = lab.done("plan", "power", "--tasks", "9", "--pilot", project)
    assert f"Measured: 4 runs of {project}." in text
    for chosen, says in (
        (str(lab.folder / "nowhere"), "there is no lab"),
        (str(lab.project.folder), "that lab has no runs"),
    ):
        lab.refused("plan", "power", "--tasks", "9", "--pilot", chosen, code=2, says=(says,))


def test_two_tasks_are_too_few_to_guess_a_rate_from(stages: Stages) -> None:
    assumed = told(stages.original("unblinded"))["assumed"]
    assert assumed["pass_rate"] == 0.5
    assert assumed["pass_rate_from"] == "the usual guess: the pilot had only 2 tasks"


def test_grades_are_not_looked_at_before_unblinding(
    stages: Stages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forecasting, "FEWEST_FOR_A_RATE", 1)
    wanted = Wanted(tasks=None, attempts=None, configurations=None, pass_rate=None, pilot="")
    for stage in ("graded", "scored", "unblinded"):
        workspace = stages.original(stage).workspace
        runs = sorted(progress(workspace).finished)
        rate, why = supposed_rate(workspace, runs, wanted)
        assert rate == 0.5
        assert (why == "what the pilot's runs did") == (stage == "unblinded")


def test_what_makes_no_plan_is_refused_all_at_once(stages: Stages) -> None:
    lab = stages.original("joined")
    words = ("--tasks", "0", "--attempts", "10", "--configurations", "1", "--pass-rate", "100")
    says = ("--tasks 0", "--attempts 10", "--configurations 1", "--pass-rate 100", "--help")
    lab.refused("plan", "power", *words, code=2, says=says)


def test_a_pass_rate_can_be_supposed(stages: Stages) -> None:
    found = told(stages.original("joined"), "--tasks", "9", "--attempts", "2", "--pass-rate", "30")
    assert found["assumed"]["pass_rate"] == 0.3
    assert found["as_planned"]["detectable"] == pytest.approx(0.49, abs=0.006)


def test_a_damaged_run_is_named(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("run")
    record = next(lab.workspace.raw.glob("*/run.json"))
    record.write_text("{", encoding="utf-8")
    lab.refused("plan", "power", code=3, says=("run.json", "damaged"))
