"""Python files of a tree as syntax trees. They are only ever parsed, never run.

What an agent left can be anything: whatever cannot be parsed raises UnreadableError with a
sentence for a person, and so does what would take this process down with it.
"""

import ast
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from labkit.archive import Kind
from labkit.patch.place import Tree

Function = ast.FunctionDef | ast.AsyncFunctionDef
_OTHER_SCOPES = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda,
    ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
)  # fmt: skip
_MOST_BYTES = 1024 * 1024
_HEAD = 4096
_COSTLY = re.compile(
    rb"\A(?:[^\n]*\n)?[^\n]*coding[:=][ \t]*(?:punycode|idna|[\w-]+[-_]escape)", re.I
)
"""Codings that no source is written in, and that take minutes or much memory to decode."""
TOO_DEEP = "it is nested too deeply to be looked at"


class UnreadableError(Exception):
    """A file that cannot be looked at; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One Python file."""

    path: str
    data: bytes
    module: ast.Module


class Spans:
    """Where the nodes of a file stand in its bytes."""

    def __init__(self, source: Source) -> None:
        self._data = source.data
        self._starts = [0]
        for line in source.data.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        mark = b"\xef\xbb\xbf"
        self._mark = len(mark) if source.data.startswith(mark) else 0

    def of(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Return the first byte of a node, and the one behind it."""
        last, column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self._offset(node.lineno, node.col_offset), self._offset(last, column)

    def text(self, node: ast.expr | ast.stmt) -> str:
        """Return a node as its author wrote it."""
        start, end = self.of(node)
        return self._data[start:end].decode(errors="replace")

    def line_start(self, node: ast.expr | ast.stmt) -> str:
        """Return what stands on a node's line before it."""
        return self._data[self._starts[node.lineno - 1] : self.of(node)[0]].decode(errors="replace")

    def _offset(self, line: int, column: int) -> int:
        return self._starts[line - 1] + column + (self._mark if line == 1 else 0)


def file_data(tree: Tree, path: str) -> bytes | None:
    """Return a file's content, None where there is none; a link is not followed."""
    entry = tree.get(path.encode())
    if entry is None:
        return None
    if entry.kind not in (Kind.FILE, Kind.EXECUTABLE):
        raise UnreadableError(f"{path} is no plain file")
    if len(entry.data) > _MOST_BYTES:
        raise UnreadableError(f"{path} is too large to be looked at: {len(entry.data)} bytes")
    return entry.data


def read_source(tree: Tree, path: str) -> Source | None:
    """Return a tree's Python file, None where there is none."""
    data = file_data(tree, path)
    return None if data is None else Source(path=path, data=data, module=parse(data, path))


def parse(data: bytes, path: str) -> ast.Module:
    """Parse a Python file; raises UnreadableError for anything that is none."""
    if coding := _COSTLY.search(data[:_HEAD].replace(b"\r", b"\n")):
        told = coding[0].rpartition(b"coding")[2][1:].decode(errors="replace").strip()
        raise UnreadableError(f"{path} cannot be parsed: no source is written in {told}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a "\d" in a graded file is not ours to warn of
            return ast.parse(data)
    except SyntaxError as error:
        line = f", line {error.lineno}" if error.lineno else ""
        raise UnreadableError(f"{path}{line} cannot be parsed: {error.msg}") from error
    except (ValueError, LookupError) as error:
        raise UnreadableError(f"{path} cannot be parsed: {error}") from error
    except (RecursionError, MemoryError) as error:
        raise UnreadableError(f"{path} cannot be parsed: {TOO_DEEP}") from error


def functions(module: ast.Module) -> Iterator[tuple[str, Function]]:
    """Yield every function with its name inside the module: `f`, `Class.method`, `f.inner`."""
    waiting: list[tuple[str, ast.AST]] = [("", module)]
    while waiting:
        above, node = waiting.pop()
        for child in ast.iter_child_nodes(node):
            name = above
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                name = f"{above}.{child.name}" if above else child.name
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield name, child
            waiting.append((name, child))


def in_scope(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield every node that is carried out in the scope of `body`, whatever it is nested in."""
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _OTHER_SCOPES):
            waiting.extend(ast.iter_child_nodes(node))


def class_body(module: ast.Module, name: str) -> list[ast.stmt] | None:
    """Return the body of a class by its dotted name; None where there is no such class."""
    body: list[ast.stmt] = module.body
    for part in name.split("."):
        found = [n for n in in_scope(body) if isinstance(n, ast.ClassDef) and n.name == part]
        if not found:
            return None
        body = [statement for node in found for statement in node.body]
    return body


def without_docstrings(module: ast.Module) -> ast.Module:
    """Take every docstring out of a module, in place."""
    for node in ast.walk(module):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[:1]
            if first and is_docstring(first[0]):
                node.body = node.body[1:] or [ast.Pass()]
    return module


def is_docstring(statement: ast.stmt) -> bool:
    """Return whether a statement is a text and nothing else."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
