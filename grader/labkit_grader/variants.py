"""The code under test once more: laid out differently, and with every function raising.

Tests that only look at the source text fail on the first; tests that check nothing pass on the
second.
"""

import ast
from collections.abc import Callable, Mapping

from labkit_grader.pysource import Function, Source, functions, is_docstring, parse

_MARK = "_labkit_gutted"
_NOTHING = "[]"
"""It binds no name, so code that looks at its own `locals()` finds what it always found."""


def reworked(data: bytes, path: str) -> bytes:
    """Return the same behaviour in another syntax tree: a line without effect in every function."""
    module = parse(data, path)
    for _, node in functions(module):
        _insert(node, _NOTHING)
    return _laid_out(module)


def reformatted(data: bytes, path: str) -> bytes:
    """Return the same syntax tree in another layout."""
    return _laid_out(parse(data, path))


def commented(data: bytes, path: str) -> bytes:
    """Return the same file with a comment more; it is the last resort, and fits every file."""
    parse(data, path)
    return data.rstrip(b"\r\n") + b"\n\n# The end of this file.\n"


NEUTRAL: tuple[Callable[[bytes, str], bytes], ...] = (reworked, reformatted, commented)
"""What makes a variant that behaves the same, the strongest first."""


def gutted(data: bytes, path: str) -> bytes:
    """Return a file that can be imported as before, whose functions then all raise.

    They work until the file's last line has run: code that is carried out at import may call them.
    """
    module = parse(data, path)
    for _, node in functions(module):
        _insert(node, f"if {_MARK!r} in globals(): raise NotImplementedError('gutted')")
    module.body.extend(ast.parse(f"{_MARK} = True").body)
    return _laid_out(module)


def changed_files(
    sources: Mapping[str, Source], change: Callable[[bytes, str], bytes]
) -> dict[str, str]:
    """Return every file changed, by path; one that cannot be laid out anew is left out."""
    made: dict[str, str] = {}
    for path, source in sources.items():
        try:
            made[path] = change(source.data, path).decode()
        except (ValueError, RecursionError, MemoryError):
            continue
    return made


def _insert(node: Function, text: str) -> None:
    """Put a statement at a function's beginning, behind its docstring."""
    at = 1 if is_docstring(node.body[0]) else 0
    node.body[at:at] = ast.parse(text).body


def _laid_out(module: ast.Module) -> bytes:
    text = ast.unparse(ast.fix_missing_locations(module))
    return f"# Laid out anew.\n{text}\n".encode()
