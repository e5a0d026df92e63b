"""The author's grading command, and what becomes of it."""

import re
import shlex

import pytest
import yaml
from house import ROOT

from labkit.errors import InputError
from labkit_grader.command import (
    PLUGIN,
    UNITTEST,
    is_own_runner,
    limits_of,
    read_command,
)
from labkit_grader.testrun import Runner

PATHS = {"tests", "tests/test_a.py", "tox.ini", "src"}


@pytest.mark.parametrize(
    ("words", "program", "options"),
    [
        ("python -m pytest", ("python",), ()),
        ("python3.11 -X dev -m pytest -q -x", ("python3.11", "-X", "dev"), ("-q", "-x")),
        ("pytest -q tests", ("python",), ("-q",)),
        ("py.test -k slow tests/test_a.py::test_x", ("python",), ("-k", "slow")),
        ("/usr/bin/python3 -m pytest -c tox.ini src/", ("/usr/bin/python3",), ("-c", "tox.ini")),
        ("pytest -k tests", ("python",), ("-k", "tests")),
        ("pytest -p xdist", ("python",), ("-p", "xdist")),
    ],
    ids=["default", "options", "program", "one test", "settings file", "value like a path", "-p"],
)
def test_program_and_options_are_kept_and_paths_dropped(
    words: str, program: tuple[str, ...], options: tuple[str, ...]
) -> None:
    command = read_command(tuple(words.split()), paths=PATHS)
    assert (command.runner, command.program, command.options) == (Runner.PYTEST, program, options)


@pytest.mark.parametrize(
    ("words", "program", "options", "patterns"),
    [
        ("python -m unittest", ("python",), (), ()),
        ("python3.9 -I -m unittest -v -f -c -q tests.test_more", ("python3.9", "-I"), (), ()),
        ("python -m unittest tests/test_a.py -k one -k t*o", None, ("-k", "one", "-k", "t*o"), ()),
        ("python -m unittest -b --locals --durations 5", None, ("--buffer", "--locals"), ()),
        (
            "python -m unittest discover",
            None,
            ("--start", ".", "--pattern", "test*.py"),
            ("test*.py",),
        ),
        (
            "python -m unittest discover -v -s tests -p check*.py -t .",
            None,
            ("--start", "tests", "--pattern", "check*.py", "--top", "."),
            ("check*.py",),
        ),
        (
            "python -m unittest discover tests check*.py",
            None,
            ("--start", "tests", "--pattern", "check*.py"),
            ("check*.py",),
        ),
    ],
    ids=["default", "module", "names", "output", "discover", "discover options", "positional"],
)
def test_options_of_unittest_are_kept_and_names_dropped(
    words: str,
    program: tuple[str, ...] | None,
    options: tuple[str, ...],
    patterns: tuple[str, ...],
) -> None:
    command = read_command(tuple(words.split()))
    assert command.runner is Runner.UNITTEST
    assert command.program == (program or ("python",))
    assert (command.options, command.patterns) == (options, patterns)
    assert command.argv(("tests/test_a.py",)) == (
        *(*command.program, UNITTEST),
        *(*options, "--", "tests/test_a.py"),
    )


@pytest.mark.parametrize(
    ("words", "run"),
    [
        ("sh tests/run.sh {report} {tests}", "sh tests/run.sh /results/junit.xml a.sh b.sh"),
        ("node --test --out={report} {tests}", "node --test --out=/results/junit.xml a.sh b.sh"),
        ("make check REPORT={report}", "make check REPORT=/results/junit.xml"),
        ("run {report} {other} {}", "run /results/junit.xml {other} {}"),
    ],
    ids=["words", "inside a word", "no tests", "other braces"],
)
def test_any_command_with_a_place_for_its_report_is_taken_as_it_is(words: str, run: str) -> None:
    command = read_command(tuple(words.split()), paths={"tests/run.sh"})
    assert command.runner is Runner.JUNIT
    assert command.argv(("a.sh", "b.sh")) == tuple(run.split())
    assert command.argv(()) == tuple(run.replace(" a.sh b.sh", "").split())


def test_a_test_file_is_never_taken_for_an_option() -> None:
    command = read_command(("run", "{report}", "{tests}"))
    assert command.argv(("-test.sh",))[-1] == "./-test.sh"


def test_a_file_name_with_a_placeholder_in_it_is_no_placeholder() -> None:
    command = read_command(("run", "{report}", "{tests}"))
    assert command.argv(("{report}.test.js",))[-1] == "{report}.test.js"


