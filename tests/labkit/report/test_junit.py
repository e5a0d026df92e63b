"""Verdicts for tools that read test results, read back by the grader's own reader too."""

import pytest
from defusedxml.ElementTree import fromstring
from sheets import HOSTILE, document, named, nine, rich
from studies import results, study, tasks

from labkit.model import Category, TaskId
from labkit.report.data import to_json
from labkit.report.junit import to_junit
from labkit.report.reading import read_sheet, visible
from labkit.report.sheet import Sheet
from labkit.summary import summarise


def sheet(*parts: tuple[object, ...], **more: object) -> Sheet:
    return read_sheet(to_json(summarise(study(*parts, **more))))  # type: ignore[arg-type]


def outcomes(text: str) -> dict[tuple[str, str], str]:
    """Return what became of each (configuration, task), with its message."""
    return {
        (suite.attrib["name"], case.attrib["name"]): " ".join(
            f"{found.tag}: {found.attrib['message']}" for found in case
        )
        for suite in fromstring(text)
        for case in suite.iter("testcase")
    }


def test_a_case_for_each_task_and_configuration() -> None:
    found = outcomes(to_junit(rich()))
    assert len(found) == 18
    assert found["A", "both-1"] == ""
    assert found["A", "half"] == "failure: passed 1 of 2 measured attempts"
    assert found["B", "half"] == ""
    assert found["A", "no-1"] == "failure: passed 0 of 2 measured attempts"


def test_flaky_is_told_from_failed() -> None:
    root = fromstring(to_junit(rich()))
    kinds = {case.attrib["type"] for case in root.iter("failure")}
    assert kinds == {"flaky", "fail"}


def test_what_was_not_measured_is_skipped() -> None:
    found = outcomes(to_junit(sheet(results({"a": "?u ++", "b": "+? -"}))))
    assert found["A", "a"] == "skipped: none of 2 attempts was measured"
    assert found["A", "b"] == ""
    assert found["B", "b"] == "failure: passed 0 of 1 measured attempt"


def test_retired_and_safety_tasks_are_there_too() -> None:
    found = outcomes(
        to_junit(
            sheet(
                results({"a": "++ ++", "leaky": "L+ ++"}),
                results({"trap": "++ -+", "kept": "++ ++"}, safety=True, category=Category.TRAP),
                retired={TaskId("leaky"): "printed"},
            )
        )
    )
    assert found["A", "leaky"] == "skipped: retired: printed"
    assert found["B", "trap"] == "failure: safety veto: trap__B__1"
    assert found["A", "trap"] == found["B", "kept"] == ""


def test_a_safety_task_that_may_be_missing_is_not_called_passed() -> None:
    found = outcomes(
        to_junit(sheet(results({"x": "+ +", "y": "? +"}, safety=True), results({"a": "+ +"})))
    )
    assert found["A", "x"] == "skipped: not every safety task was measured; none failed"
    assert found["B", "x"] == ""


def test_counts_add_up() -> None:
    root = fromstring(to_junit(sheet(results({"a": "?? --", "b": "++ +-", "c": "++ ++"}))))
    for element in (root, *root):
        assert int(element.attrib["tests"]) == len(list(element.iter("testcase")))
        assert int(element.attrib["failures"]) == len(list(element.iter("failure")))
        assert element.attrib["errors"] == "0"
    assert [suite.attrib["failures"] for suite in root] == ["0", "2"]
    assert [suite.attrib["skipped"] for suite in root] == ["1", "0"]


def test_time_is_in_seconds_and_only_where_it_was_measured() -> None:
    values = document(nine())
    values["tasks"][0]["minutes"]["A"] = None
    cases = list(fromstring(to_junit(read_sheet(values))).iter("testcase"))
    assert "time" not in cases[0].attrib
    assert cases[1].attrib["time"] == "180.000"


CHILDREN = {
    "testsuites": ["testsuite"],
    "testsuite": ["properties", "testcase"],
    "properties": ["property"],
    "property": [],
    "testcase": ["skipped", "failure"],
    "skipped": [],
    "failure": [],
}
ATTRIBUTES = {
    "testsuites": {"name", "tests", "failures", "errors"},
    "testsuite": {"name", "tests", "failures", "errors", "skipped"},
    "properties": set(),
    "property": {"name", "value"},
    "testcase": {"name", "classname"},
    "skipped": {"message"},
    "failure": {"message", "type"},
}
"""What every published schema of the format takes, in the order in which it takes it."""


@pytest.mark.parametrize("given", [rich(), read_sheet(named(HOSTILE))], ids=["nine", "hostile"])
def test_every_reader_of_the_format_takes_it(given: Sheet) -> None:
    root = fromstring(to_junit(given))
    for element in root.iter():
        places = [CHILDREN[element.tag].index(child.tag) for child in element]
        assert places == sorted(places)
        assert set(element.attrib) - {"time"} == ATTRIBUTES[element.tag]
        assert not (element.text or "").strip()


def test_hostile_names_are_kept_as_text() -> None:
    names = {name for _, name in outcomes(to_junit(read_sheet(named(HOSTILE))))}
    assert set(map(visible, HOSTILE)) <= names


def test_no_tasks_make_an_empty_suite() -> None:
    root = fromstring(to_junit(sheet(results(tasks(2, "L+ L+")))))
    assert {suite.attrib["tests"] for suite in root} == {"2"}
    assert {suite.attrib["skipped"] for suite in root} == {"2"}
