"""Texts: which differences count, what the score is, and what the detail says."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.errors import InputError
from labkit.graders import (
    Case,
    ContainsAll,
    Exact,
    Form,
    Likeness,
    LineEnds,
    Output,
    RegexMatch,
    Verdict,
    Whitespace,
)

CASE = Case(id="capital", reference="Paris")
NONE = Case(id="open")


def passed(grader: Exact | ContainsAll | RegexMatch, value: object, case: Case = NONE) -> bool:
    """Grade a value and say whether it passed."""
    return grader(Output(value=value), case).passed is True


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        ("Paris", "Paris"),
        ("Paris", "  Paris\r\n"),
        ("Paris", b"Paris\n"),
        ("a\nb", "a\r\nb"),
        ("a\nb", "a\rb"),
        ("caf\u00e9", "cafe\u0301"),
        ("", " \n"),
    ],
)
def test_exact_forgives_what_nobody_sees(expected: str, value: object) -> None:
    assert passed(Exact(expected=expected), value)
    assert passed(Exact(), value, Case(id="a", reference=expected)) or not expected


@pytest.mark.parametrize(
    ("expected", "value"),
    [("Paris", "paris"), ("a b", "a  b"), ("fi", "\ufb01"), ("4", 4), ("None", None), ("", None)],
)
def test_exact_forgives_no_more(expected: str, value: object) -> None:
    assert not passed(Exact(expected=expected), value)


@pytest.mark.parametrize(
    ("likeness", "alike", "apart"),
    [
        (Likeness(whitespace=Whitespace.KEEP), ("a b", "a b"), ("a", "a\n")),
        (Likeness(whitespace=Whitespace.ENDS), ("a", "\ta\n"), ("a b", "a  b")),
        (Likeness(whitespace=Whitespace.ALL), ("a b", " a\n\t b "), ("a b", "ab")),
        (Likeness(line_ends=LineEnds.KEEP), ("a\r\nb", "a\r\nb"), ("a\nb", "a\r\nb")),
        (Likeness(line_ends=LineEnds.LF), ("a\nb", "a\r\nb"), ("a\nb", "a\n\nb")),
        (Likeness(unicode=Form.KEEP), ("\u00e9", "\u00e9"), ("\u00e9", "e\u0301")),
        (Likeness(unicode=Form.NFC), ("\u00e9", "e\u0301"), ("fi", "\ufb01")),
        (Likeness(unicode=Form.NFKC), ("fi", "\ufb01"), ("e", "\u00e9")),
        (Likeness(ignore_case=True), ("STRASSE", "stra\u00dfe"), ("a", "b")),
        (Likeness(ignore_case=False), ("a", "a"), ("a", "A")),
    ],
)
def test_every_option_does_what_it_says(
    likeness: Likeness, alike: tuple[str, str], apart: tuple[str, str]
) -> None:
    grader = Exact(expected=alike[0], likeness=likeness)
    assert passed(grader, alike[1])
    assert not passed(Exact(expected=apart[0], likeness=likeness), apart[1])


@given(text=st.text(), form=st.sampled_from([Form.NFC, Form.NFKC]))
def test_a_text_is_like_its_normal_form(text: str, form: Form) -> None:
    again = unicodedata.normalize("NFC" if form is Form.NFC else "NFKC", text)
    assert passed(Exact(expected=text, likeness=Likeness(unicode=form)), again)


@given(text=st.text(), likeness=st.builds(Likeness))
def test_what_does_not_count_is_taken_away_once(text: str, likeness: Likeness) -> None:
    assert likeness.plain(likeness.plain(text)) == likeness.plain(text)


@pytest.mark.parametrize(
    ("reference", "value", "right"),
    [
        (4, 4, True),
        (4, 4.0, False),
        (1, True, False),
        (4, "4", False),
        ([1, "a"], [1, "a"], True),
        ([1, "a"], (1, "a"), False),
        ((1,), [1], False),
        ({"a": [1], "b": None}, {"b": None, "a": [1]}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({"a": 1}, {"b": 1}, False),
        ({1: "a"}, {True: "a"}, False),
        ([1, 2], [1], False),
    ],
)
def test_values_are_compared_in_type_too(reference: object, value: object, *, right: bool) -> None:
    assert passed(Exact(), value, Case(id="a", reference=reference)) is right


@pytest.mark.parametrize(
    ("text", "alike"),
    [
        ("\ufdfa", True),
        ("\ufdfa" * 200_000, False),
        ("\ufb01" * 200_000, True),
        ("e" + "\u0301" * 30, True),
        ("e" + "\u0301" * 31, False),
        ("\ufb01" + "a\u0301" * 1000, True),
        ("\u0300\u0f73" * 100, False),
    ],
)
def test_texts_made_to_be_costly_are_compared_as_they_are(text: str, *, alike: bool) -> None:
    wanted = unicodedata.normalize("NFKC", text)
    assert passed(Exact(expected=wanted, likeness=Likeness(unicode=Form.NFKC)), text) is alike


def test_a_difference_is_shown_where_it_is() -> None:
    short = Exact(expected="Paris")(Output(value="London"), NONE)
    assert short == Verdict.failing("expected 'Paris', found 'London'")
    long = "x" * 1000
    verdict = Exact(expected=f"{long}a{long}")(Output(value=f"{long}b"), NONE)
    assert verdict.detail == (
        f"differs from character 1001 on: expected 'a{'x' * 79}'..., found 'b'"
    )
    assert Exact(expected=long)(Output(value=long + "y"), NONE).detail.endswith("'', found 'y'")
    other = Exact()(Output(value=None), Case(id="a", reference=[1]))
    assert other.detail == "expected a value of type list, found None"


def test_without_anything_to_compare_with_nothing_is_graded() -> None:
    for grader in (Exact(), ContainsAll(), RegexMatch()):
        verdict = grader(Output(value="x"), NONE)
        assert not verdict.graded
        assert "no reference" in verdict.detail


def test_contains_all_counts_the_words() -> None:
    grader = ContainsAll(words=("read", "write", "close", "open"))
    every = grader(Output(value="open, read, write, close"), NONE)
    assert every == Verdict.passing("has all of 4 words")
    verdict = grader(Output(value="read and write"), NONE)
    assert verdict == Verdict.failing("does not have 'close', 'open'", score=0.5)
    assert grader(Output(value="READ"), NONE).score == 0
    loose = ContainsAll(words=("READ  me",), likeness=Likeness(whitespace=Whitespace.ALL))
    assert passed(loose, "please READ\nme")


def test_contains_all_takes_its_words_from_the_case() -> None:
    assert passed(ContainsAll(), "in Paris", CASE)
    both = Case(id="a", reference=["a", "b"])
    assert ContainsAll()(Output(value="a"), both).score == 0.5
    for reference in ([], ["a", ""], ["a", 1], "", 4):
        assert not ContainsAll()(Output(value="a"), Case(id="a", reference=reference)).graded
    blank = ContainsAll(words=(" ",), likeness=Likeness(whitespace=Whitespace.ALL))
    assert not blank(Output(value="a"), NONE).graded


@given(words=st.lists(st.text(min_size=1), min_size=1, max_size=5), text=st.text())
def test_the_score_of_contains_all_is_a_share(words: list[str], text: str) -> None:
    keep = Likeness(line_ends=LineEnds.KEEP, unicode=Form.KEEP)
    verdict = ContainsAll(words=tuple(words), likeness=keep)(Output(value=text), NONE)
    assert verdict.score == sum(word in text for word in words) / len(words)
    assert verdict.passed is (verdict.score == 1)


@pytest.mark.parametrize(
    ("pattern", "value", "found"),
    [
        (r"\bdef add\(", "import os\ndef add(a, b):", True),
        ("^b", "a\nb", False),
        ("(?m)^b$", "a\r\nb\r\nc", True),
        ("a$", "a\n", False),
        ("caf\u00e9", "cafe\u0301", True),
        ("^cafe\u0301$", "caf\u00e9", True),
        ("a.b", "a\0b", True),
        ("a.b", "a\nb", False),
        ("(?i)PARIS", "paris", True),
        (r"^\p{L}+$", "\u00e9\u4e2d", True),
        (r"\d", "\u0663", False),
    ],
)
def test_patterns(pattern: str, value: str, *, found: bool) -> None:
    assert passed(RegexMatch(pattern=pattern), value) is found
    assert passed(RegexMatch(), value, Case(id="a", reference=pattern)) is found


def test_a_whole_match_and_case() -> None:
    assert not passed(RegexMatch(pattern="[0-9]+", whole=True), "42 apples")
    assert passed(RegexMatch(pattern="[0-9]+", whole=True), "42")
    assert passed(RegexMatch(pattern="paris", likeness=Likeness(ignore_case=True)), "PARIS")


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(?=x)y", "invalid perl operator: (?="),
        (r"(a)\1", r"invalid escape sequence: \1"),
        ("(", "missing ): ("),
        ("\ud800", "half a character"),
        ("a" * 10_001, "longer than 10,000 characters"),
        ("((a{1000}){1000})", "invalid repetition size"),
    ],
)
def test_a_pattern_that_cannot_be_used(
    pattern: str, why: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InputError) as caught:
        RegexMatch(pattern=pattern)
    assert why in caught.value.message
    assert capfd.readouterr() == ("", "")
    verdict = RegexMatch()(Output(value="y"), Case(id="a", reference=pattern))
    assert not verdict.graded
    assert why in verdict.detail
