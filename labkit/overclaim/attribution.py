"""Which configuration a number of a sentence is about, and whether the context makes it a rate."""

import re

from labkit.overclaim.facts import Facts, Pair, Side
from labkit.overclaim.mentions import Mention, mentions, pairs_meant
from labkit.overclaim.text import Sentence

_OF_WHOM = re.compile(
    r"(?:\s*of \d{1,6} tasks?)?(?:\s*\([^()]{0,60}\))?[^,;.:\d]{0,28}?"
    r"\b(?:for|by|of|with|in|from|under)\s+(?:the |configuration |config |model )*"
)
_JOINT = re.compile(r"^\s*(?:and|or|-|/|&)\s*$")
_PASSING = re.compile(
    r"\bpass(?:es|ed|ing)?\b|\brates?\b|\bsolv\w+|\bsucce\w+|\bcomplet\w+|\bfail(?:s|ed|ing"
    r"|ure)?\b|\bgot\b|\bright\b"
    r"|\bpass\s?[\^@]",
    re.IGNORECASE,
)
_OTHER_PERCENT_AFTER = re.compile(
    r"\s*(?:-?\s*(?:confidence|interval|ci\b|power|level|wilson|bootstrap|clopper|coverage"
    r"|cover\w*)|of (?:the )?(?:team|cost|tokens))",
    re.IGNORECASE,
)
_OTHER_PERCENT_BEFORE = re.compile(
    r"\b(?:power|coverage|confidence|level|below|pearson|interval at|at least|true rate of"
    r"|compatible with|threshold of|anything from)\W*$",
    re.IGNORECASE,
)
_OTHER_SUBJECT = re.compile(
    r"\b(?:kappa|alpha|agree\w*|rubric|marks?|coverage|itself|nothing but noise)\b", re.IGNORECASE
)


def about(sentence: Sentence, start: int, end: int, facts: Facts) -> tuple[Side, ...]:
    """Return the configurations that the number between two positions can be about."""
    text = sentence.read
    everybody = mentions(text, facts)
    before = [one for one in everybody if one.start < start]
    after = [one for one in everybody if one.start >= end]
    if after and _OF_WHOM.fullmatch(text[end : after[0].start]):
        found = _with_neighbours(after[:2], text, first=True)
    elif before:
        found = _with_neighbours(before[-2:], text, first=False)
    elif after:
        found = {one.side for one in everybody}
    else:
        return facts.sides
    return tuple(side for side in facts.sides if side.id in found)


def _with_neighbours(two: list[Mention], text: str, *, first: bool) -> set[str]:
    """Return one mention, or both when they are joined: A and B, B - A."""
    if len(two) > 1 and _JOINT.match(text[two[0].end : two[1].start]):
        return {one.side for one in two}
    return {two[0 if first else -1].side}


def pairs_about(sentence: Sentence, facts: Facts) -> tuple[Pair, ...]:
    """Return the comparisons that the numbers of a sentence can be about."""
    return pairs_meant(facts, frozenset(one.side for one in mentions(sentence.read, facts)))


def of_passing(sentence: Sentence) -> bool:
    """Return whether a sentence is about tasks that were passed or not."""
    return bool(_PASSING.search(sentence.read)) and not _OTHER_SUBJECT.search(sentence.read)


def of_something_else(sentence: Sentence) -> bool:
    """Return whether its numbers are about raters, marks or coverage."""
    return bool(_OTHER_SUBJECT.search(sentence.read))


def is_level(sentence: Sentence, start: int, end: int) -> bool:
    """Return whether a percentage is a level of confidence, of power, of coverage, or a bound."""
    text = sentence.read
    return bool(_OTHER_PERCENT_AFTER.match(text, end) or _OTHER_PERCENT_BEFORE.search(text[:start]))
