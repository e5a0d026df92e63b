"""Where a module has a name: defined, imported, or put there by one of Python's back doors."""

import ast
from collections.abc import Iterable, Iterator

from labkit_grader.pysource import Source, class_body, in_scope

_BY_NAME = frozenset({"setattr", "update", "__setattr__", "__setitem__"})
_NAMESPACES = frozenset({"globals", "vars", "locals"})


def still_there(source: Source, name: str) -> str:
    """Return how a module, or a class in it, still has a name; empty when it has not."""
    owner, _, last = name.rpartition(".")
    body = class_body(source.module, owner) if owner else source.module.body
    if body is None:
        return ""
    for node in _ordered(in_scope(body)):
        names = _bound(node)
        if last in names:
            return f"line {_line(node)} of {source.path} gives the name {name} to something"
        if "__getattr__" in names:
            return f"{source.path} answers for any name with __getattr__ (line {_line(node)})"
        if "*" in names and not owner:
            return f"{source.path} takes in every name of another module (line {_line(node)})"
    return _back_door(source, owner, last)


def defined(source: Source, name: str) -> bool:
    """Return whether a module makes a name itself; another name for something is not enough."""
    owner, _, last = name.rpartition(".")
    body = class_body(source.module, owner) if owner else source.module.body
    return any(_defines(node, last) for node in in_scope(body or []))


def made_here(source: Source, name: str) -> str:
    """Return where a name is bound other than by an import; empty when it is not."""
    owner, _, last = name.rpartition(".")
    body = (class_body(source.module, owner) if owner else source.module.body) or []
    for node in _ordered(in_scope(body)):
        if last in _bound(node) and not isinstance(node, (ast.Import, ast.ImportFrom)):
            return f"line {_line(node)} of {source.path} still makes {name}"
    return ""


def _defines(node: ast.AST, name: str) -> bool:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return node.name == name
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        targets = [node.target]
    else:
        return False
    named = any(isinstance(target, ast.Name) and target.id == name for target in targets)
    return named and not isinstance(node.value, (ast.Name, ast.Attribute))


def _bound(node: ast.AST) -> tuple[str, ...]:
    """Return the names that one node binds in its own scope."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return (node.name, *_declared_global(node))
        case ast.Import() | ast.ImportFrom():
            return tuple(alias.asname or alias.name.partition(".")[0] for alias in node.names)
        case ast.Name(ctx=ast.Store()):
            return (node.id,)
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return (name,)
        case ast.MatchMapping(rest=str(name)) | ast.ExceptHandler(name=str(name)):
            return (name,)
        case _:
            return ()


def _declared_global(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Global):
            yield from inner.names


def _back_door(source: Source, owner: str, name: str) -> str:
    """Return how a name is set by its text or from outside its class; empty when it is not."""
    for node in ast.walk(source.module):
        stored = isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(
            node.ctx, ast.Store
        )
        if (stored and _stores(node, owner, name)) or _sets_by_text(node, name):
            return f"line {_line(node)} of {source.path} puts the name {name} back"
    return ""


def _stores(node: ast.AST, owner: str, name: str) -> bool:
    match node:
        case ast.Attribute(attr=attr, value=value):
            return attr == name and ast.unparse(value) == (owner or "sys.modules[__name__]")
        case ast.Subscript(value=value, slice=ast.Constant(value=key)):
            return key == name and _is_namespace(value)
        case _:
            return False


def _is_namespace(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=called)):
            return called in _NAMESPACES
        case ast.Attribute(attr="__dict__"):
            return True
        case _:
            return False


def _sets_by_text(node: ast.AST, name: str) -> bool:
    """Return whether a call such as setattr(x, "name", ...) or globals().update(name=...) is it."""
    if not isinstance(node, ast.Call):
        return False
    called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    called = node.func.id if isinstance(node.func, ast.Name) else called
    if called not in _BY_NAME:
        return False
    if called == "update" and not (
        isinstance(node.func, ast.Attribute) and _is_namespace(node.func.value)
    ):
        return False
    keys = [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Constant)]
    return name in keys or any(keyword.arg == name for keyword in node.keywords)


def _ordered(nodes: Iterable[ast.AST]) -> list[ast.AST]:
    return sorted(nodes, key=_line)


def _line(node: ast.AST) -> int:
    return int(getattr(node, "lineno", 0))
