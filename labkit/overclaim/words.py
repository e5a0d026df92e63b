"""The words of claims, and what takes a claim back: negation, doubt, questions, disclaimers.

Everything here is English, and works on the text of one sentence.
"""

import re
from collections.abc import Iterator

Found = re.Match[str]


def _words(text: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(text.split())})\b".replace("_", r"\s+"), re.IGNORECASE)


AHEAD = _words(
    r"wins? won winning winners? victory victorious beats? beaten beating better best"
    r" outperform\w* "
    r"outdo\w* outdid superior superiority improv(?:es?|ed|ing|ement"
    r"|ements) ahead stronger strongest "
    r"surpass\w* dominat\w+ (?:comes?|came|coming)_out_(?:on_top|ahead) on_top_of advantage "
    r"ha(?:s|d|ve)_(?:an|the)_(?:clear_)?(?:edge|lead) more_(?:accurate|effective|capable"
    r"|successful|reliable) "
    r"(?:higher|greater)_(?:observed_)?(?:pass_|success_)?rates? "
    r"(?:pass|solv|gets?|got|complet|succeed)\w*_(?:in_)?more(?!_or) "
    r"favou?r(?:s|ed)? scor(?:es|ed)_higher leads?(?!_to) led_by prevail\w* excels? preferable"
    r" (?:came|comes)_(?:in_)?first more_tasks_(?:right|solved|passed)"
)
"""Words that put their subject ahead."""

BEHIND = _words(
    r"worse worst los(?:es|t|ing)_(?:to"
    r"|against) inferior weaker underperform\w* less_(?:accurate|effective|"
    r"capable|successful|reliable) (?:falls?|fell|lags?|lagged|is|was)_behind "
    r"lower_(?:observed_)?(?:pass_|success_)?rates? (?:pass|solv|gets?|got|complet)\w*_fewer"
)
"""Words that put their subject behind."""

STRONG = _words(
    r"significant(?:ly)? clear(?:ly)? prove[sdn]? proof confirm(?:s"
    r"|ed)? definite(?:ly)? undoubtedly "
    r"without_(?:a|any)_doubt no_doubt obvious(?:ly)? certain(?:ly)? conclusive(?:ly)?"
    r" decisive(?:ly)? "
    r"guarantee\w* convincing(?:ly)? overwhelming(?:ly)? dramatic(?:ally)? massive(?:ly)? "
    r"unquestionabl[ey] demonstrat(?:es?|ed) every_time"
)
ABSOLUTE = _words(r"always never every_(?:single_)?time without_exception 100_%_reliable")
TESTED = re.compile(
    r"\b(?:sign-flip|permutation|mid-p|exact p|mcnemar|p\s?[-=<>\u2264\u2265]|p of|p-values?"
    r"|p is|test)",
    re.IGNORECASE,
)
MISSING = re.compile(
    r"\b(?:missing|coverage|ungraded|not measured|unmeasured|lost runs?|infrastructure"
    r"|were measured"
    r"|could change)\b",
    re.IGNORECASE,
)
DISCLAIMER = re.compile(
    r"\b(?:(?:not?|n't|cannot|neither|nor|nothing|none|never"
    r"|nobody)\b[^.;:]{0,40}\b(?:detect\w*|significant\w*|"
    r"tell|prove\w*|conclu\w+|decid\w+|distinguish\w*|sa(?:y|id)|claim\w*|exceed\w*|supported"
    r"|enough|shown|known)"
    r"|within the (?:noise|error)|by chance|be chance|chance alone|luck|noise|indecisive"
    r"|undecided|inconclusive"
    r"|too few|(?:includes?|contains?|covers?) (?:0|zero)\b|undetectable|description only"
    r"|uncertain|not a tie"
    r"|open (?:whether|question)|far from)",
    re.IGNORECASE,
)
"""Words that take back whatever else the sentence says about who is ahead."""

_NEGATION = re.compile(
    r"(?:\b(?:not(?! only)|no(?! doubt)|neither|nor|never|nobody|nothing|none|cannot"
    r"|without(?! (?:a|any) doubt)"
    r"|hardly|barely|unable|refuse\w*|far from|too few|instead of|rather than)\b|n't\b)",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"\b(?:may|might|could|would|should have|whether|if|perhaps|possibly|maybe|suppose\w*"
    r"|expect\w*|predict\w*"
    r"|hypothes\w+|hop(?:e|ed|ing)|guess\w*|want\w* to|asked|ask|unclear|unknown|question"
    r"|find out|to see|unless"
    r"|to claim|to say|claiming|to show|to prove|in case|looks?|assum\w+|cannot|overclaim"
    r"|as though|as if"
    r"|next time|before the (?:runs?|freeze))\b",
    re.IGNORECASE,
)
_TAKEN_BACK = re.compile(
    r"^[^.;]{0,40}?\b(?:nothing|overclaim|would be|is (?:not|un\w+|wrong|too strong|open)"
    r"|was (?:not|un\w+)|are not"
    r"|cannot be|remains|need\w* more|not (?:found|seen|shown|detect\w+))\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"[;:]|,\s*(?=(?:so|and|or|because|since|as|which|when)\b)|\b(?=(?:but|yet|though|although"
    r"|while|whereas"
    r"|however|because)\b)",
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
    return is_question(text) or bool(_DOUBT.search(before))


def asserted(pattern: re.Pattern[str], text: str) -> Iterator[Found]:
    """Yield the words of a pattern that the sentence stands for: neither denied nor doubted."""
    for found in pattern.finditer(text):
        if not negated(text, found) and not doubted(text, found):
            yield found
