"""The rule on numbers: every figure of a sentence is held against the figure that it speaks of."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from labkit.overclaim import describe
from labkit.overclaim.attribution import (
    about,
    is_level,
    of_passing,
    of_something_else,
    pairs_about,
)
from labkit.overclaim.candidates import (
    CENT,
    costs,
    counts,
    differences,
    intervals,
    minutes,
    rates,
)
from labkit.overclaim.facts import Facts, Pair
from labkit.overclaim.findings import Finding, Rule
from labkit.overclaim.mentions import kinds_named, mentions
from labkit.overclaim.quantities import (
    Quantity,
    Unit,
    fractions,
    money,
    p_values,
    ranges,
    singles,
)
from labkit.overclaim.text import Sentence
from labkit.overclaim.words import is_question
from labkit.report.wording import amount, p_value

_MORE = re.compile(
    r"\s*(?:more|better|higher|fewer|lower|worse|less|improvement|increase|ahead|above"
    r"|difference|gap|advantage)\b",
    re.I,
)
_DIFFERENCE_BEFORE = re.compile(
    r"\b(?:difference|gap|advantage|lead|improve\w*|improvement|ahead|increas\w*)\b[^.;]{0,20}$",
    re.IGNORECASE,
)
_OTHER_POINTS = re.compile(
    r"\b(?:itself|noise alone|would|if|any|hypothetical\w*|doubling|some type)\b", re.IGNORECASE
)
_CONVENTIONAL = (0.05, 0.01, 0.1, 0.001)
_BAR = re.compile(
    r"\b(?:threshold|bar|level|alpha|from|down|at most|or less|needs?|required|would|counts?"
    r"|below which|far from)\b",
    re.IGNORECASE,
)
_ALL_OF_THEM = re.compile(r"(?:pass\w*|solv\w*|fail\w*|complet\w*|and [A-Z]|but [A-Z])\s*$")
_PASSED = re.compile(
    r"\b(?:pass(?:es|ed)?|solv\w+|succe\w+|complet\w+|right|fail(?:s|ed)?|won)\b", re.IGNORECASE
)
_OTHER_COUNT = re.compile(
    r"\b(?:flaky|moved|differ\w*|missing|measured|planned|retired|scorers?|raters?|hidden|level)\b",
    re.IGNORECASE,
)
_OTHER_MINUTES = re.compile(
    r"\b(?:limit|budget|cap|timeout|total|altogether|setup|together|longest|maximum|slowest"
    r"|fastest|wrote|writing|scoring|meeting)\b",
    re.IGNORECASE,
)
_OF_PASSES = re.compile(r"\b(?:passed run|a pass|per pass|slowest|95 ?%)", re.IGNORECASE)
_AGAINST = re.compile(r"\d (?:against|versus|vs\.?|and|to) $")
_TIMING = re.compile(
    r"\b(?:median|took|takes?|need\w*|per task|average|typical\w*"
    r"|fast\w*|slow\w*|quick\w*|runs?)\b",
    re.IGNORECASE,
)
_TASK_NOUNS = ("task", "problem", "run")
_PAIR = 2
_PLANNING = re.compile(r"\b(?:would|if|need\w*|plan\w*|next time|with \d+ more)\b", re.IGNORECASE)


def number(sentence: Sentence, facts: Facts) -> Iterator[Finding]:
    """A figure that is not a rounding of the one that it speaks of."""
    if is_question(sentence.read):
        return
    for check in (_fractions, _percents, _points, _ranges, _p_values, _minutes, _money):
        yield from check(sentence, facts)


def _finding(sentence: Sentence, words: str, data: str, instead: str = "") -> Finding:
    return Finding.of(
        Rule.NUMBER,
        sentence,
        words=words,
        data=data,
        instead=instead or "Copy the number from summary.json or the tables of summary.md.",
    )


def _fractions(sentence: Sentence, facts: Facts) -> Iterator[Finding]:
    text = sentence.read
    if not _PASSED.search(text) or _OTHER_COUNT.search(text) or _PLANNING.search(text):
        return
    for found in fractions(text):
        everything = re.match(r"(?i)all|every", found.words)
        if everything and not _ALL_OF_THEM.search(text[: found.start]):
            continue
        second = _AGAINST.search(text[: found.start])
        sides = facts.sides if second else about(sentence, found.start, found.end, facts)
        known = [count for side in sides for count in counts(side, facts)]
        ours = found.noun in _TASK_NOUNS or found.whole in {facts.tasks, *(s.runs for s in sides)}
        if not known or not ours:
            continue
        slack = 0.5 * 10**-found.decimals + 1e-6
        if not any(w == found.whole and abs(p - found.part) <= slack for p, w in known):
            yield _finding(sentence, found.words, "; ".join(map(describe.rate, sides)))


def _percents(sentence: Sentence, facts: Facts) -> Iterator[Finding]:
    for found in singles(sentence.read):
        if found.unit is not Unit.PERCENT or is_level(sentence, found.start, found.end):
            continue
        if is_difference(sentence, found):
            yield from _per_cent_more(sentence, found, facts)
        elif of_passing(sentence):
            sides = about(sentence, found.start, found.end, facts)
            known = [share for side in sides for share in rates(side, facts)]
            if known and not _agrees(found, known, CENT):
                told = describe.strict if "^" in sentence.read else describe.rate
                yield _finding(sentence, found.words, "; ".join(map(told, sides)))


def is_difference(sentence: Sentence, found: Quantity) -> bool:
    """Return whether a number says how far apart two configurations are."""
    before = sentence.read[: found.start]
    return bool(_MORE.match(sentence.read, found.end) or _DIFFERENCE_BEFORE.search(before))


def _per_cent_more(sentence: Sentence, found: Quantity, facts: Facts) -> Iterator[Finding]:
    """Find "11 % more" where the difference is 11 points."""
    pairs = pairs_about(sentence, facts)
    if not of_passing(sentence) and not re.search(
        r"(?i)better|worse|difference|ahead|gap", sentence.read
    ):
        return
    if not pairs or kinds_named(sentence, facts) or _agrees(found, _relative(pairs, facts), CENT):
        return
    in_points = _agrees(found, differences(pairs), CENT)
    yield _finding(
        sentence,
        found.words,
        "; ".join(map(describe.difference, pairs)),
        "Differences of rates are in points: from 50 % to 60 % is 10 points, but 20 % more."
        if in_points
        else "",
    )


def _relative(pairs: Iterable[Pair], facts: Facts) -> Iterator[float]:
    for pair in pairs:
        one, other = facts.side(pair.first).rate.value, facts.side(pair.second).rate.value
        for low, high in ((one, other), (other, one)):
            if low and high is not None:
                yield abs(high - low) / low


def _points(sentence: Sentence, facts: Facts) -> Iterator[Finding]:
    pairs = pairs_about(sentence, facts)
    skipped = _OTHER_POINTS.search(sentence.read) or kinds_named(sentence, facts)
    if not pairs or skipped or of_something_else(sentence):
        return
    for found in singles(sentence.read):
        if found.unit is not Unit.POINTS:
            continue
        known = tuple(differences(pairs))
        absolute = _agrees(found, known, CENT) or _agrees(found, [-value for value in known], CENT)
        if known and (not absolute or not _right_sign(sentence, found, facts)):
            yield _finding(
                sentence,
                found.words,
                "; ".join(map(describe.difference, pairs)) + f"; {describe.smallest(facts)}",
            )


def _right_sign(sentence: Sentence, found: Quantity, facts: Facts) -> bool:
    """Return whether "B - A is +11 points" has the sign of the data."""
    named = [one for one in mentions(sentence.read, facts) if one.start < found.start]
    if len(named) < _PAIR:
        return True
    minuend, subtrahend = named[-_PAIR:]
    if not re.fullmatch(r"\s*-\s*", sentence.read[minuend.end : subtrahend.start]):
        return True
    for pair in facts.pairs:
        value = pair.difference.value
        if value is not None and pair.sides == {minuend.side, subtrahend.side}:
            wanted = value if minuend.side == pair.second else -value
            size = replace(found, value=abs(found.value))
            return found.value * wanted >= 0 or not size.agrees(abs(value), CENT)
    return True


def _ranges(sentence: Sentence, facts: Facts) -> Iterator[Finding]:
    if (
        of_something_else(sentence)
        or kinds_named(sentence, facts)
        or _PLANNING.search(sentence.read)
    ):
        return
    for found in ranges(sentence.read):
        if found.low.unit is Unit.MINUTES:
            continue
        sides = about(sentence, found.start, found.end, facts)
        known = tuple(intervals(sides, pairs_about(sentence, facts)))
        scales = (1.0, CENT) if found.low.unit is Unit.SHARE else (CENT,)
        fits = any(
            found.low.agrees(low, scale) and found.high.agrees(high, scale)
            for low, high in known
            for scale in scales
        )
        if known and not fits and _is_interval(sentence, found.low.unit):
            yield _finding(
                sentence,
                found.words,
                "; ".join(map(describe.difference, pairs_about(sentence, facts)))
                if found.low.unit is Unit.POINTS
                else "; ".join(map(describe.rate, sides)),
            )


def _is_interval(sentence: Sentence, unit: Unit) -> bool:
    named = re.search(r"(?i)\binterval|\bCI\b|confidence|compatible|wilson", sentence.read)
    return bool(named) or (unit is Unit.PERCENT and of_passing(sentence))


def _p_values(sentence: Sentence, facts: Facts) -> Iterator[Finding]:
    pairs = pairs_about(sentence, facts)
    known = [p for pair in pairs for p in (pair.p_mid, pair.p_exact) if p is not None]
    for found in p_values(sentence.read):
        bar = found.value in _CONVENTIONAL and _BAR.search(sentence.read)
        if not known or bar or kinds_named(sentence, facts):
            continue
        right = {
            "=": _agrees(found, known, 1.0),
            "<": any(p < found.value for p in known),
            ">": any(p > found.value for p in known),
        }[found.sign]
        if not right:
            told = "; ".join(
                f"{pair.second} against {pair.first}: mid-p {p_value(pair.p_mid)}, "
                f"exact p {p_value(pair.p_exact)}"
                for pair in pairs
                if pair.p_mid is not None and pair.p_exact is not None
            )
            yield _finding(sentence, found.words, told)


def _minutes(sentence: Sentence, facts: Facts) -> Iterator[Finding]:
    text = sentence.read
    if _OTHER_MINUTES.search(text) or not _TIMING.search(text):
        return
    for found in singles(text):
        if found.unit is not Unit.MINUTES:
            continue
        sides = about(sentence, found.start, found.end, facts)
        known = tuple(minutes(sides, facts, of_passes=bool(_OF_PASSES.search(text))))
        if known and not _agrees(found, known, 1.0):
            yield _finding(sentence, found.words, "; ".join(map(describe.minutes, sides)))


def _money(sentence: Sentence, facts: Facts) -> Iterator[Finding]:
    for found in money(sentence.read):
        sides = about(sentence, found.start, found.end, facts)
        known = tuple(costs(sides, facts))
        if known and not _agrees(found, known, 1.0):
            told = (
                f"{side.id}: cost {amount(side.cost.per_run)} a run, "
                f"{amount(side.cost.value)} in all"
                for side in sides
                if side.cost.per_run is not None and side.cost.value is not None
            )
            yield _finding(sentence, found.words, "; ".join(told))


def _agrees(found: Quantity, figures: Iterable[float], scale: float) -> bool:
    return any(
        found.agrees(abs(figure) if not found.signed else figure, scale) for figure in figures
    )
