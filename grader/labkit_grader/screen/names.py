"""What names in a Python file stand for, as far as its imports tell."""

import ast
from collections.abc import Mapping

_LOADERS = frozenset({"__import__", "importlib.import_module", "importlib.__import__"})
_DEEPEST = 20


class Names:
    """Resolves names and attributes to dotted names.

    After `from os import _exit as e` both `e` and `getattr(os, "_exit")` are os._exit.
    """

    def __init__(self, module: ast.Module) -> None:
        self._known: Mapping[str, str] = _imported(module)

    def of(self, node: ast.AST | None, depth: int = 0) -> str:
        """Return the dotted name that an expression stands for; empty where there is none."""
        match node if depth <= _DEEPEST else None:
            case ast.Name(id=name):
                return self._known.get(name, name)
            case ast.Attribute(value=owner, attr=attribute):
                return self._joined(owner, attribute, depth)
            case (
                ast.Call(func=ast.Name(id="getattr"), args=[owner, ast.Constant(str(name)), *_])
                | ast.Subscript(
                    value=ast.Attribute(value=owner, attr="__dict__")
                    | ast.Call(func=ast.Name(id="vars"), args=[owner]),
                    slice=ast.Constant(str(name)),
                )
            ):
                return self._joined(owner, name, depth)
            case ast.Call(func=loader, args=[ast.Constant(str(name)), *_]):
                return name if self.of(loader, depth + 1) in _LOADERS else ""
            case _:
                return ""

    def _joined(self, owner: ast.expr, name: str, depth: int) -> str:
        above = self.of(owner, depth + 1)
        return f"{above}.{name}" if above else ""


def _imported(module: ast.Module) -> dict[str, str]:
    known: dict[str, str] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                known[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                known[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return known
