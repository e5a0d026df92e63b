"""What hidden tests give and expect, where both are plain values: read from their syntax trees."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from labkit_grader.pysource import UnreadableError, parse
from labkit_grader.screen.values import Value, read_value

_EQUALITIES = re.compile(
    r"assert(?:List|Tuple|Dict|Set|Sequence|MultiLine|Count|Almost)?Equals?|eq_|isclose"
    r"|assert_(?:almost_)?equals?"
)
_EXPECTED = ("expect", "want", "result", "output", "out", "res", "desired", "right", "answer")
_PAIR = 2
_MOST_PAIRS = 20_000
_Known = Mapping[str, ast.expr]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Arguments that a hidden test gives, and what it expects for them."""

    arguments: tuple[Value, ...]
    expected: Value

    @property
    def forms(self) -> frozenset[str]:
        """The ways in which code can ask for these arguments: one by one, all, or their repr."""
        texts = [each.text for each in self.arguments]
        whole = {*texts, f"({', '.join(texts)})"}
        return frozenset(
            {*whole, *map(repr, whole), *(repr(text.replace(")", ",)")) for text in whole)}
        )


def pairs_in(hidden: Mapping[str, bytes]) -> tuple[Pair, ...]:
    """Return every pair of the hidden Python files; a file that cannot be parsed has none."""
    found: dict[Pair, None] = {}
    for path, data in sorted(hidden.items()):
        if path.endswith(".py") and len(found) < _MOST_PAIRS:
            try:
                module = parse(data, path)
            except UnreadableError:
                continue
            found |= dict.fromkeys(_of_module(module))
    return tuple(found)


def _of_module(module: ast.Module) -> Iterator[Pair]:
    outer = _assigned(module)
    inside: set[int] = set()
    for function in ast.walk(module):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            known = {**outer, **_assigned(function)}
            for node in ast.walk(function):
                inside.add(id(node))
                yield from _of_node(node, known)
    for node in ast.walk(module):
        if id(node) not in inside:
            yield from _of_node(node, outer)


def _assigned(scope: ast.AST) -> dict[str, ast.expr]:
    """Return the names of a scope that stand for one plain value."""
    found: dict[str, ast.expr] = {}
    for node in ast.iter_child_nodes(scope):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if read_value(value):
                found[name] = value
            case _:
                pass
    return found


def _of_node(node: ast.AST, known: _Known) -> Iterator[Pair]:
    match node:
        case ast.Assert(
            test=ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right])
        ):
            yield from _of_equality(left, right, known)
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=[left, right, *_]):
            if _EQUALITIES.fullmatch(name):
                yield from _of_equality(left, right, known)
            elif name == "parametrize":
                yield from _of_rows(left, right)
        case ast.For(iter=ast.List(elts=rows) | ast.Tuple(elts=rows), target=target):
            yield from _of_cases(rows, _expected_at(ast.unparse(target)))
        case ast.Assign(value=table):
            yield from _of_table(table)
        case _:
            pass


def _of_table(table: ast.expr) -> Iterator[Pair]:
    """Yield the pairs of a table that tests go through: rows, or a mapping."""
    match table:
        case ast.List(elts=rows) | ast.Tuple(elts=rows):
            yield from _of_cases(rows, -1)
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                yield from _pair([read_value(key)], read_value(value))
        case _:
            pass


def _of_equality(left: ast.expr, right: ast.expr, known: _Known) -> Iterator[Pair]:
    """Yield a pair for each call on one side with the plain value on the other."""
    for asked, told in ((left, right), (right, left)):
        expected = _resolved(told, known)
        if expected is None:
            continue
        for call in ast.walk(asked):
            if isinstance(call, ast.Call):
                words = [*call.args, *(keyword.value for keyword in call.keywords)]
                given = [_resolved(word, known) for word in words]
                yield from _pair(given, expected)
                if isinstance(call.func, ast.Attribute):  # "text".method(), too
                    owner = _resolved(call.func.value, known)
                    yield from _pair([owner, *given] if owner else [], expected)
        return


def _resolved(node: ast.expr, known: _Known) -> Value | None:
    """Return the value of an expression, by way of a name or of pytest.approx."""
    match node:
        case ast.Name(id=name):
            return read_value(known.get(name))
        case ast.Call(func=ast.Attribute(attr="approx") | ast.Name(id="approx"), args=[inner, *_]):
            return read_value(inner)
        case _:
            return read_value(node)


def _of_rows(names: ast.expr, rows: ast.expr) -> Iterator[Pair]:
    """Yield the pairs of a parametrised test, whose last value, or one so called, is expected."""
    told = ast.unparse(names) if isinstance(names, (ast.Tuple, ast.List)) else ""
    if isinstance(names, ast.Constant):
        told = str(names.value)
    if isinstance(rows, (ast.List, ast.Tuple)):
        yield from _of_cases(rows.elts, _expected_at(told))


def _expected_at(names: str) -> int:
    words = [word.strip(" ()[]'\"") for word in names.split(",") if word.strip(" ()[]'\"")]
    told = [at for at, word in enumerate(words) if word.startswith(_EXPECTED)]
    return told[0] if len(told) == 1 else -1


def _of_cases(rows: list[ast.expr], at: int) -> Iterator[Pair]:
    for row in rows:
        cells: list[ast.expr] = []
        if isinstance(row, (ast.Tuple, ast.List)):
            cells = row.elts
        elif isinstance(row, ast.Call) and getattr(row.func, "attr", "") == "param":
            cells = row.args
        if len(cells) >= _PAIR and -len(cells) <= at < len(cells):
            values = [read_value(cell) for cell in cells]
            expected = values.pop(at)
            yield from _pair(values, expected)


def _pair(arguments: list[Value | None], expected: Value | None) -> Iterator[Pair]:
    plain = tuple(each for each in arguments if each is not None)
    if plain and expected is not None:
        yield Pair(arguments=plain, expected=expected)
