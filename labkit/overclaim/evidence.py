"""Rules on what a figure rests on: units, error bars, denominators, decimals, agreement."""

import re
from collections.abc import Iterator

from labkit.fields import counted
from labkit.overclaim import describe
from labkit.overclaim.attribution import about, is_level, of_passing, of_something_else, pairs_about
from labkit.overclaim.candidates import CENT, half_widths, pretended_widths
from labkit.overclaim.facts import Facts
from labkit.overclaim.figures import is_difference
from labkit.overclaim.findings import Finding, Rule
from labkit.overclaim.mentions import kinds_named, named
from labkit.overclaim.quantities import Quantity, Unit, error_bars, ranges, singles, whole_numbers
from labkit.overclaim.text import Sentence
from labkit.overclaim.words import AHEAD, BEHIND, asserted, doubted, is_question, negated, phrases

_N_TASKS = phrases(
    r"""
    (?:\d+|two|three|four|five|six|seven|eight|nine|ten|twelve) (?:[a-z]+ ){0,2}tasks?, of \d+,
    n\s?=\s?\d+
    """
)
_ERROR_BAR = re.compile(r"\u00b1|\binterval\b|\bCI\b|\berror bar", re.IGNORECASE)
_MANY_DECIMALS_FROM = 100
_FEW_TASKS = 5
_NEAR = 45
_SAMPLES = phrases(
    r"""
    samples?, data\s?points?, observations?, measurements, trials, experiments, cases, power,
    independent \w+, sample size, large number, evidence
    """
)
_UNDER_ROOT = re.compile(r"/\s*(\d{1,6})\s*\)")
_N_IS = re.compile(
    r"\bn\s*(?:=|is|was)\s*(\d{1,6})\b|\bsample size (?:is|was|of) (\d{1,6})\b", re.IGNORECASE
)
_BETTER_AT = phrases(
    r"""
    good, bad, great, weak, strong, better, worse, best, excels?, struggles?, suffers?, fails?,
    shines?,
    prefer\w*, handles?, choice, should (?:take|use|choose|prefer|pick)
    """
)
_DESCRIBES = phrases(
    r"""
    descri\w+, no others?, nothing beyond, too few, anecdot\w*, only \w+ tasks?, these tasks,
    in our,
    proves? nothing, may be chance, by chance, no test, without a test, passed \d, both
    """
)
_PASS_AT = re.compile(r"\bpass\s?@\s?[2-9]\b", re.IGNORECASE)
_PASS_HAT = re.compile(r"\bpass\s?\^\s?\{?2\}?|\bpass\u00b2", re.IGNORECASE)
_RELIABLE = phrases(
    r"""
    reliab\w+, consisten\w+, dependab\w+, stable, stability, every time, depend on, trust\w*,
    robust\w*
    """
)
_HIGH = (
    r"(?:very |quite )?"
    r"(?:high|strong|good|excellent|great|substantial|(?:almost |near[- ])?perfect)"
)
_AGREEMENT = re.compile(
    r"\b(?:kappa|alpha)\b[\w\s]{0,20}\b(?:of|was|is|=)\s*(?=[\d.])|"
    + phrases(
        rf"""
        (?:raters?|scorers?|reviewers?|graders?|judges?|we|both)\b[^.;]{{0,40}}\bagree(?:d
        |s)?\b(?! (?:on|to
        |that|not)\b),
        {_HIGH}[\w -]{{0,20}} agreement, agreement (?:was|is|between \w+ \w+ (?:was|is)) {_HIGH},
        (?:same|similar|identical) (?:marks|scores|ratings),
        (?:scores?|scoring|marks?|ratings?|rubric) (?:is|are|were|was) (?:very |highly )?(?:reliable
        |consistent)
        """
    ).pattern,
    re.IGNORECASE,
)
_DISAGREED = re.compile(r"\b(?:not|never|hardly)\b|n't\b", re.IGNORECASE)
_SCORERS = phrases(
    """
    raters?, scorers?, reviewers?, judges?, inter-?rater, scores?, scoring, marks?, ratings?,
    agreement,
    kappa, alpha
    """
)
_COEFFICIENT = re.compile(r"\b(?:kappa|alpha)\b|\u03ba|\u03b1", re.IGNORECASE)
_ITEMS = phrases(r"\d+ (?:[a-z-]+ ){0,2}(?:runs?|items?|pairs?|scores?|diffs?), n\s?=\s?\d+")


