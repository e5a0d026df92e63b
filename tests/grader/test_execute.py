"""Real runs of pytest in a sandbox, and what is made of their reports."""

import textwrap

import pytest
from gradings import bench_of

from labkit.archive import Entry, Kind
from labkit.model import Ended
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit.sandbox.interface import Sandbox
from labkit_grader.command import read_command
from labkit_grader.execute import run_tests
from labkit_grader.testrun import TestRun

KINDS = """
    import pytest
    from helpers import FIVE
    from calc import add

    @pytest.fixture
    def broken_end():
        yield
        raise OSError

    @pytest.fixture
    def broken_start():
        raise OSError

    def test_passes(two): assert add(two, 3) == FIVE
    def test_fails(): assert add(2, 3) == 6
    def test_skips(): pytest.skip("no")
    def test_expects_to_fail(): pytest.xfail("yes")
    @pytest.mark.xfail
    def test_passes_by_surprise(): pass
    @pytest.mark.xfail(strict=True)
    def test_passes_by_bad_surprise(): pass
    def test_breaks_after(broken_end): pass
    def test_breaks_before(broken_start): pass
    def test_exits(): raise SystemExit(0)
"""
LAYOUT = {
    "src/calc/__init__.py": "def add(a, b):\n    return a + b\n",
    "tests/conftest.py": "import pytest\n@pytest.fixture\ndef two():\n    return 2\n",
    "tests/helpers.py": "FIVE = 5\n",
    "tests/test_kinds.py": KINDS,
    "tests/test_broken.py": "import nothing_of_that_name\n",
    "tests/unit/__init__.py": "",
    "tests/unit/test_deep.py": "import calc\ndef test_deep(two): assert calc.add(two, 2) == 4\n",
}


def run(sandbox: Sandbox, files: dict[str, str], *targets: str, **limits: float) -> TestRun:
    tree = {
        path.encode(): Entry(
            path=path.encode(), kind=Kind.FILE, data=textwrap.dedent(text).encode()
        )
        for path, text in files.items()
    }
    command = read_command(("python", "-m", "pytest"))
    return run_tests(bench_of(sandbox, **limits), tree, command, targets)


def test_every_kind_of_outcome(sandbox: Sandbox) -> None:
    seen = run(
        sandbox, LAYOUT, "tests/test_kinds.py", "tests/test_broken.py", "tests/unit/test_deep.py"
    )
    outcomes = {test.partition("::test_")[2]: outcome for test, outcome in seen.outcomes.items()}
    assert outcomes == {
        "passes": "passed",
        "fails": "failed",
        "skips": "skipped",
        "expects_to_fail": "xfail",
        "passes_by_surprise": "xpass",
        "passes_by_bad_surprise": "failed",
        "breaks_after": "error",
        "breaks_before": "error",
        "exits": "failed",
        "deep": "passed",
    }
    assert list(seen.collect_errors) == ["tests/test_broken.py"]
    assert "nothing_of_that_name" in seen.collect_errors["tests/test_broken.py"]
    assert "assert 5 == 6" in seen.messages["tests/test_kinds.py::test_fails"]
    assert (seen.ended, seen.exit_code, seen.reported_exit) == (Ended.EXITED, 1, 1)
    assert seen.trouble == ""
    assert seen.image_digest


def test_ids_are_whole(bubblewrap_sandbox: BubblewrapSandbox) -> None:
    values = [
        "trail ",
        'q"',
        "",
        " ",
        "x[y]",
        "nul\0",
        "\x1b[31m",
        "a :: b - PASSED",
        "\ud800",
        "é",
    ]
    test = f"""
        import pytest
        @pytest.mark.parametrize("s", {values!a})
        def test_id(s): pass
        @pytest.mark.parametrize("s", ["two", "two "])
        def test_blank(s): pass
        def test_says_anything():
            raise AssertionError("\\0 \\x1b[31m \\ud800" + "x" * 2_000_000)
    """
    seen = run(bubblewrap_sandbox, {"test_ids.py": test}, "test_ids.py")
    assert len(seen.outcomes) == len(values) + 3
    assert {"test_ids.py::test_blank[two]", "test_ids.py::test_blank[two ]"} < set(seen.outcomes)
    assert seen.outcomes["test_ids.py::test_id[a :: b - PASSED]"] == "passed"
    assert seen.outcomes["test_ids.py::test_says_anything"] == "failed"
    assert seen.trouble == ""
    assert "".join(seen.outcomes).encode()  # can be written to a file


def test_unittest_ids_are_names_and_subtests_count(bubblewrap_sandbox: BubblewrapSandbox) -> None:
    test = """
        import unittest
        class TestForm(unittest.TestCase):
            def test_key(self):
                '''If form data is provided,
                the key is right.'''
            def test_parts(self):
                for part in (1, 2):
                    with self.subTest(part=part):
                        self.assertEqual(part, 1)
    """
    seen = run(bubblewrap_sandbox, {"test_form.py": test}, "test_form.py")
    assert seen.outcomes == {
        "test_form.py::TestForm::test_key": "passed",
        "test_form.py::TestForm::test_parts": "failed",
    }


