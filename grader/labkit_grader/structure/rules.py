"""The declarative rules of a refactoring. Each knows what it demands and why a tree is short of it.

A rule is judged on one tree alone, so validation asks the base and the solution, and grading asks
what the run left. A file that is gone has lost its symbols, imports and text; it has no length.
"""

from dataclasses import dataclass
from typing import Protocol

from labkit.fields import counted
from labkit.patch.place import Tree
from labkit_grader.pysource import TOO_DEEP, Source, UnreadableError, file_data, read_source
from labkit_grader.structure.imports import uses_of
from labkit_grader.structure.measures import (
    chosen_functions,
    code_text,
    complexity,
    length,
    twice,
)
from labkit_grader.structure.symbols import defined, made_here, still_there


class Rule(Protocol):
    """What the shape of the code has to be."""

    def __str__(self) -> str:
        """Return the rule for a person, as a name of its outcome."""
        ...

    def short_of(self, tree: Tree) -> str:
        """Return why a tree does not meet the rule; empty when it does."""
        ...


def why_not(rule: Rule, tree: Tree) -> str:
    """Return why a tree does not meet a rule, whatever its files hold; empty when it does."""
    try:
        return rule.short_of(tree)
    except UnreadableError as error:
        return str(error)
    except (RecursionError, MemoryError):
        return TOO_DEEP


@dataclass(frozen=True, slots=True, kw_only=True)
class SymbolGone:
    """A function, class, method or variable is no longer there, under no disguise."""

    file: str
    name: str

    def __str__(self) -> str:
        return f"{self.name} is gone from {self.file}"

    def short_of(self, tree: Tree) -> str:
        """Look for the name in the module or class."""
        source = read_source(tree, self.file)
        return still_there(source, self.name) if source else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SymbolThere:
    """A name is defined; another name for something that is elsewhere does not count."""

    file: str
    name: str

    def __str__(self) -> str:
        return f"{self.name} is defined in {self.file}"

    def short_of(self, tree: Tree) -> str:
        """Look for the definition."""
        return "" if defined(_needed(tree, self.file), self.name) else "it is not"


@dataclass(frozen=True, slots=True, kw_only=True)
class SymbolMoved:
    """A name is defined in another file than before; the old one may still import it."""

    name: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.name} has moved from {self.old} to {self.new}"

    def short_of(self, tree: Tree) -> str:
        """Look at both files."""
        before = read_source(tree, self.old)
        if before and (still := made_here(before, self.name)):
            return still
        there = defined(_needed(tree, self.new), self.name)
        return "" if there else f"{self.new} does not define it"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileGone:
    """A file is no longer there."""

    file: str

    def __str__(self) -> str:
        return f"the file {self.file} is gone"

    def short_of(self, tree: Tree) -> str:
        """Look for the file."""
        return "it is still there" if self.file.encode() in tree else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLength:
    """A file, of any language, has at most so many lines."""

    file: str
    at_most: int

    def __str__(self) -> str:
        return f"{self.file} has at most {counted(self.at_most, 'line')}"

    def short_of(self, tree: Tree) -> str:
        """Count the lines."""
        data = file_data(tree, self.file)
        if data is None:
            raise _missing(self.file)
        count = len(data.splitlines())
        return f"it has {count}" if count > self.at_most else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionLength:
    """A function, or every function of a file, has at most so many lines."""

    file: str
    function: str
    at_most: int

    def __str__(self) -> str:
        return f"{_which(self.function, self.file)} has at most {counted(self.at_most, 'line')}"

    def short_of(self, tree: Tree) -> str:
        """Measure the longest."""
        found = chosen_functions(_needed(tree, self.file), self.function)
        worst = max(((length(node), name) for name, node in found), default=(0, ""))
        return f"{worst[1]} has {worst[0]}" if worst[0] > self.at_most else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Complexity:
    """A function, or every function of a file, has at most this cyclomatic complexity."""

    file: str
    function: str
    at_most: int

    def __str__(self) -> str:
        return f"the complexity of {_which(self.function, self.file)} is at most {self.at_most}"

    def short_of(self, tree: Tree) -> str:
        """Measure the most complex."""
        found = chosen_functions(_needed(tree, self.file), self.function)
        worst = max(((complexity(node), name) for name, node in found), default=(0, ""))
        return f"that of {worst[1]} is {worst[0]}" if worst[0] > self.at_most else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRemoved:
    """A file no longer uses a module."""

    file: str
    module: str

    def __str__(self) -> str:
        return f"{self.file} does not use {self.module}"

    def short_of(self, tree: Tree) -> str:
        """Look for every form of import."""
        source = read_source(tree, self.file)
        return uses_of(source, self.module) if source else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextGone:
    """A text no longer stands in a file; in Python, comments and docstrings do not count."""

    file: str
    text: str

    def __str__(self) -> str:
        return f"{self.file} does not hold {self.text!r}"

    def short_of(self, tree: Tree) -> str:
        """Look for the text, however it is broken into lines."""
        data = file_data(tree, self.file) or b""
        texts: tuple[str, ...] = (" ".join(data.decode(errors="replace").split()),)
        if self.file.endswith(".py") and (source := read_source(tree, self.file)):
            texts = code_text(source)
        wanted = " ".join(self.text.split())
        return "it still does" if any(wanted in text for text in texts) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoDuplicate:
    """No so many lines of code in a row stand twice in these files."""

    files: tuple[str, ...]
    lines: int

    def __str__(self) -> str:
        return f"no {counted(self.lines, 'line')} stand twice in {', '.join(self.files)}"

    def short_of(self, tree: Tree) -> str:
        """Compare all runs of lines."""
        sources = [read_source(tree, path) for path in self.files]
        return twice([source for source in sources if source], self.lines)


def _needed(tree: Tree, path: str) -> Source:
    source = read_source(tree, path)
    if source is None:
        raise _missing(path)
    return source


def _missing(path: str) -> UnreadableError:
    return UnreadableError(f"there is no file {path}")


def _which(function: str, file: str) -> str:
    return f"{function} in {file}" if function else f"every function in {file}"
