"""pytest as projects have it: old and new ones, with settings and plugins of their own."""

import sys
import textwrap
from pathlib import Path

import pytest
from e2e.releases import install
from gradings import bench_of
from sandboxes import bubblewrap_cache

from labkit.archive import Entry, Kind
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit.sandbox.choose import bubblewrap_sandbox as make_bubblewrap
from labkit.sandbox.interface import Sandbox
from labkit_grader.command import read_command
from labkit_grader.execute import run_tests
from labkit_grader.refusals import refusal
from labkit_grader.testrun import TestRun

OLDEST = "pytest==6.2.5" if sys.version_info < (3, 12) else "pytest==7.4.4"
"""The oldest that works under this Python; older ones need an older Python, and work there."""
VALUES = ["trail ", 'q"', "", " ", "x[y]", "nul\0", "\x1b[31m", "a :: b - PASSED", "é", "n\nl", "]"]
SHOWN = [
    *("trail ", 'q"', "", " ", "x[y]", "nul\\x00", "\\x1b[31m", "a :: b - PASSED", "\\xe9"),
    *("n\\nl", "]", "two", "two "),
]
TEST = f"""
    import unittest
    import pytest
    import calc

    @pytest.mark.parametrize("s", [*{VALUES!a}, "two", "two "])
    def test_id(s): pass
    def test_fails(): assert calc.add(1, 2) == 4
    def test_skips(): pytest.skip("no")
    @pytest.mark.xfail
    def test_expects_to_fail(): assert False
    @pytest.mark.xfail
    def test_surprises(): pass
    @pytest.fixture
    def broken(): raise OSError
    def test_errors(broken): pass
    class TestForm(unittest.TestCase):
        def test_doc(self):
            '''One of
            two lines.'''
        def test_parts(self):
            for part in (1, 2):
                with self.subTest(part=part): self.assertEqual(part, 1)
"""
SETTINGS = "[pytest]\nfilterwarnings = error\nasyncio_mode = auto\nminversion = 5.0\n"
PROJECT = {
    "src/calc.py": "def add(a, b):\n    return a + b\n",
    "tests/test_ids.py": TEST,
    "tests/test_broken.py": "import nothing_of_that_name\n",
    "pytest.ini": SETTINGS,
}


def run(
    sandbox: Sandbox, files: dict[str, str], *targets: str, words: str = "python -m pytest"
) -> TestRun:
    tree = {
        path.encode(): Entry(
            path=path.encode(), kind=Kind.FILE, data=textwrap.dedent(text).encode()
        )
        for path, text in files.items()
    }
    return run_tests(bench_of(sandbox), tree, read_command(tuple(words.split())), targets)


def with_packages(folder: Path, *names: str) -> BubblewrapSandbox:
    """Return a sandbox with packages that are found before the kit's own."""
    site = install(names, folder / "site")
    return make_bubblewrap(cache=bubblewrap_cache(), scratch=folder / "scratch", site=site)


@pytest.mark.registry
@pytest.mark.slow
@pytest.mark.parametrize("version", [OLDEST, "pytest"], ids=["oldest", "current"])
@pytest.mark.usefixtures("bubblewrap_sandbox")
def test_an_environment_s_own_pytest_is_used_and_told_of_alike(
    tmp_path: Path, version: str
) -> None:
    said = {**PROJECT, "tests/test_version.py": "import pytest\nprint('is', pytest.__version__)\n"}
    sandbox = with_packages(tmp_path, version)
    seen = run(sandbox, said, *(path for path in said if "test_" in path), words="pytest -s")
    assert f"is {version.rpartition('==')[2] if '==' in version else ''}" in seen.log
    file = "tests/test_ids.py::"
    assert seen.outcomes == {
        **{f"{file}test_id[{each}]": "passed" for each in SHOWN},
        f"{file}test_fails": "failed",
        f"{file}test_skips": "skipped",
        f"{file}test_expects_to_fail": "xfail",
        f"{file}test_surprises": "xpass",
        f"{file}test_errors": "error",
        f"{file}TestForm::test_doc": "passed",
        f"{file}TestForm::test_parts": "failed",
    }
    assert list(seen.collect_errors) == ["tests/test_broken.py"]
    assert seen.trouble == ""
    other = run(sandbox, {**PROJECT, "pytest.ini": "[pytest]\naddopts = --timeout=5 --cov\n"})
    assert "pytest could not start: it does not know --timeout=5; " in other.trouble
    other = run(sandbox, {**PROJECT, "pytest.ini": "[pytest]\naddopts = -p nothere\n"})
    assert 'pytest could not start: Error importing plugin "nothere"' in other.trouble