def test_programs_that_tests_start_find_the_project(bubblewrap_sandbox: BubblewrapSandbox) -> None:
    test = """
        import subprocess, sys
        def test_module():
            subprocess.run([sys.executable, "-c", "import calc"], check=True, cwd="/tmp")
    """
    files = {"src/calc.py": "", "tests/test_start.py": test}
    assert run(bubblewrap_sandbox, files, "tests/test_start.py").trouble == ""


@pytest.mark.parametrize(
    ("code", "trouble"),
    [
        ("import os\nos._exit(0)", "the process ended with code 0 before pytest had finished"),
        ("import os\nos.kill(os.getpid(), 9)", "ended with code 137 before"),
        ("import time\ntime.sleep(60)", "the tests ran out of time"),
        ("import pytest\npytest.exit('bye', returncode=0)", "ended before every collected test"),
        ("import atexit, os\natexit.register(os._exit, 0)\nassert 0", "exit code 0 does not go"),
        (
            "import glob\nopen(glob.glob('/report/*')[0], 'w').write('{\"kind\": 1}\\n')",
            "before pytest had finished",
        ),
        (
            "with open('/report/report.jsonl', 'ab') as f:\n    f.truncate(100_000_000)",
            "the report could not be read",
        ),
        (
            "with open('/report/report.jsonl', 'a') as f:\n    f.write('\\n'.join(['{}'] * 9))",
            "before pytest had finished",
        ),
    ],
    ids=[
        "early exit",
        "killed itself",
        "timeout",
        "pytest.exit",
        "atexit",
        "overwritten report",
        "large file",
        "rubbish lines",
    ],
)
def test_a_run_that_cannot_be_trusted_says_why(
    bubblewrap_sandbox: BubblewrapSandbox, code: str, trouble: str
) -> None:
    files = {"calc.py": code, "test_a.py": "def test_first(): pass\ndef test_calc(): import calc\n"}
    seen = run(bubblewrap_sandbox, files, "test_a.py", seconds=3)
    assert trouble in seen.trouble


@pytest.mark.parametrize(
    "code",
    [
        "os.remove('/report/report.jsonl')",
        "os.rename('/report/report.jsonl', '/report/other')",
        "os.symlink('/etc', '/report/link')",
        "open('/report/new', 'w')",
        "os.chmod('/report', 0o777)",
    ],
)
def test_beside_the_report_nothing_can_be_written(sandbox: Sandbox, code: str) -> None:
    files = {"test_a.py": f"import os\ndef test_calc():\n    {code}\n"}
    seen = run(sandbox, files, "test_a.py")
    assert (seen.trouble, seen.outcomes) == ("", {"test_a.py::test_calc": "failed"})
    assert any(word in seen.messages["test_a.py::test_calc"] for word in ("OSError", "Permission"))


def test_memory_is_limited(sandbox: Sandbox) -> None:
    files = {"test_a.py": "def test_big():\n    assert len(bytearray(3 * 1024**3)) > 0\n"}
    seen = run(sandbox, files, "test_a.py", memory=256)
    assert seen.outcome("test_a.py::test_big") != "passed"


def test_an_option_that_pytest_does_not_know_is_quoted(
    bubblewrap_sandbox: BubblewrapSandbox,
) -> None:
    files = {"pytest.ini": "[pytest]\naddopts = --timeout=5\n", "test_a.py": "def test_a(): pass\n"}
    seen = run(bubblewrap_sandbox, files, "test_a.py")
    assert seen.trouble.startswith("pytest could not start: ")


def test_coverage_and_processes_in_the_settings_need_no_plugin(
    bubblewrap_sandbox: BubblewrapSandbox,
) -> None:
    options = "--cov --cov=calc --cov-report term-missing --no-cov-on-fail -n auto --dist loadfile"
    files = {
        "pytest.ini": f"[pytest]\naddopts = {options}\n",
        "test_a.py": "def test_a(): pass\ndef test_b(): assert 0\n",
    }
    seen = run(bubblewrap_sandbox, files, "test_a.py")
    assert (seen.trouble, list(seen.outcomes.values())) == ("", ["passed", "failed"])


def test_no_tests_is_no_trouble_and_no_pass(bubblewrap_sandbox: BubblewrapSandbox) -> None:
    seen = run(bubblewrap_sandbox, {"test_a.py": "X = 1\n"}, "test_a.py")
    assert (seen.trouble, seen.exit_code, dict(seen.outcomes)) == ("", 5, {})


def test_a_second_word_on_a_test_cannot_better_the_first(
    bubblewrap_sandbox: BubblewrapSandbox,
) -> None:
    test = """
        def test_first(): assert False
        def test_second():
            line = '{"kind": "test", "id": "test_a.py::test_first", "outcome": "passed"}\\n'
            open("/report/report.jsonl", "a").write(line)
    """
    seen = run(bubblewrap_sandbox, {"test_a.py": test}, "test_a.py")
    assert seen.outcomes == {"test_a.py::test_first": "failed"}
    assert seen.forged
