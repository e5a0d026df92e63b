"""The rule on causes: what made a difference is what was varied, and only if nothing else was."""

import re
from collections.abc import Iterator

from labkit.overclaim.facts import Facts
from labkit.overclaim.findings import Finding, Rule
from labkit.overclaim.mentions import speaks_of_results
from labkit.overclaim.text import Sentence
from labkit.overclaim.words import asserted

_CAUSE = re.compile(
    r"\b(?:because of|due to|thanks to|caused by|owing to)\s+(?:the |its |a |our )?(?:\w+ )?"
    r"(?P<cause>model|prompt|agent|temperature|effort|settings?|tools?|version|context"
    r"|instructions)\b",
    re.IGNORECASE,
)
_AT_WORK = re.compile(
    r"\b(?:model|prompt|agent|harness|temperature|effort|reasoning|settings?|tools?|version|context"
    r"|instructions?|rules|(?:AGENTS|CLAUDE|GEMINI)\.md)\b(?:\s+[\w'-]+){0,3}?\s+"
    r"(?:ma(?:kes?|de) (?:the|a|all the) difference|help(?:s|ed)?|improv(?:es?|ed)|rais(?:es?|ed)"
    r"|increas(?:es?|ed)|lift(?:s|ed)?|boost(?:s|ed)?|hurts?|lower(?:s|ed)|reduc(?:es?|ed)"
    r"|explains?|explained|caus(?:es?|ed)|le(?:ads?|d) to|pa(?:ys?|id) off|ma(?:kes?|de) it better"
    r"|(?:is|was) (?:why|the (?:reason|cause)|what))\b",
    re.IGNORECASE,
)
"""That one of these things did something."""
_DENIED = re.compile(r"\b(?:not|never|no|hardly|cannot)\b|n't\b", re.IGNORECASE)


def cause(sentence: Sentence, facts: Facts) -> Iterator[Finding]:
    """A cause other than what was varied, or any cause where more differed, or nothing."""
    if facts.attributable is False:
        yield from _no_cause(sentence, facts)
        return
    for found in asserted(_CAUSE, sentence.read):
        named = found["cause"].lower().rstrip("s")
        if named not in facts.varied.lower() and speaks_of_results(sentence, facts):
            yield Finding.of(
                Rule.GENERAL,
                sentence,
                words=found[0],
                data=f"the configurations differ in one thing: {facts.varied}",
                instead=f"Nothing but {facts.varied} was varied, so nothing else can be the cause.",
            )
            return


def _no_cause(sentence: Sentence, facts: Facts) -> Iterator[Finding]:
    for pattern in (_CAUSE, _AT_WORK):
        for found in asserted(pattern, sentence.read):
            if _DENIED.search(found[0]):
                continue
            yield Finding.of(
                Rule.GENERAL,
                sentence,
                words=found[0],
                data=" ".join(facts.apart)
                or "the runs differ in more than was declared, or in nothing",
                instead="Say how the configurations came out, and that what was declared to differ "
                f"({facts.varied}) cannot be given as the cause.",
            )
            return
