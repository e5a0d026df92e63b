"""How well the check tells honest sentences from overclaims, on sentences labelled by hand.

`sentences.tsv` is what the rules were tuned on. `held_out.tsv` was written before any rule and
never tuned on: it says what to expect of sentences that nobody has seen.
"""

import pytest
from claims import FACTS, HONEST, Labelled, labelled

from labkit.overclaim import Rule

TUNED, HELD_OUT = labelled("sentences.tsv"), labelled("held_out.tsv")


def test_the_labels_are_fair() -> None:
    for sentences in (TUNED, HELD_OUT):
        honest = sum(each.label == HONEST for each in sentences)
        assert 0.4 <= honest / len(sentences) <= 0.6
        assert {each.study for each in sentences} == set(FACTS)
    assert len(TUNED) >= 80
    assert not {each.text for each in TUNED} & {each.text for each in HELD_OUT}
    assert {each.label for each in TUNED} == {*map(str, Rule), HONEST}


@pytest.mark.parametrize("each", [s for s in TUNED if s.label == HONEST], ids=lambda s: s.text)
def test_an_honest_sentence_is_left_alone(each: Labelled) -> None:
    assert each.found == ()


@pytest.mark.parametrize("each", [s for s in TUNED if s.label != HONEST], ids=lambda s: s.text)
def test_an_overclaim_is_found_by_its_rule(each: Labelled) -> None:
    assert each.label in each.found
