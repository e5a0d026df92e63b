from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.errors import InputError
from labkit.model import BlindId, Member
from labkit.scores import Assignment
from labkit_instructor.assignment import Scorable, assign

PEOPLE = tuple(Member(name) for name in ("ana", "ben", "chris", "dora", "emil"))


def loads(assignment: Assignment, scorers: tuple[Member, ...]) -> dict[Member, int]:
    counted = Counter(scorer for _, scorer in assignment)
    return {scorer: counted[scorer] for scorer in scorers}


def blind(number: int) -> BlindId:
    return BlindId(f"B{number:04}")


@st.composite
def pools(draw: st.DrawFn) -> tuple[list[Scorable], tuple[Member, ...]]:
    scorers = PEOPLE[: draw(st.integers(2, 5))]
    people = st.sampled_from(PEOPLE)
    facts = draw(st.lists(st.tuples(people, people), max_size=40))
    runs = [
        Scorable(blind=blind(number), author=author, runner=runner)
        for number, (author, runner) in enumerate(facts)
    ]
    return runs, scorers


@given(pools(), st.integers(1, 3))
def test_the_rules_hold_for_every_run(
    pool: tuple[list[Scorable], tuple[Member, ...]], each: int
) -> None:
    runs, scorers = pool
    made = assign(runs, scorers, each=each)
    assert len(set(made)) == len(made)
    for run in runs:
        who = {scorer for name, scorer in made if name == run.blind}
        able = set(scorers) - {run.author}
        assert who <= able
        assert len(who) == min(each, len(able))
        if len(able - {run.runner}) >= each:
            assert run.runner not in who
        elif run.runner in who:
            assert able - {run.runner} <= who


@given(pools(), st.integers(1, 3))
def test_no_single_change_would_be_fairer(
    pool: tuple[list[Scorable], tuple[Member, ...]], each: int
) -> None:
    runs, scorers = pool
    made = assign(runs, scorers, each=each)
    load = loads(made, scorers)
    for run in runs:
        who = {scorer for name, scorer in made if name == run.blind}
        free = set(scorers) - who - {run.author, run.runner}
        if len(set(scorers) - {run.author, run.runner}) >= each:
            assert all(load[busy] - load[other] <= 1 for busy in who for other in free)


@given(st.integers(0, 60), st.integers(2, 5), st.integers(1, 2))
def test_strangers_share_evenly(count: int, people: int, each: int) -> None:
    runs = [
        Scorable(blind=blind(number), author=Member("zoe"), runner=Member("yan"))
        for number in range(count)
    ]
    load = loads(assign(runs, PEOPLE[:people], each=each), PEOPLE[:people]).values()
    assert max(load) - min(load) <= 1
    assert sum(load) == count * each


def test_a_team_of_three_with_three_tasks_each() -> None:
    team = PEOPLE[:3]
    runs = [
        Scorable(blind=blind(number), author=team[number // 12], runner=team[(number + 1) % 3])
        for number in range(36)
    ]
    assert loads(assign(runs, team), team) == dict.fromkeys(team, 24)
    # With one scorer each, nobody has to score a run that they made.
    single = dict(assign(runs, team, each=1))
    assert all(single[run.blind] not in (run.author, run.runner) for run in runs)


def test_the_order_in_which_runs_are_told_does_not_matter() -> None:
    runs = [
        Scorable(blind=blind(number), author=PEOPLE[number % 3], runner=PEOPLE[number % 2])
        for number in range(20)
    ]
    assert assign(runs, PEOPLE) == assign(runs[::-1], PEOPLE)


def test_one_person_alone_scores_everything_once() -> None:
    ana = PEOPLE[0]
    runs = [Scorable(blind=blind(number), author=ana, runner=ana) for number in range(3)]
    assert assign(runs, [ana], solo=True) == tuple((blind(number), ana) for number in range(3))


def test_a_run_that_nobody_may_score_is_named() -> None:
    run = Scorable(blind=blind(7), author=PEOPLE[0], runner=PEOPLE[0])
    with pytest.raises(InputError, match="nobody may score B0007"):
        assign([run], PEOPLE[:1])