def test_variables_go_into_the_environment() -> None:
    command = read_command(("TZ=UTC", "LC_ALL=C", "pytest"))
    assert command.environment == {"TZ": "UTC", "LC_ALL": "C"}
    assert read_command(("A=1", "run", "{report}")).environment == {"A": "1"}


def test_the_plugin_is_run_in_the_place_of_pytest() -> None:
    argv = read_command(("python", "-m", "pytest", "-q")).argv(("tests/test_a.py",))
    assert argv[:2] == ("python", PLUGIN)
    assert argv[-3:] == ("-q", "--maxfail=0", "/workspace/tests/test_a.py")


@pytest.mark.parametrize(
    "words",
    [
        *("make test", "tox", "", "node --test", "poetry run pytest", "uv run py.test -q"),
        *("python -m unittest.mock", "TZ=UTC", "sh -c 'cd x && npm test'", "go test ./..."),
    ],
)
def test_a_command_that_tells_of_no_test_is_refused_with_the_mend(words: str) -> None:
    with pytest.raises(InputError, match="neither pytest nor unittest") as error:
        read_command(tuple(shlex.split(words)))
    assert "{report}" in str(error.value.hint)
    assert "python -m unittest" in str(error.value.hint)
    assert "{exit}" in str(error.value.hint)


@pytest.mark.parametrize(
    ("words", "run"),
    [
        ("sh check.sh", "sh check.sh"),
        ("sh check.sh {tests}", "sh check.sh a.sh b.sh"),
        ("python run_tests.py -m y", "python run_tests.py -m y"),
        ("make test {exit}", "make test"),
        ("{exit} poetry run pytest {tests}", "poetry run pytest a.sh b.sh"),
        ("python -m pytest tests {exit}", "python -m pytest tests"),
        ("sh tests/pytest_like.sh", "sh tests/pytest_like.sh"),
    ],
)
def test_of_any_other_command_the_exit_code_tells(words: str, run: str) -> None:
    command = read_command(tuple(words.split()), paths={"tests"})
    assert command.runner is Runner.EXIT_CODE
    assert command.argv(("a.sh", "b.sh")) == tuple(run.split())
    assert is_own_runner(tuple(words.split()))
    assert "only an exit code tells" in limits_of(tuple(words.split()), guarded=False)[0]


def test_what_a_command_cannot_give_depends_on_its_runner() -> None:
    assert limits_of(("python", "-m", "pytest"), guarded=False) == ()
    assert limits_of(("TZ=UTC", "python", "-m", "unittest"), guarded=False) == ()
    assert "could forge it whole" in limits_of(("run", "{report}"), guarded=False)[0]
    assert limits_of(("run", "{report}"), guarded=True) == ()
    assert "would pass" in limits_of(("sh", "run.sh"), guarded=False)[0]
    assert "would pass" not in limits_of(("sh", "run.sh"), guarded=True)[0]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("pytest", "--junitxml={report}"), "runs pytest, which needs no --junitxml={report}"),
        (("python", "-m", "unittest", "{tests}"), "runs unittest, which needs no {tests}"),
        (("python", "-m", "unittest", "--xml"), "unittest does not know this grading command"),
        (("python", "-m", "unittest", "-k"), "unittest does not know this grading command"),
        (("sh", "-c", "run {report} {tests}"), "one of its own, not part of run {report} {tests}"),
        (("sh", "-c", "run {tests}"), "one of its own, not part of run {tests}"),
        (("run", "{report}", "{exit}"), "has both {report} and {exit}"),
        (("A=1", "{exit}"), "nothing but {exit}"),
    ],
    ids=[
        *("report", "tests", "unknown option", "no value", "tests inside a word"),
        *("tests inside a weak command", "report and exit", "nothing but exit"),
    ],
)
def test_a_command_that_mixes_things_up_is_refused(words: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError) as error:
        read_command(words)
    assert message in error.value.message
    assert error.value.hint


def test_every_command_in_the_documents_is_one() -> None:
    text = (ROOT / "docs" / "tasks.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```yaml\n(grading: .+?)```", text, re.DOTALL)
    assert len(blocks) >= 4
    for block in blocks:
        command = read_command(tuple(shlex.split(yaml.safe_load(block)["grading"])))
        reports = "/results/junit.xml" in " ".join(command.argv(("a",)))
        assert command.runner is (Runner.JUNIT if reports else Runner.EXIT_CODE)
