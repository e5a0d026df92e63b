"""Places in Python tests where a wrong expectation can be put, one at a time.

Only such are taken where a right expectation and its wrong counterpart cannot both hold for one
value: so code that passes both does not return values, it acts on its tests.
"""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from labkit_grader.pysource import Function, Source, Spans, in_scope
from labkit_grader.twins.edits import Edit
from labkit_grader.twins.expectations import Expectations, last_name
from labkit_grader.twins.reach import always_run, owners
from labkit_grader.twins.wrong import word

TRIAL = "_labkit_trial"
_RAISES = frozenset({"raises", "assertRaises", "assertRaisesRegex"})
_UNLIKELY = ("BufferError", "FloatingPointError", "StopAsyncIteration", "BlockingIOError")
_OPPOSITE = {
    "assertTrue": "assertFalse", "assertIn": "assertNotIn", "assertIs": "assertIsNot",
    "assertIsNone": "assertIsNotNone", "assertIsInstance": "assertNotIsInstance",
    "assertGreater": "assertLessEqual", "assertLess": "assertGreaterEqual",
    "assertRegex": "assertNotRegex", "assertNotEqual": "assertEqual",
}  # fmt: skip
_OPPOSITES = _OPPOSITE | {other: name for name, other in _OPPOSITE.items()}
_EQUALS = frozenset(
    {"assertEqual", "assertEquals", "assertListEqual", "assertTupleEqual", "assertDictEqual"}
    | {"assertSetEqual", "assertSequenceEqual", "assertMultiLineEqual", "assertCountEqual"}
    | {"assertAlmostEqual", "assertAlmostEquals", "assert_equal", "assert_array_equal"}
    | {"assert_allclose", "assert_almost_equal", "assert_array_almost_equal", "eq_"}
)


