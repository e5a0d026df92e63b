"""What can be said of a prompt: remarks of several kinds, some problems and some notes."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from labkit.fields import first_words


class Kind(StrEnum):
    """What a remark is about, as its sentence begins."""

    LINE = "the prompt holds lines of the solution"
    TEST = "the prompt holds hidden tests by name"
    NAME = "the prompt names what only the solution has"
    PATTERN = "the prompt holds patterns that only the solution has"
    FILE = "the prompt names files that only the solution has"
    COMMIT = "the prompt names commits of the solution's history"
    LINK = "the prompt points to where the solution was discussed"
    TEMPLATE = "the prompt still holds what its template asks to replace"
    SHORT = "the prompt is too short to act on"
    UNNAMED = (
        "the hidden tests import names that the prompt never mentions, so nobody can know them"
    )
    WORD = "the prompt uses words that are names in the solution and stand nowhere in the base"
    LITERAL = "the prompt holds texts or numbers that only the solution has and no hidden test uses"
    CHANGED = "the prompt names files that the solution changes, which tells where to look"
    UNTOLD = "the hidden tests use names that only the solution has and the prompt never mentions"


_NOTES = frozenset({Kind.WORD, Kind.LITERAL, Kind.CHANGED, Kind.UNTOLD})
_LACKS = frozenset({Kind.SHORT, Kind.TEMPLATE, Kind.UNNAMED, Kind.UNTOLD})


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Remark:
    """One thing about a prompt; `line` is 0 where it is about the whole."""

    kind: Kind
    line: int = 0
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptCheck:
    """Everything that was found in a prompt."""

    remarks: tuple[Remark, ...] = ()

    @property
    def problems(self) -> tuple[str, ...]:
        """What makes the prompt unfit, a sentence for each kind."""
        return self._sentences(set(Kind) - _NOTES)

    @property
    def notes(self) -> tuple[str, ...]:
        """What its author should look at."""
        return self._sentences(_NOTES)

    @property
    def leaks(self) -> tuple[Remark, ...]:
        """What gives something away, for certain."""
        return tuple(one for one in self.remarks if one.kind not in _NOTES | _LACKS)

    def _sentences(self, kinds: Iterable[Kind]) -> tuple[str, ...]:
        wanted = set(kinds)
        told: dict[Kind, list[str]] = {}
        for one in self.remarks:
            if one.kind in wanted:
                where = f" (line {one.line})" if one.line else ""
                told.setdefault(one.kind, []).append(f"{one.text}{where}")
        return tuple(f"{kind}: {first_words(texts)}" for kind, texts in told.items())
