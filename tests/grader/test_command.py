"""The author's grading command, and what becomes of it."""

import pytest

from labkit.errors import InputError
from labkit_grader.command import PLUGIN, read_command

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
    ],
    ids=["default", "options", "program", "one test", "settings file", "value like a path"],
)
def test_program_and_options_are_kept_and_paths_dropped(
    words: str, program: tuple[str, ...], options: tuple[str, ...]
) -> None:
    command = read_command(tuple(words.split()), paths=PATHS)
    assert (command.program, command.options) == (program, options)


def test_variables_go_into_the_environment() -> None:
    command = read_command(("TZ=UTC", "LC_ALL=C", "pytest"))
    assert command.environment == {"TZ": "UTC", "LC_ALL": "C"}


def test_the_plugin_is_run_in_the_place_of_pytest() -> None:
    argv = read_command(("python", "-m", "pytest", "-q")).argv(("tests/test_a.py",))
    assert argv[:2] == ("python", PLUGIN)
    assert argv[-2:] == ("-q", "/workspace/tests/test_a.py")


@pytest.mark.parametrize(
    "words",
    ["make test", "python -m unittest", "python", "python -m", "tox", "", "python x.py -m y"],
)
def test_another_runner_is_refused(words: str) -> None:
    with pytest.raises(InputError, match="does not run pytest"):
        read_command(tuple(words.split()))
