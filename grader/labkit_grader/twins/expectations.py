"""The side of a comparison that holds the expectation, and edits that make it wrong."""

import ast
from collections.abc import Iterable, Iterator
from random import Random

from labkit_grader.pysource import Function, Spans, is_docstring
from labkit_grader.twins.edits import Edit
from labkit_grader.twins.wrong import word, wrong

_BUILDS = frozenset(
    {"approx", "Decimal", "Fraction", "datetime", "date", "time", "timedelta", "Path", "PurePath"}
    | {"PurePosixPath", "set", "frozenset", "list", "tuple", "dict", "bytes", "bytearray", "str"}
    | {"int", "float", "OrderedDict", "Counter", "deque", "array"}
)
"""Calls that make a value of what stands in them: with another value in it, they make another."""
_ODD = frozenset("\"'\\")
_CONTAINERS = ast.List | ast.Tuple | ast.Set | ast.Dict


class Expectations:
    """Makes expectations of one test function wrong."""

    def __init__(self, spans: Spans, function: Function, chance: Random) -> None:
        self._spans = spans
        self._function = function
        self._chance = chance

    def wrong_side(self, left: ast.expr, right: ast.expr) -> tuple[Edit, ...]:
        """Return the edits by which `left == right` asks for a wrong value.

        A written value is changed where it stands, also where a name or a row of parameters holds
        it; so code that looks the expectation up finds the wrong one. Any other one is wrapped.
        """
        for side in (right, left):
            if edits := self._changed(side):
                return edits
        for side in (right, left):
            if isinstance(side, ast.Name) and (edits := self._held(side)):
                return edits
        start, end = self._spans.of(right)
        return (_at(start, "("), _at(end, f", {word(self._chance)!r})"))

    def _changed(self, side: ast.expr) -> tuple[Edit, ...]:
        """Return the edit of the first plain value in a side that is written out."""
        match side:
            case ast.Constant():
                return self._other(side)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant() as value):
                return self._other(value)
            case ast.Call(func=func, args=[first, *_]) if last_name(func) in _BUILDS:
                return self._changed(first)
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                return self._first(parts) or self._filled(side, parts)
            case ast.Dict(keys=keys, values=values):
                named = [key for key in keys if key is not None]
                return self._first(values) or self._first(named) or self._filled(side, values)
            case _:
                return ()

    def _first(self, parts: Iterable[ast.expr]) -> tuple[Edit, ...]:
        return next((edits for part in parts if (edits := self._changed(part))), ())

    def _filled(self, side: ast.expr, parts: list[ast.expr]) -> tuple[Edit, ...]:
        """Return the edit that puts something into an empty container."""
        if parts:
            return ()
        text = {ast.List: "[{0}]", ast.Tuple: "({0},)", ast.Dict: "{{{0}: {0}}}"}[type(side)]
        start, end = self._spans.of(side)
        return (Edit(start=start, end=end, text=text.format(repr(word(self._chance)))),)

    def _other(self, node: ast.Constant) -> tuple[Edit, ...]:
        if not isinstance(node.value, str | bytes | bool | int | float | None):
            return ()
        made = wrong(node.value, self._chance)
        text = f"({made!r})" if isinstance(made, int | float) and made < 0 else repr(made)
        start, end = self._spans.of(node)
        if self._spans.text(node).startswith('"') and text.isascii() and not _ODD & set(text[1:-1]):
            text = f'"{text[1:-1]}"'  # in the quotes of its file, or it could be told by them
        return (Edit(start=start, end=end, text=text),)

    def _held(self, name: ast.Name) -> tuple[Edit, ...]:
        """Return edits that make wrong what a name holds that is used for nothing else."""
        uses = [n for n in ast.walk(self._function) if isinstance(n, ast.Name) and n.id == name.id]
        bound = [use for use in uses if not isinstance(use.ctx, ast.Load)]
        if len(uses) - len(bound) != 1 or len(bound) > 1:
            return ()
        if not bound:
            arguments = [each.arg for each in _arguments(self._function)]
            if name.id not in arguments:
                return ()
            return self._rows(name.id) or self._rebound(name.id, self._function.body)
        return self._assigned(bound[0])

    def _assigned(self, bound: ast.Name) -> tuple[Edit, ...]:
        for node in ast.walk(self._function):
            match node:
                case ast.Assign(targets=[target], value=value) if target is bound:
                    return self._changed(value)
                case ast.For(target=target, body=body) if any(
                    each is bound for each in ast.walk(target)
                ):
                    return self._rebound(bound.id, body)
                case _:
                    continue
        return ()

    def _rebound(self, name: str, body: list[ast.stmt]) -> tuple[Edit, ...]:
        """Return the edit that gives a name another value before anything else is done."""
        first = next((each for each in body if not is_docstring(each)), None)
        if first is None:
            return ()
        indent = self._spans.line_start(first)
        if indent.strip():
            return ()
        text = f"{name} = ({name}, {word(self._chance)!r})\n{indent}"
        start = self._spans.of(first)[0]
        return (Edit(start=start, end=start, text=text, rank=0),)

    def _rows(self, name: str) -> tuple[Edit, ...]:
        """Return edits of the written values that `pytest.mark.parametrize` gives a name."""
        for decorator in self._function.decorator_list:
            match decorator:
                case ast.Call(func=func, args=[names, ast.List() | ast.Tuple() as rows, *_]) if (
                    last_name(func) == "parametrize"
                ):
                    given = _names(names)
                    if name in given:
                        return self._cells(rows.elts, given.index(name), len(given))
                case _:
                    continue
        return ()

    def _cells(self, rows: list[ast.expr], place: int, width: int) -> tuple[Edit, ...]:
        """Return an edit for each row; none at all where a row is not written out."""
        edits: list[Edit] = []
        for row in rows:
            cell = _cell(row, place, width)
            changed = self._changed(cell) if cell is not None else ()
            if not changed:
                return ()
            edits.extend(changed)
        return tuple(edits)


def last_name(function: ast.expr) -> str:
    """Return the last part of a dotted name, empty for anything else."""
    match function:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case _:
            return ""


def _at(place: int, text: str) -> Edit:
    return Edit(start=place, end=place, text=text)


def _arguments(function: Function) -> Iterator[ast.arg]:
    given = function.args
    yield from (*given.posonlyargs, *given.args, *given.kwonlyargs)


def _names(node: ast.expr) -> list[str]:
    """Return the names that parametrize is given: "a, b" or ("a", "b")."""
    match node:
        case ast.Constant(value=str(text)):
            return [part.strip() for part in text.split(",") if part.strip()]
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return [
                each.value
                for each in parts
                if isinstance(each, ast.Constant) and isinstance(each.value, str)
            ]
        case _:
            return []


def _cell(row: ast.expr, place: int, width: int) -> ast.expr | None:
    match row:
        case ast.Call(func=func, args=parts) if last_name(func) == "param":
            pass
        case ast.Tuple(elts=parts) | ast.List(elts=parts) if width > 1:
            pass
        case _:
            return row if width == 1 else None
    return parts[place] if len(parts) == width else None
