"""Several teams' summaries together: a team is a cluster."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from studies import A, B, C

from labkit.errors import InputError
from labkit.model import TaskId
from labkit.report.data import pool_json
from labkit.report.pooled import render_pool
from labkit.summary import Outcome
from labkit.summary.earlier import Earlier
from labkit.summary.evidence import Attempts
from labkit.summary.pool import pool

SIGNS = {"+": True, "-": False, "?": None}


def team(name: str, marks: dict[str, str], *, same: str = "", **more: object) -> Earlier:
    """Make a team's summary of `{"task": "++ +-"}`."""
    letters = (A, B, C)[: len(next(iter(marks.values())).split())]

    def attempts(place: int) -> Attempts:
        return {
            TaskId(task): tuple(SIGNS[sign] for sign in signs.split()[place])
            for task, signs in marks.items()
        }

    fields: dict[str, object] = {
        "place": f"{name}.json",
        "team": name,
        "suite_version": f"of {name}",
        "difference": "model",
        "configurations": {letter: f"agent {letter}" for letter in letters},
        "digests": {TaskId(task): same or f"{name} {task}" for task in marks},
        "attempts": {letter: attempts(place) for place, letter in enumerate(letters)},
    }
    return Earlier(**(fields | more))  # type: ignore[arg-type]


def alike(teams: int, signs: str, tasks: int = 4) -> list[Earlier]:
    return [
        team(f"team-{number}", {f"t{task}": signs for task in range(tasks)})
        for number in range(teams)
    ]


def test_teams_are_the_units_of_the_test() -> None:
    (found,) = pool(alike(8, "-- +-")).comparisons
    assert (found.outcome, found.ahead) == (Outcome.DETECTABLE, B)
    assert found.difference.value == 0.5
    assert found.difference.tasks == 32
    assert found.p_exact == 2 / 2**8
    assert (found.for_first, found.for_second) == (0, 8)


def test_one_team_with_many_tasks_is_one_draw() -> None:
    studies = [*alike(4, "++ ++"), team("big", {f"t{n}": "-- ++" for n in range(40)})]
    (found,) = pool(studies).comparisons
    assert found.outcome is Outcome.NOT_DETECTABLE
    assert found.why == (
        "1 team saw a difference, and with fewer than 5 teams none could be detected"
    )
    assert found.difference.interval is not None
    assert 0 in found.difference.interval


def test_what_the_test_finds_and_the_interval_does_not_is_borderline() -> None:
    (found,) = pool(alike(6, "-- +-")).comparisons
    assert (found.outcome, found.p_mid) == (Outcome.NOT_DETECTABLE, 0.015625)
    assert found.why.startswith("a borderline case")


def test_the_order_of_files_is_nothing() -> None:
    studies = [*alike(3, "-- +-"), team("zoo", {"a": "++ --"})]
    assert pool(studies) == pool(studies[::-1])


def test_rates_are_over_tasks_with_bars_of_teams() -> None:
    found = pool([*alike(3, "++ ++"), team("zoo", {"a": "-- --", "b": "-- --"})]).rates[A]
    assert found.value == pytest.approx(12 / 14)
    assert found.tasks == 14
    assert found.interval is not None
    assert found.interval.low < 0.3


@pytest.mark.parametrize(
    ("other", "says"),
    [
        pytest.param(
            team("two", {"a": "+ -"}, configurations={A: "agent A", B: "agent C"}),
            "two.json: configuration B is agent C, and of team one it is agent B",
            id="another-agent",
        ),
        pytest.param(
            team("two", {"a": "+ - +"}),
            "two.json: configuration C is agent C, and of team one it is not there",
            id="one-more",
        ),
        pytest.param(
            team("two", {"a": "+ -"}, difference="effort"),
            "two.json: the configurations differ in effort, and of team one in model",
            id="another-difference",
        ),
        pytest.param(team("one", {"a": "+ -"}), "team one is there 2 times", id="twice"),
    ],
)
def test_what_does_not_belong_together_is_refused(other: Earlier, says: str) -> None:
    with pytest.raises(InputError) as caught:
        pool([team("one", {"a": "+ -"}), other])
    assert says in caught.value.problems
    assert caught.value.hint


def test_one_team_is_a_sentence_and_never_a_bar() -> None:
    found = pool([team("one", {"a": "+ -"})])
    assert found.comparisons[0].outcome is Outcome.INDECISIVE
    assert found.comparisons[0].why == "one team is no sample of teams"
    assert found.rates[A].interval is None
    assert "95 % interval n/a (one team is no sample of teams)" in render_pool(found)


def test_nothing_measured_is_a_sentence() -> None:
    found = pool([team("one", {"a": "? +"}), team("two", {"a": "? +"})])
    assert found.comparisons[0].why == "no task was measured for both"
    assert found.rates[A].why == "no task was measured"


def test_too_little_coverage_decides_nothing() -> None:
    found = pool([team(f"t{n}", {"a": "-- ++", "b": "?? ++", "c": "?? ++"}) for n in range(8)])
    assert found.comparisons[0].outcome is Outcome.INDECISIVE
    assert "only 16 of the 48 planned runs of A were measured" in found.comparisons[0].why


def test_tasks_of_several_teams_are_told() -> None:
    found = pool([team(name, {"a": "+ -"}, same="d") for name in ("one", "two")])
    assert found.shared == 1
    assert "1 task is in the sets of several teams" in render_pool(found)


def test_the_page_and_the_document() -> None:
    found = pool(alike(7, "-- +-"))
    text = render_pool(found)
    assert text.startswith("# 7 teams together\n")
    assert "B is ahead: the difference is detectable. B - A is +50 points over 28 tasks" in text
    assert "A did better in 0 teams, B in 7 teams; sign-flip test by teams: mid-p = 0.00781" in text
    assert "| team-0 | 4 | 0 % | 50 % | `of team-0` |" in text
    assert pool_json(found)["comparisons"][0]["p_mid"] == 0.0078125


MARKS = st.dictionaries(
    st.sampled_from(["a", "b", "c"]),
    st.tuples(*[st.text("+-?", min_size=1, max_size=2)] * 2).map(" ".join),
    min_size=1,
)


@given(st.lists(MARKS, min_size=1, max_size=8))
def test_what_always_holds(marks: list[dict[str, str]]) -> None:
    found = pool([team(f"team-{n}", each) for n, each in enumerate(marks)])
    text = render_pool(found)
    assert "nan" not in text
    assert "None" not in text
    for each in (*found.rates.values(), *(pair.difference for pair in found.comparisons)):
        assert (each.interval is not None) or each.why
        if each.interval and each.value is not None:
            assert each.interval.low <= each.value <= each.interval.high
            assert each.interval.low < each.interval.high
    for pair in found.comparisons:
        assert (pair.ahead is not None) == (pair.outcome is Outcome.DETECTABLE)
        if pair.ahead and pair.difference.interval:
            assert 0 not in pair.difference.interval
