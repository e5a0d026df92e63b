"""Which hidden files a test runner is asked to run, and which of them a test belongs to.

What a file is called decides; pytest's setting python_files and unittest's pattern count too.
"""

import configparser
import re
import shlex
import tomllib
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any, assert_never

from labkit.archive import Entry, Kind
from labkit_grader.testrun import OURS, Runner

_PYTHON_PATTERNS = ("test_*.py", "*_test.py", "tests.py")
_NEVER = frozenset({"conftest.py", "__init__.py"})
# "test" or "spec" as a word of the file's name: calc.test.js, calc_test.go, CalcTest.java,
# test-calc.sh, calc.spec.ts, TestCalc.kt - but not latest.js, contest.go or special.rb.
_TEST_WORD = re.compile(
    r"(?:^|[^A-Za-z0-9])(?:test|spec)s?(?![A-Za-z0-9])"  # apart from other letters
    r"|(?<=[A-Za-z0-9])(?:Test|Spec)s?(?![a-z])"  # the last word of CamelCase, or one in its middle
    r"|(?:^|[^A-Za-z0-9])(?:Test|Spec)s?(?![a-z])",
)


def is_test(path: str, runner: Runner, patterns: tuple[str, ...] = ()) -> bool:
    """Return whether a file of this name holds tests for a runner; `patterns` are the project's."""
    name = path.rpartition("/")[2]
    match runner:
        case Runner.PYTEST | Runner.UNITTEST:
            known = (*_PYTHON_PATTERNS, *patterns)
            return name not in _NEVER and any(fnmatchcase(name, pattern) for pattern in known)
        case Runner.JUNIT | Runner.EXIT_CODE:
            return _TEST_WORD.search(name) is not None
        case _:
            assert_never(runner)


def hidden_tests(
    paths: Iterable[str], runner: Runner, patterns: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the files that hold tests, by name; where no name says so, every file may.

    For pytest and unittest that is every Python module but conftest.py and __init__.py.
    """
    files = sorted(paths)
    if runner in OURS:
        files = [path for path in files if path.endswith(".py")]
        files = [path for path in files if path.rpartition("/")[2] not in _NEVER]
    return tuple(path for path in files if is_test(path, runner, patterns)) or tuple(files)


def python_files(base: Iterable[Entry]) -> tuple[str, ...]:
    """Return the patterns of pytest's setting python_files, from whichever file has it."""
    settings = {b"pytest.ini", b".pytest.ini", b"tox.ini", b"setup.cfg"}
    tables = {b"pyproject.toml", b"pytest.toml", b".pytest.toml"}
    found: list[str] = []
    for entry in base:
        if entry.kind in (Kind.FILE, Kind.EXECUTABLE) and entry.path in settings | tables:
            text = entry.data.decode(errors="replace")
            found += _of_sections(text) if entry.path in settings else _of_tables(text)
    return tuple(found)


def _of_sections(text: str) -> list[str]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
        values = [
            parser[name].get("python_files", "")
            for name in ("pytest", "tool:pytest")
            if name in parser
        ]
        return [word for value in values for word in shlex.split(value)]
    except (configparser.Error, ValueError):
        return []  # pytest says so itself


def _of_tables(text: str) -> list[str]:
    try:
        table: Any = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return []
    tool = table.get("tool")
    own = tool.get("pytest") if isinstance(tool, dict) else None
    places = (table.get("pytest"), own, own.get("ini_options") if isinstance(own, dict) else None)
    found: list[str] = []
    for place in places:
        match place:
            case {"python_files": str(words)}:
                found += words.split()
            case {"python_files": list(words)}:
                found += [word for word in words if isinstance(word, str)]
            case _:
                pass
    return found


def belongs(test: str, file: str, runner: Runner, roots: tuple[str, ...] = ()) -> bool:
    """Return whether a test, by its id, is one of a file.

    `roots` are folders from which unittest names modules, before the project's own. A JUnit report
    that names neither the file of a test nor a class after it belongs to none.
    """
    match runner:
        case Runner.PYTEST:
            return test.partition("::")[0] == file
        case Runner.UNITTEST:
            return test.startswith(_module(file, (*roots, "src")) + ".")
        case Runner.JUNIT:
            first = test.partition("::")[0]
            stem = file.rpartition(".")[0]
            return first == file or f"/{stem}".endswith("/" + first.replace(".", "/"))
        case Runner.EXIT_CODE:
            return False
        case _:
            assert_never(runner)


def _module(file: str, roots: tuple[str, ...]) -> str:
    """Return the name by which unittest imports a file, as our runner gives it."""
    for root in roots:
        if file.startswith(f"{root}/"):
            file = file.removeprefix(f"{root}/")
            break
    return file.removesuffix(".py").replace("/", ".")
