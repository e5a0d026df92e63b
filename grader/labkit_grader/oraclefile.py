"""oracle.yaml of a draft: how a task of its category is judged, as its author wrote it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from labkit.errors import InputError
from labkit.fields import Document, Fields
from labkit.globs import pattern_problem
from labkit.model import Category, TaskId
from labkit_grader.structure.reading import Structure, path_problem, read_structure

ORACLE = "oracle.yaml"
_MOST_MUTANTS = 20


class Edits(StrEnum):
    """Whether an answer to a trap may change files."""

    NONE = "none"
    ALLOWED = "allowed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """Test writing: the faults that labkit makes itself, beside the planted ones."""

    files: tuple[str, ...] = ()
    at_most: int = _MOST_MUTANTS


@dataclass(frozen=True, slots=True, kw_only=True)
class TrapRules:
    """The deterministic part of a trap's rubric."""

    edits: Edits = Edits.ALLOWED
    only_edits: tuple[str, ...] = ()
    """The only paths that an answer may change; empty means any."""
    must_not_touch: tuple[str, ...] = ()
    must_edit: tuple[str, ...] = ()
    """Paths of which each has to be changed."""
    must_name: tuple[tuple[re.Pattern[str], ...], ...] = ()
    """What the final message has to name: of each group, one is enough."""
    must_not_say: tuple[re.Pattern[str], ...] = ()
    must_ask: bool = False
    """The final message has to ask or to refuse."""
    twin: TaskId | None = None
    """An ordinary task of the same shape, in which doing what is asked is right."""

    @property
    def asks_for_nothing(self) -> bool:
        """Whether every answer would be good."""
        return self == TrapRules(twin=self.twin)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """oracle.yaml; each field belongs to one category."""

    structure: Structure = field(default_factory=Structure)
    """Refactor."""
    generated: Generated = Generated()
    """Tests."""
    trap: TrapRules = TrapRules()
    """Trap."""


def read_rules(data: bytes, category: Category) -> Rules:
    """Read oracle.yaml; raises InputError with every problem in it.

    A field that the category does not have is an unknown field.
    """
    if all(not line.strip() or line.strip().startswith(b"#") for line in data.splitlines()):
        return Rules()
    document = Document(data, ORACLE)
    match category:
        case Category.REFACTOR:
            rules = Rules(structure=read_structure(document))
        case Category.TESTS:
            rules = Rules(generated=_generated(document))
        case Category.TRAP:
            rules = Rules(trap=_trap_rules(document))
        case _:
            rules = Rules()
    document.finish(hint=f"mend {ORACLE} of the draft")
    return rules


def _generated(document: Document) -> Generated:
    fields = document.mapping("mutations")
    files = _paths(fields, "generate")
    for path in files:
        if not path.endswith(".py"):
            fields.problem("generate", f"{path!r} is no Python file: plant a patch instead")
    if "mutations" in document and not files:
        fields.problem("generate", '"generate" names no file')
    at_most = fields.whole("at_most", default=_MOST_MUTANTS, low=1)
    fields.done()
    return Generated(files=files, at_most=at_most)


def _trap_rules(document: Document) -> TrapRules:
    edits = _edits(document)
    rules = TrapRules(
        edits=edits,
        only_edits=_places(document, "only_edits"),
        must_not_touch=_places(document, "must_not_touch"),
        must_edit=_places(document, "must_edit"),
        must_name=tuple(_groups(document)),
        must_not_say=_patterns(document, "must_not_say", document.texts("must_not_say")),
        must_ask=document.flag("must_ask"),
        twin=_twin(document),
    )
    for name in ("only_edits", "must_edit"):
        if edits is Edits.NONE and name in document:
            document.problem(name, f'"{name}" has no meaning where "edits" is none')
    return rules


def _edits(document: Document) -> Edits:
    if "edits" in document:
        return Edits(document.word("edits", list(Edits), instead=Edits.ALLOWED))
    return Edits(document.text("edits", default=Edits.ALLOWED))


def _groups(document: Document) -> Iterator[tuple[re.Pattern[str], ...]]:
    """Yield the groups of must_name: a pattern by itself, or the patterns of an any_of."""
    for entry in document.entries("must_name"):
        if isinstance(entry, str):
            yield _patterns(document, "must_name", (entry,))
            continue
        texts = entry.texts("any_of")
        if not texts:
            entry.problem("any_of", 'write "any_of:" with a list of patterns')
        yield _patterns(entry, "any_of", texts)
        entry.done()


def _patterns(fields: Fields, name: str, texts: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    patterns: list[re.Pattern[str]] = []
    for text in texts:
        try:
            pattern = re.compile(text, re.IGNORECASE)
        except (re.error, RecursionError, OverflowError) as error:
            fields.problem(name, f"{text!r} is not a regular expression: {error}")
            continue
        if pattern.search(""):
            fields.problem(name, f"{text!r} is found in every message, even in an empty one")
        patterns.append(pattern)
    return tuple(patterns)


def _paths(fields: Fields, name: str) -> tuple[str, ...]:
    paths = fields.texts(name)
    for path in paths:
        if problem := path_problem(path):
            fields.problem(name, problem)
    return paths


def _places(fields: Fields, name: str) -> tuple[str, ...]:
    places = _paths(fields, name)
    for problem in filter(None, map(pattern_problem, places)):
        fields.problem(name, problem)
    return places


def _twin(document: Document) -> TaskId | None:
    if "twin" not in document:
        document.text("twin", default="")
        return None
    try:
        return TaskId(document.filled("twin"))
    except InputError as error:
        document.problem("twin", error.message)
        return None
