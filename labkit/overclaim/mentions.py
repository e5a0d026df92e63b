"""Which configurations a sentence speaks of, and whom it puts ahead of whom."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from labkit.overclaim.facts import Facts, Kind, Pair, Side
from labkit.overclaim.text import BLANK, Sentence
from labkit.overclaim.words import (
    AHEAD,
    BEHIND,
    DISCLAIMER,
    Found,
    asserted,
    clause_start,
)

_COMPARED = re.compile(
    r"\b(?:models?|configurations?|agents?|settings?|versions?|variants?|approach(?:es)?"
    r"|prompts?|winner|difference"
    r"|pass rates?|results?|data|evaluation|comparison|outcome|gap)\b",
    re.IGNORECASE,
)
_ON_SOME_TASKS = re.compile(
    r"^[^.;,]{0,25}?\bon (?:only )?(?:(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten"
    r"|some|a few)\b|" + BLANK + ")",
    re.IGNORECASE,
)
_OTHER_THINGS = re.compile(
    r"^\s*(?:tasks?|tests?|hidden|rubrics?|graders?|intervals?|ideas?|data|way|understanding"
    r"|instructions?|next"
    r"|description|to (?:write|have|use|run|add|take)|than (?:nothing|guessing|chance|a"
    r" (?:third|second)))\b",
    re.IGNORECASE,
)
_PREPARED = re.compile(
    r"\b(?:prompts?|tasks?|tests?|rubrics?|instructions|setup)\s+(?:was|were|is|are|has been"
    r"|have been)\s+$",
    re.IGNORECASE,
)
_SO_MANY = re.compile(r"\bpoints in\s+$")
_VERB_AFTER_A = re.compile(
    r"(?:\s+(?:\w+ly|never|always|only|also|alone|just|still))?\s+(?:is|was|has|had|does|did|do"
    r"|can|cannot|may|might"
    r"|will|would|could|should|came|beat|got|took|and|or|vs|versus|against|costs?(?! of)|won"
    r"|lost|over|on|in|by|than"
    r"|as|but|to|with|needs?|needed|fell|led|made|wrote|ran|gave|left|used|at|who|which|seems?"
    r"|appears?"
    r"|(?!less\b|plus\b|bugs\b|loss\b|pass\b|across\b|class\b|success\b"
    r"|unless\b)[a-z]{2,}(?<![su])s"
    r"|[a-z]{2,}ed(?=\s+(?:on|in|by|to|for|the|all|every|more|less|fewer|only|both|its|about"
    r"|around|none|no|any|most|"
    r"\d|one|two|three|four|five|six|seven|eight|nine|ten|B|C|D)\b|\s*[,.;])|out\w+s|passed"
    r"|solved|failed"
    r"(?=\s))\b"
)

_PASSIVE = re.compile(r"beaten|outperformed|surpassed|dominated|improved|won", re.IGNORECASE)
_NOUN = re.compile(
    r"winners?|victory|advantage|superiority|improvements?|best|favou?r(?:s|ed)?", re.IGNORECASE
)
_IS = re.compile(r"(?:\s+(?:is|was|of|for|has been)\b[^,;]{0,20}|\s+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A configuration named in a sentence."""

    side: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A claim that one configuration is ahead; None where the sentence does not say which."""

    words: str
    start: int
    ahead: str | None
    behind: str | None


def mentions(text: str, facts: Facts) -> tuple[Mention, ...]:
    """Return every configuration that a sentence names, by letter or by a word of its own."""
    return _in_order(text, tuple((side.id, side.names) for side in facts.sides))


@lru_cache(maxsize=64)
def _in_order(text: str, called: tuple[tuple[str, tuple[str, ...]], ...]) -> tuple[Mention, ...]:
    found = (each for side, names in called for each in _mentions(text, side, names))
    return tuple(sorted(found, key=lambda mention: mention.start))


def _mentions(text: str, side: str, names: tuple[str, ...]) -> Iterator[Mention]:
    for found in re.finditer(rf"(?<![\w/'.-]){re.escape(side)}(?![\w/]|-\w|\.\w)", text):
        if side not in "AI" or not _is_article(text, found):
            yield Mention(side=side, start=found.start(), end=found.end())
    for name in names:
        for found in re.finditer(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text, re.IGNORECASE):
            yield Mention(side=side, start=found.start(), end=found.end())


def _is_article(text: str, found: Found) -> bool:
    """Return whether a capital A is the article that begins a sentence or a clause."""
    before = text[: found.start()].rstrip("\"'( ")
    begins = not before or before[-1] in ".:;?!"
    followed_by_word = re.match(r"\s+[a-z]", text[found.end() :])
    return bool(begins and followed_by_word and not _VERB_AFTER_A.match(text, found.end()))


def named(sentence: Sentence, facts: Facts) -> frozenset[str]:
    """Return the letters of the configurations that a sentence names."""
    return frozenset(mention.side for mention in mentions(sentence.read, facts))


def speaks_of_results(sentence: Sentence, facts: Facts) -> bool:
    """Return whether a sentence is about the configurations or what came out of them."""
    return bool(named(sentence, facts) or _COMPARED.search(sentence.read))


def kinds_named(sentence: Sentence, facts: Facts) -> tuple[Kind, ...]:
    """Return the task types and slices that a sentence speaks of."""
    return tuple(kind for kind in facts.kinds if _kind_pattern(kind.name).search(sentence.read))


def _kind_pattern(name: str) -> re.Pattern[str]:
    stem = re.escape(name)
    if name in ("other", "tests"):  # words that any sentence may hold
        return re.compile(rf"\b{stem}[- ](?:tasks?|type|category|slice)\b", re.IGNORECASE)
    return re.compile(rf"\b{stem}(?:e?s|ings?|e?d)?\b", re.IGNORECASE)


def standings(sentence: Sentence, facts: Facts) -> Iterator[Standing]:
    """Yield every claim of a sentence that a configuration is ahead, disclaimed ones left out."""
    text = sentence.read
    if DISCLAIMER.search(text) or not speaks_of_results(sentence, facts):
        return
    found_mentions = mentions(text, facts)
    for pattern, leading in ((AHEAD, True), (BEHIND, False)):
        for found in asserted(pattern, text):
            after = text[found.end() :]
            if _ON_SOME_TASKS.match(after) or _OTHER_THINGS.match(after):
                continue
            if _PREPARED.search(text[: found.start()]) or _SO_MANY.search(text[: found.start()]):
                continue
            yield _standing(text, found, found_mentions, leading=leading)


def _standing(
    text: str, found: Found, everybody: tuple[Mention, ...], *, leading: bool
) -> Standing:
    begin = clause_start(text, found.start())
    before = [one for one in everybody if begin <= one.start < found.start()]
    after = [one for one in everybody if one.start >= found.end()]
    if not before:
        before = [one for one in everybody if one.start < found.start()]
    passive = _PASSIVE.fullmatch(found[0]) and re.match(r"\s+by\b", text[found.end() :])
    between = text[found.end() : _first(after, text)]
    named_after = _NOUN.fullmatch(found[0]) and _IS.fullmatch(between)
    subject, other = _last(before), after[0].side if after else None
    if after and (named_after or not before):
        subject, other = after[0].side, None if named_after else _last(before)
    if bool(passive) == leading:
        subject, other = other, subject
    return Standing(
        words=found[0],
        start=found.start(),
        ahead=subject if subject != other else None,
        behind=other if subject != other else None,
    )


def _last(before: list[Mention]) -> str | None:
    return before[-1].side if before else None


def _first(after: list[Mention], text: str) -> int:
    return after[0].start if after else len(text)


def pairs_meant(facts: Facts, sides: frozenset[str]) -> tuple[Pair, ...]:
    """Return the comparisons that a sentence about these configurations can be about."""
    if len(sides) > 1:
        return tuple(pair for pair in facts.pairs if pair.sides <= sides)
    return tuple(pair for pair in facts.pairs if sides <= pair.sides)


def other_side(facts: Facts, side: str) -> Side | None:
    """Return the one other configuration, where there are two."""
    others = [one for one in facts.sides if one.id != side]
    return others[0] if len(others) == 1 else None
