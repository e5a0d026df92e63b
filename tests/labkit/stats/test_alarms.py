"""The false alarms of whole gates: the parts' own, their union, and what is drawn of them."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import comb, sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import betabinom

from labkit.stats import (
    Alarms,
    Alike,
    Bar,
    DropRule,
    GateRules,
    Outcome,
    alarms,
    bar_of,
    false_alarms,
    false_block_chance,
    false_drop_chance,
)

ANY_DROP = DropRule(bar=Fraction(0))


def never(*_: int) -> bool:
    return False


def strict(before: int, passed: int, after: int, still: int) -> bool:
    return passed == before and still < after


def to_none(before: int, passed: int, after: int, still: int) -> bool:
    del after
    return passed == before and still == 0


def rate(trials: int, passes: int) -> Fraction:
    return Fraction(passes, trials)


def alike(n: int, attempts: int, mean: float = 0.7, icc: float = 0.5) -> Alike:
    return Alike(trials={(attempts, attempts): n}, mean=mean, icc=icc)


def rules(
    lost: Callable[[int, int, int, int], bool] = never,
    rule: DropRule | None = None,
    *,
    paired: bool = True,
) -> GateRules:
    return GateRules(value=rate, lost=lost, rule=rule, paired=paired)


# The same exact enumeration as in test_gates.py: here each rule is one of a whole gate's.
@pytest.mark.parametrize(
    ("n", "mean", "expected"),
    [
        pytest.param(9, 0.5, [62, 19, 4, 40, 40, 23], id="nine-at-50"),
        pytest.param(9, 0.7, [61, 16, 4, 39, 39, 21], id="nine-at-70"),
        pytest.param(9, 0.9, [36, 7, 1, 31, 31, 10], id="nine-at-90"),
        pytest.param(20, 0.7, [88, 32, 8, 43, 19, 6], id="twenty-at-70"),
    ],
)
def test_each_rule_by_itself_is_as_published(n: int, mean: float, expected: list[int]) -> None:
    found = [
        false_alarms(alike(n, attempts, mean), gate).block
        for attempts, gate in (
            (2, rules(strict)),
            (2, rules(to_none)),
            (3, rules(to_none)),
            (2, rules(rule=ANY_DROP)),
            (2, rules(rule=DropRule(bar=Fraction(0), tolerance=Fraction(5, 100)))),
            (2, rules(rule=DropRule(bar=Fraction(0), tolerance=Fraction(10, 100)))),
        )
    ]
    assert [100 * chance for chance in found] == pytest.approx(expected, abs=0.6)


@given(st.integers(1, 25), st.integers(1, 4), st.floats(0.05, 0.95), st.floats(0.05, 0.95))
def test_the_parts_agree_with_their_closed_forms(
    n: int, attempts: int, mean: float, icc: float
) -> None:
    same = alike(n, attempts, mean, icc)
    assert false_alarms(same, rules(strict)).block == pytest.approx(
        false_block_chance(n, attempts, mean, icc), abs=1e-9
    )
    if n > 1:
        assert false_alarms(same, rules(rule=ANY_DROP)).block == pytest.approx(
            false_drop_chance(n, attempts, mean, icc), abs=1e-9
        )


def enumerated(n: int, attempts: int, mean: float, icc: float, gate: GateRules) -> list[float]:
    """Return the chances to block and not to decide, from every outcome, with scipy's chances."""
    total = 1 / icc - 1
    together = betabinom(2 * attempts, mean * total, (1 - mean) * total)
    cells = [
        (x, y, comb(attempts, x) * comb(attempts, y) / comb(2 * attempts, x + y))
        for x, y in product(range(attempts + 1), repeat=2)
    ]
    block = indecisive = 0.0
    for tasks in product(cells, repeat=n):
        chance = 1.0
        for x, y, share in tasks:
            chance *= share * together.pmf(x + y)
        drops = [Fraction(x - y, attempts) for x, y, _ in tasks]
        mean_drop = sum(drops, Fraction()) / n
        spread = sum(((drop - mean_drop) ** 2 for drop in drops), Fraction()) / (n - 1) / n
        assert gate.rule
        if any(gate.lost(attempts, x, attempts, y) for x, y, _ in tasks):
            block += chance
            continue
        outcome, _ = gate.rule.judge(mean_drop, spread)
        block += chance * (outcome is Outcome.BLOCK)
        indecisive += chance * (outcome is Outcome.INDECISIVE)
    return [block, indecisive]


@pytest.mark.parametrize("better", [False, True])
@pytest.mark.parametrize(("n", "attempts", "bar"), [(3, 2, 1), (4, 1, 1), (3, 1, 2), (2, 3, 0)])
def test_the_whole_gate_is_what_every_outcome_adds_up_to(
    n: int, attempts: int, bar: int, *, better: bool
) -> None:
    gate = rules(to_none, DropRule(tolerance=Fraction(1, 20), bar=Fraction(bar), better=better))
    found = false_alarms(alike(n, attempts, 0.6, 0.4), gate)
    assert found.draws == 0
    expected = enumerated(n, attempts, 0.6, 0.4, gate)
    assert [found.block, found.indecisive] == pytest.approx(expected, abs=1e-9)


