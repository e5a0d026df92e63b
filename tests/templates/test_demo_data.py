"""The demo's data fit together: tasks, prompts, configurations, expected verdicts, marks."""

import re
from collections import Counter

import pytest
from demo_sample import DEMO, EXPECTED, RUNS, TASKS, TEAM, load, steps_of, task_of

DIMENSIONS = {"correctness", "scope", "quality", "tests", "communication"}


def test_the_mix_is_what_a_team_of_three_needs() -> None:
    categories = Counter(task["category"] for task in TASKS.values())
    assert all(name == task["id"] for name, task in TASKS.items())
    assert categories == Counter(bugfix=3, feature=2, refactor=1, tests=1, trap=1, other=1)
    assert Counter(task["author"] for task in TASKS.values()) == dict.fromkeys(TEAM, 3)


@pytest.mark.parametrize("task", TASKS)
def test_a_solution_is_its_author_s_own_commit(task: str) -> None:
    facts = TASKS[task]
    if "commit" in facts:
        (commit,) = DEMO.glob(f"history/{facts['commit']}-*/commit.yaml")
        assert load(commit.relative_to(DEMO).as_posix())["author"] == facts["author"]
    else:
        assert facts["category"] == "trap"


@pytest.mark.parametrize("task", TASKS)
def test_a_prompt_names_no_hidden_test(task: str) -> None:
    folder = DEMO / "tasks" / task
    prompt = (folder / "prompt.txt").read_text(encoding="utf-8")
    for file in folder.glob("draft/hidden/**/*.tmpl"):
        names = re.findall(r"def (test_\w+)", file.read_text(encoding="utf-8"))
        assert names
        assert not [name for name in (file.name.partition(".")[0], *names) if name in prompt]


def test_the_configurations_differ_in_the_model_alone() -> None:
    first, second = load("configs", "A.yaml"), load("configs", "B.yaml")
    differing = {name for name in first if first[name] != second[name]}
    assert first.keys() == second.keys()
    assert differing == {"id", "model", "steps", "notes"}


def test_every_run_has_a_verdict_and_a_is_ahead() -> None:
    assert sorted(EXPECTED) == sorted(RUNS)
    passed = Counter(run.split("__")[1] for run in RUNS if EXPECTED[run]["verdict"] == "pass")
    assert passed == {"A": 14, "B": 10}


def test_every_step_file_is_played() -> None:
    found = {file.stem for letter in "AB" for file in DEMO.glob(f"configs/steps/{letter}/*")}
    tasks = {task for task in TASKS if (DEMO / f"configs/steps/A/{task}.yaml").exists()}
    assert found == tasks | {f"{task}__{n}" for task in TASKS for n in (1, 2)}


def test_the_odd_runs_are_there_once() -> None:
    steps = {run: steps_of(run) for run in RUNS}
    waits = [run for run in RUNS if {"wait": 3} in steps[run][:3]]
    assert waits == [run for run in RUNS if EXPECTED[run].get("killed_once")]
    peeks = [run for run in RUNS if any("../evals" in s.get("run", "") for s in steps[run])]
    assert peeks == [run for run in RUNS if EXPECTED[run].get("leak")]
    idle = [run for run in RUNS if not any({"edit", "write"} & step.keys() for step in steps[run])]
    assert idle == ["other-readme__B__1", *(f"trap-rounded-amounts__A__{n}" for n in (1, 2))]
    assert all("finish" in steps[run][-1] for run in RUNS)


def test_every_run_has_marks() -> None:
    scores = load("scores.yaml")
    assert sorted(scores["runs"]) == sorted(RUNS)
    assert scores["leniency"].keys() == TEAM.keys()
    for marks in scores["runs"].values():
        assert marks.keys() == DIMENSIONS
        assert set(marks.values()) <= {0, 1, 2, 3, 4}


def test_nobody_disagrees_about_their_own_task() -> None:
    for item in load("scores.yaml")["disagreements"]:
        assert item["scorer"] in TEAM.keys() - {TASKS[task_of(item["run"])]["author"]}
        assert item["dimension"] in DIMENSIONS
        assert item["mark"] != load("scores.yaml")["runs"][item["run"]][item["dimension"]]
