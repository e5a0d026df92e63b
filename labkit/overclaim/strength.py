"""The rule on strong words: "clearly", "proves", "significant", "never"."""

import re
from collections.abc import Iterator

from labkit.fields import counted
from labkit.overclaim import describe
from labkit.overclaim.facts import Facts, Side
from labkit.overclaim.findings import Finding, Rule
from labkit.overclaim.mentions import named, pairs_meant, speaks_of_results
from labkit.overclaim.text import Sentence
from labkit.overclaim.words import (
    ABSOLUTE,
    AHEAD,
    BEHIND,
    STRONG,
    TESTED,
    asserted,
    doubted,
    negated,
)
from labkit.report.wording import percent, short
from labkit.stats import clopper_pearson_interval

_NEAR = 30
_DOING = re.compile(
    r"\b(?:fail\w*|pass\w*|leak\w*|breaks?|broke|works?|worked|solv\w+|succeeds?|mistakes?"
    r"|wrong|gets?|finish\w*|reliable)\b",
    re.IGNORECASE,
)
_IN_THE_LAB = re.compile(
    r"\b(?:in|on|of) (?:all |any of |these |our |the )*(?:\d+|nine|ten|twelve) (?:tasks|runs)\b"
    r"|\binterval\b|\bat least \d",
    re.IGNORECASE,
)


def strength(sentence: Sentence, facts: Facts) -> Iterator[Finding]:
    """A strong word without a detectable difference, or "never" without its bound."""
    yield from _strong(sentence, facts)
    yield from _absolute(sentence, facts)


def _strong(sentence: Sentence, facts: Facts) -> Iterator[Finding]:
    text = sentence.read
    if not (speaks_of_results(sentence, facts) and _about_standing(text)):
        return
    pairs = pairs_meant(facts, named(sentence, facts))
    detectable = any(pair.detectable for pair in pairs)
    for found in asserted(STRONG, text):
        followed = text[found.end() : found.end() + _NEAR]
        if re.match(r"\W*(?:no|not|nothing|un\w+|that (?:no|neither))\b", followed, re.IGNORECASE):
            continue
        untested = found[0].lower().startswith("significant") and not TESTED.search(
            sentence.paragraph
        )
        if pairs and (untested or not detectable):
            yield Finding.of(
                Rule.STRENGTH,
                sentence,
                words=found[0],
                data=describe.outcomes(pairs),
                instead=describe.honest_verdict(pairs[0])
                if not detectable
                else "Name the test and its p value.",
            )
            return


def _about_standing(text: str) -> bool:
    return bool(
        AHEAD.search(text)
        or BEHIND.search(text)
        or re.search(
            r"\b(?:difference|effect|gap|result|evidence|advantage|more tasks|fewer tasks)",
            text,
            re.IGNORECASE,
        )
    )


def _absolute(sentence: Sentence, facts: Facts) -> Iterator[Finding]:
    text = sentence.read
    for found in ABSOLUTE.finditer(text):
        denied = negated(text, found) and not re.match(r"(?i)never|100", found[0])
        if denied or doubted(text, found) or _denied_never(text, found.start()):
            continue
        doing = _DOING.search(text, found.end())
        sides = [facts.side(one) for one in sorted(named(sentence, facts))]
        if (
            not doing
            or doing.start() - found.end() > _NEAR
            or not sides
            or _IN_THE_LAB.search(text)
        ):
            continue
        yield Finding.of(
            Rule.STRENGTH,
            sentence,
            words=found[0],
            data="; ".join(map(_bound, sides)),
            instead='Say "in our runs", how many tasks there were, and the lower bound.',
        )
        return


def _denied_never(text: str, position: int) -> bool:
    before = text[max(0, position - _NEAR) : position]
    return bool(re.search(r"\b(?:not|cannot|n't)\b", before))


def _bound(side: Side) -> str:
    tasks, passed = side.rate.tasks, side.passed
    if not tasks:
        return f"{side.id} was not measured"
    if passed < tasks:
        return describe.rate(side)
    low = clopper_pearson_interval(tasks, tasks).low
    return (
        f"{side.id} passed {short(passed)} of {counted(tasks, 'task')}, which is compatible with "
        f"any true rate from {percent(low)} up (Clopper-Pearson)"
    )
