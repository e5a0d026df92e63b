"""Answers that lie about what they are, or keep a grader busy: none passes, none holds it up."""

import subprocess
import sys
from pathlib import Path

import pytest
from hostile import HOSTILE_VALUES, AlwaysEqual, HostileBytes, HostileKey, HostileText

from labkit.graders import (
    AllOf,
    AnyOf,
    Case,
    ContainsAll,
    Exact,
    FileEquals,
    Form,
    Grader,
    Likeness,
    Output,
    RegexMatch,
    Verdict,
    Whitespace,
)

CASE = Case(id="capital", inputs="the capital of France", reference="Paris")
LOOSE = Likeness(whitespace=Whitespace.ALL, unicode=Form.NFKC, ignore_case=True)
GRADERS: dict[str, Grader] = {
    "exact": Exact(),
    "exact, loose": Exact(expected="paris", likeness=LOOSE),
    "contains_all": ContainsAll(words=("Par", "is")),
    "regex_match": RegexMatch(pattern="P(a|r)+is$"),
    "file_equals": FileEquals(path="a.txt", expected="a"),
    "all_of": AllOf(graders=(Exact(), ContainsAll(words=("a",)))),
    "any_of": AnyOf(graders=(Exact(), RegexMatch(pattern="^x"))),
}
LIES = [value for value in HOSTILE_VALUES if type(value) not in (HostileText, HostileBytes)]
"""Those that are not "Paris", whatever they say."""


@pytest.mark.parametrize("name", GRADERS)
@pytest.mark.parametrize("count", range(len(LIES)))
def test_no_lie_passes(name: str, count: int) -> None:
    assert not GRADERS[name](Output(value=LIES[count]), CASE).passed


def test_a_text_that_lies_is_graded_as_what_it_holds() -> None:
    assert Exact()(Output(value=HostileText("Paris")), CASE).passed
    assert not Exact()(Output(value=HostileText("London")), CASE).passed
    assert not Exact()(Output(value=AlwaysEqual()), Case(id="a", reference=4)).passed
    assert not Exact()(Output(value={"a": AlwaysEqual()}), Case(id="a", reference={"a": 4})).passed
    assert not Exact()(Output(value=[AlwaysEqual()]), Case(id="a", reference=[4])).passed
    verdict = Exact()(Output(value={HostileKey(): 1}), Case(id="a", reference={"a": 1}))
    assert verdict.passed is False


@pytest.mark.parametrize(
    ("grader", "value"),
    [
        pytest.param('RegexMatch(pattern="(a+)+$")', '"a" * 4 * 10**6 + "b"', id="nested"),
        pytest.param('RegexMatch(pattern="(.*)*x")', '"\\xe9" * 10**6', id="stars"),
        pytest.param('RegexMatch(pattern="a[ab]{900}c")', '"ab" * 10**5', id="counted"),
        pytest.param("Exact()", r'"a" + "\u0315" * 10**6 + "\u0300" * 10**6', id="marks"),
        pytest.param("Exact()", r'"a" + "\u0f73" * 10**6', id="hidden marks"),
        pytest.param("Exact(likeness=LOOSE)", r'"\uff9e\u3099" * 10**6', id="wide marks"),
        pytest.param("Exact(likeness=LOOSE)", r'"\ufdfa" * 10**6', id="growing"),
        pytest.param("Exact(likeness=LOOSE)", '"a " * 2 * 10**6', id="spaces"),
        pytest.param('ContainsAll(words=("a" * 10**4 + "b",))', '"a" * 4 * 10**6', id="nearly"),
    ],
)
def test_no_answer_keeps_a_grader_busy(tmp_path: Path, grader: str, value: str) -> None:
    code = (
        "from labkit.graders import *\n"
        "LOOSE = Likeness(whitespace=Whitespace.ALL, unicode=Form.NFKC, ignore_case=True)\n"
        f"print({grader}(Output(value={value}), Case(id='a', reference='Paris')).passed)\n"
    )
    done = subprocess.run(  # a thread could not be given up: C code holds the interpreter
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, timeout=40, check=True
    )
    assert done.stdout == b"False\n"


def test_a_pattern_too_large_for_the_text_is_told() -> None:
    verdict = RegexMatch(pattern="a[ab]{900}c")(Output(value="ab" * 2 * 10**6), CASE)
    assert verdict == Verdict.failing("it is 4,000,000 long, too long for 'a[ab]{900}c'")
