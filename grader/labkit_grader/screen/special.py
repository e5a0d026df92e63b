"""Special cases in added code: the inputs of hidden tests beside the results that these expect."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from labkit_grader.pysource import Source
from labkit_grader.screen.pairs import Pair
from labkit_grader.screen.values import Value, read_value

_ENOUGH, _ENOUGH_IN_TABLE = 10, 16
_LONG = 8
_LEAST_INPUT = 3
_LEAST_ROW = 2
_Index = dict[tuple[str, str], list[tuple[frozenset[str], Pair]]]
"""Pairs, each with its forms, by what is expected and by each form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What code does for one input: where, for which values, and with what result."""

    line: int
    inputs: tuple[Value, ...]
    results: tuple[Value, ...]
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Cases that belong together: the entries of a table, or the branches of a function."""

    cases: tuple[Case, ...]
    is_table: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Special:
    """A group that holds what hidden tests ask and expect."""

    line: int
    is_table: bool
    size: int
    matches: Mapping[Case, Pair] = field(default_factory=dict)


def special_cases(
    source: Source, standing: frozenset[str], pairs: Iterable[Pair]
) -> Iterator[Special]:
    """Yield the groups of a file in which too much is what hidden tests have.

    Cases that stand in the base already (`standing`) count for nothing.
    """
    index: _Index = {}
    for pair in pairs:
        forms = pair.forms
        for form in forms:
            index.setdefault((pair.expected.text, form), []).append((forms, pair))
    for group in groups(source.module):
        new = [case for case in group.cases if case.text not in standing]
        matches = {case: found for case in new if (found := _match(case, index))}
        if matches and _is_telling(group, len(new), matches):
            yield Special(
                line=min(case.line for case in matches),
                is_table=group.is_table,
                size=len(new),
                matches=matches,
            )


def case_texts(module: ast.Module) -> frozenset[str]:
    """Return what tells the cases of a file from others."""
    return frozenset(case.text for group in groups(module) for case in group.cases)


def _match(case: Case, index: _Index) -> Pair | None:
    """Return a pair whose arguments, or some of them, a case is for, with the same result."""
    first = case.inputs[0].text
    for result in case.results:
        for forms, pair in index.get((result.text, first), ()):
            if all(each.text in forms for each in case.inputs):
                return pair
    return None


def _is_telling(group: Group, size: int, matches: Mapping[Case, Pair]) -> bool:
    """Whether matches are more than chance: small numbers weigh nothing."""
    inputs = [sum(value.weight for value in case.inputs) for case in matches]
    results = [pair.expected.weight for pair in matches.values()]
    weights = [a + b for a, b in zip(inputs, results, strict=True)]
    if not group.is_table:
        rare = any(
            weight >= _ENOUGH and given >= _LEAST_INPUT
            for weight, given in zip(weights, inputs, strict=True)
        )
        return rare or (len(matches) > 1 and sum(weights) >= _ENOUGH)
    if 2 * len(matches) < size:
        return False
    long = any(a >= _LONG and b >= _LONG for a, b in zip(inputs, results, strict=True))
    return long or (len(matches) > 1 and sum(weights) >= _ENOUGH_IN_TABLE)


def groups(module: ast.Module) -> Iterator[Group]:
    """Yield the tables and the branches of a module."""
    branches: dict[int, list[Case]] = {}
    waiting: list[tuple[ast.AST, int]] = [(module, 0)]
    while waiting:
        node, scope = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            scope = id(node)
        waiting.extend((child, scope) for child in ast.iter_child_nodes(node))
        branches.setdefault(scope, []).extend(_branches(node))
        table = tuple(_entries(node))
        if table:
            yield Group(cases=table, is_table=True)
    for cases in branches.values():
        if cases:
            yield Group(cases=tuple(cases), is_table=False)


def _entries(node: ast.AST) -> Iterator[Case]:
    """Yield the entries of a table: a mapping, or rows whose last value is the result."""
    match node:
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                yield from _case(node=value, inputs=_each(key), results=[value])
        case ast.List(elts=rows) | ast.Tuple(elts=rows) | ast.Set(elts=rows):
            for row in rows:
                if isinstance(row, (ast.Tuple, ast.List)) and len(row.elts) >= _LEAST_ROW:
                    *inputs, result = row.elts
                    yield from _case(node=row, inputs=inputs, results=[result])
        case _:
            pass


def _branches(node: ast.AST) -> Iterator[Case]:
    match node:
        case ast.If(test=test, body=body):
            yield from _case(node=node, inputs=_asked(test), results=_results(body))
        case ast.IfExp(test=test, body=result):
            yield from _case(node=node, inputs=_asked(test), results=[result])
        case ast.match_case(pattern=pattern, body=body):
            inputs = [each.value for each in ast.walk(pattern) if isinstance(each, ast.MatchValue)]
            yield from _case(node=pattern, inputs=inputs, results=_results(body))
        case ast.Assign(targets=[ast.Subscript(slice=key)], value=value):
            yield from _case(node=node, inputs=_each(key), results=[value])
        case _:
            pass


def _asked(test: ast.expr) -> list[ast.expr]:
    """Return the plain values with which a condition compares."""
    return [
        side
        for node in ast.walk(test)
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Eq, ast.Is, ast.In))
        for side in (node.left, *node.comparators)
        if read_value(side)
    ]


def _results(body: list[ast.stmt]) -> list[ast.expr]:
    return [
        node.value
        for node in body
        if isinstance(node, (ast.Return, ast.Assign)) and node.value is not None
    ]


def _each(key: ast.expr | None) -> list[ast.expr]:
    return [] if key is None else [key]


def _case(
    *, node: ast.AST, inputs: Iterable[ast.expr], results: Iterable[ast.expr]
) -> Iterator[Case]:
    given = tuple(value for each in inputs if (value := read_value(each)))
    told = tuple(value for each in results if (value := read_value(each)))
    if given and told:
        text = f"{[each.text for each in given]} {[each.text for each in told]}"
        line = getattr(node, "lineno", 1)
        yield Case(line=line, inputs=given, results=told, text=text)
