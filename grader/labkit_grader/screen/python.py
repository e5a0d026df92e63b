"""Signs in Python files: what their syntax tree shows; nothing of them is ever run."""

import ast
from collections.abc import Callable, Iterator

from labkit_grader.pysource import Source
from labkit_grader.screen.acts import (
    caught,
    comparisons,
    hidden_code,
    hooks,
    imports,
    pretends,
    replaced,
)
from labkit_grader.screen.exits import ends_at_import
from labkit_grader.screen.file import File, Found
from labkit_grader.screen.probes import probes, reads, texts
from labkit_grader.screen.references import frames, references
from labkit_grader.screen.signs import Sign

_Rule = Callable[[File, ast.AST], Found]
_Rules = tuple[tuple[_Rule, tuple[type[ast.AST], ...]], ...]
_CALL, _DEFINED = (ast.Call,), (ast.FunctionDef, ast.AsyncFunctionDef)
_NAMED = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
_SET = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete, ast.Call)
_FOR_TESTS: _Rules = (
    (references, _NAMED),
    (frames, (ast.Attribute,)),
    (texts, (ast.Constant,)),
    (hidden_code, _CALL),
    (hooks, _DEFINED),
)
_FOR_ALL_ELSE: _Rules = (
    *_FOR_TESTS,
    (imports, (ast.Import, ast.ImportFrom)),
    (comparisons, (ast.ClassDef,)),
    (pretends, (ast.ClassDef,)),
    (replaced, _SET),
    (caught, (ast.ExceptHandler, ast.Call)),
    (probes, (ast.Compare, ast.Call, ast.Subscript)),
    (reads, _CALL),
)


def _by_type(rules: _Rules) -> dict[type[ast.AST], tuple[_Rule, ...]]:
    kinds = {kind for _, kinds in rules for kind in kinds}
    return {kind: tuple(rule for rule, wanted in rules if kind in wanted) for kind in kinds}


_BY_TYPE, _BY_TYPE_FOR_TESTS = _by_type(_FOR_ALL_ELSE), _by_type(_FOR_TESTS)


def python_signs(source: Source) -> Iterator[Sign]:
    """Yield every sign in a file, whether it stood there before or not."""
    lines = source.data.decode(errors="replace").splitlines()
    file = File.of(source)
    rules = _BY_TYPE_FOR_TESTS if file.is_test else _BY_TYPE
    for node in ast.walk(source.module):
        for rule in rules.get(type(node), ()):
            for what in rule(file, node):
                yield _sign(source.path, node, what, lines)
    if not file.is_test and not file.is_build:
        for node in ends_at_import(source, file.names):
            what = "ends the process when the module is imported, and with it the tests"
            yield _sign(source.path, node, what, lines)


def _sign(path: str, node: ast.AST, what: str, lines: list[str]) -> Sign:
    first, last = getattr(node, "lineno", 1), getattr(node, "end_lineno", 1)
    text = "\n".join(line.strip() for line in lines[first - 1 : last])
    return Sign(path=path, line=first, what=what, text=text)
