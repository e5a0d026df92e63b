"""What validation made for a test writing task and fixed, so that grading needs no choice.

It is kept in evidence.json and sealed with it: the generated faults, and the two variants of the
code under test.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from labkit.patch.place import Tree
from labkit_grader.mutants import Mutant


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """Faults and variants of the code under test."""

    mutants: tuple[Mutant, ...] = ()
    neutral: Mapping[str, str] = field(default_factory=dict)
    """Files that behave as the real ones and are written differently; none if that cannot be."""
    gutted: Mapping[str, str] = field(default_factory=dict)
    """Files whose functions all raise; none where the reference tests do not notice it."""

    def values(self) -> dict[str, object]:
        """Return plain values for evidence.json; empty when nothing was made."""
        if self == Made():
            return {}
        return {
            "made": {
                "mutants": [asdict(mutant) for mutant in self.mutants],
                "neutral": dict(self.neutral),
                "gutted": dict(self.gutted),
            }
        }


def read_made(values: Mapping[str, Any]) -> Made:
    """Read back what `Made.values` wrote; raises ValueError, KeyError or TypeError."""
    if "made" not in values:
        return Made()
    made = values["made"]
    return Made(
        mutants=tuple(_mutant(mutant) for mutant in made["mutants"]),
        neutral={str(path): str(text) for path, text in made["neutral"].items()},
        gutted={str(path): str(text) for path, text in made["gutted"].items()},
    )


def _mutant(values: Mapping[str, Any]) -> Mutant:
    return Mutant(
        path=str(values["path"]),
        line=int(values["line"]),
        start=int(values["start"]),
        end=int(values["end"]),
        text=str(values["text"]),
        what=str(values["what"]),
    )


def with_files(tree: Tree, files: Mapping[str, str]) -> Tree:
    """Return a tree in which some of its files have another content."""
    changed = {path.encode(): text.encode() for path, text in files.items()}
    return {
        path: replace(entry, data=changed.get(path, entry.data)) for path, entry in tree.items()
    }


def with_fault(tree: Tree, mutant: Mutant) -> Tree:
    """Return a tree with a generated fault."""
    path = mutant.path.encode()
    return {**tree, path: replace(tree[path], data=mutant.applied(tree[path].data))}
