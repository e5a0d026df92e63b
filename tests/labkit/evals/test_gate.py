"""The gate's rules one by one, at their borders."""

from fractions import Fraction
from typing import Any

import pytest
from evalreports import case, report, totals

from labkit.errors import InputError
from labkit.evals.gate import GateDecision, RegressionGate
from labkit.evals.gatechecks import Check, CheckName
from labkit.evals.gaterules import CaseRule, GateMode, Metric, Want, bar_height, share
from labkit.evals.gatewords import told_alarms
from labkit.stats import Outcome

PASS, BLOCK, INDECISIVE = Outcome.PASS, Outcome.BLOCK, Outcome.INDECISIVE
SIZES = [4, 8, 20, 50]


def many(n: int, score: float = 1.0, **changed: float) -> dict[str, list[float]]:
    """Return n tasks with one score each, some of them changed."""
    names = [f"t{number:02}" for number in range(n)]
    return {name: [changed.get(name, score)] for name in names}


def check(decision: GateDecision, name: CheckName) -> Check:
    (found,) = [each for each in decision.checks if each.name is name]
    return found


def decided(before: Any, after: Any, **settings: Any) -> GateDecision:
    return RegressionGate(**settings).decide(report(before), report(after))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(
    ("before", "after"), [(1.0, 0.0), (1.0, 0.9), (1 / 3, 0.0), (6 / 7, 3 / 7), (2 / 3, 1 / 3)]
)
@pytest.mark.parametrize("mode", GateMode)
def test_one_task_that_moved_is_exactly_at_the_bar(
    n: int, before: float, after: float, mode: GateMode
) -> None:
    settings = {"cases": CaseRule.OFF, "mode": mode}
    down = decided(many(n, before), many(n, before, t00=after), **settings)
    up = decided(many(n, after), many(n, after, t00=before), want=Want.BETTER, **settings)
    for decision in (down, up):
        assert decision.outcome is INDECISIVE
        assert "exactly at the bar of 1 standard error" in decision.reasons[0]
        if mode is GateMode.PAIRED:
            assert "one task moved" in decision.reasons[0]
    assert ": not accepted" in up.reasons[0]
    # A hair lower or higher, and it is on one side.
    for bar, outcome in (("0.999999999999", BLOCK), ("1.000000000001", INDECISIVE)):
        moved = decided(many(n, before), many(n, before, t00=after), bar=bar, **settings)
        assert moved.outcome is outcome
        assert "exactly" not in moved.reasons[0]


def test_the_drop_of_a_tenth_of_a_task_in_four_is_its_standard_error() -> None:
    found = decided(many(4), many(4, t00=0.9), cases=CaseRule.OFF).drop
    assert (found.value, found.squared_error) == (Fraction(1, 40), Fraction(1, 40) ** 2)


@pytest.mark.parametrize(
    ("tolerance", "outcome"),
    [("1/3", PASS), ("0.333333333333", INDECISIVE), ("34%", PASS), (0, INDECISIVE)],
)
def test_a_drop_of_exactly_the_tolerance_is_fine(tolerance: str, outcome: Outcome) -> None:
    """1 - 2/3 is above 1/3 in floating point."""
    found = decided(many(3), many(3, t00=2 / 3, t01=1 / 3), tolerance=tolerance, bar=3, cases="off")
    assert found.drop.value == Fraction(1, 3)
    assert found.outcome is outcome


@pytest.mark.parametrize(("lost", "outcome"), [(0, PASS), (1, INDECISIVE), (2, BLOCK), (9, BLOCK)])
def test_a_drop_blocks_beyond_its_bar(lost: int, outcome: Outcome) -> None:
    after = many(9, **{f"t{number:02}": 0.0 for number in range(lost)})
    assert decided(many(9), after, cases="off").outcome is outcome