def _stated_rates(sentence: Sentence, facts: Facts) -> Iterator[Quantity]:
    """Yield what is a rate by the words around it, or by being that of a configuration named."""
    if of_something_else(sentence):
        return
    for found in singles(sentence.read):
        rate = found.unit is Unit.PERCENT and not is_level(sentence, found.start, found.end)
        if not rate or is_difference(sentence, found):
            continue
        sides = about(sentence, found.start, found.end, facts)
        known = [side.rate.value for side in sides if side.rate.value is not None]
        own = named(sentence, facts) and any(found.agrees(value, CENT) for value in known)
        if own or of_passing(sentence):
            yield found


def bare_rate(sentence: Sentence, facts: Facts) -> Iterator[Finding]:
    """A rate without its number of tasks, or without an interval."""
    if is_question(sentence.read):
        return
    tasks = _N_TASKS.search(sentence.paragraph)
    hat = _PASS_HAT.search(sentence.read)  # its denominator is the business of another rule
    bar = hat or _ERROR_BAR.search(sentence.paragraph) or next(ranges(sentence.paragraph), None)
    for found in _stated_rates(sentence, facts):
        lacks = [
            what
            for what, there in (("the number of tasks", tasks), ("an interval", bar))
            if not there
        ]
        if lacks:
            sides = about(sentence, found.start, found.end, facts)
            told = describe.strict if hat else describe.rate
            yield Finding.of(
                Rule.BARE_RATE,
                sentence,
                words=found.words,
                data=f"missing: {' and '.join(lacks)}",
                instead=f"{'; '.join(map(told, sides))}.",
            )
            return


def runs_as_samples(sentence: Sentence, facts: Facts) -> Iterator[Finding]:
    """Runs counted as independent samples: attempts at one task are alike."""
    runs = {side.runs for side in facts.sides} | {sum(side.runs for side in facts.sides)}
    runs = {number for number in runs if number > facts.tasks}
    words = next(_pretended(sentence, facts, runs), None)
    tasks = counted(facts.tasks, "task")
    if words:
        yield Finding.of(
            Rule.RUNS_AS_SAMPLES,
            sentence,
            words=words,
            data=f"n is {tasks}: attempts at one task are not independent",
            instead=f"Give {tasks} as n, the attempts averaged within each task.",
        )


def _pretended(sentence: Sentence, facts: Facts, runs: set[int]) -> Iterator[str]:
    text = sentence.read
    for found in (*_N_IS.finditer(text), *_UNDER_ROOT.finditer(text)):
        if int(next(filter(None, found.groups()))) in runs and not negated(text, found):
            yield found[0]
    for number, start, end in whole_numbers(text):
        noun = _SAMPLES.search(text, end, end + _NEAR)
        if number in runs and noun and not negated(text, noun) and not doubted(text, noun):
            yield text[start : noun.end()]
    for bar in error_bars(text):
        sides = about(sentence, bar.start, bar.end, facts)
        scale = 1.0 if bar.unit is Unit.SHARE and bar.value < 1 else CENT
        honest = half_widths(sides, pairs_about(sentence, facts))
        if any(bar.agrees(width, scale) for width in honest):
            continue
        if any(bar.agrees(width, scale) for width in pretended_widths(sides)):
            yield bar.words


