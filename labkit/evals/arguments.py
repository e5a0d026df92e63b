"""What people hand to the library, made what it is meant to be, or refused when it is handed over.

Texts stand for paths and for words of a short list; lists stand for tuples.
"""

from collections.abc import Collection, Iterable
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from labkit.errors import did_you_mean

Word = TypeVar("Word", bound=StrEnum)


def word_of(value: Any, words: type[Word], what: str) -> Word:
    """Return one of a list of words; raises ValueError that names them all."""
    try:
        return words(value)
    except ValueError:
        near = did_you_mean(value, list(words)) if isinstance(value, str) else ""
        raise ValueError(
            f"{what} is {str(value)[:40]!r}, and must be one of {', '.join(words)}{near}"
        ) from None


def texts_of(values: object, what: str) -> tuple[str, ...]:
    """Return a list of texts as a tuple.

    Raises TypeError for anything else: also for one text, which is a list of its letters.
    """
    if isinstance(values, str) or not isinstance(values, Collection):
        raise TypeError(f"{what} is {_shown(values)}, and must be a list of texts")
    found = tuple(values)
    for each in found:
        if not isinstance(each, str):
            raise TypeError(f"{what} holds {_shown(each)}, and must be a list of texts")
    return found


def paths_of(values: "Iterable[Path | str]", what: str) -> tuple[Path, ...]:
    """Return paths; raises TypeError for a single one, which would be a list of its letters."""
    if isinstance(values, str | Path):
        raise TypeError(f"{what} is {_shown(values)}, and must be a list of paths")
    return tuple(map(Path, values))


def require_callable(candidate: object) -> None:
    """Raise TypeError for a candidate that nobody can call."""
    if not callable(candidate):
        raise TypeError(
            f"the candidate is {_shown(candidate)}, and must be called with a case and a trial; "
            "open_candidate opens one that is named by a text"
        )


def require_whole(value: object, what: str, least: int | None = None) -> None:
    """Raise TypeError for what is no whole number, and ValueError for one that is too small."""
    if type(value) is not int:
        raise TypeError(f"{what} is {_shown(value)}, and must be a whole number")
    if least is not None and value < least:
        raise ValueError(f"{what} is {value}, and must be at least {least}")


def require_timeout(value: Any) -> None:
    """Raise TypeError or ValueError for a timeout that is no time."""
    if value is None:
        return
    if type(value) not in (int, float):
        raise TypeError(f"timeout is {_shown(value)}, and must be a number of seconds")
    if not value > 0:  # nor is NaN above 0
        raise ValueError(f"a timeout of {value} s leaves no time")


def ks_of(values: object, n: int) -> tuple[int, ...]:
    """Return the k of pass@k; raises TypeError, or ValueError for one above n."""
    if isinstance(values, str) or not isinstance(values, Collection):
        raise TypeError(f"ks is {_shown(values)}, and must be a list of whole numbers")
    for k in values:
        require_whole(k, "each of ks", 1)
        if k > n:
            raise ValueError(f"ks must lie between 1 and n = {n}")
    return tuple(values)


def _shown(value: object) -> str:
    return repr(value)[:60] if isinstance(value, str | int | float | Path) else type(value).__name__
