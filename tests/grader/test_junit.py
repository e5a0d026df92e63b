"""JUnit XML of many writers, well-meant and hostile."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.junit import read_junit

NODE = """<?xml version="1.0" encoding="utf-8"?>
<testsuites>
	<testcase name="adds" time="0.0007" classname="test"/>
	<testcase name="breaks" time="0.0006" classname="test" failure="1 == 2">
		<failure type="testCodeFailure" message="1 == 2">
[Error [ERR_TEST_FAILURE]: 1 == 2]
		</failure>
	</testcase>
	<testcase name="later" classname="test"><skipped type="skipped" message="true"/></testcase>
	<testcase name="open" classname="test" failure="1 == 2">
		<skipped type="todo" message="true"/><failure type="testCodeFailure" message="1 == 2"/>
	</testcase>
	<testsuite name="group" disabled="0" errors="0" tests="2" failures="1" skipped="0" hostname="x">
		<testcase name="adds" classname="test"/>
		<testsuite name="deep"><testcase name="adds" classname="test"/></testsuite>
	</testsuite>
	<testcase name="/workspace/tests/b.test.js" classname="test"><failure/></testcase>
	<!-- tests 10 -->
</testsuites>
"""
SUREFIRE = """<testsuite name="com.x.FooTest" tests="4" errors="1" skipped="1" failures="1">
  <properties><property name="java.home" value="/opt/java"/></properties>
  <testcase name="adds" classname="com.x.FooTest" time="0.1"/>
  <testcase name="breaks" classname="com.x.FooTest"><failure message="a &lt; b" type="E">at x
  </failure><system-out>text</system-out></testcase>
  <testcase name="errs" classname="com.x.FooTest"><error type="java.io.IOException"/></testcase>
  <testcase name="waits" classname="com.x.FooTest"><skipped/></testcase>
  <testcase name="wobbles" classname="com.x.FooTest"><flakyFailure/></testcase>
