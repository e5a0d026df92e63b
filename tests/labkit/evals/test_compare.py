"""Two reports side by side: exact differences, and the regressed task at equal aggregate."""

from dataclasses import replace
from fractions import Fraction

import pytest
from evalreports import case, report
from hypothesis import given
from hypothesis import strategies as st

from labkit.errors import InputError
from labkit.evals import Policy
from labkit.evals.compare import compare_runs
from labkit.stats import paired_interval, sign_flip_test

RUNS = st.dictionaries(st.sampled_from("abcdefgh"), st.text("PF?", min_size=1, max_size=3))


def test_the_regressed_task_is_found_where_the_aggregate_is_equal() -> None:
    found = compare_runs(
        report({"a": "PP", "b": "FF", "c": "PF"}), report({"a": "FF", "b": "PP", "c": "PF"})
    )
    assert found.mean == 0
    assert [pair.id for pair in found.regressed] == ["a"]
    assert [pair.id for pair in found.improved] == ["b"]
    assert (found.lost, found.won) == (("a",), ("b",))
    assert found.test.moved == 2


def test_figures_are_those_of_the_statistics() -> None:
    before = {"a": "PP", "b": "PF", "c": "FF", "d": "PP"}
    after = {"a": "PF", "b": "PP", "c": "PF", "d": "FF"}
    found = compare_runs(report(before), report(after))
    differences = [Fraction(-1, 2), Fraction(1, 2), Fraction(1, 2), Fraction(-1)]
    assert list(found.differences) == differences
    assert found.mean == Fraction(-1, 8)
    assert found.interval == paired_interval(differences)
    assert found.test == sign_flip_test(differences)
    assert [pair.id for pair in found.regressed] == ["d", "a"]
    assert found.lost == ("a", "d")


def test_thirds_are_thirds() -> None:
    third = 1 / 3
    found = compare_runs(report({"a": [third] * 3, "b": [1.0]}), report({"a": [0.0], "b": [third]}))
    assert list(found.differences) == [Fraction(-1, 3), Fraction(-2, 3)]
    assert found.mean == Fraction(-1, 2)


def test_what_only_one_side_scored_is_named_and_not_compared() -> None:
    found = compare_runs(
        report({"a": "P", "b": "P", "c": "?"}), report({"a": "P", "b": "?", "c": "F"})
    )
    assert [pair.id for pair in found.pairs] == ["a"]
    assert (found.missing_now, found.missing_before) == (("b",), ("c",))
    assert found.mean == 0


def test_a_case_that_is_not_there_is_missing() -> None:
    found = compare_runs(report({"a": "P", "b": "P"}), report({"a": "P"}))
    assert found.missing_now == ("b",)


def test_slices_are_described() -> None:
    before = [case("a", "P", slices="io fast"), case("b", "P", slices="io"), case("c", "F")]
    after = [case("a", "F", slices="io fast"), case("b", "P", slices="io"), case("c", "P")]
    found = compare_runs(report(before), report(after))
    assert [(each.name, each.tasks, each.mean) for each in found.slices] == [
        ("fast", 1, Fraction(-1)),
        ("io", 2, Fraction(-1, 2)),
    ]


def test_nothing_in_common_is_no_difference() -> None:
    found = compare_runs(report({"a": "?"}), report({"a": "P"}))
    assert (found.mean, found.interval, found.pairs) == (None, None, ())
    assert found.missing_before == ("a",)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"suite_version": "other"}, ["suite version", "0123456789abcdef", "other"]),
        ({"split": "train"}, ["split", "all", "train"]),
        ({"policy": Policy.ANY}, ["policy", "all", "any"]),
    ],
)
def test_what_is_unlike_is_refused(more: dict[str, object], says: list[str]) -> None:
    with pytest.raises(InputError) as refused:
        compare_runs(report({"a": "P"}), report({"a": "P"}, **more))
    assert all(word in refused.value.message for word in says)
    assert refused.value.hint


def test_everything_unlike_is_told_at_once() -> None:
    other = report([case("a", "P"), case("a", "F")], suite_version="other", split="val")
    with pytest.raises(InputError) as refused:
        compare_runs(report({"a": "P"}), other)
    assert len(refused.value.problems) == 3
    assert "the candidate's report has the case a more than once" in refused.value.problems[2]


@given(RUNS, RUNS)
def test_the_other_way_round_is_the_negative(one: dict[str, str], other: dict[str, str]) -> None:
    there, back = compare_runs(report(one), report(other)), compare_runs(report(other), report(one))
    assert there.differences == tuple(-each for each in back.differences)
    assert (there.mean is None) == (back.mean is None)
    assert (there.mean or 0) == -(back.mean or 0)
    assert {pair.id for pair in there.regressed} == {pair.id for pair in back.improved}
    assert (there.lost, there.missing_now) == (back.won, back.missing_before)
    assert there.test == back.test
    if there.interval and back.interval:
        assert there.interval.low == pytest.approx(-back.interval.high, abs=1e-9)


@given(RUNS)
def test_a_report_does_not_differ_from_itself(one: dict[str, str]) -> None:
    found = compare_runs(report(one), report(one))
    assert not any(found.differences)
    assert found.regressed == found.improved == ()
    assert found.missing_now == found.missing_before == ()


def test_of_two_versions_it_is_said_which_cases_differ() -> None:
    before = [replace(case(name, "P"), digest=digest) for name, digest in ("a1", "b2", "c3")]
    after = [replace(case(name, "P"), digest=digest) for name, digest in ("a1", "b9", "d3")]
    with pytest.raises(InputError) as refused:
        compare_runs(report(before), report(after, suite_version="other"))
    assert refused.value.message.endswith(
        "(not the same: b; only in the baseline's: c; only in the candidate's: d)"
    )
    old = report({"a": "P"})
    with pytest.raises(InputError) as refused:
        compare_runs(old, report(after, suite_version="other"))
    assert refused.value.message.endswith("the candidate's is other")
