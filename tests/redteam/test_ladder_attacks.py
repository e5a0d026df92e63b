"""Answers that lie about what they are, or keep a grader busy: none passes, none holds it up."""

import threading

import pytest
from hostile import HOSTILE_VALUES, AlwaysEqual, HostileBytes, HostileText

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


@pytest.mark.parametrize(
    ("grader", "value"),
    [
        pytest.param(RegexMatch(pattern="(a+)+$"), "a" * 10**7 + "b", id="nested"),
        pytest.param(RegexMatch(pattern="(.*)*x"), "é" * 10**6, id="stars"),
        pytest.param(RegexMatch(pattern="a[ab]{900}c"), "ab" * 10**5, id="counted"),
        pytest.param(Exact(), "a" + "\u0315" * 10**6 + "\u0300" * 10**6, id="marks"),
        pytest.param(Exact(), "\u0f73" * 10**6, id="hidden marks"),
        pytest.param(Exact(likeness=LOOSE), "\uff9e\u3099" * 10**6, id="wide marks"),
        pytest.param(Exact(likeness=LOOSE), "\ufdfa" * 10**5, id="growing"),
        pytest.param(Exact(likeness=LOOSE), "a " * 8 * 10**6, id="spaces"),
        pytest.param(ContainsAll(words=("a" * 10**4 + "b",)), "a" * 10**7, id="nearly"),
    ],
)
def test_no_answer_keeps_a_grader_busy(grader: Grader, value: str) -> None:
    verdicts: list[Verdict] = []
    worker = threading.Thread(
        target=lambda: verdicts.append(grader(Output(value=value), CASE)), daemon=True
    )
    worker.start()
    worker.join(30)
    assert verdicts, "still busy after 30 s"
    assert verdicts[0].passed is False


def test_a_pattern_too_large_for_the_text_is_told() -> None:
    verdict = RegexMatch(pattern="a[ab]{900}c")(Output(value="ab" * 4 * 10**6), CASE)
    assert verdict == Verdict.failing("it is 8,000,000 long, too long for 'a[ab]{900}c'")
