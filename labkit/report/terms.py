"""Explains a word of the reports, or says which words come near."""

import difflib
import re
from collections.abc import Iterator

from labkit.errors import InputError
from labkit.report.glossary import TERMS, Term

_JOINTS = re.compile(r"[\s_-]+")
_NEAR = 4
_ALIKE = 0.55
_LONGEST_SHOWN = 40


def explain(word: str) -> str:
    """Return what a term means, in plain words.

    Raises InputError for a word that the reports do not use, with those that come near.
    """
    known = {_key(name): term for term in TERMS for name in _names(term)}
    term = known.get(_key(word))
    if term is None:
        raise InputError(
            f'"{word[:_LONGEST_SHOWN]}" is not a word of the reports', hint=_hint(word)
        )
    also = f" (also: {', '.join(term.also)})" if term.also else ""
    return f"{term.name}{also}\n{term.text}"


def term(name: str) -> Term:
    """Return a term of the glossary by its own name."""
    return next(each for each in TERMS if each.name == name)


def _names(term: Term) -> Iterator[str]:
    yield term.name
    yield from term.also


def _key(word: str) -> str:
    return _JOINTS.sub(" ", word.strip()).casefold()


def _hint(word: str) -> str:
    near = _near(_key(word))
    if near:
        return f"did you mean: {', '.join(near)}?"
    return f"the words are: {', '.join(each.name for each in TERMS)}"


def _near(word: str) -> tuple[str, ...]:
    """Return the terms that are spelled alike or hold the word, best first."""
    names = {_key(name): each.name for each in TERMS for name in _names(each)}
    holding = [name for name in names if len(word) > 1 and (word in name or name in word.split())]
    alike = difflib.get_close_matches(word, names, n=_NEAR, cutoff=_ALIKE)
    return tuple(dict.fromkeys(names[name] for name in (*alike, *holding)))[:_NEAR]
