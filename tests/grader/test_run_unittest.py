"""Real runs of unittest in a sandbox, and tasks graded by it."""

import textwrap
from pathlib import Path

import pytest
from gradings import FIXED, bench_of, make_set, validated

from labkit.archive import Entry, Kind
from labkit.model import Category, Ended, Verdict
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit.sandbox.interface import Sandbox
from labkit_grader.command import read_command
from labkit_grader.execute import run_tests
from labkit_grader.testrun import TestRun
from labkit_grader.validate import validate_task

KINDS = """
    import doctest, sys, unittest
    import calc

    class Kinds(unittest.TestCase):
        def test_doc(self):
            '''If form data is provided,
            the key is right.'''
        def test_same_doc(self):
            '''If form data is provided,'''
        def test_fails(self): self.assertEqual(calc.add(2, 3), 6)
        def test_errors(self): raise OSError("\\0 \\x1b[31m \\ud800" + "x" * 2_000_000)
        def test_skips(self): self.skipTest("no")
        @unittest.skip("never")
        def test_never(self): pass
        @unittest.expectedFailure
        def test_expects_to_fail(self): self.fail()
        @unittest.expectedFailure
        def test_passes_by_surprise(self): pass
        def test_parts(self):
            for part in (1, 2, 3):
                with self.subTest(part=part):
                    self.assertEqual(part, 2)
        def test_whole_parts(self):
            with self.subTest(part=1): pass
        def test_skipped_part(self):
            with self.subTest(part=1): self.skipTest("no")
        def test_exits(self): sys.exit(0)
        def test_cleans_badly(self): self.addCleanup(lambda: 1 / 0)

    class BadStart(unittest.TestCase):
        @classmethod
        def setUpClass(cls): raise OSError("no database")
        def test_a(self): pass

    class SkippedStart(unittest.TestCase):
        @classmethod
        def setUpClass(cls): raise unittest.SkipTest("no database")
        def test_a(self): pass

    class BadEnd(unittest.TestCase):
        @classmethod
        def tearDownClass(cls): raise OSError("no database")
        def test_a(self): pass
        def test_b(self): pass

    class OnlyRun(unittest.TestCase):
        def runTest(self): pass

    class Later(unittest.IsolatedAsyncioTestCase):
        async def test_right(self): pass
        async def test_wrong(self): self.fail()

    def load_tests(loader, tests, pattern):
        tests.addTests(doctest.DocTestSuite(calc))
        return tests
"""
ONE = "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): pass\n"
DOCUMENTED = 'def add(a, b):\n    """\n    >>> add(1, 2)\n    3\n    """\n    return a + b\n'
LAYOUT = {
    "src/calc/__init__.py": DOCUMENTED,
    "tests/__init__.py": "",
    "tests/test_kinds.py": KINDS,
    "tests/test_module.py": "def setUpModule(): raise OSError\n" + ONE,
    "tests/test_broken.py": "import nothing_of_that_name\n",
    "tests/test_exit.py": "import sys\nsys.exit(0)\n",
    "tests/test_elsewhere.py": "import unittest\nraise unittest.SkipTest('not here')\n",
    "tests/test-dash.py": ONE,
    "test_root.py": ONE,
    "plain/test_plain.py": ONE,
    "test/test_named_like_pythons.py": ONE,
}
ALL = tuple(path for path in LAYOUT if "test_" in path or "test-" in path)


def run(
    sandbox: Sandbox, files: dict[str, str], *targets: str, words: str = "", seconds: float = 20
) -> TestRun:
    tree = {
        path.encode(): Entry(
            path=path.encode(), kind=Kind.FILE, data=textwrap.dedent(text).encode()
        )
        for path, text in files.items()
    }
    command = read_command(("python", "-m", "unittest", *words.split()))
    return run_tests(bench_of(sandbox, seconds=seconds), tree, command, targets)


