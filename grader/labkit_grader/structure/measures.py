"""Figures of source code: length, complexity, lines that stand twice."""

import ast
import io
import tokenize
from collections import Counter
from collections.abc import Iterable

from labkit_grader.pysource import (
    Function,
    Source,
    UnreadableError,
    functions,
    parse,
    without_docstrings,
)


def chosen_functions(source: Source, name: str) -> list[tuple[str, Function]]:
    """Return the functions of that name, or all of them where the name is empty."""
    found = [(known, node) for known, node in functions(source.module) if name in ("", known)]
    if name and not found:
        raise UnreadableError(f"there is no function {name} in {source.path}")
    return found


def length(node: Function) -> int:
    """Return a function's lines from `def` to its end, however many statements share a line."""
    written = (node.end_lineno or node.lineno) - node.lineno + 1
    statements = sum(isinstance(inner, ast.stmt) for inner in ast.walk(node))
    return max(written, statements)


def complexity(node: Function) -> int:
    """Return the cyclomatic complexity as flake8 and ruff (C901) count it."""
    return 1 + sum(_branches(statement) for statement in node.body)


def _branches(node: ast.AST) -> int:
    if isinstance(node, (ast.If, ast.For, ast.AsyncFor, ast.While)):
        own = 1
    elif isinstance(node, (ast.Try, ast.TryStar)):
        own = len(node.handlers) + bool(node.orelse)
    elif isinstance(node, ast.Match):
        last = node.cases[-1]
        own = len(node.cases) - (last.guard is None and _takes_all(last.pattern))
    else:
        own = int(isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    inner = (child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr))
    return own + sum(_branches(child) for child in inner)


def _takes_all(pattern: ast.pattern) -> bool:
    if isinstance(pattern, ast.MatchOr):
        return any(_takes_all(part) for part in pattern.patterns)
    return isinstance(pattern, ast.MatchAs) and (
        pattern.pattern is None or _takes_all(pattern.pattern)
    )


def twice(sources: Iterable[Source], lines: int) -> str:
    """Return the first run of `lines` lines of code that stands twice; empty when none does.

    The code is laid out anew first, without comments and docstrings, so that these neither make a
    copy nor hide one.
    """
    seen: Counter[tuple[str, ...]] = Counter()
    for source in sources:
        text = ast.unparse(without_docstrings(parse(source.data, source.path)))
        code = [line.strip() for line in text.splitlines() if line.strip()]
        starts = range(len(code) - lines + 1)
        seen.update(tuple(code[start : start + lines]) for start in starts)
    found = next((block for block, count in seen.items() if count > 1), None)
    return f"{lines} lines stand twice, beginning with: {found[0][:80]}" if found else ""


def code_text(source: Source) -> tuple[str, str]:
    """Return a file's code without comments and docstrings: as it is written, and laid out anew."""
    lines = list(io.StringIO(source.data.decode("utf-8-sig", errors="replace")))
    try:
        tokens = list(tokenize.generate_tokens(iter(lines).__next__))
    except (tokenize.TokenError, SyntaxError) as error:
        raise UnreadableError(f"{source.path} cannot be parsed: {error}") from error
    for token in (token for token in tokens if token.type == tokenize.COMMENT):
        (row, start), (_, end) = token.start, token.end
        lines[row - 1] = lines[row - 1][:start] + lines[row - 1][end:]
    fresh = parse("".join(lines).encode(), source.path)
    for first, last in _docstring_lines(fresh):
        lines[first - 1 : last] = [""] * (last - first + 1)
    return _blank("".join(lines)), _blank(ast.unparse(without_docstrings(fresh)))


def _docstring_lines(module: ast.Module) -> list[tuple[int, int]]:
    found = []
    for node in ast.walk(module):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            value = first.value if isinstance(first, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                found.append((value.lineno, value.end_lineno or value.lineno))
    return found


def _blank(text: str) -> str:
    return " ".join(text.split())
