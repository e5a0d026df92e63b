"""Numbers with their units out of a sentence: fractions, per cent, points, minutes, money, p.

A stated number agrees with a figure when it is a rounding of it; "about" allows more.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

_UP_TO_TWENTY = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    *("nineteen", "twenty"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMBER_WORDS = {
    **{word: number for number, word in enumerate(_UP_TO_TWENTY)},
    **{ten: 10 * number for number, ten in enumerate(_TENS, 2)},
    **{
        f"{ten}-{_UP_TO_TWENTY[unit]}": 10 * number + unit
        for number, ten in enumerate(_TENS, 2)
        for unit in range(1, 10)
    },
}
_N = r"\d{1,9}(?:,\d{3}){0,3}(?:\.\d{1,9})?|\.\d{1,9}"
_W = "|".join(sorted(_NUMBER_WORDS, key=len, reverse=True))
_PERCENT = r"%|per\s?cent(?!age)"
_POINTS = r"(?:percentage[ -]|per\s?cent[ -])?points?|pp\b|p\.p\."
_MINUTES = r"min(?:ute)?s?\b"
_ABOUT = (
    r"(?P<about>\b(?:about|around|roughly|approximately|nearly|almost|some|close to|over|under"
    r"|more than|less than|at least|at most)\s+|~\s?)?"
)

_INTERVAL = re.compile(
    rf"(?P<low>[-+]?(?:{_N}))\s*(?P<first>{_PERCENT}|{_POINTS}|{_MINUTES})?\s*"
    rf"(?P<joint>to|\u2013|\u2014|-|,|;|and|up to|\.\.\.?)\s*"
    rf"(?P<high>[-+]?(?:{_N}))\s*(?P<unit>{_PERCENT}|{_POINTS}|{_MINUTES})?",
    re.IGNORECASE,
)
_FRACTION = re.compile(
    rf"(?<![\w.,/-])(?P<part>{_N}|{_W}|all|both|none)\s*(?:/|\b(?:out )?of\b)\s*(?:the |all "
    rf"|its |our |these )*"
    rf"(?P<whole>\d{{1,9}}|{_W})\b(?![./]\d)(?:\s+(?:[a-z]+\s+)?(?P<noun>tasks?|runs?|attempts?"
    rf"|problems?))?",
    re.IGNORECASE,
)
_ALL = re.compile(
    rf"\b(?P<part>all|every one of(?: the)?)\s+(?P<whole>\d{{1,9}}|{_W})\b(?:\s+(?P<noun>tasks?"
    rf"|runs?))?",
    re.I,
)
_SINGLE = re.compile(
    rf"{_ABOUT}(?P<pm>\u00b1\s?)?(?<![\w.,/])(?P<value>[-+]?(?:{_N}))\s*[- ]?"
    rf"(?P<unit>{_PERCENT}|{_POINTS}|{_MINUTES})",
    re.IGNORECASE,
)
_PLUS_MINUS = re.compile(
    rf"\u00b1\s?(?P<value>{_N})\s*(?P<unit>{_PERCENT}|{_POINTS})?", re.IGNORECASE
)
_P = re.compile(
    r"\b(?:p|p-?\s?values?|mid-p|exact p|p \(exact\))(?: of the [\w-]+ test)?\s*"
    r"(?P<sign>=|<=|>=|<|>|\u2264|\u2265|of|is|was|at)\s*"
    r"(?P<value>(?:0?\.\d{1,9}|[01](?:\.0+)?))(?![\d%])",
    re.IGNORECASE,
)
_WHOLE = re.compile(rf"(?<![\w.,-])(?:\d{{1,9}}|{_W})\b(?![.,]\d)", re.IGNORECASE)
_MONEY = re.compile(rf"[$\u20ac\u00a3]\s?(?P<value>{_N})")


class Unit(StrEnum):
    """What a number counts."""

    PERCENT = "%"
    POINTS = "points"
    MINUTES = "min"
    MONEY = "$"
    P = "p"
    SHARE = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number of a sentence."""

    value: float
    decimals: int
    unit: Unit
    words: str
    start: int
    end: int
    about: bool = False
    signed: bool = False
    sign: str = "="
    """Of p values: =, < or >."""

    def agrees(self, figure: float, scale: float = 1.0) -> bool:
        """Return whether this is a rounding of `figure` times `scale`."""
        off = abs(self.value - figure * scale)
        slack: float = 0.5 * 10**-self.decimals
        if self.about:
            slack = max(
                slack, 0.07 * abs(figure * scale), 3 * (self.unit is not Unit.MONEY and scale > 1)
            )
        return off <= slack * (1 + 1e-6) + 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """Two numbers that make an interval."""

    low: Quantity
    high: Quantity
    words: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fraction:
    """So many of so many."""

    part: float
    decimals: int
    whole: int
    noun: str
    words: str
    start: int
    end: int


