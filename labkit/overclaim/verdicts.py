"""Rules on who is ahead: winner, equality, overlap, underclaim."""

import re
from collections.abc import Iterator

from labkit.overclaim import describe
from labkit.overclaim.facts import Facts, Pair
from labkit.overclaim.findings import Finding, Rule
from labkit.overclaim.mentions import (
    Standing,
    kinds_named,
    named,
    pairs_meant,
    standings,
)
from labkit.overclaim.text import Sentence
from labkit.overclaim.words import (
    Found,
    doubted,
    is_question,
    negated,
    phrases,
)

_EQUAL = phrases(
    r"""
    no (?:\w+ )?(?:differences?|effect|impact|winner), (?:makes?|made) (?:no|little) difference,
    ha(?:s|ve|d) the same (?:pass|success|quality|performance|results?|level),
    (?:roughly|about) equal, about equally, equally (?:good|well|strong|capable), interchangeable,
    comparable, similar(?:ly)?(?! (?:task|prompt|time|cost)), no better (?:and|or) no worse,
    (?:performs?|works?|do|did|are|were|is|was|performed|worked|does)(?: both)?
    (?:(?:exactly|just|about|really|practically|basically) )?(?:the same\b(?! (?:prompt|task|model
    |tool|time|as before))|equal(?:ly (?:good|well|strong|capable|reliable))?\b
    |as (?:good|well|strong|capable|reliable) as|identical(?! (?:prompt|task))|equivalent
    |on (?:a )?par|indistinguishable|tied), (?:a|the) (?:tie|draw), neck and neck,
    (?:do|does|did) not (?:differ|matter), does(?: not|n't) matter which,
    (?:not|n't) (?:show|find|see) any difference
    """
)
_DENIES_ITSELF = re.compile(r"(?i)no|do|make|made|n't")
"""How those of them begin that hold a negation of their own."""
_MEASURED_EQUALITY = phrases(
    r"""
    detect\w*, significan\w+, interval, compatible, points, test, could, tell, distinguish\w*,
    enough,
    proven?, shown?
    """
)
_UNDERCLAIM = phrases(
    r"""
    no (?:statistically )?(?:detectable|significant|measurable|clear|real)
    (?:difference|winner|effect|advantage), (?:not|n't) (?:statistically )?(?:detectable|significant
    |conclusive|differ\w*), (?:can\s?not|can't|could(?: not|n't)) (?:be )?(?:tell|told|say|said
    |distinguish\w*|decide\w*
    |claim\w*), inconclusive, undecided, indecisive, within (?:the )?(?:noise|error),
    (?:just|only|pure|mere) (?:chance|luck|noise), neither (?:\w+ )?(?:is|was|won|wins|of),
    (?:is|was|could|may|might) (?:just |only )?(?:be )?(?:just |only )?(?:due to )?(?:chance|luck
    |noise),
    not read (?:anything|much) into
    """
)
_OTHER_FIGURE = phrases(
    r"""
    minutes?, time, speed, cost\w*, tokens?, pass\s?\^2, rubric, marks?, style, quality of,
    elsewhere,
    in general, other (?:tasks|projects|code), attempts?, hidden, prompts?, once more, counting, if
    """
)
_THE_TWO = phrases("both, they, two, models?, configurations?, agents?, results?, pass rates?")
_OVERLAP = phrases(
    r"""
    (?:bars?|intervals?|CIs?)\b[^.;]{0,60}\b(?:overlap\w*|disjoint|separated),
    overlap\w*[^.;]{0,40}\b(?:bars?|intervals?|CIs?)
    """
)
_OVERLAP_REFUSED = phrases(
    "(?:proves?|says?|decides?) nothing, (?:no|not an) argument, not mean, not (?:be )?used?, "
    "paired"
)