@pytest.mark.registry
@pytest.mark.slow
@pytest.mark.usefixtures("bubblewrap_sandbox")
def test_plugins_of_the_environment_are_loaded_by_name(tmp_path: Path) -> None:
    sandbox = with_packages(tmp_path, "pytest-xdist", "pytest-asyncio", "pytest-cov")
    files = {
        "calc.py": "X = 1\ndef never():\n    return 2\n",
        "test_a.py": "import calc\nasync def test_a(): pass\ndef test_b(): assert 0\n",
        "pytest.ini": "[pytest]\naddopts = -n 2 --cov=calc --cov-fail-under=100\n"
        "asyncio_mode = auto\nrequired_plugins = pytest-xdist\n",
    }
    bare = run(sandbox, files, "test_a.py")
    assert "Missing required plugins" in bare.log or "unrecognized arguments" in bare.log
    assert bare.trouble.startswith("pytest could not start: ")
    words = "python -m pytest -p xdist -p pytest_cov -p asyncio"
    seen = run(sandbox, files, "test_a.py", words=words)
    assert seen.outcomes == {"test_a.py::test_a": "passed", "test_a.py::test_b": "failed"}
    assert seen.trouble == ""
    files["test_a.py"] = files["test_a.py"].replace("assert 0", "pass")
    assert run(sandbox, files, "test_a.py", words=words).trouble == ""


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        (
            "addopts = --timeout=5 --reruns=2",
            "it does not know --timeout=5 --reruns=2; where a plugin of the environment has such "
            "options, add -p pytest_timeout -p rerunfailures to the grading command, else take "
            'them away with -o "addopts="',
        ),
        ("addopts = --ds=site", "add -p django to the grading command"),
        ("addopts = --strange", "add -p and the plugin's name to the grading command"),
        ("addopts = -p nothere", "add the plugin to the environment of the task"),
        ("required_plugins = pytest-nothere", "the project requires the plugins pytest-nothere;"),
        ("minversion = 99.0", "give the task an environment with that version of pytest"),
        ("addopts = --strict-config\nnothere = 1", "the project is strict about its settings"),
        ("addopts = --import-mode=strange", "invalid choice: 'strange'"),
    ],
)
def test_a_project_that_pytest_cannot_start_on_says_the_mend(
    bubblewrap_sandbox: BubblewrapSandbox, settings: str, why: str
) -> None:
    files = {"pytest.ini": f"[pytest]\n{settings}\n", "test_a.py": "def test_a(): pass\n"}
    seen = run(bubblewrap_sandbox, files, "test_a.py")
    assert seen.trouble.startswith("pytest could not start: ")
    assert why in seen.trouble


@pytest.mark.parametrize(
    ("log", "why"),
    [
        (
            "pytest.ini:2: requires pytest-99.0, actual pytest-5.4.3'",
            "requires pytest-99.0, actual",
        ),
        ("ERROR: usage: x [options]\nx: error: nothing known\n", "nothing known"),
        ("Traceback\nERROR: file not found: x\n", "file not found: x"),
        ("all is well\n", ""),
        ("", ""),
    ],
)
def test_what_older_ones_print_is_understood(log: str, why: str) -> None:
    assert refusal(log).startswith(why)
    assert bool(refusal(log)) is bool(why)


def test_settings_of_plugins_that_are_not_loaded_are_no_trouble(
    bubblewrap_sandbox: BubblewrapSandbox,
) -> None:
    settings = "[pytest]\nfilterwarnings = error\nasyncio_mode = auto\ntestpaths = checks\n"
    files = {
        "pytest.ini": settings + "python_files = check_*.py\n",
        "checks/check_a.py": "def test_a(): pass\n",
        "tests/test_b.py": "def test_b(): pass\n",
    }
    assert run(bubblewrap_sandbox, files).outcomes == {"checks/check_a.py::test_a": "passed"}
    seen = run(bubblewrap_sandbox, files, "tests/test_b.py")
    assert (seen.outcomes, seen.trouble) == ({"tests/test_b.py::test_b": "passed"}, "")


def test_a_plugin_is_never_taken_from_the_graded_tree(
    bubblewrap_sandbox: BubblewrapSandbox,
) -> None:
    files = {"evil.py": "import os\nos._exit(0)\n", "test_a.py": "def test_a(): pass\n"}
    seen = run(bubblewrap_sandbox, files, "test_a.py", words="python -m pytest -p evil")
    assert 'pytest could not start: Error importing plugin "evil"' in seen.trouble
