"""A sign in a file, and which signs a diff has added."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Sign:
    """Something in a file that people should look at."""

    path: str
    line: int
    what: str
    """What it is and why it matters, as one sentence without an end."""
    text: str = ""
    """The code itself, without its indentation: what stood in the base already is told by it."""

    def __str__(self) -> str:
        told = f"{self.path}:{self.line}: {self.what}"
        return told.encode(errors="backslashreplace").decode()


def added(before: Iterable[Sign], after: Iterable[Sign]) -> tuple[Sign, ...]:
    """Return the signs that only `after` has, wherever in the project they stood before."""
    standing = Counter((sign.what, sign.text) for sign in before)
    found: list[Sign] = []
    for sign in sorted(set(after)):
        key = (sign.what, sign.text)
        if standing[key]:
            standing[key] -= 1
        else:
            found.append(sign)
    return tuple(found)
