"""Which assertions of a test are carried out whatever the code under test returns.

Only those may have a wrong counterpart: an honest solution that never comes to an assertion passes
with the right expectation and with the wrong one.
"""

import ast
from collections import Counter
from collections.abc import Iterator, Mapping

from labkit_grader.pysource import Function, in_scope, is_docstring
from labkit_grader.twins.expectations import last_name

_ALSO = ("check", "_check", "assert", "_assert", "verify", "_verify", "expect", "_expect")
_SWALLOWS = frozenset({"raises", "suppress", "warns", "assertRaises", "assertRaisesRegex"})
Bound = Mapping[str, ast.expr | None]
_ITERATES = frozenset({"range", "zip", "enumerate", "reversed", "list", "tuple", "items", "values"})


def owners(module: ast.Module) -> Iterator[tuple[str, Function]]:
    """Yield the tests of a module by dotted name, and the functions that they ask to assert.

    Such a function counts only where it is always called by its name and never handed on: code that
    it is handed to could swallow what it raises.
    """
    called = Counter(last_name(n.func) for n in ast.walk(module) if isinstance(n, ast.Call))
    named = Counter(
        last_name(n)
        for n in ast.walk(module)
        if isinstance(n, ast.Name | ast.Attribute) and isinstance(n.ctx, ast.Load)
    )
    for name, function in _functions(module):
        last = function.name
        is_test = last.startswith("test") or last.endswith("_test")
        if is_test or (last.startswith(_ALSO) and 0 < called[last] == named[last]):
            yield name, function


def _functions(module: ast.Module) -> Iterator[tuple[str, Function]]:
    """Yield the functions of a module and of its classes, but none inside of another."""
    waiting: list[tuple[str, list[ast.stmt]]] = [("", module.body)]
    while waiting:
        above, body = waiting.pop(0)
        for node in body:
            if isinstance(node, ast.ClassDef):
                waiting.append((f"{above}{node.name}.", node.body))
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield above + node.name, node


def always_run(function: Function) -> Iterator[ast.stmt]:
    """Yield the statements that every pass of a function carries out, and whose exceptions end it.

    What stands behind a return under a condition is left out too.
    """
    yield from _run(function.body, _bound(function))


def _bound(function: Function) -> Bound:
    """Return the names that a function gives a value, with it where it is given once."""
    stored = Counter(
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    values = {
        node.targets[0].id: node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    return {name: values.get(name) if count == 1 else None for name, count in stored.items()}


def _run(body: list[ast.stmt], bound: Bound) -> Iterator[ast.stmt]:
    for statement in body:
        if is_docstring(statement):
            continue
        yield statement
        match statement:
            case ast.With(items=items, body=inner) | ast.AsyncWith(items=items, body=inner):
                swallows = any(_swallows(each.context_expr) for each in items)
                yield from () if swallows else _run(inner, bound)
            case ast.For(iter=items, body=inner) if _is_certain(items, bound):
                yield from _run(inner, bound)
            case ast.Try(body=inner, handlers=handlers, finalbody=final):
                yield from _run([*([] if handlers else inner), *final], bound)
            case _:
                pass
        if _may_return(statement):
            return


def _swallows(context: ast.expr) -> bool:
    return isinstance(context, ast.Call) and last_name(context.func) in _SWALLOWS


def _may_return(statement: ast.stmt) -> bool:
    kinds = (ast.Return, ast.Break, ast.Continue)
    return any(isinstance(node, kinds) for node in in_scope([statement]))


def _is_certain(items: ast.expr, bound: Bound) -> bool:
    """Return whether a loop over `items` has the same rounds whatever the code under test does."""
    match items:
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            return bool(parts) and not any(isinstance(each, ast.Starred) for each in parts)
        case ast.Name(id=name):
            value = bound.get(name)
            return name not in bound or (value is not None and _is_certain(value, {}))
        case ast.Call(func=ast.Attribute(value=owner), args=[], keywords=[]):
            rows = [owner]
        case ast.Call(func=ast.Name(), args=rows, keywords=[]):
            pass
        case _:
            return isinstance(items, ast.Constant) or (
                isinstance(items, ast.Dict) and bool(items.keys) and None not in items.keys
            )
    known = last_name(items.func) in _ITERATES
    return known and all(_is_certain(each, bound) for each in rows)