def test_every_kind_of_outcome(sandbox: Sandbox) -> None:
    seen = run(sandbox, LAYOUT, *ALL)
    kinds = "tests.test_kinds."
    outcomes = {
        test.removeprefix(kinds).removeprefix("Kinds.test_"): outcome
        for test, outcome in seen.outcomes.items()
    }
    assert outcomes == {
        "doc": "passed",
        "same_doc": "passed",
        "fails": "failed",
        "errors": "error",
        "skips": "skipped",
        "never": "skipped",
        "expects_to_fail": "xfail",
        "passes_by_surprise": "failed",
        "parts": "failed",
        "whole_parts": "passed",
        "skipped_part": "skipped",
        "exits": "error",
        "cleans_badly": "error",
        "BadStart.test_a": "error",
        "SkippedStart.test_a": "skipped",
        "BadEnd.test_a": "passed",
        "BadEnd.test_b": "error",
        "OnlyRun.runTest": "passed",
        "Later.test_right": "passed",
        "Later.test_wrong": "failed",
        "calc.add": "passed",
        "tests.test_module.T.test_a": "error",
        "test_root.T.test_a": "passed",
        "plain.test_plain.T.test_a": "passed",
    }
    assert "5 != 6" in seen.messages[f"{kinds}Kinds.test_fails"]
    assert "part=3" in seen.messages[f"{kinds}Kinds.test_parts"]
    assert "no database" in seen.messages[f"{kinds}BadStart.test_a"]
    assert (seen.ended, seen.exit_code, seen.reported_exit) == (Ended.EXITED, 1, 1)
    assert seen.trouble == ""


def test_what_cannot_be_loaded_is_told_by_file(bubblewrap_sandbox: BubblewrapSandbox) -> None:
    errors = run(bubblewrap_sandbox, LAYOUT, *ALL).collect_errors
    told = {name: text.strip().splitlines()[-1] for name, text in errors.items()}
    assert told["tests/test_broken.py"].endswith("No module named 'nothing_of_that_name'")
    assert told["tests/test_exit.py"] == "SystemExit: 0"
    assert "'test-dash' cannot be part of a module's name: rename it" in told["tests/test-dash.py"]
    assert told.keys() - LAYOUT.keys() == set()
    assert "test/test_named_like_pythons.py" in told  # `test` is Python's own package


def test_classes_with_constructors_of_their_own(sandbox: Sandbox) -> None:
    text = (
        "import unittest\nclass Own(unittest.TestCase):\n    def __init__(self):\n"
        "        super().__init__()\n"
        "class Passes(Own):\n    def runTest(self): pass\n"
        "class Fails(Own):\n    def runTest(self): self.fail()\n"
        "class Named(Own):\n    def test_a(self): pass\n"
    )
    seen = run(sandbox, {"test_a.py": text}, "test_a.py")
    assert seen.outcomes == {"test_a.Passes.runTest": "passed", "test_a.Fails.runTest": "failed"}
    assert list(seen.collect_errors) == ["test_a.Named"]
    assert seen.trouble == ""


def test_the_project_s_own_suite_is_discovered(bubblewrap_sandbox: BubblewrapSandbox) -> None:
    files = {**LAYOUT, "tests/test_loads.py": "def load_tests(*_): raise ValueError('loads')\n"}
    seen = run(bubblewrap_sandbox, files)
    assert {"tests.test_kinds.Kinds.test_doc", "test_root.T.test_a"} < set(seen.outcomes)
    assert seen.collect_errors["tests.test_loads"] == "ValueError: loads\n"
    assert seen.collect_errors.keys() == {
        "tests.test_broken",
        "tests.test_exit",
        "tests.test_loads",
    }
    assert seen.trouble == ""


def test_names_begin_at_the_folder_that_discovery_starts_in(
    bubblewrap_sandbox: BubblewrapSandbox,
) -> None:
    files = {
        "calc.py": "",
        "checks/near.py": "NEAR = 1\n",
        "checks/check_a.py": f"import calc\nfrom near import NEAR\n{ONE}",
    }
    words = "discover -s checks -p check*.py"
    for targets in ((), ("checks/check_a.py",)):
        seen = run(bubblewrap_sandbox, files, *targets, words=words)
        assert (seen.outcomes, seen.trouble) == ({"check_a.T.test_a": "passed"}, "")
    seen = run(bubblewrap_sandbox, files, words="discover -s nowhere")
    assert "nowhere" in seen.collect_errors
    assert seen.trouble == ""


