"""A decision in every form: for people, programs and viewers, whatever the names hold."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from evalreports import case, report, totals
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from labkit.evals.gate import GateDecision, RegressionGate
from labkit.evals.gatereport import to_text
from labkit.evals.gaterules import CaseRule, GateMode, Want
from labkit.evals.overfitting import overfitting

NAMES = [f"t{number:02}" for number in range(9)]


def blocked() -> GateDecision:
    before = [case(name, "PP", slices="io") for name in NAMES]
    after = [case(name, "FF" if name < "t03" else "PP", slices="io") for name in NAMES[:-1]]
    after.append(case(NAMES[-1], "??", slices="io"))
    return RegressionGate().decide(report(before, candidate="old"), report(after, candidate="new"))


def test_the_text_tells_verdict_why_which_tasks_how_large_and_how_often_for_nothing() -> None:
    text = to_text(blocked())
    assert text.startswith("BLOCK: the candidate is not let through\ncandidate new, baseline old\n")
    assert "in 3 cases: t00 (2 of 2 before, 0 of 2 now), t01" in text
    assert "reward: 100 % before, 62.5 % now, 37.5 points less over 8 tasks; a drop beyond" in text
    assert "\nworse: 3 tasks\n  t00: 100 % to 0 % (2 of 2 passed before, 0 of 2 now)\n" in text
    assert "noise: the reward differs by -37.5 points, 95 % interval -" in text
    assert "3 of 8 tasks moved; if nothing had changed, a difference as large would be seen" in text
    assert "with a chance of 25 % (sign-flip test; 12.5 % where" in text
    assert "this gate: a version that is the same would be blocked with a chance of " in text
    assert "pass rate 0.95, the baseline's is 100 %; half a task was put on the other side" in text
    assert "note: 1 case was scored before and could not be measured now: t08." in text


def test_a_pass_says_how_much_worse_the_candidate_may_still_be() -> None:
    one = report({"a": "P", "b": "F", "c": "P"})
    text = to_text(RegressionGate().decide(one, one))
    assert text.startswith("PASS: ")
    assert "the candidate may still be up to 56.1 points worse or 56.1 points better" in text
    assert "none of 3 tasks moved\n" in text
    other = report({"a": "F", "b": "P", "c": "P"})
    text = to_text(RegressionGate(cases=CaseRule.OFF).decide(one, other))
    assert "2 of 3 tasks moved, as far up as down\n" in text


def test_a_gate_that_wants_better_says_so_and_how_often_it_is_wrong() -> None:
    worse = report({f"t{number}": "PF" if number < 6 else "PP" for number in range(9)})
    better = report({f"t{number}": "PP" for number in range(9)})
    gate = RegressionGate(want=Want.BETTER)
    decision = gate.decide(worse, better)
    text = to_text(decision)
    told = "better than the baseline on these tasks, by more than 1 standard error"
    assert text.startswith(f"PASS: {told}\n")
    assert f"**{told.capitalize()}.** Candidate" in decision.to_markdown()
    few = report({"t0": "PP", "t1": "PP"} | {f"u{number}": "PP" for number in range(7)})
    before = report({"t0": "FF", "t1": "FF"} | {f"u{number}": "PP" for number in range(7)})
    assert to_text(gate.decide(before, few)).startswith(
        f"PASS: {told}; chance alone may still explain it\n"
    )
    alarms = decision.false_alarms
    assert alarms
    passed = 1 - alarms.rates.block - alarms.rates.indecisive
    assert 0.05 < alarms.rates.passed < 0.4
    assert alarms.rates.passed == pytest.approx(passed)
    assert (
        f"this gate: a version that is the same would pass as better with a chance of "
        f"{100 * passed:.3g} %, be blocked with a chance of " in text
    )
    assert json.loads(decision.to_json())["false_alarms"]["pass"] == pytest.approx(passed)
    text = to_text(gate.decide(better, better))
    assert text.startswith("INDECISIVE: not shown to be better than the baseline")
    text = to_text(gate.decide(better, worse))
    assert text.startswith("BLOCK: the candidate is not let through\n")
    lenient = RegressionGate(want=Want.BETTER, bar=0)
    assert to_text(lenient.decide(worse, better)).startswith(
        "PASS: better than the baseline on these tasks\n"
    )


def test_two_that_are_called_the_same_are_told_apart_by_where_they_lie() -> None:
    one = report({"a": "P"}, source=Path("runs/main"))
    other = report({"a": "P"}, source=Path("out"))
    for decision, both in (
        (RegressionGate().decide(one, other), True),
        (RegressionGate().decide(one, one), False),
        (RegressionGate().decide(one, replace(other, candidate="else")), False),
    ):
        for text in (to_text(decision), decision.to_markdown(), decision.to_junit()):
            assert ("somebody (runs/main)" in text) is both
            assert ("somebody (out)" in text) is both
        values = json.loads(decision.to_json())
        assert values["baseline"] == "somebody"
        assert values["baseline_from"] == "runs/main"


def test_a_figure_that_nobody_has_says_how_to_get_it() -> None:
    three = report({f"t{number}": "PPP" for number in range(9)})
    text = to_text(RegressionGate(metric="pass@4").decide(three, three))
    assert (
        "it needs 4 samples with a verdict of a task on either side: labkit evaluate -n 4" in text
    )
    assert "labkit evaluate -n" not in to_text(RegressionGate().decide(three, three))


def test_json_holds_figures_exactly() -> None:
    values = json.loads(blocked().to_json())
    assert values["schema"] == 1
    assert (values["outcome"], values["blocked"], len(values["reasons"])) == ("block", True, 2)
    assert values["metric"]["drop"] == {"exact": "3/8", "value": 0.375}
    assert [each["id"] for each in values["comparison"]["regressed"]] == ["t00", "t01", "t02"]
    assert values["comparison"]["missing_now"] == ["t08"]
    assert values["comparison"]["slices"]["io"]["tasks"] == 8
    assert values["settings"]["tolerance"] == {"exact": "0", "value": 0.0}
    assert 0 < values["false_alarms"]["block"] < 1
    assert values["false_alarms"]["block_at_usual_icc"] == values["false_alarms"]["block"]
    assert [each["name"] for each in values["checks"]] == ["safety", "coverage", "cases", "metric"]


def test_markdown_is_tables_that_can_be_read() -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(blocked().to_markdown())
    kinds = [each.type for each in tokens]
    heads = [tokens[at + 1].content for at, kind in enumerate(kinds) if kind == "heading_open"]
    assert heads == ["Gate: BLOCK", "Worse", "By slice, as description only"]
    assert kinds.count("table_open") == 3
    assert kinds.count("tr_open") == (1 + 4) + (1 + 3) + (1 + 1)


def shown(decision: GateDecision) -> dict[str, str]:
    """Return what JUnit XML says of each test, and check its counts."""
    root = ET.fromstring(decision.to_junit())  # noqa: S314 - our own
    assert root.tag == "testsuites"
    for element in (root, *root):
        counts = {
            name: len(list(element.iter(tag)))
            for name, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error"))
        }
        assert {name: int(element.get(name, "-1")) for name in counts} == counts
    for suite in root:
        assert int(suite.get("skipped", "-1")) == len(list(suite.iter("skipped")))
    return {
        f"{each.get('classname')}.{each.get('name')}": each[0].tag if len(each) else "passed"
        for each in root.iter("testcase")
    }


def test_junit_has_a_test_for_each_check_and_case() -> None:
    found = shown(blocked())
    assert found == {
        "labkit.gate.safety": "skipped",
        "labkit.gate.coverage": "passed",
        "labkit.gate.cases": "failure",
        "labkit.gate.metric": "failure",
        **{f"labkit.cases.{name}": "failure" for name in NAMES[:3]},
        **{f"labkit.cases.{name}": "passed" for name in NAMES[3:8]},
        "labkit.cases.t08": "skipped",
    }


def test_junit_never_shows_what_is_not_decided_as_passed() -> None:
    found = shown(RegressionGate().decide(report({}), report({})))
    assert found["labkit.gate.coverage"] == found["labkit.gate.metric"] == "error"
    found = shown(RegressionGate().decide(totals("1", "0", 9), totals("1", "0", 9)))
    assert found == {
        "labkit.gate.safety": "skipped",
        "labkit.gate.coverage": "passed",
        "labkit.gate.cases": "skipped",
        "labkit.gate.metric": "passed",
    }


def test_long_lists_are_cut_where_people_read() -> None:
    before = {f"t{number:02}": "P" for number in range(30)}
    after = dict.fromkeys(before, "F")
    found = RegressionGate(cases=CaseRule.OFF).decide(report(before), report(after))
    assert "and 10 more tasks, named in the JSON" in to_text(found)
    assert "and 10 more tasks" in found.to_markdown()
    assert len(json.loads(found.to_json())["comparison"]["regressed"]) == 30


def test_the_rule_on_overfitting_is_told_not_to_be_in_the_false_alarms() -> None:
    one, val = report({"a": "P", "b": "P"}, split="train"), report({"a": "P", "b": "P"})
    found = overfitting(one, one, val, val)
    decision = RegressionGate().decide(val, val).with_check(found.check())
    assert "The rule on overfitting is not in it." in to_text(decision)
    assert shown(decision)["labkit.gate.overfitting"] == "passed"


def test_a_baseline_that_tells_little_of_noise_does_not_flatter_the_gate() -> None:
    one = report(dict.fromkeys("abc", "PP") | dict.fromkeys("def", "FF"))
    text = to_text(RegressionGate().decide(one, one))
    assert "intra-class correlation 0.90, the baseline's is 1.00; at the usual correlation" in text


def test_what_was_drawn_says_how_far_it_may_be_off() -> None:
    one = report({"a": "P", "b": "F"})
    found = RegressionGate(mode=GateMode.SIGNIFICANT).decide(one, one)
    assert "drawn 20,000 times, so up to " in to_text(found)


@pytest.mark.parametrize(
    "name", ["\ud800", "a\x1b[31m\x00", "a|b <script>\n# x", "]]>&\ufffe", "`"]
)
def test_names_that_act_act_nowhere(name: str) -> None:
    hostile = {name: "P", "b": "P"}
    one = report(hostile, candidate=name, suite=name, suite_version=name, split=name)
    other = report([case(name, "F", slices=name or "x"), case("b", "P")], **_texts(one))
    found = RegressionGate().decide(one, other)
    for form in (to_text(found), found.to_markdown(), found.to_json(), found.to_junit()):
        form.encode()
        assert not set(form) & {"\x1b", "\x00", "\ud800", "\ufffe"}
    ET.fromstring(found.to_junit())  # noqa: S314 - our own
    assert "<script" not in MarkdownIt().render(found.to_markdown())


def _texts(one: Any) -> dict[str, str]:
    return {what: getattr(one, what) for what in ("candidate", "suite", "suite_version", "split")}


@given(st.text(min_size=1, max_size=8), st.text(max_size=8))
def test_every_form_can_be_made_of_any_name(name: str, candidate: str) -> None:
    one = report([case(name, "PP"), case(f"{name}2", "PF")], candidate=candidate)
    other = report([case(name, "FF"), case(f"{name}2", "PF")], candidate=candidate)
    found = RegressionGate().decide(one, other)
    assert len(to_text(found).encode().splitlines()) < 20
    json.loads(found.to_json())
    assert len(shown(found)) >= 5
    assert "t" in found.to_markdown()
