"""Signs of code that acts on its tests: on what they import, compare, catch and report."""

import ast
import re
import sys
from collections.abc import Iterator

from labkit_grader.screen.comparisons import gives_one_answer
from labkit_grader.screen.file import File, Found
from labkit_grader.screen.names import Names

_TOOLS = frozenset(
    {"pytest", "_pytest", "pluggy", "unittest", "mock", "nose", "nose2", "hypothesis"}
)
_OFTEN_SET = re.compile(
    r"sys\.(?:std(?:in|out|err)|path|argv|excepthook|displayhook|ps\d|last_\w+|dont_write_bytecode"
    r"|tracebacklimit)|(?:warnings|logging|locale|csv|mimetypes)\..+"
)
_RUNS_CODE = frozenset({"exec", "eval", "compile", "builtins.exec", "builtins.eval"})
_DECODERS = re.compile(r"(?:base64|binascii|zlib|bz2|lzma|codecs|marshal|pickle)\.\w+|.*\.fromhex")
_HOOK = re.compile(r"pytest_[a-z]\w+")


def imports(_: File, node: ast.AST) -> Found:
    """Yield imports of test tools, and of what gets round Python itself."""
    tops: list[str] = []
    if isinstance(node, ast.Import):
        tops = [alias.name.partition(".")[0] for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        tops = [node.module.partition(".")[0]]
    for top in tops:
        if top in _TOOLS:
            yield f"{top} is imported by code that is no test: such code can act on the tests"
        elif top in ("ctypes", "cffi"):
            yield f"{top} reaches past Python's own rules, into the tests' values too"


def comparisons(_: File, node: ast.AST) -> Found:
    """Yield comparisons that have their answer before they are asked."""
    if isinstance(node, ast.ClassDef):
        for name in gives_one_answer(node):
            yield f"{name} of {node.name} gives the same answer whatever it is compared with"


def replaced(file: File, node: ast.AST) -> Found:
    """Yield what is put in the place of parts of the standard library."""
    for target in _targets(node, file.names):
        top, _, rest = target.partition(".")
        if target.startswith("sys.modules"):
            yield "sys.modules is changed, so that an import brings something else"
        elif top in ("builtins", "__builtins__"):
            yield f"{target[:100]} is replaced for all code, tests too"
        elif top in ("time", "datetime"):
            yield f"{target[:100]} is replaced: the clock that tests see is another"
        elif rest and top in sys.stdlib_module_names and not _OFTEN_SET.fullmatch(target):
            yield f"{target[:100]} is replaced for all code, tests too"


def _targets(node: ast.AST, names: Names) -> Iterator[str]:
    """Yield the dotted names that a node sets or takes away."""
    match node:
        case ast.Assign(targets=targets) | ast.Delete(targets=targets):
            yield from (_target(each, names) for each in targets)
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            yield _target(target, names)
        case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[owner, name, *_]):
            attribute = str(name.value) if isinstance(name, ast.Constant) else "(some name)"
            above = names.of(owner)
            yield f"{above}.{attribute}" if above else ""
        case ast.Call(func=ast.Attribute(value=owner, attr="setdefault" | "update" | "pop")):
            yield from (name for name in [names.of(owner)] if name == "sys.modules")
        case _:
            pass


def _target(node: ast.expr, names: Names) -> str:
    if isinstance(node, ast.Subscript):
        name = names.of(node.value)
        return name if name in ("sys.modules", "__builtins__") else ""
    return names.of(node) if isinstance(node, ast.Attribute) else ""


def caught(file: File, node: ast.AST) -> Found:
    """Yield where the failure of an assertion could be swallowed."""
    caught: list[ast.expr] = []
    if isinstance(node, ast.ExceptHandler) and node.type is not None:
        raised = any(isinstance(each, ast.Raise) for body in node.body for each in ast.walk(body))
        caught = [] if raised else [node.type]
    elif isinstance(node, ast.Call) and file.names.of(node.func) == "contextlib.suppress":
        caught = node.args
    names = {
        each.id for top in caught for each in ast.walk(top) if isinstance(each, ast.Name)
    }  # fmt: skip
    if "AssertionError" in names:
        yield "AssertionError is caught and goes no further, and so may a test's failure"


def hidden_code(file: File, node: ast.AST) -> Found:
    """Yield where code is carried out that stands in no file."""
    if isinstance(node, ast.Call) and file.names.of(node.func) in _RUNS_CODE:
        inside = (file.names.of(each) for each in ast.walk(node))
        if any(_DECODERS.fullmatch(name) for name in inside):
            yield "code is carried out that is hidden in data, where nobody can read it"


def hooks(_: File, node: ast.AST) -> Found:
    """Yield hooks of pytest."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and _HOOK.fullmatch(node.name):
        yield f"{node.name} is a hook by which pytest lets code change its reports"


def pretends(_: File, node: ast.AST) -> Found:
    """Yield classes that pass for others."""
    names: list[str] = []
    if isinstance(node, ast.ClassDef):
        names = [each.name for each in node.body if isinstance(each, ast.FunctionDef)] + [
            target.id
            for each in node.body
            if isinstance(each, ast.Assign)
            for target in each.targets
            if isinstance(target, ast.Name)
        ]
    if "__class__" in names:
        yield "__class__ is set by hand: the object passes for one of another class"
