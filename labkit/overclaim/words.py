"""The words of claims, and what takes a claim back: negation, doubt, questions, disclaimers.

Everything here is English, and works on the text of one sentence.
"""

import re
from collections.abc import Iterator

Found = re.Match[str]


def phrases(text: str, *, ends: str = r"\b") -> re.Pattern[str]:
    """Compile phrases that stand apart by commas, each a regular expression of whole words.

    A space stands for any white space, and a line may begin with the bar of an alternative; `ends`
    is what has to follow.
    """
    joined = re.sub(r"\s*\n\s*\|", "|", text)
    pattern = " ".join(joined.split()).replace(", ", "|")
    return re.compile(rf"\b(?:{pattern})".replace(" ", r"\s+") + ends, re.IGNORECASE)


AHEAD = phrases(
    r"""
    wins?, won, winning, winners?, victory, victorious, beats?, beaten, beating, better, best,
    out(?:perform|score|class|match|shine|rank|do|run)(?:s|es|ed|ing)?, outdid, superior,
    superiority, improv(?:es?|ed|ing|ements?), upgrade, ahead, strong(?:er|est), surpass\w*,
    dominat\w+, prevail\w*, excels?, preferable, advantage, leads?(?! to), led by,
    (?:comes?|came) (?:out )?(?:on top|ahead|(?:in )?first), on top of, in front of,
    ha(?:s|d|ve) (?:an|the) (?:clear )?(?:edge|lead),
    more (?:accurate|effective|capable|successful|reliable), scor(?:es|ed) higher, more often,
    safer (?:bet|choice), rates? (?:is|was) (?:higher|better),
    (?:higher|greater) (?:observed )?(?:pass |success )?rates?, favou?r(?:s|ed)?,
    (?:pass|solv|gets?|got|complet|succeed)\w* (?:in )?more(?! or),
    more (?:\w+ )?tasks (?:right|solved|passed)
    """
)
"""Words that put their subject ahead."""

BEHIND = phrases(
    r"""
    worse, worst, los(?:es|t|ing) (?:to|against), (?:lost|loses)(?=\W*$), inferior, weaker,
    underperform\w*,
    less (?:accurate|effective|capable|successful|reliable),
    (?:falls?|fell|lags?|lagged|is|was) behind, (?:can(?:not|'t)|could(?: not|n't)) keep up,
    lower (?:observed )?(?:pass |success )?rates?, (?:pass|solv|gets?|got|complet)\w* fewer
    """
)
"""Words that put their subject behind."""

STRONG = phrases(
    r"""
    significant(?:ly)?, clear(?:ly)?, prove[sdn]?, proof, confirm(?:s|ed)?, definite(?:ly)?,
    undoubtedly, without (?:a|any) doubt, no doubt, obvious(?:ly)?, certain(?:ly)?,
    conclusive(?:ly)?, decisive(?:ly)?, guarantee\w*, convincing(?:ly)?, overwhelming(?:ly)?,
    dramatic(?:ally)?, massive(?:ly)?, unquestionabl[ey], demonstrat(?:es?|ed), every time,
    ha(?:s|ve) shown that, too (?:large|big) to be, no (?:accident|coincidence), far and away,
    by far, highly, reliably
    """
)
ABSOLUTE = phrases("always, never, every (?:single )?time, without exception, 100 % reliable")
TESTED = phrases(
    r"sign-flip, permutation, mid-p, exact p, mcnemar, p\s?[-=<>\u2264\u2265], p of, p is, "
    "p-value, test",
    ends="",
)
MISSING = phrases(
    """
    missing, coverage, ungraded, not measured, unmeasured, lost runs?, infrastructure,
    were measured, could change
    """
)
DISCLAIMER = phrases(
    r"""
    (?:not?|cannot|neither|nor|nothing|none|never|nobody)\b[^.;:]{0,40}\b(?:detect\w*|significant\w*
    |tell|prove\w*|conclu\w+|decid\w+|distinguish\w*|sa(?:y|id)|claim\w*|exceed\w*|support(?:ed)?
    |enough|shown|known),
    within the (?:noise|error), by chance, be chance, chance alone,
    (?:what|than) chance, luck, noise, indecisive, undecided, inconclusive, too few,
    (?:includes?|contains?|covers?) (?:0|zero), undetectable, uncertain, description only,
    not a tie, open (?:whether|question), far from, little, opinion, taste,
    (?:proves?|says?|means?|shows?|decides?) nothing
    """
)
"""Words that take back whatever else the sentence says about who is ahead."""

_NEGATION = re.compile(
    phrases(
        """
        not(?! only), no(?! doubt), neither, nor, never, nobody, nothing, none, cannot,
        without(?! (?:a|any) doubt), hardly, barely, unable, refuse[sd]?, far from, too few,
        instead of, rather than
        """
    ).pattern
    + r"|n't\b",
    re.IGNORECASE,
)
_DOUBT = phrases(
    r"""
    may, might, could, would, should have, whether, if, perhaps, possibly, maybe, suppose\w*,
    expect\w*, predict\w*, hypothes\w+, hop(?:e|ed|ing), guess\w*, want\w* to, asked, ask, unclear,
    unknown, question, find out, to see, unless, to claim, to say, claiming, to show, to prove,
    in case, looks?, assum\w+, cannot, overclaim, as though, as if, next time,
    before the (?:runs?|freeze)
    """
)
_COME_TRUE = phrases("(?:is|was) (?:indeed )?(?:correct|right|true|confirmed)")
_TAKEN_BACK = re.compile(
    r"^[^.;]{0,40}?"
    + phrases(
        r"""
        nothing, overclaim, would be, (?:is|was) (?:not|un\w+|wrong|too strong|open), are not,
        cannot be, remains, need\w* more, not (?:found|seen|shown|detect\w+)
        """
    ).pattern,
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"[;:]|,\s*(?=(?:so|and|because|since|as|which|when)\b)"
    r"|\b(?=(?:but|yet|though|although|while|whereas|however|because)\b)",
    re.IGNORECASE,
)


def clause_start(text: str, position: int) -> int:
    """Return where the clause of a position begins."""
    return max((found.end() for found in _CLAUSE.finditer(text, 0, position)), default=0)


def clause_end(text: str, position: int) -> int:
    """Return where the clause of a position ends."""
    found = _CLAUSE.search(text, position)
    return found.start() if found else len(text)


def is_question(text: str) -> bool:
    """Return whether a sentence asks."""
    return text.rstrip("\"') ").endswith("?")


def negated(text: str, found: Found) -> bool:
    """Return whether a word is denied by its own clause."""
    before = text[clause_start(text, found.start()) : found.start()]
    after = text[found.end() : clause_end(text, found.end())]
    return bool(_NEGATION.search(before) or _TAKEN_BACK.search(after))


def doubted(text: str, found: Found) -> bool:
    """Return whether a word is asked, supposed, expected or imagined rather than claimed."""
    before = text[clause_start(text, found.start()) : found.start()]
    supposed = _DOUBT.search(before) and not _COME_TRUE.search(text, found.end())
    return is_question(text) or bool(supposed)


def asserted(pattern: re.Pattern[str], text: str) -> Iterator[Found]:
    """Yield the words of a pattern that the sentence stands for: neither denied nor doubted."""
    for found in pattern.finditer(text):
        if not negated(text, found) and not doubted(text, found):
            yield found
