"""A Python file as the rules of the screen see it."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from labkit.testpaths import is_test
from labkit_grader.pysource import Source, is_docstring
from labkit_grader.screen.names import Names

_BUILD_FILES = frozenset({"setup.py", "noxfile.py", "conf.py", "tasks.py", "fabfile.py"})
Found = Iterator[str]
"""What a rule finds at a node: one sentence each, without its place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A Python file, what its names stand for, and what it is for."""

    names: Names
    is_test: bool
    is_build: bool
    """Whether it builds or documents the project: such files start programs and name tools."""
    docstrings: frozenset[int]
    """The ids of the texts that stand for themselves."""

    @classmethod
    def of(cls, source: Source) -> "File":
        """Look at a file as a whole."""
        return cls(
            names=Names(source.module),
            is_test=is_test(source.path.encode()),
            is_build=source.path.rpartition("/")[2] in _BUILD_FILES,
            docstrings=frozenset(
                id(node.value)
                for node in ast.walk(source.module)
                if isinstance(node, ast.Expr) and is_docstring(node)
            ),
        )
