"""Values that are not equal to a given one, by any sensible tolerance, and look like it."""

import builtins
import keyword
import re
import string
from random import Random

Plain = str | bytes | bool | int | float | None
_BUILTINS = frozenset(dir(builtins))
_LETTERS = string.ascii_lowercase
_VOWELS = "aeiou"
_CONSONANTS = "".join(sorted(set(_LETTERS) - set(_VOWELS)))
_NUMBER = re.compile(r"[-+0-9.,:_eE ]+")
_MOST = 10**1000
_HALF = 0.5
_DIGITS = range(10)


def wrong(value: Plain, chance: Random) -> Plain:
    """Return another value of the same type, as far as the type has one.

    Numbers differ by at least as much as their own size, those of one digit by 2, texts in a letter
    or digit at least, whatever their case; so no rounding or folding makes them equal again.
    """
    match value:
        case bool():
            return not value
        case None:
            return word(chance)
        case int():
            return _wrong_int(value, chance)
        case float():
            return _wrong_float(value, chance)
        case str():
            return _wrong_text(value, chance)
        case bytes():
            return _wrong_text(value.decode("latin-1"), chance).encode("latin-1")


def word(chance: Random) -> str:
    """Return a short word that may name anything."""
    made = "".join(chance.choices(_LETTERS, k=chance.randint(4, 7)))
    return word(chance) if keyword.iskeyword(made) or made in _BUILTINS else made


def other_text(text: str, chance: Random) -> str:
    """Return a text with another letter or digit in one place; the same text if it has none.

    One letter is enough, a vowel for a vowel: random words would tell who reads them that they are
    ours. Of what is a number every digit is another one, or a tolerance might let it through.
    """
    if _NUMBER.fullmatch(text):
        return "".join(_other(letter, chance) for letter in text)
    places = [place for place, letter in enumerate(text) if _other(letter, chance) != letter]
    if not places:
        return text
    place = chance.choice(places)
    return text[:place] + _other(text[place], chance) + text[place + 1 :]


def _other(letter: str, chance: Random) -> str:
    if letter in string.digits:
        return chance.choice([each for each in "123456789" if each != letter])
    for kind in (_VOWELS, _CONSONANTS):
        if letter.lower() in kind:
            made = chance.choice([each for each in kind if each != letter.lower()])
            return made.upper() if letter.isupper() else made
    return letter


def _wrong_text(text: str, chance: Random) -> str:
    made = other_text(text, chance)
    return made if made != text else text + word(chance)


def _wrong_int(value: int, chance: Random) -> int:
    if abs(value) in _DIGITS:  # were it always larger, a file with small numbers would be the real
        made = chance.choice([each for each in _DIGITS if abs(each - abs(value)) > 1])
        return -made if value < 0 else made
    size = min(abs(value), _MOST)
    step = size + chance.randint(2, max(size, 9))
    return value - step if value < 0 and chance.random() < _HALF else value + step


def _wrong_float(value: float, chance: Random) -> float:
    if value != value or value in (float("inf"), float("-inf")):  # noqa: PLR0124 - not a number
        return chance.uniform(2, 9)
    made = value + (abs(value) + 1) * round(chance.uniform(2, 9), 2)
    _, point, decimals = repr(value).partition(".")
    return round(made, len(decimals)) if point and decimals.isdigit() else made
