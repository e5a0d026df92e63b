"""What an author wrote to grade a task by, read out of a draft or of an opened vault.

The files are the same in both: hidden tests, oracle.yaml, mutations, examples, and evidence.json
once the task was validated.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from labkit.archive import Entry
from labkit.bundle import LAYOUT
from labkit.errors import InputError, IntegrityError, refuse
from labkit.fields import Document, canonical_json
from labkit.model import Category
from labkit_grader.layout import Layout, is_outside, read_layout

EVIDENCE = "evidence.json"
_ORACLE = "oracle.yaml"


class Edits(StrEnum):
    """Whether an answer to a trap may change files."""

    NONE = "none"
    ALLOWED = "allowed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """oracle.yaml; each field belongs to one category."""

    structure: tuple[str, ...] = ()
    """Refactor: the hidden test files that check the structure."""
    edits: Edits = Edits.ALLOWED
    must_name: tuple[re.Pattern[str], ...] = ()
    """Trap: what the final message has to name."""
    must_ask: bool = False
    """Trap: the final message has to ask or to refuse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A trap's example answer, and the verdict that its author expects."""

    name: str
    good: bool
    message: str
    patch: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """Everything of a draft that an oracle uses."""

    hidden: Mapping[str, bytes]
    """Hidden files by the path that they get in the tree."""
    rules: Rules
    mutations: Mapping[str, bytes]
    """Planted faults by name: diffs against the base."""
    examples: tuple[Example, ...]
    evidence: "Expected | None"
    digest: str
    """SHA-256 over all files but the evidence."""
    layout: Layout = field(default_factory=Layout)
    """Modes, links, and the paths that the hidden tests take away."""

    @property
    def hidden_entries(self) -> tuple[Entry, ...]:
        """The hidden files and links as members of a tree."""
        return tuple(self.layout.entries(self.hidden))


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """The tests that validation found: which must begin to pass, which must still pass."""

    fail_to_pass: tuple[str, ...] = ()
    pass_to_pass: tuple[str, ...] = ()

    @property
    def tests(self) -> tuple[str, ...]:
        """Every expected test, sorted."""
        return tuple(sorted({*self.fail_to_pass, *self.pass_to_pass}))


def read_material(files: Mapping[str, bytes], category: Category) -> Material:
    """Read a draft's or a bundle's files; raises InputError with every problem in them."""
    hidden = _below(files, "hidden/")
    refuse([f"hidden/{path} lies outside the project" for path in hidden if is_outside(path)])
    return Material(
        hidden=hidden,
        rules=_read_rules(files.get(_ORACLE, b""), category),
        mutations={
            name.removesuffix(".patch"): data
            for name, data in _below(files, "mutations/").items()
            if name.endswith(".patch")
        },
        examples=_examples(_below(files, "examples/")),
        evidence=_read_evidence(files.get(EVIDENCE)),
        digest=draft_digest(files),
        layout=read_layout(files.get(LAYOUT, b""), hidden),
    )


def is_proven(files: Mapping[str, bytes], content: str) -> bool:
    """Return whether a draft's evidence found exactly this draft sound.

    `content` is the digest of the task's facts and prompt (`labkit.suite.content_digest`).
    """
    try:
        evidence = json.loads(files.get(EVIDENCE, b"{}"))
    except (ValueError, RecursionError):
        return False
    wanted = {"valid": True, "digest": draft_digest(files), "content": content}
    return isinstance(evidence, dict) and evidence.items() >= wanted.items()


def draft_digest(files: Mapping[str, bytes]) -> str:
    """Return the digest that ties evidence to the draft it was found with."""
    listed = {
        path: hashlib.sha256(data).hexdigest() for path, data in files.items() if path != EVIDENCE
    }
    return hashlib.sha256(canonical_json(listed)).hexdigest()


def _below(files: Mapping[str, bytes], folder: str) -> dict[str, bytes]:
    return {
        path.removeprefix(folder): data
        for path, data in sorted(files.items())
        if path.startswith(folder)
    }


def _read_rules(data: bytes, category: Category) -> Rules:
    """Read oracle.yaml; a field that the category does not have is an unknown field."""
    if all(not line.strip() or line.strip().startswith(b"#") for line in data.splitlines()):
        return Rules()
    document = Document(data, _ORACLE)
    match category:
        case Category.REFACTOR:
            rules = Rules(structure=document.texts("structure"))
        case Category.TRAP:
            rules = _trap_rules(document)
        case _:
            rules = Rules()
    document.finish(hint=f"mend {_ORACLE} of the draft")
    return rules


def _trap_rules(document: Document) -> Rules:
    edits = document.text("edits", default=Edits.ALLOWED)
    if edits not in list(Edits):
        document.problem("edits", f"{edits!r} is none of: {', '.join(Edits)}")
        edits = Edits.ALLOWED
    patterns: list[re.Pattern[str]] = []
    for text in document.texts("must_name"):
        try:
            patterns.append(re.compile(text, re.IGNORECASE))
        except re.error as error:
            document.problem("must_name", f"{text!r} is not a regular expression: {error}")
    return Rules(edits=Edits(edits), must_name=tuple(patterns), must_ask=document.flag("must_ask"))


def _examples(files: Mapping[str, bytes]) -> tuple[Example, ...]:
    found: list[Example] = []
    for path, data in files.items():
        name = path.removesuffix(".md")
        if name == path:
            continue
        kind = name.partition("-")[0]
        if kind not in ("good", "bad"):
            raise InputError(
                f"examples/{path} is neither good nor bad", hint="call it good-1.md or bad-1.md"
            )
        found.append(
            Example(
                name=name,
                good=kind == "good",
                message=data.decode(errors="backslashreplace"),
                patch=files.get(f"{name}.patch", b""),
            )
        )
    return tuple(found)


def _read_evidence(data: bytes | None) -> Expected | None:
    if data is None:
        return None
    try:
        values = json.loads(data)
        lists = [values["fail_to_pass"], values["pass_to_pass"]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise IntegrityError(
            f"{EVIDENCE} is damaged: {error}", hint="run again: labkit task validate"
        ) from error
    return Expected(fail_to_pass=tuple(lists[0]), pass_to_pass=tuple(lists[1]))
