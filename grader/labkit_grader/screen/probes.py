"""Signs of code that looks for its tests: whether they run, where they are, what they hold."""

import ast
import re

from labkit_grader.screen.file import File, Found

_TOOL_NAMES = frozenset({"pytest", "_pytest", "py.test", "unittest", "nose"})
_TELLING = re.compile(r"(?:PYTEST|JUNIT|LABKIT)_?[A-Z]*(?:_[A-Z_]+)?|.*\bjunit[\w-]*\.xml")
_LONGEST = 200
_MACHINE = re.compile(r"/(?:proc/|(?:report|labkit|workspace)(?:/|$)|var/run/docker)")
_TEST_FILE = re.compile(
    r"(?:.*/)?(?:tests?|__tests__|specs?)(?:/.*)?|(?:.*/)?(?:test_[^/]*|[^/]*_test|conftest)(?:\.py)?"
)
_READERS = re.compile(
    r"(?:.*\.)?(?:open|read_text|read_bytes|Path|PurePath|join|joinpath|[ir]?glob|listdir|scandir"
    r"|walk|exists|is_?file|run_path|spec_from_file_location|load_source)"
)
_CI = frozenset({"CI", "GITHUB_ACTIONS", "GITLAB_CI", "TRAVIS", "TOX_ENV_NAME", "COVERAGE_RUN"})


def probes(file: File, node: ast.AST) -> Found:
    """Yield where code finds out whether it is being tested."""
    why = "asks whether tests are running: code may behave differently then"
    match node:
        case ast.Compare(left=left, comparators=others):
            around = [left, *others]
        case ast.Call(args=around):
            pass
        case ast.Subscript(slice=index):
            around = [index]
        case _:
            return
    words = {each.value for each in around if isinstance(each, ast.Constant)}
    if not file.is_build and not _TOOL_NAMES.isdisjoint(words):
        yield f"{min(_TOOL_NAMES & words)!r} {why}"
    elif not _CI.isdisjoint(words) and _asks_environment(file, node):
        yield f"{min(_CI & words)!r} {why}"


def _asks_environment(file: File, node: ast.AST) -> bool:
    names = {file.names.of(each) for each in ast.walk(node)}
    return not names.isdisjoint({"os.environ", "os.getenv", "os.environ.get", "os.environb"})


def texts(file: File, node: ast.AST) -> Found:
    """Yield texts that honest code has little use for."""
    if not isinstance(node, ast.Constant) or id(node) in file.docstrings or file.is_build:
        return
    value = node.value
    text = value.decode(errors="replace") if isinstance(value, bytes) else value
    if not isinstance(text, str) or len(text) > _LONGEST:
        return
    if _TELLING.fullmatch(text):
        yield f"{text[:60]!r} belongs to the runner of tests"
    elif _MACHINE.match(text):
        yield f"{text[:60]!r} belongs to the machine that the tests run on"


def reads(file: File, node: ast.AST) -> Found:
    """Yield where files of tests are opened or looked for."""
    if not isinstance(node, ast.Call) or file.is_build:
        return
    called = file.names.of(node.func) or getattr(node.func, "attr", "")
    if not _READERS.fullmatch(called):
        return
    for word in node.args:
        text = word.value if isinstance(word, ast.Constant) else None
        if isinstance(text, str) and len(text) <= _LONGEST and _TEST_FILE.fullmatch(text):
            yield f"{text[:60]!r} is a place of tests, whose expectations can be read there"
