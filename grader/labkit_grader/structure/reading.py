"""Reads `structure:` of oracle.yaml: hidden test files, rules, and commands."""

import difflib
import posixpath
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from labkit.fields import Document, Fields
from labkit_grader.structure.rules import (
    Complexity,
    FileGone,
    FileLength,
    FunctionLength,
    ImportRemoved,
    NoDuplicate,
    Rule,
    SymbolGone,
    SymbolMoved,
    SymbolThere,
    TextGone,
)

_FEWEST_LINES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """How the shape of a refactoring is judged."""

    tests: tuple[str, ...] = ()
    """Hidden test files that look at the structure."""
    rules: tuple[Rule, ...] = ()
    commands: tuple[str, ...] = ()
    """Run in the tree, in the sandbox; 0 means that the structure is as wanted."""

    @property
    def checks(self) -> int:
        """How many there are of all kinds."""
        return len(self.tests) + len(self.rules) + len(self.commands)


def read_structure(document: Document) -> Structure:
    """Read the list, noting problems in the document."""
    tests: list[str] = []
    rules: list[Rule] = []
    commands: list[str] = []
    for entry in document.entries("structure"):
        if isinstance(entry, str):
            tests.append(entry)
            continue
        match _kind(entry):
            case "test":
                tests.append(entry.filled("test"))
            case "command":
                commands.append(entry.filled("command"))
            case "":
                continue
            case kind:
                inner = entry.mapping(kind)
                rules.append(_RULES[kind](inner))
                inner.done()
    return Structure(tests=tuple(tests), rules=tuple(rules), commands=tuple(commands))


def path_problem(path: str) -> str:
    """Return what is wrong with a path of the project; empty when nothing is."""
    clean = posixpath.normpath(path)
    if clean != path.rstrip("/") or f"{clean}/".startswith(("/", "./", "../")) or "\0" in path:
        return f"{path!r} is not a path inside the project: write src/units.py"
    return ""


def _kind(entry: Fields) -> str:
    """Return the rule that an item names; empty, with the problem noted, when it names none."""
    names = entry.names()
    known = (*_RULES, "test", "command")
    if len(names) != 1:
        entry.beside(f"{entry.line(names[0] if names else '')}: one rule in each item, each "
                     "behind its own dash")  # fmt: skip
        return ""
    if names[0] in known:
        return names[0]
    near = difflib.get_close_matches(names[0], known, n=1)
    mend = f'did you mean "{near[0]}"?' if near else f"use one of {', '.join(known)}"
    entry.problem(names[0], f'there is no rule "{names[0]}": {mend}')
    return ""


def _file(fields: Fields, name: str = "file", *, python: bool = True) -> str:
    path = fields.filled(name)
    if problem := path and path_problem(path):
        fields.problem(name, problem)
    elif path and python and not path.endswith(".py"):
        fields.problem(name, f"{path!r} is no Python file, and this rule reads nothing else")
    return path


def _at_most(fields: Fields, name: str = "at_most", low: int = 1) -> int:
    if name not in fields:
        fields.problem(name, f'no "{name}:"')
    return fields.whole(name, default=low, low=low)


def _files(fields: Fields) -> tuple[str, ...]:
    files = fields.texts("files")
    if not files:
        fields.problem("files", '"files" must name at least one file')
    for path in files:
        if problem := path_problem(path):
            fields.problem("files", problem)
        elif not path.endswith(".py"):
            fields.problem("files", f"{path!r} is no Python file, and this rule reads nothing else")
    return files


_RULES: Mapping[str, Callable[[Fields], Rule]] = {
    "symbol_gone": lambda f: SymbolGone(file=_file(f), name=f.filled("name")),
    "symbol_there": lambda f: SymbolThere(file=_file(f), name=f.filled("name")),
    "symbol_moved": lambda f: SymbolMoved(
        name=f.filled("name"), old=_file(f, "from"), new=_file(f, "to")
    ),
    "file_gone": lambda f: FileGone(file=_file(f, python=False)),
    "file_length": lambda f: FileLength(file=_file(f, python=False), at_most=_at_most(f)),
    "function_length": lambda f: FunctionLength(
        file=_file(f), function=f.text("function", default=""), at_most=_at_most(f)
    ),
    "complexity": lambda f: Complexity(
        file=_file(f), function=f.text("function", default=""), at_most=_at_most(f)
    ),
    "import_removed": lambda f: ImportRemoved(file=_file(f), module=f.filled("module")),
    "text_gone": lambda f: TextGone(file=_file(f, python=False), text=f.filled("text")),
    "no_duplicate": lambda f: NoDuplicate(
        files=_files(f), lines=_at_most(f, "lines", _FEWEST_LINES)
    ),
}
