"""Long texts that only hidden tests hold: code can have them from nowhere else."""

import ast
import re
from collections.abc import Iterable, Mapping

from labkit_grader.pysource import Source
from labkit_grader.screen.pairs import Pair

_LONG, _LONG_ELSEWHERE = 20, 12
_FEWEST_ELSEWHERE = 2
_LITERAL = re.compile(r"""(["'`])((?:\\.|(?!\1)[^\\\n]){12,200})\1""")


def texts_of(source: Source) -> frozenset[str]:
    """Return the texts in a Python file that are long enough to be telling."""
    return frozenset(
        node.value
        for node in ast.walk(source.module)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and len(node.value) >= _LONG
    )


def expected_texts(pairs: Iterable[Pair]) -> frozenset[str]:
    """Return the long texts that hidden tests expect as the result of plain arguments."""
    return frozenset(
        word for pair in pairs for word in pair.expected.words if len(word) >= _LONG
    )  # fmt: skip


def literals_elsewhere(hidden: Mapping[str, bytes]) -> frozenset[str]:
    """Return the texts that stand in hidden files of other languages than Python."""
    return frozenset(
        match[2]
        for path, data in hidden.items()
        if not path.endswith(".py")
        for match in _LITERAL.finditer(data[: 1 << 20].decode(errors="replace"))
    )


def held(texts: Iterable[str], code: str) -> tuple[str, ...]:
    """Return the texts that stand in code of another language, if they are several."""
    found = sorted(text for text in texts if len(text) >= _LONG_ELSEWHERE and text in code)
    return tuple(found) if len(found) >= _FEWEST_ELSEWHERE else ()
