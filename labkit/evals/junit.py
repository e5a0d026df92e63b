"""A run report as JUnit XML: a test case for each case of the suite."""

from xml.etree import ElementTree as ET

from labkit.evals.report import RunReport
from labkit.evals.results import CaseResult
from labkit.fields import counted
from labkit.report.junitxml import junit_text, xml_text
from labkit.report.wording import percent


def to_junit(report: RunReport) -> str:
    """Return the report as JUnit XML.

    A case fails when its policy says so; one that was not measured, or that missing samples could
    still turn, is skipped: missing data is no failure. Viewers show that as green, so a run that
    measured too little to decide anything has an error beside its cases.
    """
    root = ET.Element("testsuites", name="labkit evaluate")
    suite = ET.SubElement(root, "testsuite", name=xml_text(report.suite))
    properties = ET.SubElement(suite, "properties")
    for name, value in (
        ("candidate", report.told),
        ("suite_version", report.suite_version),
        ("split", report.split),
        ("samples", str(report.n)),
    ):
        ET.SubElement(properties, "property", name=name, value=xml_text(value))
    for case in report.cases:
        _case(suite, report, case)
    if not report.decisive:
        _coverage(suite, report)
    return junit_text(root)


def _case(suite: ET.Element, report: RunReport, case: CaseResult) -> None:
    element = ET.SubElement(
        suite, "testcase", classname=xml_text(f"labkit.{report.suite}"), name=xml_text(case.id)
    )
    known = [trial.latency_ms for trial in case.trials if trial.latency_ms is not None]
    if known:
        element.set("time", f"{sum(known) / 1000:.3f}")
    told = f"passed {case.passes} of {counted(case.valid_trials, 'measured sample')}"
    if case.problem:
        ET.SubElement(element, "skipped", message=xml_text(case.problem))
    elif not case.valid_trials:
        ET.SubElement(element, "skipped", message="no sample was measured")
    elif case.passed is None:
        missing = case.planned - case.valid_trials
        message = f"{told}; {counted(missing, 'missing sample')} could turn it"
        ET.SubElement(element, "skipped", message=message)
    elif not case.passed:
        kind = "safety" if case.safety else "flaky" if case.flaky else "fail"
        ET.SubElement(element, "failure", type=kind, message=told)


def _coverage(suite: ET.Element, report: RunReport) -> None:
    element = ET.SubElement(suite, "testcase", classname="labkit.evaluate", name="coverage")
    known = report.coverage
    told = (
        "nothing was planned"
        if known is None
        else f"only {percent(float(known))} of the samples have a verdict (60 % are needed)"
    )
    ET.SubElement(element, "error", type="coverage", message=f"{told}: this run decides nothing")
