"""The words of the reports, explained."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.errors import InputError
from labkit.report import explain
from labkit.report.glossary import TERMS
from labkit.report.terms import term


def key(word: str) -> str:
    return " ".join(word.replace("-", " ").split()).casefold()


@pytest.mark.parametrize(
    "name", ["pass^2", "interval", "MDE", "mid-p", "flip", "coverage", "tampered"]
)
def test_the_words_of_the_reports_are_there(name: str) -> None:
    assert explain(name).startswith(name)


@pytest.mark.parametrize("also", ["mde", " Mid P ", "P-VALUE", "mid_p", "confidence  interval"])
def test_a_word_may_be_written_in_other_ways(also: str) -> None:
    assert "\n" in explain(also)


def test_every_word_leads_to_one_term_only() -> None:
    names = [key(name) for each in TERMS for name in (each.name, *each.also)]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("name", [each.name for each in TERMS])
def test_every_text_is_plain_and_short(name: str) -> None:
    text = term(name).text
    assert text.endswith(".")
    assert 8 <= len(text.split()) <= 75
    assert text.isascii()


def test_a_typing_error_is_answered_with_near_words() -> None:
    with pytest.raises(InputError, match='"covrage" is not a word of the reports') as error:
        explain("covrage")
    assert error.value.hint == "did you mean: coverage?"


def test_a_part_of_a_term_finds_it() -> None:
    with pytest.raises(InputError) as error:
        explain("krippendorff")
    assert "agreement" in str(error.value.hint)


def test_a_word_that_is_near_to_none_is_answered_with_all() -> None:
    with pytest.raises(InputError) as error:
        explain("qqqqzzzz")
    assert str(error.value.hint).startswith("the words are: task, attempt,")


@given(st.text())
def test_any_word_is_answered_or_refused(word: str) -> None:
    known = {key(name) for each in TERMS for name in (each.name, *each.also)}
    if key(word) in known:
        assert explain(word)
        return
    with pytest.raises(InputError) as error:
        explain(word)
    assert error.value.hint
    assert len(error.value.message) < 80
