"""How well the check tells honest sentences from overclaims, on sentences labelled by hand.

`sentences.tsv` is what the rules were tuned on. `held_out.tsv` was written before the last tuning
and looked at once; docs/overclaim.md has what that first look gave, which is what to expect of
sentences that nobody has seen. The few general faults that it showed were mended afterwards.
"""

import pytest
from claims import FACTS, HONEST, Labelled, labelled, score

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


def test_sentences_that_nobody_tuned_on_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    tuned, held_out = score(TUNED), score(HELD_OUT)
    with capsys.disabled():
        print(f"\ntuned on: {tuned}\nheld out: {held_out}")  # noqa: T201 - what it is for
    assert tuned.rightly == tuned.flagged == tuned.overclaims
    assert held_out.precision.low >= 0.75
    assert held_out.recall.low >= 0.70
