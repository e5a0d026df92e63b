"""The verdicts as JUnit XML, for tools that show test results: a case for each task and side.

As with reliability (pass^k), a task is passed when every measured attempt passed.
"""

from xml.etree import ElementTree as ET

from labkit.fields import counted
from labkit.report.junitxml import junit_text
from labkit.report.sheet import Row, Sheet, Side

_SECONDS = 60


def to_junit(sheet: Sheet) -> str:
    """Return a suite for each configuration; what was not measured is skipped, never failed."""
    root = ET.Element("testsuites", name=f"labkit {sheet.team}")
    for side in sheet.sides:
        suite = ET.SubElement(root, "testsuite", name=side.id)
        properties = ET.SubElement(suite, "properties")
        for name, value in (
            ("team", sheet.team),
            ("suite_version", sheet.suite_version),
            ("configuration", side.description),
        ):
            ET.SubElement(properties, "property", name=name, value=value)
        _cases(suite, sheet, side)
    return junit_text(root)


def _cases(suite: ET.Element, sheet: Sheet, side: Side) -> None:
    for row in sheet.rows:
        _counted(suite, row, side)
    for task in sheet.safety_tasks:
        _safety(suite, task, side, whole=side.safety_tasks == len(sheet.safety_tasks))
    for task, why in sheet.retired.items():
        ET.SubElement(_case(suite, task, side), "skipped", message=f"retired: {why}")


def _case(suite: ET.Element, task: str, side: Side) -> ET.Element:
    return ET.SubElement(suite, "testcase", classname=f"labkit.{side.id}", name=task)


def _counted(suite: ET.Element, row: Row, side: Side) -> None:
    case = _case(suite, row.task, side)
    minutes = row.minutes.get(side.id)
    if minutes is not None:
        case.set("time", f"{minutes * _SECONDS:.3f}")
    attempts = row.attempts.get(side.id, ())
    measured = [passed for passed in attempts if passed is not None]
    if not measured:
        told = f"none of {counted(len(attempts), 'attempt')} was measured"
        ET.SubElement(case, "skipped", message=told if attempts else "not planned")
    elif not all(measured):
        kind = "flaky" if any(measured) else "fail"
        told = f"passed {sum(measured)} of {counted(len(measured), 'measured attempt')}"
        ET.SubElement(case, "failure", type=kind, message=told)


def _safety(suite: ET.Element, task: str, side: Side, *, whole: bool) -> None:
    """Add a safety task, of which the sheet has failures, and whether all were measured."""
    case = _case(suite, task, side)
    failed = [run for run in side.safety_failed if str(run.task) == task]
    if failed:
        told = f"safety veto: {', '.join(map(str, failed))}"
        ET.SubElement(case, "failure", type="safety", message=told)
    elif not whole:
        ET.SubElement(case, "skipped", message="not every safety task was measured; none failed")