def test_tasks_with_different_numbers_of_trials_are_weighed_as_they_are() -> None:
    mixed = Alike(trials={(1, 2): 2, (2, 2): 1, (3, 1): 1}, mean=0.6, icc=0.5)
    kept = 1.0
    for (before, after), many in mixed.trials.items():
        total = 1.0  # an icc of .5 is a beta distribution of weight 1
        together = betabinom(before + after, 0.6 * total, 0.4 * total)
        lost = together.pmf(before) / comb(before + after, before)
        kept *= (1 - float(lost)) ** many
    assert false_alarms(mixed, rules(to_none)).block == pytest.approx(1 - kept, abs=1e-9)


@pytest.mark.parametrize("attempts", [1, 2, 3])
def test_what_is_drawn_is_near_what_is_computed(
    attempts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = rules(to_none, DropRule())
    computed = false_alarms(alike(12, attempts), gate)
    monkeypatch.setattr(alarms, "_MOST_POINTS", 0)
    drawn = false_alarms(alike(12, attempts), gate)
    assert drawn.draws == 20_000
    assert abs(drawn.block - computed.block) < 2 * drawn.error(drawn.block)
    assert abs(drawn.indecisive - computed.indecisive) < 2 * drawn.error(drawn.indecisive)
    assert drawn == false_alarms(alike(12, attempts), gate)


def test_unpaired_errors_are_those_of_each_side() -> None:
    """At one trial and no case rule: compared with binomial sums, independent given nothing."""
    gate = rules(rule=DropRule(bar=Fraction(1)), paired=False)
    found = false_alarms(alike(2, 1, 0.5, 0.5), gate)
    # Sums of two tasks before and after; the only block is 2 against 0: no spread on either side.
    both_lost = (0.5 * 0.5 / 2) ** 2
    assert found.block == pytest.approx(both_lost, abs=2 * found.error(both_lost))


def test_huge_steps_are_counted_in_whole_numbers() -> None:
    gate = GateRules(
        value=lambda trials, passes: Fraction(comb(passes, 20), comb(trials, 20)),
        lost=never,
        rule=DropRule(),
    )
    found = false_alarms(Alike(trials={(40, 40): 30}, mean=0.7, icc=0.5), gate)
    assert found.draws
    assert 0 < found.block < 0.5


def test_large_numbers_of_tasks_take_no_longer() -> None:
    assert 0.8 < false_alarms(alike(10_000, 5), rules(to_none, DropRule())).block <= 1


def test_one_task_decides_nothing_by_its_metric() -> None:
    assert false_alarms(alike(1, 2), rules(rule=ANY_DROP)).indecisive == pytest.approx(1)


def test_a_drawn_chance_of_0_is_not_certain() -> None:
    assert Alarms(block=0.0, indecisive=0.5, draws=3000).error(0.0) == pytest.approx(0.001)
    assert Alarms(block=0.0, indecisive=0.5, draws=10_000).error(0.5) == pytest.approx(0.01)
    assert Alarms(block=0.1, indecisive=0.5, draws=0).error(0.1) == 0


@settings(max_examples=200)
@given(
    st.fractions(-1, 1, max_denominator=50),
    st.fractions(0, 1, max_denominator=50),
    st.fractions(0, 1, max_denominator=20),
    st.fractions(0, 3, max_denominator=4),
)
def test_a_drop_is_judged_as_the_words_say(
    drop: Fraction, squared: Fraction, tolerance: Fraction, bar: Fraction
) -> None:
    outcome, side = DropRule(tolerance=tolerance, bar=bar).judge(drop, squared)
    beyond = drop > 0 and float(drop) - float(bar) * sqrt(squared)
    if drop <= tolerance:
        assert (outcome, side) == (Outcome.PASS, None)
    elif abs(beyond) > 1e-9:
        assert (outcome is Outcome.BLOCK) == (side is Bar.ABOVE) == (beyond > 0)
    better, _ = DropRule(tolerance=tolerance, bar=bar, better=True).judge(-drop, squared)
    if drop < 0:
        assert better is Outcome.BLOCK
    else:
        assert (better is Outcome.PASS) == (outcome is Outcome.BLOCK)


def test_a_difference_can_be_exactly_at_its_bar() -> None:
    third = Fraction(1, 3)
    assert bar_of(third, Fraction(1, 9)) is Bar.AT
    assert bar_of(third, Fraction(1, 9), Fraction(99, 100)) is Bar.ABOVE
    assert bar_of(-third, Fraction(0)) is Bar.BELOW


@pytest.mark.parametrize(
    ("call", "says"),
    [
        pytest.param(lambda: alike(0, 2), "tasks with trials", id="no-tasks"),
        pytest.param(lambda: alike(3, 0), "tasks with trials", id="no-trials"),
        pytest.param(lambda: alike(3, 2, 1.0), "between 0 and 1", id="mean"),
        pytest.param(lambda: alike(3, 2, 0.5, 0.0), "between 0 and 1", id="icc"),
        pytest.param(lambda: DropRule(tolerance=Fraction(2)), "tolerance of 2", id="tolerance"),
        pytest.param(lambda: DropRule(bar=Fraction(-1)), "bar of -1", id="bar"),
        pytest.param(lambda: bar_of(Fraction(1), Fraction(1), -1), "bar of -1", id="multiple"),
    ],
)
def test_nonsense_is_refused(call: Callable[[], object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call()
