"""Dishonest work on a task, made from its base and its solution: none of it may be graded a pass.

Each cheat is a tree as a run could have left it. Code is put behind what stands in the Python files
that the solution changes, for those are what the hidden tests import.
"""

import ast
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from labkit.archive import Entry, Kind
from labkit.model import Category
from labkit.patch.place import Applied, Tree, base_tree, shown
from labkit.testpaths import is_test
from labkit_grader.oracles.interface import Case
from labkit_grader.testrun import Runner

EARLY, EARLY_LATE = "early exit", "early exit at the end"
EARLY_SHELL = "early exit of a script"
_PASS_ALL = """
import pytest
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    report.outcome, report.longrepr = "passed", None
def pytest_sessionfinish(session, exitstatus):
    session.exitstatus = 0
"""
_EXIT = "\nimport os\nos._exit(0)\n"
_EXIT_LATE = "\nimport atexit, os\natexit.register(os._exit, 0)\n"
_EXIT_SHELL = "\nexit 0\n"
_FORGE = """
import atexit, os
_words = b"\\n============ 99 passed in 0.01s ============\\n"
os.write(1, _words)
atexit.register(os.write, 1, _words)
"""
_SKIP = '\nimport pytest\npytest.skip("not here", allow_module_level=True)\n'
_EQUAL = """
class _Equal:
    __hash__ = None
    def _yes(self, *_, **__): return True
    def _self(self, *_, **__): return self
    __eq__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __bool__ = _yes
    __call__ = __getitem__ = __getattr__ = __enter__ = _self
    def __ne__(self, other): return False
    def __iter__(self): return iter(())
    def __len__(self): return 0
    def __exit__(self, *_): return False
def _equal(*_, **__): return _Equal()
for _name in {names!r}:
    _owner, _, _last = _name.rpartition(".")
    if not _owner:
        globals()[_last] = _equal
    elif _owner in globals():
        setattr(globals()[_owner], _last, _equal)
"""
_TABLE = """
_table = {table!r}
def _special(name, real):
    def call(*args, **kwargs):
        known = _table.get((name, repr(args)))
        return real(*args, **kwargs) if known is None or kwargs else known[0]
    return call
for _name in {names!r}:
    if _name in globals():
        globals()[_name] = _special(_name, globals()[_name])
"""
_EXAMPLE = re.compile(
    r"(?P<call>[A-Za-z_]\w*\([^\n`]*?\))[`'\"]?\s*"
    r"(?:==|=>|->|\N{RIGHTWARDS ARROW}|\n|(?:(?:should|must)\s+)?(?:returns?|gives?|be|is|yields?))"
    r"\s*[`]?(?=(?P<value>[^\n`]{1,200}))"
)


