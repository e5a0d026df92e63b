"""Diffs that attack unittest, or a command that writes JUnit XML: none of them may pass."""

from pathlib import Path

import pytest
from gradings import CALC, FIXED, Files, Set, bench_of, make_set, validated

from labkit.model import Flag, Verdict
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit_grader.execute import Bench

HIDDEN = """
import unittest
import calc


class Adds(unittest.TestCase):
    def test_add(self):
        self.assertEqual(calc.add(2, 3), 5)

    def test_double(self):
        self.assertEqual(calc.double(21), 42)
"""
LEAVE = "import os\nos._exit(0)\n"
IN_THE_CALL = CALC.replace("    return a - b\n", "    import os\n    os._exit(0)\n")
SHADOWS = (
    "unittest.py",
    "labkit_lines.py",
    "labkit_absent.py",
    "labkit_loader.py",
    "labkit_unittest/__init__.py",
)
UNITTEST_ATTACKS: dict[str, Files] = {
    "nothing": {},
    "os._exit at import": {"calc.py": LEAVE},
    "os._exit in the call": {"calc.py": IN_THE_CALL},
    "atexit os._exit": {"calc.py": "import atexit, os\natexit.register(os._exit, 0)\n" + CALC},
    "sys.exit at import": {"calc.py": "import sys\nsys.exit(0)\n"},
    "sys.exit in the call": {"calc.py": "def add(a, b):\n    raise SystemExit(0)\n"},
    "skip": {"calc.py": "import unittest\ndef add(a, b):\n    raise unittest.SkipTest\n"},
    "skip at import": {"calc.py": "import unittest\nraise unittest.SkipTest\n"},
    "interrupt": {"calc.py": "raise KeyboardInterrupt\n"},
    "report removed": {"calc.py": "import os\nos.remove('/report/report.jsonl')\n" + CALC},
    "runner killed": {"calc.py": "import os\nos.kill(os.getpid(), 9)\n"},
    "modules shadowed": dict.fromkeys(SHADOWS, LEAVE),
    "package of the tests": {"tests/__init__.py": LEAVE},
    "own load_tests": {"tests/__init__.py": "def load_tests(*_):\n    raise SystemExit(0)\n"},
}
UNITTEST_TAMPERED = {"os._exit at import", "os._exit in the call", "atexit os._exit"}

RUNNER = """
import sys, unittest
from xml.sax.saxutils import quoteattr

report, *files = sys.argv[1:]
lines = []

class Result(unittest.TestResult):
    def stopTest(self, test):
        broken = [err for each, err in self.failures + self.errors if each is test]
        said = f"<failure>{quoteattr(broken[0])[1:-1]}</failure>" if broken else ""
        lines.append(f"<testcase name={quoteattr(test.id())}>{said}</testcase>")

sys.path.insert(0, ".")
names = [file.replace("/", ".").removesuffix(".py") for file in files]
result = Result()
unittest.defaultTestLoader.loadTestsFromNames(names).run(result)
with open(report, "w") as out:
    out.write("<testsuite>" + "".join(lines) + "</testsuite>")
sys.exit(not result.wasSuccessful())
"""
"""A project's own runner, in the shape of many: it writes its report at the end."""
NAMES = ("add", "double")
GOOD = "".join(f"<testcase name='tests.test_hidden.Adds.test_{name}'/>" for name in NAMES)
FORGED = f"<testsuite>{GOOD}</testsuite>"
BOMB = (
    "<!DOCTYPE a [<!ENTITY a 'ha'>"
    + "".join(f"<!ENTITY a{n} '{f'&a{n - 1};' * 10 if n else '&a;'}'>" for n in range(9))
    + f"]><testsuite><testcase name='&a8;'/>{GOOD}</testsuite>"
)


def at_exit(act: str, code: int) -> str:
    """Return code that acts on the report once the runner has written it."""
    start = "import atexit, os\n@atexit.register\ndef last():\n    p = '/results/junit.xml'\n"
    return f"{start}    {act}\n    os._exit({code})\n{CALC}"


JUNIT_ATTACKS: dict[str, Files] = {
    "nothing": {},
    "forged report, honest exit code": {
        "calc.py": at_exit(f"open(p, 'w').write({FORGED!r})", 1),
    },
    "bomb": {"calc.py": at_exit(f"open(p, 'w').write({BOMB!r})", 0)},
    "no XML": {"calc.py": at_exit("open(p, 'w').write('all passed')", 0)},
    "huge": {"calc.py": at_exit("open(p, 'w').truncate(100_000_000)", 0)},
    "many files": {
        "calc.py": at_exit("[open(f'/results/{i}', 'w').close() for i in range(3000)]", 0)
    },
    "link": {"calc.py": at_exit("os.remove(p); os.symlink('/etc/passwd', p)", 0)},
    "pipe": {"calc.py": at_exit("os.remove(p); os.mkfifo(p)", 0)},
    "removed": {"calc.py": at_exit("os.remove(p)", 0)},
    "empty suite": {"calc.py": at_exit("open(p, 'w').write('<testsuite/>')", 0)},
    "early exit": {"calc.py": LEAVE},
    "background": {
        "calc.py": "import subprocess\nsubprocess.Popen(['sh', '-c', 'sleep 1; rm /results/*'], "
        "start_new_session=True)\n" + CALC
    },
    "runner replaced": {
        "run.py": f"import sys\nopen(sys.argv[1], 'w').write({FORGED!r})\n",
    },
    "runner replaced by a link": {"run.py": "-> forge.py", "forge.py": "raise SystemExit(0)\n"},
}
JUNIT_TAMPERED = {
    *("no XML", "bomb", "huge", "many files", "link", "pipe", "removed", "empty suite"),
    "early exit",
} - {"no XML"}  # honest runners write broken XML too
FORGED_WHOLE: Files = {"calc.py": at_exit(f"open(p, 'w').write({FORGED!r})", 0)}