_Edits = tuple[Edit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One place: with the `wrong` edits the test asks for something wrong.

    With the `trial` edits it tries that out and goes on (see `labkit_trial.py`).
    """

    place: int
    """The byte at which it begins, by which evidence knows it: another kit may find more sites."""
    owner: str
    """The test function, or the function of the test file that it asks, by its dotted name."""
    wrong: _Edits
    trial: _Edits

    @property
    def is_quiet(self) -> bool:
        """Whether the wrong test looks like a right one: one value or name stands for another."""
        return all(each.start < each.end and each.text not in _UNLIKELY for each in self.wrong)


def find_sites(source: Source, chance: Random) -> tuple[Site, ...]:
    """Return the sites of a file, always the same ones; `chance` picks the wrong values."""
    finder = _Finder(source, chance)
    return tuple(
        site for name, function in owners(source.module) for site in finder.of(name, function)
    )


class _Finder:
    """Finds the sites of one file."""

    def __init__(self, source: Source, chance: Random) -> None:
        self._file = source.path
        self._spans = Spans(source)
        self._chance = chance

    def of(self, owner: str, function: Function) -> Iterator[Site]:
        expectations = Expectations(self._spans, function, self._chance)
        found = [
            Site(place=self._spans.of(statement)[0], owner=owner, wrong=edits[0], trial=edits[1])
            for statement in always_run(function)
            if (edits := self._of_statement(statement, expectations)) is not None
        ]
        if not found and owner.rpartition(".")[2].startswith("test"):
            found = list(self._at_the_end(owner, function))
        yield from found

    def _of_statement(
        self, statement: ast.stmt, expectations: Expectations
    ) -> tuple[_Edits, _Edits] | None:
        told = self._told(self._spans.of(statement)[0])
        match statement:
            case ast.Assert(test=test):
                return self._of_truth(test, expectations, told)
            case ast.Expr(value=ast.Call() as call) if _raised(call) is None:
                return self._of_call(call, expectations, told)
            case ast.Expr(value=call):
                raised = [_raised(call)]
            case ast.With(items=items) | ast.AsyncWith(items=items):
                raised = [each for item in items if (each := _raised(item.context_expr))]
            case _:
                return None
        return self._of_raised(raised[0], told) if len(raised) == 1 and raised[0] else None

    def _of_truth(
        self, test: ast.expr, expectations: Expectations, told: str
    ) -> tuple[_Edits, _Edits]:
        start, end = self._spans.of(test)
        compared = _compared(test)
        wrong: _Edits
        if compared is None:
            wrong = (_insert(start, "not ("), _insert(end, ")"))
        else:
            wrong = expectations.wrong_side(compared.left, compared.comparators[0])
        way = "value" if _needs_its_place(test) else "truth"
        asked = "(" if way == "value" else "lambda: ("
        before = _insert(start, f"({TRIAL}.{way}({told}, {asked}")
        return wrong, (before, *wrong, _insert(end, ")), True)[1]"))

    def _of_call(
        self, call: ast.Call, expectations: Expectations, told: str
    ) -> tuple[_Edits, _Edits] | None:
        name = last_name(call.func)
        if _needs_its_place(call) or any(isinstance(each, ast.Starred) for each in call.args):
            return None
        wrong: _Edits
        if name in _EQUALS and len(call.args) > 1:
            wrong = expectations.wrong_side(call.args[0], call.args[1])
        elif name in _OPPOSITES and isinstance(call.func, ast.Attribute):
            end = self._spans.of(call.func)[1]
            wrong = (Edit(start=end - len(name), end=end, text=_OPPOSITES[name]),)
        else:
            return None
        start, end = self._spans.of(call)
        before = _insert(start, f"{TRIAL}.call({told}, lambda: (")
        return wrong, (before, *wrong, _insert(end, "))"))

    def _of_raised(self, expected: ast.expr, told: str) -> tuple[_Edits, _Edits]:
        """An exception that is none of another class goes through."""
        start, end = self._spans.of(expected)
        wrong = Edit(start=start, end=end, text=self._chance.choice(_UNLIKELY))
        before = _insert(start, f"({TRIAL}.reach({told}), ")
        return (wrong,), (before, _insert(end, ")[1]"))

    def _at_the_end(self, owner: str, function: Function) -> Iterator[Site]:
        """Yield the end of a test that asserts nothing itself: it would be reached."""
        last = function.body[-1]
        if isinstance(last, ast.Raise) or _leaves(function):
            return
        end = self._spans.of(last)[1]
        indent = self._spans.line_start(last)
        if indent.strip():
            return  # the body stands on the line of its def
        text = f"assert {word(self._chance)!r} == {word(self._chance)!r}"
        reach = f"{TRIAL}.reach({self._told(end)})"
        yield Site(
            place=end,
            owner=owner,
            wrong=(Edit(start=end, end=end, text=f"\n{indent}{text}", rank=2),),
            trial=(Edit(start=end, end=end, text=f"\n{indent}{reach}", rank=2),),
        )

    def _told(self, place: int) -> str:
        """Return the arguments by which a site is told of."""
        return f"{self._file!r}, {place}"


def _insert(at: int, text: str) -> Edit:
    return Edit(start=at, end=at, text=text)


def _raised(node: ast.expr) -> ast.expr | None:
    """Return the exception that a call expects, None for any other expression."""
    if isinstance(node, ast.Call) and last_name(node.func) in _RAISES and node.args:
        return node.args[0]
    return None


def _compared(test: ast.expr) -> ast.Compare | None:
    """Return the comparison for equality that has to hold for `test` to hold, if there is one."""
    match test:
        case ast.Compare(ops=[ast.Eq()]):
            return test
        case ast.BoolOp(op=ast.And(), values=values):
            return next((each for value in values if (each := _compared(value))), None)
        case _:
            return None


def _contains(node: ast.AST, wanted: Callable[[ast.AST], bool]) -> bool:
    return any(wanted(each) for each in ast.walk(node))


def _needs_its_place(node: ast.expr) -> bool:
    """Return whether an expression means something else in a function of its own."""
    kinds = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)
    return _contains(node, lambda each: isinstance(each, kinds) or _is_zero_super(each))


def _is_zero_super(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and not node.args and last_name(node.func) == "super"


def _leaves(function: Function) -> bool:
    """Return whether a function may end somewhere else than behind its last statement."""
    kinds = (ast.Return, ast.Yield, ast.YieldFrom)
    return any(isinstance(each, kinds) for each in in_scope(function.body))
