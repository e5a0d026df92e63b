"""Rules on what is made of the figures: generalising, deciding."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from labkit.fields import counted
from labkit.overclaim import describe
from labkit.overclaim.facts import Facts, Side
from labkit.overclaim.findings import Finding, Rule
from labkit.overclaim.mentions import mentions, named, other_side, pairs_meant, speaks_of_results
from labkit.overclaim.text import Sentence
from labkit.overclaim.words import (
    DISCLAIMER,
    asserted,
    clause_end,
    doubted,
    is_question,
    negated,
    phrases,
)
from labkit.report.wording import amount, measured

_EVERYWHERE = phrases(
    r"""
    in general, generally, everywhere, universal\w*, real[- ]world, in practice,
    any (?:project|code ?base|task|repository|team|language),
    (?:every|all|other) (?:projects?|code ?bases?|repositor\w+|teams?|languages?
    |developers?|software),
    (?:better|best|superior|stronger|good) (?:\w+ )?(?:at|for|in)
    (?:coding|programming|software|code|development), (?:better|best) (?:programmer|coder
    |developer),
    (?:larger|smaller|bigger|newer|older) models,
    (?:everyone|everybody|developers|people|companies) should,
    best (?:\w+ )?(?:model|agent)(?! (?:for|on|in) (?:us|our|these))
    """
)
_OPEN = phrases("whether, if, may, might, could, unknown, cannot, not known")
_CLAIMING = phrases(
    r"""
    better, best, superior, stronger, wins?, beats?, outperform\w*, should, holds?, prefer\w*,
    works?,
    applies, do (?:well|better), generali[sz]es?, transfers?, good, pass(?:es)?, solves?
    """
)
_DECIDE = phrases(
    r"""
    choose, chose, chosen, pick(?:ed)?, select(?:ed)?, recommend(?:ed|s)?, adopt(?:ed)?,
    switch(?:ed)? to, go(?:ing)? with, went with, decided? (?:for|on|to use), stay with, keep,
    settled? (?:for|on), use, will use, deploy(?:ed)?, prefer(?:red)?,
    we (?:take|took), our (?:choice|pick|recommendation) (?:is|was)
    """
)
_FOR_PASSING = phrases(
    r"""
    pass(?:es|ed)? more, solv\w+ more, more tasks,
    (?:higher|better|greater) (?:pass |success )?rates?,
    (?:is|was|works?|performs?|performed) (?:the )?better, (?:is|was) (?:the )?best,
    more (?:accurate|reliable|correct|capable), its (?:higher|better), better results?, (?:it )?won,
    pass rate (?:is|was) (?:higher|better), passes more, outperform\w*
    """
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Thrift:
    """A reason that the data can confirm: less of something."""

    pattern: re.Pattern[str]
    value: Callable[[Side], float | None]
    tell: Callable[[float], str]


_THRIFT = (
    _Thrift(
        pattern=re.compile(
            r"\b(?P<less>cheaper|cheapest|as cheap|less expensive|costs? less|cost less"
            r"|lower costs?)|(?P<more>more expensive|costs? more|dearer)\b",
            re.I,
        ),
        value=lambda side: side.cost.per_run,
        tell=lambda value: f"cost {amount(value)} a run",
    ),
    _Thrift(
        pattern=re.compile(
            r"\b(?P<less>faster|fastest|quicker|as fast|less time|fewer minutes)|(?P<more>slower"
            r"|slowest|more time|longer than)\b",
            re.I,
        ),
        value=lambda side: side.minutes.value,
        tell=lambda value: f"median {measured(value)} min",
    ),
    _Thrift(
        pattern=re.compile(r"\b(?P<less>fewer tokens|less tokens)|(?P<more>more tokens)\b", re.I),
        value=lambda side: side.tokens.per_run,
        tell=lambda value: f"{amount(value)} tokens a run",
    ),
)


def general(sentence: Sentence, facts: Facts) -> Iterator[Finding]:
    """A claim beyond these tasks."""
    text = sentence.read
    for found in _EVERYWHERE.finditer(text):
        if negated(text, found) or is_question(text) or _OPEN.search(text[: found.start()]):
            continue
        if speaks_of_results(sentence, facts) and _CLAIMING.search(text):
            yield Finding.of(
                Rule.GENERAL,
                sentence,
                words=found[0],
                data=f"the figures are about {counted(facts.tasks, 'task')} of one code base",
                instead='Say "on our tasks", and leave other projects to other evaluations.',
            )
            return


def decision(sentence: Sentence, facts: Facts) -> Iterator[Finding]:
    """A choice that does not follow from the evidence."""
    yield from _for_passing(sentence, facts)
    yield from _for_thrift(sentence, facts)


def _for_passing(sentence: Sentence, facts: Facts) -> Iterator[Finding]:
    text = sentence.read
    decided = next(asserted(_DECIDE, text), None)
    reason = next(asserted(_FOR_PASSING, text), None)
    if not decided or not reason or DISCLAIMER.search(text):
        return
    pairs = pairs_meant(facts, named(sentence, facts))
    chosen = _first_after(sentence, facts, decided.end())
    sound = any(pair.detectable and chosen in (None, pair.ahead) for pair in pairs)
    if pairs and not sound:
        yield Finding.of(
            Rule.DECISION,
            sentence,
            words=f"{decided[0]} ... {reason[0]}",
            data=describe.outcomes(pairs),
            instead="Name what does speak for it (cost, time, habit), or leave the choice open.",
        )


def _first_after(sentence: Sentence, facts: Facts, position: int) -> str | None:
    return next((one.side for one in mentions(sentence.read, facts) if one.start >= position), None)


def _for_thrift(sentence: Sentence, facts: Facts) -> Iterator[Finding]:
    """Find "it is cheaper" where it is not."""
    text = sentence.read
    if is_question(text):
        return
    for thrift in _THRIFT:
        for found in thrift.pattern.finditer(text):
            if negated(text, found) or doubted(text, found):
                continue
            contradiction = _contradiction(sentence, facts, thrift, found)
            if contradiction:
                yield Finding.of(
                    Rule.DECISION,
                    sentence,
                    words=found[0],
                    data=contradiction,
                    instead="Let the reason follow from the figures, or leave it out.",
                )
                return


def _contradiction(sentence: Sentence, facts: Facts, thrift: _Thrift, found: re.Match[str]) -> str:
    before = [one for one in mentions(sentence.read, facts) if one.start < found.start()]
    subject = before[-1].side if before else None
    if not before:
        end = clause_end(sentence.read, found.end())
        after = [one for one in mentions(sentence.read, facts) if found.end() <= one.start < end]
        subject = after[0].side if after else None
    other = other_side(facts, subject) if subject else None
    if not subject or not other:
        return ""
    mine, theirs = thrift.value(facts.side(subject)), thrift.value(other)
    if mine is None or theirs is None:
        return ""
    right = mine < theirs if found["less"] else mine > theirs
    return "" if right else f"{subject}: {thrift.tell(mine)}; {other.id}: {thrift.tell(theirs)}"
