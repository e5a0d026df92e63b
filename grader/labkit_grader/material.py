"""What an author wrote to grade a task by, read out of a draft or of an opened vault.

The files are the same in both: hidden tests, oracle.yaml, mutations, examples, and evidence.json
once the task was validated.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from labkit.archive import Entry
from labkit.bundle import LAYOUT
from labkit.errors import InputError, IntegrityError, refuse
from labkit.fields import canonical_json
from labkit.model import Category
from labkit_grader.layout import Layout, is_outside, read_layout
from labkit_grader.made import Made, read_made
from labkit_grader.oraclefile import ORACLE, Rules, read_rules
from labkit_grader.twins.guards import Guards, read_guards

EVIDENCE = "evidence.json"
DAMAGED = (ValueError, KeyError, TypeError, AttributeError, RecursionError)
"""What reading JSON of another shape raises."""


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
    """What validation found and grading needs: which tests must begin to pass, which still pass."""

    fail_to_pass: tuple[str, ...] = ()
    pass_to_pass: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    """Tests that may run too and count for nothing."""
    made: Made = field(default_factory=Made)
    """Test writing: the faults and variants that grading uses."""
    guards: Guards = field(default_factory=Guards)
    """Where a wrong expectation is noticed."""

    def values(self) -> dict[str, object]:
        """Return plain values for evidence.json."""
        return {
            "fail_to_pass": list(self.fail_to_pass),
            "pass_to_pass": list(self.pass_to_pass),
            "others": list(self.others),
            **self.made.values(),
            **self.guards.values(),
        }

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "Expected":
        """Read what `values()` wrote; raises one of DAMAGED where something else stands there."""
        lists = [values["fail_to_pass"], values["pass_to_pass"]]
        return cls(
            fail_to_pass=tuple(lists[0]),
            pass_to_pass=tuple(lists[1]),
            others=tuple(values.get("others", ())),
            made=read_made(values),
            guards=read_guards(values),
        )

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
        rules=read_rules(files.get(ORACLE, b""), category),
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
        return Expected.of(json.loads(data))
    except DAMAGED as error:
        raise IntegrityError(
            f"{EVIDENCE} is damaged: {error}", hint="run again: labkit task validate"
        ) from error
