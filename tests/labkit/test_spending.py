import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.bounds import Budget, Caps
from labkit.model import Ended, RunId
from labkit.records import RunRecord
from labkit.spending import (
    NOTHING,
    Likely,
    Spent,
    amount,
    likely,
    minutes,
    over_budget,
    spent,
    spent_on_run,
    spent_on_tries,
)

MONEY = st.one_of(st.none(), st.floats(0, 1e6))
TOKENS = st.one_of(st.none(), st.integers(0, 10**9))


def record(**changes: object) -> RunRecord:
    values: dict[str, object] = {
        "run": RunId.parse("a__A__1"), "runner": "ana", "suite_version": "v", "seed": 1,
        "ended": Ended.EXITED, "exit_code": 0, "started": "", "seconds": 120.0, "sandbox": "x",
        "image_digest": "", "agent": "a", "agent_version": "1", "model": "m", "turns": 1,
        "base_tree": "", "result_tree": "",
    }  # fmt: skip
    return RunRecord(**(values | changes))  # type: ignore[arg-type] # a test's own errors show


@given(st.lists(st.tuples(TOKENS, MONEY)))
def test_nothing_that_is_known_is_lost_and_nothing_unknown_counts_as_free(
    tries: list[tuple[int | None, float | None]],
) -> None:
    found = spent_on_tries([{"tokens": tokens, "cost": cost} for tokens, cost in tries])
    assert found.tokens == sum(tokens or 0 for tokens, _ in tries)
    assert found.cost == pytest.approx(sum(cost or 0 for _, cost in tries))
    assert found.unpriced == sum(tokens is not None and cost is None for tokens, cost in tries)


def test_a_run_has_spent_what_its_broken_tries_have() -> None:
    voided = ({"tokens": 10, "cost": 0.5}, {"tokens": None, "cost": None})
    found = spent_on_run(record(tokens=100, cost=1.0, voided=voided))
    assert found == Spent(tokens=110, cost=1.5)
    assert spent(100, None) == Spent(tokens=100, unpriced=1)
    assert spent(None, None) == Spent()


def test_a_run_takes_what_those_before_it_took() -> None:
    earlier = [
        record(tokens=100, cost=1.0, requests=3),
        record(tokens=300, cost=None, requests=5, seconds=240.0),
    ]
    found = likely(earlier, Caps(tokens=9, cost=9), 10)
    assert found == Likely(minutes=3.0, tokens=200, cost=1.0)


def test_without_runs_the_limits_tell_and_without_limits_nothing() -> None:
    limited = likely([], Caps(tokens=9), 10)
    assert (limited.minutes, limited.tokens, limited.cost) == (10, 9, None)
    assert limited.by_limits == {"minutes", "tokens"}
    assert (limited + limited).tokens == 18
    assert (limited + NOTHING).by_limits == {"minutes", "tokens"}


def test_an_agent_that_asks_no_model_takes_none_of_the_budget() -> None:
    found = likely([record()], Caps(tokens=9, cost=9), 10)
    assert (found.minutes, found.tokens, found.cost) == (2.0, 0, 0)


@pytest.mark.parametrize(
    ("budget", "so_far", "more", "told"),
    [
        (Budget(), Spent(cost=1e9), 1e9, ""),
        (Budget(cost=10), Spent(cost=4), 6.0, ""),
        (Budget(cost=10), Spent(cost=5), 6.0, "10.00 5.00 is spent, and x may take 6.00"),
        (Budget(cost=10), Spent(cost=10), 0.0, "of the budget of 10.00 10.00 is spent"),
        (Budget(cost=10), Spent(cost=9.9), None, ""),
        (Budget(cost=10), Spent(unpriced=2, tokens=5), 1.0, "or say --yes"),
        (Budget(tokens=100), Spent(unpriced=2, tokens=5), 1.0, ""),
        (Budget(tokens=100), Spent(tokens=99), 2.0, "of 100 tokens 99 tokens is spent"),
    ],
)
def test_a_budget_bears_what_fits(
    budget: Budget, so_far: Spent, more: float | None, told: str
) -> None:
    found = over_budget(budget, so_far, Likely(minutes=1, tokens=more, cost=more), "x")
    assert told in found
    assert bool(told) == bool(found)


@given(st.floats(0.01, 100), st.floats(0, 200), st.floats(0, 200))
def test_what_is_begun_ends_within_the_budget(most: float, used: float, more: float) -> None:
    takes = Likely(minutes=1, tokens=0, cost=more)
    borne = not over_budget(Budget(cost=most), Spent(cost=used), takes, "x")
    assert borne == (used < most and used + more <= most)


@pytest.mark.parametrize(
    ("value", "told"),
    [(0, "0.00"), (0.0031, "0.0031"), (0.31, "0.31"), (0.001, "0.0010"), (12.346, "12.35")],
)
def test_a_little_money_is_not_told_as_none(value: float, told: str) -> None:
    assert amount("cost", value) == told


@pytest.mark.parametrize(("value", "told"), [(0.045, "2.7 s"), (0, "0.0 s"), (1, "1.0 min")])
def test_a_short_time_is_told_in_seconds(value: float, told: str) -> None:
    assert minutes(value) == told
