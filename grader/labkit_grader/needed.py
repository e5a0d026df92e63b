"""Which names hidden tests take from the project: what a prompt has to name if it is new."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from labkit.patch.place import Tree
from labkit_grader.vocabulary import WORD, is_binary, text_of

_TESTS = re.compile(
    r"^\s*(?:async\s+)?def\s+(test\w*)|^\s*class\s+(Test\w*|\w+Tests?)\b|^func\s+(Test\w+)", re.M
)
_TITLES = re.compile(r"""\b(?:it|test|describe)\s*\(\s*(["'`])(.+?)\1""")
_IMPORT_LINE = re.compile(r"(?m)^.*\b(?:import|require|use|include|from)\b.*$")
_SHORTEST_TITLE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenNames:
    """What hidden tests are called, and what they use."""

    tests: frozenset[str] = frozenset()
    """Names of test functions and classes."""
    titles: frozenset[str] = frozenset()
    """What tests of other languages are called: sentences."""
    imported: frozenset[str] = frozenset()
    """Names that are imported from the project, or looked up in one of its modules."""
    used: frozenset[str] = frozenset()
    """Every other name that the tests use."""
    words: frozenset[str] = frozenset()
    """Every word that stands anywhere in them."""


def hidden_names(hidden: Mapping[str, bytes], solution: Tree) -> HiddenNames:
    """Read the hidden files; one that cannot be parsed still has its words."""
    texts = {path: text_of(data) for path, data in hidden.items() if not is_binary(data)}
    tops = set(_modules(solution))
    imported: set[str] = set()
    used: set[str] = set()
    defined: set[str] = set()
    for path, text in texts.items():
        tree = _parsed(text) if path.endswith(".py") else None
        if tree is None:
            imported |= {w for line in _IMPORT_LINE.findall(text) for w in WORD.findall(line)}
        else:
            imported |= set(_imported(tree, tops))
            used |= set(_used(tree))
            defined |= set(_defined(tree))
    return HiddenNames(
        tests=frozenset(
            name
            for text in texts.values()
            for found in _TESTS.findall(text)
            for name in found
            if name
        ),
        titles=frozenset(
            title
            for path, text in texts.items()
            if not path.endswith(".py")
            for _, title in _TITLES.findall(text)
            if len(title) >= _SHORTEST_TITLE
        ),
        imported=frozenset(imported - defined),
        used=frozenset(used - imported - defined),
        words=frozenset(word for text in texts.values() for word in WORD.findall(text)),
    )


def _modules(tree: Tree) -> Iterator[str]:
    """Yield the names under which a project's Python can be imported."""
    for path in tree:
        parts = path.decode(errors="replace").split("/")
        if parts[-1].endswith((".py", ".pyx", ".pyi")):
            below = parts[1:] if parts[0] in ("src", "lib") and len(parts) > 1 else parts
            yield below[0].partition(".")[0]


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _imported(tree: ast.Module, tops: set[str]) -> Iterator[str]:
    """Yield the names of a test file that come out of the project's modules."""
    bound: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                parts = alias.name.split(".")
                if parts[0] in tops:
                    bound.add(alias.asname or parts[0])
                    yield from parts
        elif isinstance(node, ast.ImportFrom) and _is_own(node, tops):
            bound |= {alias.asname or alias.name for alias in node.names}
            yield from (node.module or "").split(".")
            yield from (alias.name for alias in node.names)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and _root(node) in bound:
            yield node.attr


def _is_own(node: ast.ImportFrom, tops: set[str]) -> bool:
    return bool(node.level) or (node.module or "").split(".")[0] in tops


def _root(node: ast.expr) -> str:
    """Return the name that a chain of attributes begins with: `a` of `a.b.c`; else nothing."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _used(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name) | ast.keyword(arg=str(name)) | ast.Name(id=name):
                yield name
            case _:
                pass


def _defined(tree: ast.Module) -> Iterator[str]:
    """Yield what a test file makes itself."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name
            case _:
                pass
