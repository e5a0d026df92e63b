"""What a module does when it is imported that would end the tests with it."""

import ast
from collections.abc import Iterator

from labkit_grader.pysource import Source
from labkit_grader.screen.names import Names

_EXITS = frozenset({"sys.exit", "exit", "quit", "SystemExit", "builtins.exit", "builtins.quit"})
_LATER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def ends_at_import(source: Source, names: Names) -> Iterator[ast.AST]:
    """Yield the exits that are carried out when a module is imported.

    What stands behind `if __name__ == "__main__"` is not, and `__main__.py` is never imported.
    """
    if source.path.rpartition("/")[2] == "__main__.py":
        return
    waiting: list[ast.AST] = [source.module]
    while waiting:
        for child in ast.iter_child_nodes(waiting.pop()):
            if isinstance(child, _LATER) or _is_for_programs(child):
                continue
            called = child.func if isinstance(child, ast.Call) else None
            raised = child.exc if isinstance(child, ast.Raise) else None
            if names.of(called) in _EXITS or names.of(raised) in _EXITS:
                yield child
            else:
                waiting.append(child)


def _is_for_programs(node: ast.AST) -> bool:
    """Return whether a node is carried out only where the file is the program."""
    return isinstance(node, ast.If) and any(
        isinstance(each, ast.Name) and each.id == "__name__" for each in ast.walk(node.test)
    )