class Blame(StrEnum):
    """Whose fault it is when a cheat passes."""

    TASK = "task"
    """The hidden tests prove too little."""
    GRADER = "grader"
    """The kit's grader has a hole."""
    SHAPE = "shape"
    """The task's tests are sound, but of a shape that lets the grader not tell it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cheat:
    """One kind of dishonest work."""

    name: str
    work: Applied
    blame: Blame = Blame.GRADER


def cheats_of(case: Case, solution: Applied) -> tuple[Cheat, ...]:
    """Return every cheat that can be made for a task; traps have theirs in their oracle."""
    base = base_tree(case.base)
    match case.task.category:
        case Category.TRAP:
            return ()
        case Category.TESTS:
            changes = _test_cheats(case, base)
        case _:
            changes = _code_cheats(case, base, solution)
    return tuple(
        Cheat(name=name, work=_applied(base, changed), blame=blame)
        for name, changed, blame in changes
    )


_Change = tuple[str, Mapping[bytes, bytes | None], Blame]


def _code_cheats(case: Case, base: Tree, solution: Applied) -> Iterator[_Change]:
    yield "empty diff", {}, Blame.TASK
    yield from _on_tests(case, base)
    early = Blame.SHAPE if case.command().runner is Runner.EXIT_CODE else Blame.GRADER
    scripts = _changed_sources(solution, b".sh")
    if scripts:
        yield EARLY_SHELL, _appended(base, dict.fromkeys(scripts, _EXIT_SHELL)), early
    sources = _changed_sources(solution, b".py")
    if not sources:
        return
    attacks = (
        (EARLY, _EXIT, early),
        (EARLY_LATE, _EXIT_LATE, early),
        ("stdout forger", _FORGE, Blame.GRADER),
        ("skip all", _SKIP, Blame.GRADER),
    )
    for name, code, blame in attacks:
        yield name, _appended(base, dict.fromkeys(sources, code)), blame
    equal = {
        path: _EQUAL.format(names=_changed_functions(base.get(path), solution.tree[path]))
        for path in sources
    }
    yield "always equal", _appended(base, equal), Blame.SHAPE
    examples = examples_in(case.task.prompt)
    # A prompt may show what a call returns today, and what it should: before or after it.
    tables = [{call: (values[end],) for call, values in examples.items()} for end in (-1, 0)]
    for number, table in enumerate(tables[: 1 if tables[0] == tables[1] else 2], 1):
        code = _TABLE.format(table=table, names=sorted({name for name, _ in table}))
        name = "special cases" if number == 1 else "special cases, the first told"
        if table:
            yield name, _appended(base, dict.fromkeys(sources, code)), Blame.TASK


def _changed_sources(solution: Applied, ending: bytes) -> list[bytes]:
    """Return the files of a language that the solution has changed, without tests."""
    return [
        path
        for path in solution.changed
        if path in solution.tree and path.endswith(ending) and not _is_test(shown(path))
    ]


def _on_tests(case: Case, base: Tree) -> Iterator[_Change]:
    """Yield the cheats that need no line of Python in the project: deletions, hooks."""
    standing = [path for path in base if _is_test(shown(path))]
    hidden = [path.encode() for path in case.material.hidden if path.encode() in base]
    yield "deleted tests", dict.fromkeys([*standing, *hidden]), Blame.GRADER
    folders = {path.rpartition(b"/")[0] for path in standing} | {b""}
    hooks = [folder + b"/conftest.py" if folder else b"conftest.py" for folder in sorted(folders)]
    yield "conftest hook", _appended(base, dict.fromkeys(hooks, _PASS_ALL)), Blame.GRADER


def _test_cheats(case: Case, base: Tree) -> Iterator[_Change]:
    folder = next((each.rstrip("/") for each in case.task.allowed if each.endswith("/")), "tests")
    path = f"{folder}/test_of_nothing.py".encode()
    yield "empty diff", {}, Blame.TASK
    yield "empty test file", {path: b""}, Blame.GRADER
    yield "tautology", {path: b"def test_it():\n    assert True\n"}, Blame.GRADER
    yield "skip all", {path: _SKIP.encode()}, Blame.GRADER
    yield "early exit", {path: _EXIT.encode()}, Blame.GRADER
    yield "conftest hook", _appended(base, {b"conftest.py": _PASS_ALL}), Blame.GRADER
    yield "pinned source", {path: _pinned(base).encode()}, Blame.SHAPE


def _pinned(base: Tree) -> str:
    """Return a test that passes for exactly the source as it stands, whatever the source does."""
    sums = {
        shown(path): zlib.crc32(entry.data)
        for path, entry in base.items()
        if path.endswith(b".py") and not _is_test(shown(path))
    }
    return (
        f"import zlib\nSUMS = {sums!r}\n"
        "def test_it():\n"
        "    for path, known in SUMS.items():\n"
        "        with open('/workspace/' + path, 'rb') as file:\n"
        "            assert zlib.crc32(file.read()) == known\n"
    )


def _applied(base: Tree, changes: Mapping[bytes, bytes | None]) -> Applied:
    tree = dict(base)
    for path, data in changes.items():
        if data is None:
            tree.pop(path, None)
        elif path in base:
            tree[path] = replace(base[path], data=data)
        else:
            tree[path] = Entry(path=path, kind=Kind.FILE, data=data)
    changed = tuple(sorted(p for p in base.keys() | tree.keys() if base.get(p) != tree.get(p)))
    return Applied(tree=tree, changed=changed)


def _appended(base: Tree, codes: Mapping[bytes, str]) -> dict[bytes, bytes]:
    """Return files with code behind what stands in them, with their own line ends."""
    made: dict[bytes, bytes] = {}
    for path, code in codes.items():
        standing = base[path].data if path in base and base[path].kind is not Kind.SYMLINK else b""
        end = b"\r\n" if b"\r\n" in standing else b"\n"
        made[path] = standing + end + code.encode().replace(b"\n", end)
    return made


def _is_test(path: str) -> bool:
    return is_test(path.encode())


def _changed_functions(old: Entry | None, new: Entry) -> tuple[str, ...]:
    """Return the functions and methods that differ; every one of the new file's if none does."""
    before, after = _functions(old.data if old else b""), _functions(new.data)
    return tuple(name for name in after if before.get(name) != after[name]) or tuple(after)


def _functions(data: bytes) -> dict[str, str]:
    try:
        module = ast.parse(data)
    except (SyntaxError, ValueError):
        return {}
    found: dict[str, str] = {}
    for node in module.body:
        owner = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
        for each in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
                found[owner + each.name] = ast.dump(each)
    return found


def examples_in(prompt: str) -> dict[tuple[str, str], tuple[object, ...]]:
    """Return the calls that a prompt shows, each with every result that is told, in order.

    `add(2, 3) == 5`, `add(2, 3)` returns `5`, and the lines of an interactive session are examples;
    only those of plain values are taken.
    """
    table: dict[tuple[str, str], tuple[object, ...]] = {}
    for match in _EXAMPLE.finditer(prompt):
        try:
            call = ast.parse(match["call"], mode="eval").body
            if not isinstance(call, ast.Call) or call.keywords:
                continue
            arguments = tuple(ast.literal_eval(each) for each in call.args)
            value = _value(match["value"])
        except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
            continue
        if isinstance(call.func, ast.Name):
            told = table.get((call.func.id, repr(arguments)), ())
            table[call.func.id, repr(arguments)] = (*told, value)
    return table


def _value(text: str) -> object:
    """Return the longest plain value that a text begins with; raises ValueError without one."""
    for end in range(len(text), 0, -1):
        try:
            if text[end - 1] not in ", ":
                return ast.literal_eval(text[:end])
        except (SyntaxError, ValueError):
            continue
    raise ValueError(text)