def test_a_drop_that_gains_make_uncertain_is_within_the_bar() -> None:
    before, after = (
        {"a": "P", "b": "P", "c": "F", "d": "F"},
        {"a": "F", "b": "F", "c": "P", "d": "F"},
    )
    found = decided(before, after, cases="off")
    assert found.outcome is INDECISIVE
    assert "within the bar of 1 standard error: it may be noise" in found.reasons[0]
    assert decided(before, after, cases="off", bar=0).outcome is BLOCK


@pytest.mark.parametrize(
    ("gained", "tolerance", "outcome"),
    [(0, 0, INDECISIVE), (1, 0, INDECISIVE), (2, 0, PASS), (2, "2/9", INDECISIVE), (-1, 0, BLOCK)],
)
def test_better_has_to_be_better(gained: int, tolerance: Any, outcome: Outcome) -> None:
    before = many(9, 0.0, t08=1.0)
    after = many(9, 0.0, t08=0.0 if gained < 0 else 1.0, **{f"t{k:02}": 1.0 for k in range(gained)})
    found = decided(before, after, want="better", tolerance=tolerance, cases="off")
    assert found.outcome is outcome
    assert outcome is PASS or "not accepted" in found.reasons[0] or "dropped" in found.reasons[0]


@pytest.mark.parametrize(
    ("rule", "before", "after", "lost"),
    [
        ("all-to-none", "PPP", "FFF", True),
        ("all-to-none", "PPP", "FFP", False),
        ("all-to-none", "PPF", "FFF", False),
        ("all-to-none", "PP?", "F??", True),
        ("all-to-none", "P", "?", False),
        ("strict", "PPP", "PPF", True),
        ("strict", "PPP", "PP?", False),
        ("strict", "PPF", "FFF", False),
        ("strict", "PPP", "???", False),
        ("off", "PPP", "FFF", False),
    ],
)
def test_the_rules_on_cases(rule: str, before: str, after: str, *, lost: bool) -> None:
    others = {f"t{number}": "PPF" for number in range(30)}
    found = decided(others | {"x": before}, others | {"x": after}, cases=rule, tolerance="50%")
    asked = check(found, CheckName.CASES)
    assert (found.outcome is BLOCK) is lost
    assert asked.cases == (("x",) if lost else ())
    assert ("x (" in asked.detail) is lost
    assert (asked.outcome is None) is (rule == "off")


def test_every_lost_case_is_named() -> None:
    names = [f"t{number:02}" for number in range(12)]
    found = decided(dict.fromkeys(names, "PP"), dict.fromkeys(names, "FF"))
    assert all(f"{name} (2 of 2 before, 0 of 2 now)" in found.reasons[0] for name in names)


def test_what_cannot_be_measured_now_is_told_and_no_regression() -> None:
    before = {f"t{number}": "PP" for number in range(10)}
    found = decided(before, before | {"t3": "??"})
    assert found.outcome is PASS
    assert found.comparison.missing_now == ("t3",)
    assert any("t3" in note and "no regression" in note for note in found.notes)


def test_safety_blocks_whatever_else() -> None:
    after = [case("a", "PPF", tags=["safety"]), *(case(f"t{k}", "PPP") for k in range(9))]
    before = [case("a", "FFF", tags=["safety"]), *(case(f"t{k}", "FFF") for k in range(9))]
    found = decided(before, after)
    assert found.outcome is BLOCK
    assert found.reasons == ("safety veto: a: 1 of 3 samples failed",)
    few = [case("a", "F??", tags=["safety"]), *(case(f"t{k}", "???") for k in range(9))]
    found = decided(before, few)
    assert found.outcome is BLOCK
    assert check(found, CheckName.COVERAGE).outcome is INDECISIVE


def test_a_safety_case_of_which_nothing_is_known_lets_nothing_through() -> None:
    cases = [case(f"t{k}", "PP") for k in range(9)]
    found = decided(
        [*cases, case("a", "PP", tags=["safety"])], [*cases, case("a", "P?", tags=["safety"])]
    )
    assert found.outcome is INDECISIVE
    assert "nothing is known: a" in found.reasons[0]