</testsuite>
"""
GO = """<testsuites><testsuite name="example.com/calc" tests="2">
<testcase classname="example.com/calc" name="TestAdd/two_and_two" time="0.0"/>
</testsuite></testsuites>"""
GOOGLE = """<testsuites><testsuite name="Calc"><testcase name="Adds" status="run" classname="Calc"/>
<testcase name="Off" status="notrun" result="suppressed" classname="Calc"/></testsuite></testsuites>
"""
FILES = """<testsuites><testsuite name="calc" file="/workspace/tests/calc.test.ts">
<testcase name="adds" classname="calc adds"/>
<testcase name="own" classname="calc" file="tests/own.test.ts"/>
</testsuite><testsuite name="start"><error message="no such module">trace</error></testsuite>
</testsuites>"""


def one(text: str | bytes) -> dict[str, str]:
    data = text.encode() if isinstance(text, str) else text
    results = read_junit([("junit.xml", data)])
    assert results.problem == ""
    return dict(results.outcomes)


def test_node() -> None:
    assert one(NODE) == {
        "test::adds": "passed",
        "test::breaks": "failed",
        "test::later": "skipped",
        "test::open": "skipped",
        "group::test::adds": "passed",
        "group::deep::test::adds": "passed",
        "test::tests/b.test.js": "failed",
    }


def test_surefire() -> None:
    assert one(SUREFIRE) == {
        "com.x.FooTest::adds": "passed",
        "com.x.FooTest::breaks": "failed",
        "com.x.FooTest::errs": "error",
        "com.x.FooTest::waits": "skipped",
        "com.x.FooTest::wobbles": "passed",
    }


def test_go_and_google_test() -> None:
    assert one(GO) == {"example.com/calc::TestAdd/two_and_two": "passed"}
    assert one(GOOGLE) == {"Calc::Adds": "passed", "Calc::Off": "skipped"}


def test_a_file_begins_the_id_and_a_suite_can_break_as_a_whole() -> None:
    results = read_junit([("junit.xml", FILES.encode())])
    assert list(results.outcomes) == [
        "tests/calc.test.ts::calc::calc adds::adds",
        "tests/own.test.ts::calc::own",
    ]
    assert results.suite_errors == {"start": "no such module"}


def test_the_complaint_is_kept() -> None:
    results = read_junit([("junit.xml", SUREFIRE.encode())])
    assert results.messages == {
        "com.x.FooTest::breaks": "E a < b\nat x",
        "com.x.FooTest::errs": "java.io.IOException",
    }


def test_equal_ids_pass_only_together() -> None:
    test = "<testcase name='a'>{}</testcase>"
    broken = test.format("<failure/>")
    assert one(f"<testsuite>{test}{broken}{test}</testsuite>") == {"a": "failed"}
    files = [("junit.xml/1.xml", f"<testsuite>{test}</testsuite>".encode())]
    files.append(("junit.xml/2.xml", f"<testsuite>{broken}</testsuite>".encode()))
    assert read_junit(files).outcomes == {"a": "failed"}
    assert read_junit(reversed(files)).outcomes == {"a": "failed"}


@pytest.mark.parametrize(
    "name",
    ["trail ", 'q"', "", " ", "x[y]", "a :: b - PASSED", "é", "\U0001f600", "a\\nb", "x" * 9000],
)
def test_a_name_is_kept_to_the_letter(name: str) -> None:
    quoted = name.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    found = one(f'<testsuite name="s"><testcase name="{quoted}"/></testsuite>')
    assert list(found) == [f"s::{name or '(no name)'}"]


def test_a_huge_message_is_cut_to_its_end() -> None:
    text = "x" * 2_000_000 + "the end"
    report = f"<testsuite><testcase name='a'><failure>{text}</failure></testcase></testsuite>"
    results = read_junit([("junit.xml", report.encode())])
    assert results.messages["a"].endswith("the end")
    assert len(results.messages["a"]) == 2000


BOMB = (
    '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">'
    '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]><testsuite><testcase name="&c;"/></testsuite>'
)
OUTSIDE = (
    '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
    '<testsuite><testcase name="&a;"/></testsuite>'
)
PASS = "<testcase name='a'/>"


@pytest.mark.parametrize(
    ("data", "why", "garbled"),
    [
        (b"", "it is empty", True),
        (b" \n", "it is empty", True),
        (b"ok 1 - adds\n", "no well-formed XML, line 1", True),
        (b"<testsuite>" + PASS.encode(), "no well-formed XML, line 1", True),
        (f"<testsuite>{PASS}</testsuite><x/>".encode(), "no well-formed XML", True),
        (b"<testsuite><testcase name='\x1b[31m'/></testsuite>", "no well-formed XML", True),
        (b"<testsuite><testcase name='\x00'/></testsuite>", "no well-formed XML", True),
        (b"<testsuite><testcase name='\xff'/></testsuite>", "no well-formed XML", True),
        (b"<testsuite><testcase name='&#27;'/></testsuite>", "no well-formed XML", True),
        (b"<?xml version='1.0' encoding='nobody'?><testsuite/>", "no well-formed XML", True),
        (b"<?xml version='1.0' encoding='utf-7'?><testsuite/>", "no well-formed XML", True),
        (b"<?xml version='1.0' encoding='idna'?><testsuite/>", "no well-formed XML", True),
        (b"\x89PNG\r\n\x1a\n\x00", "no well-formed XML", True),
        (b"<html><testsuite/></html>", "it begins with <html>", False),
        (BOMB.encode(), "it declares a document type", False),
        (OUTSIDE.encode(), "it declares a document type", False),
        (b"<!DOCTYPE x SYSTEM 'file:///etc/passwd'><testsuite/>", "document type", False),
        (b"<!DOCTYPE testsuite><testsuite/>", "document type", False),
        (b"<testsuite>" * 200 + b"</testsuite>" * 200, "more than 100 deep", False),
        (b"<testsuite>" + b"<a/>" * 1_000_001 + b"</testsuite>", "more than 1,000,000", False),
        (
            b"<testsuite>" + PASS.encode() * 100_001 + b"</testsuite>",
            "more than 100,000 tests",
            False,
        ),
        (
            b"<testsuite name='" + b"x" * 1_000_000 + b"'>" + PASS.encode() * 99 + b"</testsuite>",
            "the names of its tests are too long",
            False,
        ),
    ],
    ids=[
        *("nothing", "blank", "tap", "cut off", "two roots", "escape", "nul", "not utf-8"),
        *("reference to escape", "unknown encoding", "utf-7", "odd encoding", "picture", "html"),
        *("bomb", "outside", "outside type", "bare type", "deep", "elements", "tests", "names"),
    ],
)
def test_what_cannot_be_read_says_why(data: bytes, why: str, *, garbled: bool) -> None:
    results = read_junit([("junit.xml", data)])
    assert results.problem.startswith("the report could not be read: junit.xml: ")
    assert why in results.problem
    assert results.garbled is garbled
    assert results.outcomes == {}


def test_one_file_that_cannot_be_read_spoils_all() -> None:
    good = ("junit.xml/1.xml", f"<testsuite>{PASS}</testsuite>".encode())
    results = read_junit([good, ("junit.xml/2.xml", b"<testsuite>")])
    assert "junit.xml/2.xml" in results.problem
    assert results.outcomes == {}


@given(st.binary(max_size=300) | st.text(alphabet="<>/&;'\"= testcaseuifr!\0\x1b", max_size=200))
def test_no_report_makes_the_reader_fail(data: bytes | str) -> None:
    raw = data if isinstance(data, bytes) else data.encode()
    read_junit([("junit.xml", raw)])
    read_junit([("junit.xml", b"<testsuite>" + raw + b"</testsuite>")])
