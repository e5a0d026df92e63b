"""Development up while held-out down, and how sure that is."""

from typing import Any

import pytest
from evalreports import report

from labkit.errors import InputError
from labkit.evals.overfitting import Overfitting, overfitting
from labkit.stats import Bar, Outcome

DOWN = {"a": "PP", "b": "PP", "c": "PP", "d": "PF"}, {"a": "FP", "b": "FF", "c": "FF", "d": "PF"}
NOISE = {"a": "PP", "b": "FP", "c": "PP"}, {"a": "PF", "b": "FP", "c": "PP"}


def found(dev: tuple[Any, Any], held: tuple[Any, Any], **more: Any) -> Overfitting:
    train = [report(each, split="train") for each in dev]
    val = [report(each, split="val") for each in held]
    return overfitting(train[0], train[1], val[0], val[1], **more)


def up(pair: tuple[Any, Any]) -> tuple[Any, Any]:
    return pair[1], pair[0]


def test_it_is_flagged_with_both_moves_beyond_their_bars() -> None:
    seen = found(up(DOWN), DOWN)
    assert seen.flagged
    assert seen.beyond_noise
    assert seen.development.mean == -seen.held_out.mean if seen.held_out.mean else False
    assert seen.told == (
        "overfitting? development up 62.5 points over 4 tasks (beyond its bar), held-out down "
        "62.5 points over 4 tasks (beyond its bar); both are beyond 1 standard error"
    )


def test_it_says_when_it_may_be_noise() -> None:
    seen = found(up(DOWN), NOISE)
    assert seen.flagged
    assert not seen.beyond_noise
    assert seen.held_out.bar is Bar.AT
    assert "held-out down 16.7 points over 3 tasks (exactly at its bar: may be noise)" in seen.told
    assert "a warning" in seen.told
    assert "(may be noise)" in found(up(DOWN), DOWN, bar=100).told


@pytest.mark.parametrize(
    ("dev", "held"),
    [(DOWN, DOWN), (up(DOWN), up(DOWN)), (DOWN, up(DOWN)), (up(DOWN), (DOWN[0],) * 2)],
)
def test_anything_else_is_not_flagged(dev: Any, held: Any) -> None:
    seen = found(dev, held)
    assert not seen.flagged
    assert "no sign of overfitting" in seen.told
    assert seen.check().outcome is Outcome.PASS


def test_too_little_measured_says_nothing() -> None:
    seen = found(up(DOWN), (DOWN[0], dict.fromkeys("abcd", "F??")))
    assert not seen.flagged
    assert "too little measured" in seen.told
    assert seen.check().outcome is Outcome.INDECISIVE
    nothing = found(up(DOWN), ({}, {}))
    assert "held-out not measured on both sides" in nothing.told


def test_the_check_blocks_what_is_flagged() -> None:
    check = found(up(DOWN), NOISE).check()
    assert (check.outcome, check.detail) == (Outcome.BLOCK, found(up(DOWN), NOISE).told)


def test_the_same_split_twice_is_refused() -> None:
    one = report(DOWN[0], split="val")
    with pytest.raises(InputError, match="val split") as refused:
        overfitting(one, one, one, one)
    assert "--split train" in (refused.value.hint or "")


def test_other_versions_within_a_pair_are_refused() -> None:
    one, other = report(DOWN[0], split="train"), report(DOWN[0], split="train", suite_version="x")
    val = report(DOWN[0], split="val")
    with pytest.raises(InputError, match="suite version"):
        overfitting(one, other, val, val)