@pytest.mark.parametrize("swapped", [False, True])
def test_an_outage_decides_nothing(*, swapped: bool) -> None:
    whole = {f"t{number}": "PPPPP" for number in range(10)}
    broken = dict.fromkeys(whole, "FF???")
    found = decided(broken, whole) if swapped else decided(whole, broken)
    assert found.outcome is INDECISIVE
    assert any("40 %" in reason and "60 %" in reason for reason in found.reasons)
    assert not any(each.outcome is BLOCK for each in found.checks)
    enough = dict.fromkeys(whole, "FFF??")
    if not swapped:
        assert decided(whole, enough).outcome is BLOCK


def test_nothing_is_never_a_pass() -> None:
    for empty in ({}, {"a": "?", "b": "?"}):
        found = decided(empty, empty)
        assert found.outcome is INDECISIVE
        assert found.false_alarms is None
        assert not found.blocked
    assert decided({"a": "PP"}, {"a": "PP"}).outcome is INDECISIVE
    one_each = ({"a": "P", "b": "?"}, {"a": "?", "b": "P"})
    assert decided(*one_each).outcome is INDECISIVE


def test_too_few_pairs_of_well_covered_reports_decide_nothing() -> None:
    names = "abcde"
    before = {name: "P" if name < "d" else "?" for name in names}
    after = {name: "P" if name > "b" else "?" for name in names}
    found = decided(before, after)
    assert found.drop.tasks == 1
    assert found.outcome is INDECISIVE
    assert "fewer than two tasks" in found.reasons[0]


def test_subsets_and_other_versions_are_refused() -> None:
    whole = report(many(5))
    for one, other, says in (
        (whole, report(many(5), subset=True), "the candidate's report is of some cases only"),
        (report(many(5), subset=True), whole, "the baseline's report is of some cases only"),
        (whole, report(many(5), suite_version="fedc"), "0123456789abcdef"),
        (whole, report(many(5), split="train"), "split"),
    ):
        with pytest.raises(InputError, match=says):
            RegressionGate().decide(one, other)


@pytest.mark.parametrize(
    ("metric", "before", "after", "drop"),
    [
        ("pass@1", "PPF", "PFF", Fraction(1, 3)),
        ("pass^2", "PPF", "PFF", Fraction(1, 3)),
        ("pass@2", "PPF", "PFF", Fraction(1, 3)),
        ("pass^3", "PPP", "PPF", Fraction(1)),
        ("pass@3", "PPP", "PFF", Fraction(0)),
        ("reward", [1.0, 0.5], [0.5, 0.25], Fraction(3, 8)),
    ],
)
def test_metrics(metric: str, before: Any, after: Any, drop: Fraction) -> None:
    found = decided({"a": before, "b": before}, {"a": after, "b": after}, metric=metric)
    assert found.drop.value == drop
    assert f"{metric}: " in check(found, CheckName.METRIC).detail


def test_tasks_with_too_few_trials_have_no_figure_of_k() -> None:
    found = decided(
        {"a": "PP", "b": "PP", "c": "P?"}, {"a": "PP", "b": "PP", "c": "PP"}, metric="pass^2"
    )
    assert found.drop.tasks == 2
    assert (
        decided({"a": "P", "b": "P"}, {"a": "P", "b": "P"}, metric="pass^2").outcome is INDECISIVE
    )


def test_without_cases_both_sides_errors_decide() -> None:
    """The drop is 3/10, both squared errors add up to 9/100."""
    before, at = totals("0.9", "3/20", 20), totals("0.6", "0", 20)
    before = report({}, totals=before.totals)
    gate = RegressionGate()
    same = totals("0.9", "3/20", 20)
    assert gate.decide(before, same).outcome is PASS
    level = totals("3/4", "0", 20)
    found = gate.decide(before, level)
    assert (found.mode, found.outcome) == (GateMode.SIGNIFICANT, INDECISIVE)
    assert "exactly at the bar" in found.reasons[0]
    assert gate.decide(before, at).outcome is BLOCK
    assert gate.decide(before, totals("0.751", "0", 20)).outcome is INDECISIVE
    cases = check(found, CheckName.CASES)
    assert (cases.outcome, "not checkable" in cases.detail) == (None, True)
    assert any("no cases" in note for note in found.notes)
    assert found.false_alarms
    assert found.false_alarms.rates.draws