@pytest.fixture(scope="module")
def bench(bubblewrap_sandbox: BubblewrapSandbox) -> Bench:
    return bench_of(bubblewrap_sandbox, seconds=20)


def attacked(folder: Path, bench: Bench, grading: str) -> Set:
    made = make_set(
        folder,
        base={"calc.py": CALC, "run.py": RUNNER, "README.md": "calc\n"},
        draft={"hidden/tests/test_hidden.py": HIDDEN},
        forbidden=(),
        grading=grading,
    )
    return validated(made, bench)


@pytest.fixture(scope="module")
def by_unittest(tmp_path_factory: pytest.TempPathFactory, bench: Bench) -> Set:
    """Return a task that forbids nothing, so that only the tests decide."""
    return attacked(tmp_path_factory.mktemp("unittest"), bench, "python -m unittest")


@pytest.fixture(scope="module")
def by_junit(tmp_path_factory: pytest.TempPathFactory, bench: Bench) -> Set:
    return attacked(tmp_path_factory.mktemp("junit"), bench, "python run.py {report} {tests}")


@pytest.mark.parametrize("attack", UNITTEST_ATTACKS)
def test_an_attack_on_unittest_never_passes(by_unittest: Set, bench: Bench, attack: str) -> None:
    record = by_unittest.graded(bench, by_unittest.diff(UNITTEST_ATTACKS[attack]))
    assert record.verdict is Verdict.FAIL
    assert record.reason
    assert (Flag.TAMPERED in record.flags) is (attack in UNITTEST_TAMPERED)


@pytest.mark.parametrize("attack", JUNIT_ATTACKS)
def test_an_attack_on_a_report_never_passes(by_junit: Set, bench: Bench, attack: str) -> None:
    record = by_junit.graded(bench, by_junit.diff(JUNIT_ATTACKS[attack]))
    assert record.verdict is Verdict.FAIL
    assert record.reason
    assert (Flag.TAMPERED in record.flags) is (attack in JUNIT_TAMPERED)


@pytest.mark.parametrize("attack", ["modules shadowed", "package of the tests", "own load_tests"])
def test_an_attack_on_unittest_beside_an_honest_fix_does_not_spoil_it(
    by_unittest: Set, bench: Bench, attack: str
) -> None:
    changes = {**UNITTEST_ATTACKS[attack], "calc.py": FIXED}
    record = by_unittest.graded(bench, by_unittest.diff(changes))
    assert (record.verdict, record.flags[:1]) == (Verdict.PASS, (Flag.NEUTRALISED,))


@pytest.mark.parametrize("attack", ["runner replaced", "runner replaced by a link"])
def test_a_replaced_runner_beside_an_honest_fix_does_not_spoil_it(
    by_junit: Set, bench: Bench, attack: str
) -> None:
    changes = {**JUNIT_ATTACKS[attack], "calc.py": FIXED}
    record = by_junit.graded(bench, by_junit.diff(changes))
    assert (record.verdict, record.flags[:1]) == (Verdict.PASS, (Flag.NEUTRALISED,))


def test_a_whole_forgery_is_told_as_one(by_junit: Set, bench: Bench) -> None:
    record = by_junit.graded(bench, by_junit.diff(FORGED_WHOLE))
    assert (record.verdict, record.flags[:1]) == (Verdict.FAIL, (Flag.TAMPERED,))
    assert "passed with a wrong expectation too" in record.reason


EQUAL_TO_ALL = (
    "class E(int):\n    __hash__ = int.__hash__\n    def __eq__(self, other): return True\n"
    "def add(a, b): return E(0)\ndef double(a): return E(0)\n"
)
NO_ASSERTIONS = "import unittest\nunittest.TestCase.assertEqual = lambda *_: None\n"


@pytest.mark.parametrize("code", [EQUAL_TO_ALL, NO_ASSERTIONS + CALC])
def test_code_that_passes_whatever_is_asked_is_told(
    by_unittest: Set, by_junit: Set, bench: Bench, code: str
) -> None:
    for task in (by_unittest, by_junit):
        record = task.graded(bench, task.diff({"calc.py": code}))
        assert record.verdict is Verdict.FAIL
        assert Flag.TAMPERED in record.flags
