"""Small believable faults in Python source, made by changing one token or statement at a time.

The mutation libraries rewrite whole projects and run the tests themselves, so the few classic
operators that labkit needs are here. A mutant is a splice of the file's bytes: all else stays as
its author wrote it, and what was proved is what is graded, whichever Python made it.
"""

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from labkit_grader.pysource import Source, Spans, UnreadableError, is_docstring, parse

_COMPARISONS = {
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="), ast.GtE: (">=", ">"), ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"), ast.In: ("in", "not in"), ast.NotIn: ("not in", "in"),
}  # fmt: skip
_ARITHMETIC = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"), ast.Mod: ("%", "*"), ast.Pow: ("**", "*"),
}  # fmt: skip
_LOGIC = {ast.And: ("and", "or"), ast.Or: ("or", "and")}
_SKIPPED_FIELDS = frozenset({"annotation", "returns", "decorator_list", "type_params"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One fault: the bytes from `start` to `end` of a file become `text`."""

    path: str
    line: int
    start: int
    end: int
    text: str
    what: str
    """What becomes what, for a person."""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}"

    def applied(self, data: bytes) -> bytes:
        """Return the file with the fault."""
        return data[: self.start] + self.text.encode() + data[self.end :]


def mutants(sources: Iterable[Source]) -> Iterator[Mutant]:
    """Yield the faults that can be made in files, in an order that depends on nothing else.

    The order mixes kinds and places, so that the first few are a fair sample.
    """
    by_path = {source.path: source for source in sources}
    made = [mutant for source in by_path.values() for mutant in _Maker(source).all()]
    seen: set[tuple[str, bytes]] = set()
    for mutant in sorted(made, key=_mixed):
        source = by_path[mutant.path]
        data = mutant.applied(source.data)
        if (mutant.path, data) not in seen and _is_another(source, data):
            seen.add((mutant.path, data))
            yield mutant


def _is_another(source: Source, data: bytes) -> bool:
    """Return whether some bytes are a program, and not the one of `source`."""
    try:
        return ast.dump(parse(data, source.path)) != ast.dump(source.module)
    except (UnreadableError, RecursionError, MemoryError):
        return False


def _mixed(mutant: Mutant) -> str:
    name = f"{mutant.path}\0{mutant.start}\0{mutant.text}"
    return hashlib.sha256(name.encode()).hexdigest()


class _Maker:
    """Finds the places of one file where a fault can be made."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._spans = Spans(source)

    def all(self) -> Iterator[Mutant]:
        """Yield every fault."""
        for node in _walk(self._source.module):
            yield from self._of(node)

    def _of(self, node: ast.AST) -> Iterator[Mutant]:
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                yield from self._token(left, right, _COMPARISONS[type(op)])
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
                yield from self._token(left, right, _ARITHMETIC[type(op)])
            case ast.BoolOp(op=op, values=[left, right, *_]):
                yield from self._token(left, right, _LOGIC[type(op)])
            case ast.AugAssign(target=left, op=op, value=right) if type(op) in _ARITHMETIC:
                old, new = _ARITHMETIC[type(op)]
                yield from self._token(left, right, (f"{old}=", f"{new}="))
            case ast.expr():
                yield from self._expression(node)
            case ast.stmt():
                yield from self._statement(node)
            case _:
                return

    def _expression(self, node: ast.expr) -> Iterator[Mutant]:
        match node:
            case ast.Constant(value=bool(value)):
                yield self._made(node, str(not value))
            case ast.Constant(value=int(value) | float(value)):
                yield self._made(node, f"({self._spans.text(node)} + 1)")
            case ast.UnaryOp(op=ast.Not()):
                yield self._made(node, self._spans.text(node).removeprefix("not").lstrip(" \t"))
            case ast.IfExp(body=body, orelse=orelse):
                yield self._made(node, f"({self._spans.text(orelse)})", "the other branch")
                yield self._made(node, f"({self._spans.text(body)})", "always the first branch")
            case _:
                return

    def _statement(self, node: ast.stmt) -> Iterator[Mutant]:
        match node:
            case ast.Return(value=ast.expr() as value) if not _is_none(value):
                yield self._made(node, "return None")
            case ast.Raise():
                yield self._made(node, "pass")
            case ast.Expr(value=ast.Call()):
                yield self._made(node, "pass")
            case ast.Break():
                yield self._made(node, "continue")
            case ast.Continue():
                yield self._made(node, "break")
            case _:
                return

    def _token(self, left: ast.expr, right: ast.expr, change: tuple[str, str]) -> Iterator[Mutant]:
        """Change the operator between two operands, where it can be told for sure."""
        old, new = change
        begin, end = self._spans.of(left)[1], self._spans.of(right)[0]
        between = self._source.data[begin:end]
        found = list(re.finditer(re.escape(old.encode()).replace(rb"\ ", rb"\s+"), between))
        if len(found) == 1 and b"#" not in between:
            at = found[0]
            yield Mutant(
                path=self._source.path,
                line=left.end_lineno or left.lineno,
                start=begin + at.start(),
                end=begin + at.end(),
                text=new,
                what=f"{old} becomes {new}",
            )

    def _made(self, node: ast.expr | ast.stmt, text: str, what: str = "") -> Mutant:
        start, end = self._spans.of(node)
        old = " ".join(self._spans.text(node).split())
        return Mutant(
            path=self._source.path,
            line=node.lineno,
            start=start,
            end=end,
            text=text,
            what=f"{old[:60]} becomes {what or ' '.join(text.split())[:60]}",
        )


def _walk(module: ast.Module) -> Iterator[ast.AST]:
    """Yield the nodes where a fault would show: no annotation, decorator, docstring or f-string."""
    waiting: list[ast.AST] = [module]
    while waiting:
        node = waiting.pop()
        yield node
        for name, value in ast.iter_fields(node):
            if name in _SKIPPED_FIELDS or isinstance(node, ast.JoinedStr):
                continue
            inner = value if isinstance(value, list) else [value]
            waiting.extend(
                child
                for child in inner
                if isinstance(child, ast.AST)
                and not (isinstance(child, ast.stmt) and is_docstring(child))
            )


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