def test_only_tests_that_the_pattern_names_run(bubblewrap_sandbox: BubblewrapSandbox) -> None:
    seen = run(bubblewrap_sandbox, LAYOUT, "tests/test_kinds.py", words="-b -k same_doc -k BadEnd")
    assert set(seen.outcomes) == {
        "tests.test_kinds.Kinds.test_same_doc",
        "tests.test_kinds.BadEnd.test_a",
        "tests.test_kinds.BadEnd.test_b",
        "tests.test_kinds.OnlyRun.runTest",  # unittest's own pattern does not choose among these
        "calc.add",
    }


def test_no_tests_is_no_trouble_and_no_pass(bubblewrap_sandbox: BubblewrapSandbox) -> None:
    seen = run(bubblewrap_sandbox, {"test_a.py": "X = 1\n"}, "test_a.py")
    assert (seen.trouble, seen.exit_code, dict(seen.outcomes)) == ("", 5, {})


def test_one_test_that_is_loaded_twice_passes_only_if_both_do(
    bubblewrap_sandbox: BubblewrapSandbox,
) -> None:
    twice = (
        "import unittest\nseen = []\nclass T(unittest.TestCase):\n"
        "    def test_a(self):\n        seen.append(1)\n        self.assertEqual(len(seen), 1)\n"
        "def load_tests(loader, tests, pattern):\n"
        "    return unittest.TestSuite([T('test_a'), T('test_a')])\n"
    )
    seen = run(bubblewrap_sandbox, {"test_a.py": twice}, "test_a.py")
    assert seen.outcomes == {"test_a.T.test_a": "failed"}
    assert seen.trouble == ""


def test_tests_that_take_away_output_and_look_at_arguments_end_nothing(
    bubblewrap_sandbox: BubblewrapSandbox,
) -> None:
    test = (
        "import os, sys, unittest\nclass T(unittest.TestCase):\n"
        "    def test_a(self):\n        self.assertEqual(len(sys.argv), 1)\n"
        "        sys.stderr.close()\n        sys.stderr = sys.stdout = None\n"
        "    def test_b(self):\n        self.assertNotIn('LABKIT_REPORT', os.environ)\n"
        "        self.assertNotIn('/labkit', sys.path)\n"
    )
    seen = run(bubblewrap_sandbox, {"test_a.py": test}, "test_a.py")
    assert set(seen.outcomes.values()) == {"passed"}
    assert (len(seen.outcomes), seen.trouble) == (2, "")


@pytest.mark.parametrize(
    ("code", "trouble"),
    [
        ("import os\nos._exit(0)", "ended with code 0 before unittest had finished"),
        ("import os\nos.kill(os.getpid(), 9)", "ended with code 137 before unittest"),
        ("import time\ntime.sleep(60)", "the tests ran out of time"),
        ("raise KeyboardInterrupt", "ended with code 130 before unittest"),
        ("import atexit, os\natexit.register(os._exit, 0)\nassert 0", "exit code 0 does not go"),
    ],
    ids=["early exit", "killed itself", "timeout", "interrupt", "atexit"],
)
def test_a_run_that_cannot_be_trusted_says_why(
    bubblewrap_sandbox: BubblewrapSandbox, code: str, trouble: str
) -> None:
    test = "    def test_b(self): import calc\n"
    seen = run(
        bubblewrap_sandbox, {"calc.py": code, "test_a.py": ONE + test}, "test_a.py", seconds=3
    )
    assert trouble in seen.trouble


HIDDEN = """
import doctest
import unittest
import calc


class Adds(unittest.TestCase):
    def test_add(self):
        '''Adds.'''
        self.assertEqual(calc.add(2, 3), 5)

    def test_signs(self):
        for a in (-1, 0, 1):
            with self.subTest(a=a):
                self.assertEqual(calc.add(a, -a), 0)

    def test_double(self):
        self.assertEqual(calc.double(21), 42)


def load_tests(loader, tests, pattern):
    tests.addTests(doctest.DocTestSuite(calc))
    return tests
"""
TESTED = '"""A calculator.\n\n>>> double(2)\n4\n"""\n'