def test_without_cases_there_is_one_metric() -> None:
    with pytest.raises(InputError, match=r"no pass\^2") as refused:
        RegressionGate(metric="pass^2").decide(totals("1", "0", 9), report(many(9)))
    assert "--metric reward" in (refused.value.hint or "")


@pytest.mark.parametrize(
    "other",
    [totals("1", None, 9), totals(None, None, 9, 0), totals("1", "0", 1), totals("1", "0", 9, 4)],
)
def test_totals_that_say_too_little_decide_nothing(other: Any) -> None:
    assert RegressionGate().decide(totals("1", "0", 9), other).outcome is INDECISIVE


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ({"t3": "PP", "t4": "P?"}, {"t3": "??", "t4": "P?"}, "3 samples of the candidate have no "),
        ({"t3": "PF"}, {"t3": "P?"}, "1 sample of the candidate has no verdict (0 of the"),
        ({"t3": "P?"}, {"t3": "?P"}, ""),
        ({"t3": "??"}, {"t3": "PP"}, ""),
    ],
)
def test_samples_that_only_the_candidate_lost_are_told_with_the_worst_case(
    before: dict[str, str], after: dict[str, str], told: str
) -> None:
    rest = {f"u{number}": "PP" for number in range(8)}
    notes = decided(rest | before, rest | after).notes
    found = [note for note in notes if "had they all failed" in note]
    assert bool(found) is bool(told)
    assert not told or found[0].startswith(told)
    if len(after) == 1 and told:
        assert found[0].endswith("its reward would be 94 %, not 100 %.")


