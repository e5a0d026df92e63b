"""How a forecast reads, and what programs get of it."""

import json
from dataclasses import replace

import pytest

from labkit.effort import Effort, effort
from labkit.forecast import Forecast, Scheme, forecast
from labkit.model import Ended, RunId
from labkit.records import RunRecord
from labkit.report.plan import Sources, plan_json, plan_text

SOURCES = Sources(plan="the frozen suite", rate="a guess", pilot="", shares=(), people=0)
NOTHING = Effort(pilot=0, minutes=None, most_minutes=10, tokens=None, cost=None)


def record(seconds: float, tokens: int | None = None, cost: float | None = None) -> RunRecord:
    return RunRecord(
        run=RunId.parse("a__A__1"),
        runner="ana",
        suite_version="0" * 16,
        seed=1,
        ended=Ended.EXITED,
        exit_code=0,
        started="2026-01-01T00:00:00+00:00",
        seconds=seconds,
        sandbox="docker",
        image_digest="",
        agent="command",
        agent_version="1",
        model="m",
        turns=None,
        tokens=tokens,
        cost=cost,
        base_tree="",
        result_tree="",
    )


def plan(tasks: int, attempts: int = 2, configurations: int = 2, *, safety: int = 0) -> Forecast:
    return forecast(
        Scheme(tasks=tasks, attempts=attempts, configurations=configurations, safety=safety)
    )


def test_nine_tasks_before_any_run() -> None:
    text = plan_text(plan(9), NOTHING, SOURCES)
    assert text.startswith("# Plan: 9 tasks x 2 attempts x 2 configurations = 36 runs\n")
    rows = [line for line in text.splitlines() if line.startswith("|")][2:]
    assert rows == [
        "| as planned | 9 tasks x 2 attempts | 36 | none | 4 % | 14 % | 34 % | 60 % |",
        "| one more attempt | 9 tasks x 3 attempts | 54 | 42 points | 7 % | 23 % | 49 % | 76 % |",
        "| nine more tasks | 18 tasks x 2 attempts | 72 | 29 points | 13 % | 45 % | 82 % | 98 % |",
    ]
    assert "None: no difference is found so often, even the largest that 50 % leaves room" in text
    assert "10 points or more in 55 % and 20 points or more in 17 % of such evals" in text
    assert "at most 6 h (the limit of 10 minutes a run in labkit.yaml)" in text
    assert "Tokens: not known, no run has been measured yet." in text
    assert "Quota" not in text


def test_what_pilot_runs_took() -> None:
    records = [record(120, 50_000), record(240, 70_000), record(180)]
    sources = replace(SOURCES, pilot="../pilot", people=3)
    text = plan_text(plan(9), effort(records, 10), sources)
    assert "about 108 min (3 min a run); at most 6 h" in text
    assert "Tokens: about 2,160,000 (60,000 a run, which 2 of 3 recorded)." in text
    assert "Cost: not known, no run has recorded any." in text
    assert "whoever has most: 12 runs, about 36 min, about 720,000 tokens (shared by 3)." in text
    assert "Measured: 3 runs of ../pilot." in text


def test_a_frozen_plan_says_who_has_most() -> None:
    sources = replace(SOURCES, shares=(16, 20), people=2)
    assert "whoever has most: 20 runs (shared by 2)" in plan_text(plan(9), NOTHING, sources)


@pytest.mark.parametrize(
    ("found", "says"),
    [
        pytest.param(plan(18), "With other guesses of the noise it is 27 to 36 points.", id="both"),
        pytest.param(
            plan(8), "With other guesses of the noise there is none either.", id="neither"
        ),
        pytest.param(plan(9), "of the noise it is 45 points at best, and none at", id="best"),
        pytest.param(plan(4), "With fewer than 5 tasks no difference is ever", id="four"),
        pytest.param(plan(5, 2, 3), "With fewer than 6 tasks no difference is ever", id="holm"),
        pytest.param(plan(18, 2, 3), "divided by 3 comparisons: the first of Holm's", id="three"),
        pytest.param(plan(9, safety=1), "1 safety task more: set apart", id="safety"),
        pytest.param(plan(400), "large sets by the normal curve", id="large"),
        pytest.param(plan(9), "every outcome weighed by its chance", id="exact"),
    ],
)
def test_sentences(found: Forecast, says: str) -> None:
    assert says in plan_text(found, NOTHING, SOURCES)


@pytest.mark.parametrize(
    ("minutes", "says"),
    [
        pytest.param(1, "at most 36 min (the limit of 1 minute a run", id="one"),
        pytest.param(0.01, "at most 22 s (the limit of 0.01 minutes a run", id="seconds"),
        pytest.param(10, "at most 6 h (the limit of 10 minutes a run", id="hours"),
    ],
)
def test_durations(minutes: float, says: str) -> None:
    assert says in plan_text(plan(9), replace(NOTHING, most_minutes=minutes), SOURCES)


def test_programs_get_the_same() -> None:
    records = [record(120, 50_000), record(240, 70_000), record(180)]
    found = plan_json(plan(9, safety=1), effort(records, 10), replace(SOURCES, people=3))
    assert json.loads(json.dumps(found)) == found
    assert found["schema"] == 1
    assert found["plan"] == {
        "tasks": 9,
        "safety": 1,
        "attempts": 2,
        "configurations": 2,
        "runs": 40,
        "from": "the frozen suite",
    }
    assert found["effort"] == {
        "pilot_runs": 3,
        "minutes": {"a_run": 3.0, "all_runs": 120.0, "measured": 3},
        "most_minutes": 400,
        "tokens": {"a_run": 60_000, "all_runs": 2_400_000, "measured": 2},
        "cost": None,
        "people": 3,
        "most_runs_of_one": 14,
    }
