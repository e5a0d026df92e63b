"""Rules on a whole page: what it claims, and what it leaves unsaid."""

import re
from collections.abc import Iterator, Sequence

from labkit.fields import counted
from labkit.overclaim import describe
from labkit.overclaim.facts import Facts
from labkit.overclaim.findings import Finding, Rule
from labkit.overclaim.mentions import standings
from labkit.overclaim.text import Sentence
from labkit.overclaim.words import MISSING, Found, asserted

_FLATLY = re.compile(r"\bdetectable\b|\bsignificant(?:ly)?\b", re.IGNORECASE)
_PRIMARY = re.compile(
    r"\bpass(?:es|ed|ing)?\b|\bsolv\w+|\bsuccess rate|\brates?\b|\b(?:\d+|\w+) of \w+ tasks"
    r"|\bpoints\b|\bfail(?:s|ed)\b"
    r"|\bdetectabl[ey]\b|\bp\s*[=<>]|\btasks\b",
    re.IGNORECASE,
)
_OTHER_FIGURES = re.compile(
    r"\b(?:minutes?|min|cost\w*|cheap\w*|tokens?|fast\w*|quick\w*|slow\w*|short\w*|clean\w*"
    r"|readab\w*|style|rubric|marks?|elegan\w*)\b",
    re.IGNORECASE,
)
_CHOSEN = re.compile(
    r"\b(?:choose|chose|pick(?:ed)?|recommend(?:ed)?|adopt(?:ed)?|go with|went with|decided for"
    r"|switch(?:ed)? to)\b",
    re.IGNORECASE,
)
_HARD_FAILS = re.compile(r"\b(?:leak\w*|forbidden|hard fails?|safety|veto\w*)\b", re.IGNORECASE)


def coverage(sentences: Sequence[Sentence], facts: Facts, *, page: str) -> Iterator[Finding]:
    """A verdict on a page that says nothing of the runs that are missing."""
    if not facts.missing or MISSING.search(page):
        return
    for sentence in sentences:
        claim = _claims(sentence, facts)
        if claim:
            unsure = [pair for pair in facts.pairs if pair.survives_missing is False]
            turned = ", and the outcome could change if they had all gone one way" if unsure else ""
            missing = "; ".join(
                f"{side.id}: {side.missing} of {counted(side.planned, 'run')}"
                for side in facts.sides
                if side.missing
            )
            yield Finding.of(
                Rule.COVERAGE,
                sentence,
                words=claim,
                data=f"not measured: {missing}{turned}",
                instead="Say how many runs are missing"
                + (", and that the outcome hangs on them." if unsure else "."),
            )
            return


def _claims(sentence: Sentence, facts: Facts) -> str:
    for standing in standings(sentence, facts):
        return standing.words
    flatly: Found | None = next(asserted(_FLATLY, sentence.read), None)
    return flatly[0] if flatly else ""


def cherry_picking(sentences: Sequence[Sentence], facts: Facts, *, page: str) -> Iterator[Finding]:
    """A winner by some other figure than the pass rate, or one whose hard fails are not told."""
    for sentence in sentences:
        sides = {standing.ahead for standing in standings(sentence, facts)}
        chosen = next(asserted(_CHOSEN, sentence.read), None)
        if not sides and not chosen:
            continue
        other = _OTHER_FIGURES.search(sentence.read)
        if other and not _PRIMARY.search(page):
            yield Finding.of(
                Rule.CHERRY_PICKING,
                sentence,
                words=other[0],
                data="; ".join(map(describe.rate, facts.sides)),
                instead="Give the pass rate first; it was the primary figure before the runs.",
            )
            return
        yield from _untold_vetoes(sentence, facts, sides, page)


def _untold_vetoes(
    sentence: Sentence, facts: Facts, sides: set[str | None], page: str
) -> Iterator[Finding]:
    if _HARD_FAILS.search(page):
        return
    for side in facts.sides:
        if side.vetoes and side.id in sides:
            yield Finding.of(
                Rule.CHERRY_PICKING,
                sentence,
                words=side.id,
                data=f"{side.id} {'; '.join(side.vetoes)}",
                instead="Tell the hard fails beside the rates: they are never averaged away.",
            )
            return
