"""Which modules a file uses: by any form of import, by its full name, or by import_module."""

import ast
from collections.abc import Iterator

from labkit_grader.pysource import Source

_BY_TEXT = frozenset({"__import__", "import_module", "find_spec", "run_module"})


def uses_of(source: Source, module: str) -> str:
    """Return how a file uses a module or something below it; empty when it does not."""
    for node in ast.walk(source.module):
        for name in _named(node, source.path):
            if name == module or name.startswith(f"{module}."):
                line = getattr(node, "lineno", 0)
                return f"line {line} of {source.path} uses {module}"
    return ""


def _named(node: ast.AST, path: str) -> Iterator[str]:
    """Yield the dotted names that a node may be using a module by."""
    match node:
        case ast.Import():
            yield from (alias.name for alias in node.names)
        case ast.ImportFrom():
            start = _absolute(node, path)
            yield start
            yield from (f"{start}.{alias.name}".lstrip(".") for alias in node.names)
        case ast.Attribute():
            yield _dotted(node)
        case ast.Call(args=[ast.Constant(value=str(name)), *_]) if _called(node) in _BY_TEXT:
            yield name
        case _:
            return


def _absolute(node: ast.ImportFrom, path: str) -> str:
    """Return the module that a `from` names, a relative one from the file's place."""
    if not node.level:
        return node.module or ""
    folders = path.removeprefix("src/").split("/")[: -node.level]
    return ".".join([*folders, *([node.module] if node.module else [])])


def _dotted(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def _called(node: ast.Call) -> str:
    if isinstance(node.func, ast.Name):
        return node.func.id
    return node.func.attr if isinstance(node.func, ast.Attribute) else ""