def test_unpaired_errors_are_asked_for_with_cases_too() -> None:
    found = decided(many(9), many(9, t00=0.0, t01=0.0), cases="off", mode="significant")
    # 2/9 down; s^2/n of two zeros in nine: 7/324
    assert found.drop.squared_error == Fraction(7, 324)
    assert found.outcome is BLOCK
    assert not found.notes


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"metric": "accuracy"}, "accuracy"),
        ({"metric": "pass@0"}, "pass@0"),
        ({"metric": "pass^100"}, "pass"),
        ({"metric": "pass^"}, "pass\\^"),
        ({"tolerance": "5"}, "no share"),
        ({"tolerance": "-5%"}, "no share"),
        ({"tolerance": "1/0"}, "no share"),
        ({"tolerance": float("nan")}, "no share"),
        ({"tolerance": -0.1}, "no share"),
        ({"bar": "-1"}, "impossible"),
        ({"bar": "1e9"}, "impossible"),
        ({"bar": 101}, "impossible"),
        ({"cases": "some"}, "cases"),
        ({"mode": "both"}, "mode"),
        ({"want": "more"}, "want"),
    ],
)
def test_settings_that_are_none(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        RegressionGate(**settings)


@pytest.mark.parametrize("text", ["0.05", "5%", "5 %", "1/20", ".05", 0.05, Fraction(1, 20)])
def test_a_tolerance_is_read_exactly(text: Any) -> None:
    assert share(text) == Fraction(1, 20)
    assert RegressionGate(tolerance=text).rule.tolerance == Fraction(1, 20)


def test_a_bar_is_read_exactly() -> None:
    assert bar_height("1.96") == Fraction(49, 25)
    assert bar_height(2) == 2
    assert bar_height(0.5) == Fraction(1, 2)
    assert Metric.parse("pass^12") == Metric("pass^12", k=12, every=True)


def test_the_false_alarms_are_those_of_this_gate() -> None:
    before = {f"t{k}": "PP" if k < 5 else "FF" for k in range(9)}
    found = decided(before, before, cases="strict", tolerance="5%")
    assert found.false_alarms
    assert found.false_alarms.icc == 0.9
    assert found.false_alarms.mean == pytest.approx(5 / 9)
    assert "1.00" in found.false_alarms.icc_from
    assert not found.false_alarms.graded
    assert found.false_alarms.usual
    assert found.false_alarms.usual.block > found.false_alarms.rates.block
    off = decided(before, before, cases="off", tolerance="5%").false_alarms
    assert off
    assert off.rates.block < found.false_alarms.rates.block


@pytest.mark.parametrize(
    ("cases", "mean", "icc", "says"),
    [
        ({f"t{k}": "P" for k in range(9)}, 0.95, 0.5, "0 tasks with two trials"),
        ({f"t{k}": "PP" for k in range(9)}, 0.95, 0.5, "all ended the same way"),
        ({f"t{k}": "PF" for k in range(9)}, 0.5, 0.1, "-1.00"),
        ({f"t{k}": "PP" if k < 4 else "PF" for k in range(8)}, 0.75, 0.1, "-0.33"),
        ({f"t{k}": "FF" if k < 5 else "PP" for k in range(10)}, 0.5, 0.9, "1.00"),
        ({f"t{k}": ["PP", "FF", "PF"][k % 3] for k in range(9)}, 0.5, 1 / 3, "the baseline's"),
    ],
)
def test_what_the_false_alarms_suppose(
    cases: dict[str, str], mean: float, icc: float, says: str
) -> None:
    found = decided(cases, cases).false_alarms
    assert found
    assert found.mean == pytest.approx(mean)
    assert found.icc == pytest.approx(icc)
    assert says in found.icc_from
    assert (found.usual is None) is (found.icc == 0.5)


def test_a_check_that_is_added_blocks_only_what_was_measured() -> None:
    extra = Check(name=CheckName.OVERFITTING, outcome=BLOCK, detail="why")
    cases = {f"t{k}": "PP" for k in range(5)}
    assert decided(cases, cases).with_check(extra).reasons == ("why",)
    few = dict.fromkeys(cases, "P?") | {"t0": "??"}
    assert decided(few, few).with_check(extra).outcome is INDECISIVE


def test_many_samples_do_not_take_long_to_reckon_with() -> None:
    cases = {f"t{k}": "P" * 500 + "F" * 500 for k in range(20)}
    found = decided(cases, cases).false_alarms
    assert found
    assert found.most_trials == 20
    assert "reckoned with at most 20 samples each" in told_alarms(found)
    assert decided(cases, cases, metric="pass^30").false_alarms
    few = decided({"a": "PF", "b": "P"}, {"a": "PF", "b": "P"}).false_alarms
    assert few
    assert few.most_trials is None


def test_totals_of_many_samples_are_reckoned_with_too() -> None:
    one = report({}, totals=totals("0.5", "0.1", 5000).totals, n=100_000)
    assert RegressionGate().decide(one, one).false_alarms


def test_graded_marks_are_told_of() -> None:
    found = decided(many(5, 0.5), many(5, 0.5)).false_alarms
    assert found
    assert found.graded


def test_a_case_left_out_of_a_report_is_no_missing_data() -> None:
    safe = [case("a", "P"), case("b", "F", tags=["safety"])]
    for before, after, says in (
        (report({"a": "P", "b": "F"}), report({"a": "P"}), "only the baseline's report has b"),
        (report({"a": "P"}), report({"a": "P", "b": "F"}), "only the candidate's report has b"),
        (report(safe), report({"a": "P", "b": "F"}), "only one report has b tagged safety"),
    ):
        with pytest.raises(InputError, match=says):
            RegressionGate().decide(before, after)
    assert decided({"a": "P", "b": "P", "c": "P"}, {"a": "P", "b": "P", "c": "?"}).passed
