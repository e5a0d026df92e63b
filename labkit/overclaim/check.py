"""Every rule over every sentence of a page."""

from labkit.overclaim.causes import cause
from labkit.overclaim.conclusions import decision, general
from labkit.overclaim.evidence import (
    agreement,
    bare_rate,
    precision,
    reliability,
    runs_as_samples,
    task_types,
)
from labkit.overclaim.facts import Facts
from labkit.overclaim.figures import number
from labkit.overclaim.findings import Finding, Rule
from labkit.overclaim.page import cherry_picking, coverage
from labkit.overclaim.strength import strength
from labkit.overclaim.text import sentences
from labkit.overclaim.verdicts import equality, overlap, underclaim, winner

_RULES = (
    winner,
    strength,
    number,
    bare_rate,
    runs_as_samples,
    equality,
    overlap,
    task_types,
    reliability,
    general,
    cause,
    decision,
    precision,
    agreement,
    underclaim,
)
_ORDER = tuple(Rule)


def check(text: str, facts: Facts) -> tuple[Finding, ...]:
    """Return what a Markdown page says that the data do not, in the order of its lines.

    A prompt for people, not a mark: rules about words miss some claims and mistake some others.
    """
    letters = [side.id for side in facts.sides]
    found = sentences(text, keep=letters, skip=facts.own)
    of_sentences = (
        finding for sentence in found for rule in _RULES for finding in rule(sentence, facts)
    )
    of_page = (
        finding for rule in (coverage, cherry_picking) for finding in rule(found, facts, page=text)
    )
    unique = dict.fromkeys((*of_sentences, *of_page))
    return tuple(sorted(unique, key=lambda each: (each.line, _ORDER.index(each.rule))))
