"""Turns the grading command of a task into the command line that runs the tests and reports.

pytest and unittest are started by a file of ours, which writes its own report; any other command
writes JUnit XML where `{report}` stands in it, or tells nothing but its exit code.
"""

import argparse
import posixpath
import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NoReturn, assert_never

from labkit.errors import InputError
from labkit_grader.selection import belongs, hidden_tests, is_test
from labkit_grader.testrun import Runner

PLUGIN = "/labkit/labkit_report.py"
UNITTEST = "/labkit/labkit_unittest.py"
RESULTS = "/results"
"""The folder in memory for what a project's own runner writes."""
JUNIT = f"{RESULTS}/junit.xml"
"""Where a JUnit report is written: a file, or a folder of them."""
REPORT_WORD, TESTS_WORD, EXIT_WORD = "{report}", "{tests}", "{exit}"
# A plugin's settings are unknown where the plugin is not loaded: no reason not to start.
_OURS = (
    *("-p", "no:cacheprovider", "--rootdir=/workspace", "--continue-on-collection-errors"),
    *("-W", "ignore::pytest.PytestConfigWarning"),
)
# A run that stops at the first failure would not tell of the tests behind it.
_LAST = ("--maxfail=0",)
_PYTHON = re.compile(r"(?:.*/)?python[0-9.]*")
_PYTEST = re.compile(r"(?:.*/)?(?:pytest|py\.test)")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
# Runners that can tell more than an exit code: an author who means that code has to say so.
_CAN_REPORT = re.compile(
    r"\b(?:pytest|unittest|tox|nox|nose2|nosetests|g?make|np[mx]|pnpm|yarn|jest|vitest|mocha|bats"
    r"|gotestsum|mvnw?|gradlew?|sbt|rspec|phpunit|ctest"
    r"|(?:py|node|deno|bun|go|cargo|dotnet|swift|mix|rake)\W+test)\b"
)
_TAKES_A_VALUE = frozenset(
    {"-c", "-k", "-m", "-o", "-p", "-r", "-W", "--tb", "--maxfail", "--rootdir", "--confcutdir"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """How to run the tests of one task."""

    runner: Runner
    program: tuple[str, ...]
    """The interpreter and its own options; of a command that is no Python module every word."""
    options: tuple[str, ...] = ()
    """The author's options for pytest or unittest."""
    environment: Mapping[str, str] = field(default_factory=dict)
    patterns: tuple[str, ...] = ()
    """How the project calls its test files, beside what the runner does by itself."""
    roots: tuple[str, ...] = ()
    """Folders from which unittest names modules, before those of every project."""

    def argv(self, targets: tuple[str, ...]) -> tuple[str, ...]:
        """Return the command line that runs the test files `targets`, or the project's own."""
        match self.runner:
            case Runner.PYTEST:
                files = (f"/workspace/{target}" for target in targets)
                return (*self.program, PLUGIN, *_OURS, *self.options, *_LAST, *files)
            case Runner.UNITTEST:
                return (*self.program, UNITTEST, *self.options, "--", *targets)
            case Runner.JUNIT | Runner.EXIT_CODE:
                return tuple(_filled(self.program, targets))
            case _:
                assert_never(self.runner)

    def is_test(self, path: str) -> bool:
        """Return whether a file of this name holds tests for this runner."""
        return is_test(path, self.runner, self.patterns)

    def test_files(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Return those of the hidden files that the runner is asked to run."""
        return hidden_tests(paths, self.runner, self.patterns)

    def is_of(self, test: str, files: Iterable[str]) -> bool:
        """Return whether a test, by its id, is one of some files."""
        return any(belongs(test, file, self.runner, self.roots) for file in files)


def read_command(
    words: tuple[str, ...], *, paths: Container[str] = (), patterns: tuple[str, ...] = ()
) -> Command:
    """Take a grading command apart; raises InputError when it cannot be what its author means.

    Words for pytest that name one of `paths` (files and folders of the project), and names of
    modules for unittest, are dropped: what is run is decided by the oracle. `patterns` are those
    of pytest's setting python_files.
    """
    environment, rest = _without_variables(words)
    if EXIT_WORD in rest:
        _check_exit(rest)
        program = tuple(word for word in rest if word != EXIT_WORD)
        return Command(runner=Runner.EXIT_CODE, program=program, environment=environment)
    if found := _split(rest, "pytest"):
        _without_words_for_junit(found[1], "pytest")
        return Command(
            runner=Runner.PYTEST,
            program=found[0],
            options=tuple(_without_paths(found[1], paths)),
            environment=environment,
            patterns=patterns,
        )
    if found := _split(rest, "unittest"):
        _without_words_for_junit(found[1], "unittest")
        return _unittest(found[0], found[1], environment)
    _check_own(rest)
    runner = Runner.JUNIT if writes_junit(tuple(rest)) else Runner.EXIT_CODE
    return Command(runner=runner, program=tuple(rest), environment=environment)


def writes_junit(words: tuple[str, ...]) -> bool:
    """Return whether a grading command is one of a runner that writes JUnit XML by itself."""
    return any(REPORT_WORD in word for word in words)


def is_own_runner(words: tuple[str, ...]) -> bool:
    """Return whether a grading command is a runner of the project's own, taken as it is."""
    _, rest = _without_variables(words)
    return EXIT_WORD in rest or not (_split(rest, "pytest") or _split(rest, "unittest"))


def limits_of(words: tuple[str, ...], *, guarded: bool) -> tuple[str, ...]:
    """Return what a runner of the project's own cannot give, one sentence each.

    Guarded tests run again with wrong expectations, which forgeries do not survive.
    """
    if not is_own_runner(words):
        return ()
    if writes_junit(words) and guarded:
        return ()
    if writes_junit(words):
        return (
            "the report is written by the project's own runner: code that runs in the same process "
            "could forge it whole, which only people would notice",
        )
    return (
        "only an exit code tells whether the tests pass, the weakest of all ways"
        + ("" if guarded else ": code that ends the command early with 0 would pass")
        + "; prefer a JUnit report ({report})",
    )


def _without_variables(words: tuple[str, ...]) -> tuple[dict[str, str], list[str]]:
    """Return the variables that stand before a command, and the command."""
    environment: dict[str, str] = {}
    rest = list(words)
    while rest and (match := _ASSIGNMENT.fullmatch(rest[0])):
        environment[match[1]] = match[2]
        del rest[0]
    return environment, rest


def _split(words: list[str], module: str) -> tuple[tuple[str, ...], list[str]] | None:
    """Return the interpreter's words and the options of a module that it runs, if it does."""
    if words and module == "pytest" and _PYTEST.fullmatch(words[0]):
        return ("python",), words[1:]
    if words and _PYTHON.fullmatch(words[0]) and "-m" in words:
        at = words.index("-m")
        if words[at + 1 : at + 2] == [module]:
            return tuple(words[:at]), words[at + 2 :]
    return None


def _without_paths(options: list[str], paths: Container[str]) -> list[str]:
    kept: list[str] = []
    for word in options:
        value = bool(kept) and kept[-1] in _TAKES_A_VALUE
        if value or word.split("::")[0].rstrip("/") not in paths:
            kept.append(word)
    return kept


def _without_words_for_junit(options: list[str], name: str) -> None:
    found = [word for word in options if REPORT_WORD in word or TESTS_WORD in word]
    if found:
        raise InputError(
            f"the grading command runs {name}, which needs no {' '.join(found)}",
            hint=f'write it as "python -m {name}", with other options behind it: labkit adds its '
            "own report and the hidden tests",
        )


class _Parser(argparse.ArgumentParser):
    """Reads unittest's options; what it does not know is an InputError."""

    def error(self, message: str) -> NoReturn:
        raise InputError(
            f"unittest does not know this grading command: {message}",
            hint='write it as "python -m unittest", with -k, -b, --locals or '
            "discover -s FOLDER -t FOLDER -p PATTERN behind it",
        )


def _unittest(
    program: tuple[str, ...], words: list[str], environment: Mapping[str, str]
) -> Command:
    """Keep the options that change which tests there are or what they see."""
    discovers = "discover" in words
    read = _unittest_parser(discovers=discovers).parse_intermixed_args(words)
    options = [word for pattern in read.k for word in ("-k", pattern)]
    options += ["--buffer"] * read.buffer + ["--locals"] * read.locals
    patterns: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    if discovers:
        # As unittest reads them: discover [start [pattern [top]]].
        places: list[str] = read.names[read.names.index("discover") + 1 :][:3]
        given: list[str] = [read.start_directory, read.pattern, read.top_level_directory or ""]
        start, pattern, top = places + given[len(places) :]
        options += ["--start", start, "--pattern", pattern]
        options += ["--top", top] if top else []
        patterns, roots = (pattern,), (posixpath.normpath(top or start),)
    return Command(
        runner=Runner.UNITTEST,
        program=program,
        options=tuple(options),
        environment=environment,
        patterns=patterns,
        roots=roots,
    )


def _unittest_parser(*, discovers: bool) -> _Parser:
    parser = _Parser(add_help=False, allow_abbrev=False)
    for names in (("-v", "--verbose"), ("-q", "--quiet"), ("-f", "--failfast"), ("-c", "--catch")):
        parser.add_argument(*names, action="store_true")  # nothing that counts: dropped
    parser.add_argument("--durations")
    parser.add_argument("-b", "--buffer", action="store_true")
    parser.add_argument("--locals", action="store_true")
    parser.add_argument("-k", action="append", default=[])
    if discovers:
        parser.add_argument("-s", "--start-directory", default=".")
        parser.add_argument("-p", "--pattern", default="test*.py")
        parser.add_argument("-t", "--top-level-directory")
    parser.add_argument("names", nargs="*")
    return parser


def _check_own(words: list[str]) -> None:
    if not words or (not writes_junit(tuple(words)) and _CAN_REPORT.search(" ".join(words))):
        raise InputError(
            "the grading command runs neither pytest nor unittest, and does not say where its "
            f"JUnit report goes: {' '.join(words)[:200]}",
            hint='write it as "python -m pytest" or "python -m unittest"; any other runner has to '
            "write JUnit XML to {report}, for example: node --test --test-reporter=junit "
            "--test-reporter-destination={report} {tests}; where nothing but its exit code can be "
            "had, add the word {exit}",
        )
    _check_tests_word(words)


def _check_exit(words: list[str]) -> None:
    if words == [EXIT_WORD] * len(words):
        raise InputError(
            f"the grading command is nothing but {EXIT_WORD}",
            hint=f"write the command that ends in 0 when all is well, and {EXIT_WORD} behind it",
        )
    if writes_junit(tuple(words)):
        raise InputError(
            f"the grading command has both {REPORT_WORD} and {EXIT_WORD}",
            hint=f"keep {REPORT_WORD}: a report tells of each test, an exit code only of all",
        )
    _check_tests_word(words)


def _check_tests_word(words: list[str]) -> None:
    inside = [word for word in words if TESTS_WORD in word and word != TESTS_WORD]
    if inside:
        raise InputError(
            f"{TESTS_WORD} stands for several words, so it has to be one of its own, not part of "
            f"{inside[0][:200]}",
            hint="give the files to a script behind it: sh -c 'run --out {report} \"$@\"' sh "
            "{tests}",
        )


def _filled(words: Iterable[str], targets: tuple[str, ...]) -> Iterable[str]:
    """Yield a command's own words with the report's place and the test files in them."""
    for word in words:
        if word == TESTS_WORD:
            yield from (f"./{path}" if path.startswith("-") else path for path in targets)
        else:
            yield word.replace(REPORT_WORD, JUNIT)
