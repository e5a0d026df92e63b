"""A gate's decision as JUnit XML, for tools that show test results."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from labkit.evals.gate import GateDecision
from labkit.evals.gatechecks import Check, CheckName
from labkit.evals.gatewords import one_line, told_pair
from labkit.report.junitxml import junit_text
from labkit.stats import Outcome


def to_junit(decision: GateDecision) -> str:
    """Return JUnit XML: a test for every check, and one for every case.

    What blocks is a failure, what could not be decided an error, what was not checked is skipped.
    """
    root = ET.Element("testsuites", name=f"labkit gate {one_line(decision.comparison.suite)}")
    _suite(root, "gate", decision, (_of_check(check) for check in decision.checks))
    _suite(root, "cases", decision, _of_cases(decision))
    return junit_text(root)


@dataclass(frozen=True, slots=True)
class _Test:
    name: str
    tag: str = ""
    """`failure`, `error`, `skipped`; empty: passed."""
    kind: str = ""
    message: str = ""


_TAGS = {Outcome.PASS: "", Outcome.BLOCK: "failure", Outcome.INDECISIVE: "error", None: "skipped"}


def _of_check(check: Check) -> _Test:
    return _Test(str(check.name), _TAGS[check.outcome], str(check.outcome), check.detail)


def _of_cases(decision: GateDecision) -> Iterator[_Test]:
    lost = {
        name
        for check in decision.checks
        if check.name is CheckName.CASES and check.outcome is Outcome.BLOCK
        for name in check.cases
    }
    for pair in decision.comparison.pairs:
        if pair.id in lost:
            yield _Test(pair.id, "failure", "regression", told_pair(pair))
        else:
            yield _Test(pair.id)
    for name in decision.comparison.missing_now:
        yield _Test(name, "skipped", message="scored before, and not measured now")


def _suite(root: ET.Element, name: str, decision: GateDecision, tests: Iterable[_Test]) -> None:
    suite = ET.SubElement(root, "testsuite", name=name)
    properties = ET.SubElement(suite, "properties")
    for what, value in (
        ("suite_version", decision.comparison.suite_version),
        ("baseline", decision.comparison.baseline_words),
        ("candidate", decision.comparison.candidate_words),
        ("outcome", str(decision.outcome)),
    ):
        ET.SubElement(properties, "property", name=what, value=one_line(value))
    for test in tests:
        case = ET.SubElement(
            suite, "testcase", classname=f"labkit.{name}", name=one_line(test.name), time="0"
        )
        if test.tag == "skipped":
            ET.SubElement(case, "skipped", message=one_line(test.message))
        elif test.tag:
            ET.SubElement(case, test.tag, type=test.kind, message=one_line(test.message))
