"""Comparisons that have their answer before they are asked."""

import ast
from collections.abc import Iterator

from labkit_grader.pysource import Function, in_scope

_DESIRED = {"__eq__": True, "__ne__": False, "__lt__": True, "__le__": True, "__gt__": True,
            "__ge__": True, "__contains__": True}  # fmt: skip
"""What a comparison would always answer in order to please a test."""
_OPERANDS = 2


def gives_one_answer(node: ast.ClassDef) -> Iterator[str]:
    """Yield the comparisons of a class that answer the same whatever they are given."""
    methods = {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}
    for name, method in methods.items():
        if name in _DESIRED and _pleases(method, wanted=_DESIRED[name]):
            yield name
    for statement in node.body:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                name = target.id if isinstance(target, ast.Name) else ""
                if name in _DESIRED and _is_pleasing(statement.value, methods, _DESIRED[name]):
                    yield name


def _is_pleasing(value: ast.expr, methods: dict[str, ast.FunctionDef], wanted: bool) -> bool:  # noqa: FBT001 - a value, no switch
    if isinstance(value, ast.Lambda):
        return _is_constant(value.body, wanted=wanted)
    method = methods.get(value.id) if isinstance(value, ast.Name) else None
    return method is not None and _pleases(method, wanted=wanted)


def _pleases(method: Function, *, wanted: bool) -> bool:
    """Whether a method always returns what is wanted, or never looks at what it is given.

    One that always says no, or does not know, pleases no test.
    """
    answers = [each.value for each in in_scope(method.body) if isinstance(each, ast.Return)]
    if not answers:
        return False
    if all(_is_constant(each, wanted=wanted) for each in answers):
        return True
    refuses = all(_is_constant(each, wanted=not wanted) or _is_unknown(each) for each in answers)
    return not refuses and not _looks(method)


def _looks(method: Function) -> bool:
    """Whether a method uses what it is given to compare with."""
    given = [*method.args.posonlyargs, *method.args.args][1:_OPERANDS]
    others = [each for each in (method.args.vararg, method.args.kwarg) if each]
    names = {each.arg for each in (*given, *others)}
    used = {
        each.id for body in method.body for each in ast.walk(body) if isinstance(each, ast.Name)
    }
    return not names or not names.isdisjoint(used)


def _is_constant(node: ast.expr | None, *, wanted: bool) -> bool:
    return isinstance(node, ast.Constant) and node.value is not None and bool(node.value) is wanted


def _is_unknown(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Name) and node.id == "NotImplemented"