def _number(text: str) -> tuple[float, int]:
    plain = text.replace(",", "")
    return float(plain), len(plain.partition(".")[2])


def _counted(text: str) -> tuple[float, int]:
    low = text.lower()
    return (float(_NUMBER_WORDS[low]), 0) if low in _NUMBER_WORDS else _number(text)


def _unit(text: str | None) -> Unit:
    low = (text or "").lower()
    if not low:
        return Unit.SHARE
    if low.startswith("min"):
        return Unit.MINUTES
    return Unit.POINTS if "point" in low or low.startswith("p.") or low == "pp" else Unit.PERCENT


def ranges(text: str) -> Iterator[Range]:
    """Yield the intervals: 40 % to 91 %, [-36, 14], between -.36 and .14."""
    position = 0
    while found := _INTERVAL.search(text, position):
        position = found.end("low")
        unit = _unit(found["unit"] or found["first"])
        before = text[max(0, found.start() - 12) : found.start()]
        bracketed = before.endswith(("[", "(")) and text[found.end() :][:1] in ("]", ")")
        introduced = re.search(r"\b(?:between|from|interval|ci|is|of)\W*$", before, re.IGNORECASE)
        if found["joint"] in (",", ";", "and") and not (bracketed or introduced):
            continue
        if (unit is Unit.SHARE and not (bracketed or introduced)) or before[-1:].isalnum():
            continue
        position = found.end()
        low, high = (
            Quantity(
                value=_number(found[name])[0],
                decimals=_number(found[name])[1],
                unit=unit,
                words=found[name],
                start=found.start(name),
                end=found.end(name),
                signed=found[name][0] in "+-",
            )
            for name in ("low", "high")
        )
        yield Range(
            low=low, high=high, words=found[0].strip(), start=found.start(), end=found.end()
        )


def fractions(text: str) -> Iterator[Fraction]:
    """Yield the counts: 6.5 of 9 tasks, seven out of nine, 9/9, all 9 tasks."""
    for pattern in (_FRACTION, _ALL):
        for found in pattern.finditer(text):
            whole = int(_counted(found["whole"])[0])
            word = found["part"].lower()
            part, decimals = (
                (float(whole), 0)
                if word.startswith(("all", "every"))
                else (0.0, 0)
                if word == "none"
                else (2.0, 0)
                if word == "both"
                else _counted(found["part"])
            )
            yield Fraction(
                part=part,
                decimals=decimals,
                whole=whole,
                noun=(found["noun"] or "").lower().rstrip("s"),
                words=found[0].strip(),
                start=found.start(),
                end=found.end(),
            )


def whole_numbers(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield every whole number in digits or words, with where it starts and ends."""
    for found in _WHOLE.finditer(text):
        yield int(_counted(found[0])[0]), found.start(), found.end()


def singles(text: str) -> Iterator[Quantity]:
    """Yield single numbers with a unit, those of intervals and after a plus-minus left out."""
    taken = [(found.start, found.end) for found in ranges(text)]
    for found in _SINGLE.finditer(text):
        if found["pm"] or any(start <= found.start("value") < end for start, end in taken):
            continue
        yield _quantity(found, _unit(found["unit"]), about=bool(found["about"]))


def error_bars(text: str) -> Iterator[Quantity]:
    """Yield the numbers after a plus-minus sign."""
    for found in _PLUS_MINUS.finditer(text):
        yield _quantity(found, _unit(found["unit"]))


def p_values(text: str) -> Iterator[Quantity]:
    """Yield the p values, with the sign that stands before them."""
    for found in _P.finditer(text):
        sign = found["sign"].lower().translate({0x2264: "<", 0x2265: ">"})[0]
        yield _quantity(found, Unit.P, sign=sign if sign in "<>" else "=")


def money(text: str) -> Iterator[Quantity]:
    """Yield the amounts with a sign of currency."""
    for found in _MONEY.finditer(text):
        yield _quantity(found, Unit.MONEY)


def _quantity(
    found: re.Match[str], unit: Unit, *, about: bool = False, sign: str = "="
) -> Quantity:
    value, decimals = _number(found["value"])
    return Quantity(
        value=value,
        decimals=decimals,
        unit=unit,
        words=" ".join(found[0].split()),
        start=found.start("value"),
        end=found.end(),
        about=about,
        signed=found["value"][0] in "+-",
        sign=sign,
    )