def task_types(sentence: Sentence, facts: Facts) -> Iterator[Finding]:
    """A claim about a type of task of which there are fewer than five."""
    text = sentence.read
    if _DESCRIBES.search(text):
        return
    for kind in kinds_named(sentence, facts):
        claims = [
            found for pattern in (AHEAD, BEHIND, _BETTER_AT) for found in asserted(pattern, text)
        ]
        if kind.tasks < _FEW_TASKS and claims:
            tallies = ", ".join(
                f"{side} {part:g} of {whole}" for side, (part, whole) in kind.passed.items()
            )
            yield Finding.of(
                Rule.TASK_TYPES,
                sentence,
                words=claims[0][0],
                data=f"{kind.name}: {tallies}; {counted(kind.tasks, 'task')} of a type, too few to "
                "prove anything",
                instead=f'Say "on the {counted(kind.tasks, kind.name + " task")} we had", with the '
                "counts, as a description.",
            )
            return


def reliability(sentence: Sentence, facts: Facts) -> Iterator[Finding]:
    """pass@2 taken for reliability; pass^2 without its denominator."""
    text = sentence.read
    for found in _PASS_AT.finditer(text):
        claims = [each for each in _RELIABLE.finditer(text) if not negated(text, each)]
        if claims and not doubted(text, claims[0]):
            yield Finding.of(
                Rule.RELIABILITY,
                sentence,
                words=found[0],
                data=f"it counts a task when any one attempt passes; {_all_strict(facts)}",
                instead="For reliability give pass^2: every attempt passes.",
            )
            return
    hat = _PASS_HAT.search(text)
    shares = [each for each in singles(text) if each.unit is Unit.PERCENT]
    stated = [each for each in shares if not is_level(sentence, each.start, each.end)]
    if hat and stated and not _N_TASKS.search(sentence.paragraph):
        yield Finding.of(
            Rule.RELIABILITY,
            sentence,
            words=hat[0],
            data=_all_strict(facts),
            instead="Say of how many tasks with two attempts it is.",
        )


def _all_strict(facts: Facts) -> str:
    return "; ".join(map(describe.strict, facts.sides))


def precision(sentence: Sentence, facts: Facts) -> Iterator[Finding]:
    """More decimals than so few tasks can carry."""
    if facts.tasks >= _MANY_DECIMALS_FROM:
        return
    inside = [each for found in ranges(sentence.read) for each in (found.low, found.high)]
    for found in (*singles(sentence.read), *inside):
        share = found.unit is Unit.PERCENT and of_passing(sentence)
        # Below 1, the first digit still tells on which side of 0 a difference lies.
        spurious = found.decimals and abs(found.value) >= 1
        if spurious and (share or found.unit is Unit.POINTS):
            step = 100 / facts.tasks if facts.tasks else 100
            yield Finding.of(
                Rule.PRECISION,
                sentence,
                words=found.words,
                data=f"with {counted(facts.tasks, 'task')} one more or less moves a rate by "
                f"{step:.0f} points",
                instead=f"Round to whole numbers: {found.value:.0f}.",
            )
            return


def agreement(sentence: Sentence, facts: Facts) -> Iterator[Finding]:
    """Find "the raters agreed" without coefficient, items and interval."""
    del facts
    text = sentence.read
    for found in _AGREEMENT.finditer(text):
        denied = negated(text, found) or _DISAGREED.search(found[0])
        if not _SCORERS.search(text) or denied or doubted(text, found):
            continue
        lacks = [
            what
            for what, there in (
                (
                    "a coefficient (alpha or weighted kappa)",
                    _COEFFICIENT.search(sentence.paragraph),
                ),
                ("the number of items", _ITEMS.search(sentence.paragraph)),
                ("an interval", next(ranges(sentence.paragraph), None)),
            )
            if not there
        ]
        if lacks:
            yield Finding.of(
                Rule.AGREEMENT,
                sentence,
                words=found[0],
                data=f"missing: {', '.join(lacks)}",
                instead="Give the coefficient with its interval and the number of runs that two "
                "people scored; with 18 runs good raters may come out anywhere from .34 to .82.",
            )
            return