def winner(sentence: Sentence, facts: Facts) -> Iterator[Finding]:
    """A configuration put ahead of another without a detectable difference."""
    for standing in standings(sentence, facts):
        against = _against(standing, sentence, facts)
        if against:
            yield Finding.of(
                Rule.WINNER,
                sentence,
                words=standing.words,
                data=describe.outcomes(against),
                instead=describe.honest_verdict(against[0]),
            )
            return


def _against(standing: Standing, sentence: Sentence, facts: Facts) -> tuple[Pair, ...]:
    """Return the comparisons that do not bear out a standing."""
    said = frozenset(side for side in (standing.ahead, standing.behind) if side)
    pairs = pairs_meant(facts, said or named(sentence, facts))
    if not said:
        return () if any(pair.detectable for pair in pairs) else pairs
    return tuple(pair for pair in pairs if not _bears_out(pair, standing))


def _bears_out(pair: Pair, standing: Standing) -> bool:
    if not pair.detectable:
        return False
    return pair.ahead != standing.behind and standing.ahead in (None, pair.ahead)


def equality(sentence: Sentence, facts: Facts) -> Iterator[Finding]:
    """Find "the same" where nothing more than "not detectable" was measured."""
    text = sentence.read
    pairs = pairs_meant(facts, named(sentence, facts))
    if any(pair.detectable for pair in pairs) or _OTHER_FIGURE.search(text):
        return
    for found in _EQUAL.finditer(text):
        if _denies_equality(text, found) or _MEASURED_EQUALITY.search(text):
            continue
        if pairs and _is_about_both(sentence, facts, found) and not kinds_named(sentence, facts):
            yield Finding.of(
                Rule.EQUALITY,
                sentence,
                words=found[0],
                data=f"{describe.outcomes(pairs)}; {describe.smallest(facts)}",
                instead=describe.honest_verdict(pairs[0]),
            )
            return


def _is_about_both(sentence: Sentence, facts: Facts, found: Found) -> bool:
    """Return whether what is called the same are the configurations, not files or prompts."""
    by_itself = re.match(
        r"(?i)not |n't |no (?!effect|impact)|a tie|the tie|a draw|the draw", found[0]
    )
    return bool(by_itself or named(sentence, facts) or _THE_TWO.search(sentence.read))


def _denies_equality(text: str, found: Found) -> bool:
    if _DENIES_ITSELF.match(found[0]):
        return doubted(text, found) and not re.search(r"(?i)matter", found[0])
    return doubted(text, found) or negated(text, found)


def overlap(sentence: Sentence, facts: Facts) -> Iterator[Finding]:
    """Separate error bars used as an argument, either way."""
    found = _OVERLAP.search(sentence.read)
    if not found or not facts.pairs or _OVERLAP_REFUSED.search(sentence.read):
        return
    if is_question(sentence.read):
        return
    yield Finding.of(
        Rule.OVERLAP,
        sentence,
        words=found[0],
        data=f"the paired interval decides: {describe.outcomes(facts.pairs)}",
        instead="Bars of the same tasks may overlap and the difference still be there, or the "
        "other way round: give the paired interval and the test.",
    )


def underclaim(sentence: Sentence, facts: Facts) -> Iterator[Finding]:
    """A tie, or doubt, where the difference is detectable."""
    text = sentence.read
    pairs = pairs_meant(facts, named(sentence, facts))
    detectable = tuple(
        pair for pair in pairs if pair.detectable and pair.survives_missing is not False
    )
    if (
        not detectable
        or detectable != pairs
        or _OTHER_FIGURE.search(text)
        or kinds_named(sentence, facts)
    ):
        return
    for found in (*_UNDERCLAIM.finditer(text), *_EQUAL.finditer(text)):
        equal = _EQUAL.match(text, found.start())
        if is_question(text) or (equal and _denies_equality(text, found)):
            continue
        if equal and not _is_about_both(sentence, facts, found):
            continue
        yield Finding.of(
            Rule.UNDERCLAIM,
            sentence,
            words=found[0],
            data=describe.outcomes(detectable),
            instead=describe.honest_verdict(detectable[0]),
        )
        return
