"""Words that people wrote into a summary are kept when it is made again."""

from hypothesis import given
from hypothesis import strategies as st

from labkit.report.markdown import OUR_WORDS
from labkit.report.ownwords import with_words

PLACE = f"   {OUR_WORDS}"
PAGE = (
    f"# Summary\n\n1. **Which is ahead?** B.\n\n{PLACE}\n\n"
    f"2. **How sure?** Not.\n\n{PLACE}\n\n## Rest\n"
)


def test_a_page_without_words_is_replaced() -> None:
    assert with_words(PAGE, PAGE.replace("B.", "A.")) == PAGE


def test_words_stay_under_their_question() -> None:
    said = "   > *In our words:* We shall use B,\n   > with care."
    earlier = PAGE.replace("B.", "A.").replace(PLACE, said, 1)
    assert with_words(PAGE, earlier) == PAGE.replace(PLACE, said, 1)


def test_words_of_a_question_that_is_gone_stand_at_the_end() -> None:
    said = "   > *In our words:* Unsure."
    question = "2. **How sure?** Not.\n\n"
    earlier = PAGE.replace(question + PLACE, question + said)
    fresh = "# Summary\n\nThere is one configuration only.\n"
    made = with_words(fresh, earlier)
    assert made.startswith(fresh.rstrip())
    assert made.endswith(f"## In our words, of an earlier summary\n\n{said}\n")
    assert with_words(fresh, made) == made


WORD = st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=20)


@given(st.lists(WORD, min_size=1, max_size=6))
def test_no_word_is_ever_lost(words: list[str]) -> None:
    said = "\n".join(f"   > {word}" for word in words)
    earlier = PAGE.replace(PLACE, f"   > *In our words:* x\n{said}", 1)
    again = with_words(PAGE, earlier)
    assert all(f"   > {word}" in again for word in words)
    assert with_words(PAGE, again) == again
