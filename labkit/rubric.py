"""The rubric: what scorers judge, in which order, and what each mark means."""

import re
from dataclasses import asdict, dataclass
from pathlib import Path

from labkit.errors import InputError
from labkit.fields import Document, Fields

LOWEST, HIGHEST, STEP = 0.0, 4.0, 0.5
_LEVELS = 5
_NAME = re.compile(r"[a-z]+(?:[-_][a-z]+)*")
_TAKEN = frozenset({"run", "blind_id", "scorer", "guess", "note"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """One thing that is judged, from 0 to 4."""

    name: str
    weight: float
    after_results: bool
    """Judged only once the other marks are in and the grade has been shown."""
    levels: tuple[str, ...]
    """One sentence for each of the marks 0, 1, 2, 3, 4."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """evals/rubric.yaml."""

    dimensions: tuple[Dimension, ...]
    hard_fails: tuple[str, ...]

    def facts(self) -> dict[str, object]:
        """Return the rubric as plain values, as it is hashed: the order of dimensions counts."""
        return {
            "dimensions": [
                {**asdict(item), "levels": list(item.levels)} for item in self.dimensions
            ],
            "hard_fails": list(self.hard_fails),
        }

    @property
    def names(self) -> tuple[str, ...]:
        """Every dimension's name, in the rubric's order."""
        return tuple(item.name for item in self.dimensions)

    @property
    def early(self) -> frozenset[str]:
        """What is judged from the diff and the message alone."""
        return frozenset(item.name for item in self.dimensions if not item.after_results)

    @property
    def late(self) -> frozenset[str]:
        """What is judged once the results have been shown."""
        return frozenset(item.name for item in self.dimensions if item.after_results)


def load_rubric(path: Path) -> Rubric:
    """Read the rubric; raises InputError that tells every problem of the file."""
    document = Document.read(path)
    dimensions = tuple(_dimension(item) for item in document.mappings("dimensions"))
    hard_fails = document.texts("hard_fails")
    names = [item.name for item in dimensions]
    for name in sorted({name for name in names if names.count(name) > 1}):
        document.problem("dimensions", f"{name!r} is there twice")
    if not any(not item.after_results for item in dimensions):
        document.problem("dimensions", "there is none that is judged before the results are shown")
    document.finish(hint="labkit init writes a rubric that works: compare with it")
    return Rubric(dimensions=dimensions, hard_fails=hard_fails)


def _dimension(fields: Fields) -> Dimension:
    name = fields.text("name")
    if name in _TAKEN or (name and not _NAME.fullmatch(name)):
        fields.problem("name", f"{name!r} cannot be a column of a score sheet")
    levels = fields.texts("levels")
    if len(levels) != _LEVELS or not all(text.strip() for text in levels):
        fields.problem("levels", f"{name} needs {_LEVELS} sentences, for the marks 0 to 4")
    weight = fields.number("weight", default=1.0)
    after_results = fields.flag("after_results")
    fields.done()
    return Dimension(name=name, weight=weight, after_results=after_results, levels=levels)


def mark(text: str) -> float:
    """Return a mark from what a person wrote: 0 to 4, whole or half, a comma being a point.

    Raises InputError for anything else.
    """
    if re.fullmatch(r"[0-9](?:[.,][0-9]{1,3})?", text):
        value = float(text.replace(",", "."))
        if LOWEST <= value <= HIGHEST and (value / STEP).is_integer():
            return value
    raise InputError(f"{text[:40]!r} is not a mark from 0 to 4, whole or half")
