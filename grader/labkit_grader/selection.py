"""Which hidden files a test runner is asked to run: the rest are only laid beside them."""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import assert_never

from labkit_grader.testrun import Runner

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
        case Runner.JUNIT:
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
    if runner is not Runner.JUNIT:
        files = [path for path in files if path.endswith(".py")]
        files = [path for path in files if path.rpartition("/")[2] not in _NEVER]
    return tuple(path for path in files if is_test(path, runner, patterns)) or tuple(files)