def test_a_task_is_proven_and_graded(tmp_path: Path, sandbox: Sandbox) -> None:
    base = {"calc.py": TESTED + FIXED.replace("a + b", "a - b"), "tests/__init__.py": ""}
    made = make_set(
        tmp_path,
        base=base,
        solution={"calc.py": TESTED + FIXED},
        draft={"hidden/tests/test_hidden.py": HIDDEN},
        grading="python -m unittest tests.test_hidden",
        prompt="Adding two numbers gives a wrong sum.\n",
    )
    bench = bench_of(sandbox)
    task = validated(made, bench)
    assert task.case.material.evidence is not None
    assert task.case.material.evidence.fail_to_pass == (
        "tests.test_hidden.Adds.test_add",
        "tests.test_hidden.Adds.test_signs",
    )
    assert task.case.material.evidence.pass_to_pass == (
        "calc",
        "tests.test_hidden.Adds.test_double",
    )
    solved = task.graded(bench, task.diff({"calc.py": TESTED + FIXED}))
    assert (solved.verdict, solved.flags) == (Verdict.PASS, ())
    for code in (TESTED + FIXED.replace("a + b", "5"), FIXED):  # one without the doctest
        assert task.graded(bench, task.diff({"calc.py": code})).verdict is Verdict.FAIL


def test_tests_that_are_the_work_are_graded_with_unittest_too(
    tmp_path: Path, bubblewrap_sandbox: BubblewrapSandbox
) -> None:
    own = ONE.replace("pass", "self.assertEqual(calc.add(2, 2), 4)").replace(
        "import", "import calc, "
    )
    reference = own.replace("calc.add(2, 2), 4", "calc.add(2, 3), 5")
    made = make_set(
        tmp_path,
        base={"calc.py": FIXED, "tests/test_calc.py": own},
        solution={},
        draft={"hidden/tests/test_more.py": reference},
        category=Category.TESTS,
        grading="python -m unittest discover -s tests",
        forbidden=("calc.py",),
    )
    fault = made.diff({"calc.py": FIXED.replace("a + b", "a * b")})
    draft = {**made.draft, "mutations/times.patch": fault}
    made = make_set(
        tmp_path / "again",
        base={"calc.py": FIXED, "tests/test_calc.py": own},
        solution={},
        draft=draft,
        category=Category.TESTS,
        grading="python -m unittest discover -s tests",
        forbidden=("calc.py",),
    )
    bench = bench_of(bubblewrap_sandbox)
    evidence = validate_task(bench, made.case, repeats=1)
    assert evidence.problems == ()
    task = made.sealed(evidence)
    good = task.graded(bench, task.diff({"tests/test_new.py": reference}))
    assert (good.verdict, good.reason) == (
        Verdict.PASS,
        "the tests pass on the real code and catch 1 fault",
    )
    weak = task.graded(bench, task.diff({"tests/test_new.py": own}))
    assert weak.verdict is Verdict.FAIL
    nameless = task.graded(bench, task.diff({"tests/test_new-one.py": reference}))
    assert nameless.verdict is Verdict.FAIL


def test_a_refactoring_is_proven_by_the_files_of_its_tests(
    tmp_path: Path, bubblewrap_sandbox: BubblewrapSandbox
) -> None:
    start = "import os, unittest, calc\nclass T(unittest.TestCase):\n    def test_it(self): "
    structure = f"{start}assert os.path.exists('more.py')\n"
    behaviour = f"{start}assert calc.double(2) == 4\n"
    made = make_set(
        tmp_path,
        base={"calc.py": FIXED},
        solution={"more.py": FIXED, "calc.py": "from more import add, double\n"},
        draft={
            "oracle.yaml": "structure: [tests/test_structure.py]\n",
            "hidden/tests/test_structure.py": structure,
            "hidden/tests/test_calc.py": behaviour,
        },
        category=Category.REFACTOR,
        grading="python -m unittest",
        forbidden=("tests/",),
    )
    task = validated(made, bench_of(bubblewrap_sandbox))
    assert task.case.material.evidence is not None
    assert task.case.material.evidence.fail_to_pass == ("tests.test_structure.T.test_it",)
    assert task.case.material.evidence.pass_to_pass == ("tests.test_calc.T.test_it",)
