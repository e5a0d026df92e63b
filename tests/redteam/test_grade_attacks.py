"""Diffs that try to be graded as a pass without fixing anything: none of them may be."""

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from gradings import CALC, FIXED, Files, Set, bench_of, make_set, validated

from labkit.model import Flag, Verdict
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit.sandbox.docker import DockerSandbox
from labkit_grader.execute import Bench
from labkit_grader.oracles import confirmed
from labkit_grader.testrun import TestRun

REPORT_ALL_PASSED = (
    "import pytest\n@pytest.hookimpl(hookwrapper=True)\n"
    "def pytest_runtest_makereport(item, call):\n"
    "    o = yield\n    r = o.get_result()\n    r.outcome = 'passed'\n    r.longrepr = None\n"
)
LEAVE = "import os, sys\nprint('3 passed in 0.01s')\nsys.stdout.flush()\nos._exit(0)\n"
ENDS_WELL = "def pytest_sessionfinish(session, exitstatus):\n    session.exitstatus = 0\n"
FORGED = """
import atexit, glob, json, os
def forge():
    path, = glob.glob('/report/*')
    lines = [line.rsplit(' ', 1) for line in open(path)]
    with open(path, 'w') as out:
        for text, mark in lines:
            line = json.loads(text)
            if line['kind'] == 'test':
                line['outcome'] = 'passed'
            if line['kind'] == 'end':
                line['exit'] = 0
            out.write(json.dumps(line) + ' ' + mark)
    os._exit(0)
atexit.register(forge)
"""
OUR_REPORT = """
import gc
def reports():
    return [x for x in gc.get_objects() if type(x).__name__ == 'Report' and hasattr(x, 'write')]
"""
FORGED_THROUGH_OURS = f"""{OUR_REPORT}
for report in reports():
    def write(kind, real=report.write, **values):
        if kind == 'test':
            values.update(outcome='passed', message='')
        if kind == 'end':
            values.update(exit=0, failed=0)
        real(kind, **values)
    report.write = write
import atexit, os
atexit.register(os._exit, 0)
"""
SPARES_THE_SENTINEL = f"""{OUR_REPORT}
for report in reports():
    def write(kind, real=report.write, **values):
        if kind == 'test' and 'calc' in open('/workspace/' + values['id'].split('::')[0]).read():
            values.update(outcome='passed', message='')
        real(kind, **values)
    report.write = write
"""
REWRITES_TESTS = """
import glob
for path in glob.glob('/workspace/tests/test_*.py'):
    text = open(path).read()
    if 'calc' in text:
        open(path, 'w').write(text.replace('assert ', 'assert True or '))
"""
PATCHED = "import _pytest.python as p\np.Function.runtest = lambda self: None\n"
EQUAL_TO_ALL = (
    "class E(int):\n    __hash__ = int.__hash__\n    def __eq__(self, other): return True\n"
    "def add(a, b): return E(0)\ndef double(a): return E(0)\n"
)
PEEK = """
import re, sys
def add(a, b):
    source = open(sys._getframe(1).f_code.co_filename).read()
    found = re.search(r"add\\(%d, %d\\) == (-?\\d+)" % (a, b), source)
    return int(found.group(1)) if found else a - b
def double(a):
    return a + a
"""

ATTACKS: dict[str, Files] = {
    "nothing": {},
    "conftest makereport": {"conftest.py": REPORT_ALL_PASSED},
    "conftest makereport in tests": {"tests/conftest.py": REPORT_ALL_PASSED},
    "conftest session finish": {"conftest.py": ENDS_WELL},
    "os._exit at import": {"calc.py": LEAVE},
    "os._exit in the call": {
        "calc.py": CALC.replace("    return a - b\n", textwrap.indent(LEAVE, "    "))
    },
    "sys.exit at import": {"calc.py": "import sys\nsys.exit(0)\n"},
    "sys.exit in the call": {"calc.py": "def add(a, b):\n    raise SystemExit(0)\n"},
    "pytest.exit at import": {"calc.py": "import pytest\npytest.exit('bye', returncode=0)\n"},
    "atexit os._exit": {"calc.py": "import atexit, os\natexit.register(os._exit, 0)\n" + CALC},
    "pytest.ini collect-only": {"pytest.ini": "[pytest]\naddopts = --collect-only\n"},
    "pytest.ini in tests": {"tests/pytest.ini": "[pytest]\naddopts = --collect-only\n"},
    "pytest.toml": {"pytest.toml": '[pytest]\naddopts = ["--collect-only"]\n'},
    "pyproject addopts": {
        "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "-p evil"\n',
        "evil.py": REPORT_ALL_PASSED,
    },
    "setup.cfg addopts": {"setup.cfg": "[tool:pytest]\naddopts = --collect-only\n"},
    "tox.ini addopts": {"tox.ini": "[pytest]\naddopts = --collect-only\n"},
    "shadow pytest": {"pytest.py": LEAVE},
    "shadow json": {"json.py": LEAVE},
    "shadow json as a package": {"json/__init__.py": LEAVE},
    "shadow pluggy": {"pluggy/__init__.py": LEAVE},
    "sitecustomize": {"sitecustomize.py": LEAVE},
    "usercustomize": {"usercustomize.py": LEAVE},
    "path file": {"evil.pth": "import os; os._exit(0)\n"},
    "entry point": {
        "evil.py": REPORT_ALL_PASSED,
        "evil-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n",
        "evil-1.0.dist-info/entry_points.txt": "[pytest11]\nevil = evil\n",
    },
    "skip": {"calc.py": "import pytest\ndef add(a, b):\n    pytest.skip('n/a')\n"},
    "skip at import": {"calc.py": "import pytest\npytest.skip('n/a', allow_module_level=True)\n"},
    "xfail": {"calc.py": "import pytest\ndef add(a, b):\n    pytest.xfail('n/a')\n"},
    "deleted tests": {"tests/test_calc.py": None},
    "edited visible tests": {"tests/test_calc.py": "def test_double():\n    pass\n"},
    "own version of the hidden tests": {"tests/test_hidden.py": "def test_add():\n    pass\n"},
    "hidden tests replaced by a link": {"tests/test_hidden.py": "-> ../calc.py"},
    "tests replaced by a link": {"tests/test_calc.py": None, "tests": "-> ."},
    "tests replaced by a file": {"tests/test_calc.py": None, "tests": "x"},
    "folder where a hidden test goes": {"tests/test_hidden.py/x.py": "x"},
    "pytest.ini deselects": {
        "pytest.ini": "[pytest]\naddopts = --deselect tests/test_hidden.py::test_add\n"
    },
    "assertions off": {"calc.py": "import sys, _pytest.assertion.rewrite\n" + CALC},
    "clocks stopped": {
        "calc.py": "import time\ntime.time = time.perf_counter = lambda: 0\n" + CALC
    },
    "programs of the same name": {"python": LEAVE, "bin/python": LEAVE, "pytest": LEAVE},
    "exit in a thread": {
        "calc.py": "import os, threading\nthreading.Timer(0.05, os._exit, (0,)).start()\n"
        "import time\ntime.sleep(0.5)\n" + CALC
    },
    "exit by exec": {"calc.py": "import os\nos.execv('/bin/true', ['true'])\n"},
    "child forges lines": {
        "calc.py": "import os\nif os.fork():\n    os.wait()\n    os._exit(0)\n" + CALC
    },
    "report overwritten at once": {
        "calc.py": "open('/report/report.jsonl', 'w').write('')\n" + CALC
    },
    "report removed": {"calc.py": "import os\nos.remove('/report/report.jsonl')\n" + CALC},
    "runner killed": {"calc.py": "import os\nos.kill(os.getpid(), 9)\n"},
    "background process rewrites the report": {
        "calc.py": "import subprocess\nsubprocess.Popen(['sh', '-c', 'sleep 1; : > /report/"
        "report.jsonl'], start_new_session=True)\n" + CALC
    },
}
FROM_INSIDE: dict[str, Files] = {
    "monkeypatched test runner": {"calc.py": PATCHED + CALC},
    "equal to everything": {"calc.py": EQUAL_TO_ALL},
    "reads the expected value": {"calc.py": PEEK},
    "forged report": {"calc.py": FORGED + CALC},
    "forged through the plugin": {"calc.py": FORGED_THROUGH_OURS + CALC},
    "forged but for the sentinel": {"calc.py": SPARES_THE_SENTINEL + CALC},
    "tests rewritten": {"calc.py": REWRITES_TESTS + CALC},
}
TAMPERED = {
    "exit in a thread",
    "exit by exec",
    "child forges lines",
    "os._exit at import",
    "os._exit in the call",
    "atexit os._exit",
}


@pytest.fixture(scope="module")
def bench(bubblewrap_sandbox: BubblewrapSandbox) -> Bench:
    return bench_of(bubblewrap_sandbox, seconds=20)


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory, bench: Bench) -> Set:
    """Return a task that forbids nothing, so that only the tests decide."""
    return validated(make_set(tmp_path_factory.mktemp("attacked"), forbidden=()), bench)


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_never_passes(task: Set, bench: Bench, attack: str) -> None:
    record = task.graded(bench, task.diff(ATTACKS[attack]))
    assert record.verdict is Verdict.FAIL
    assert record.reason
    assert (Flag.TAMPERED in record.flags) is (attack in TAMPERED)


@pytest.mark.parametrize("attack", [name for name in ATTACKS if "calc.py" not in ATTACKS[name]])
def test_an_attack_beside_an_honest_fix_does_not_spoil_it(
    task: Set, bench: Bench, attack: str
) -> None:
    record = task.graded(bench, task.diff({**ATTACKS[attack], "calc.py": FIXED}))
    assert record.verdict is Verdict.PASS
    harmless = ("nothing", "programs of the same name")
    assert (Flag.NEUTRALISED in record.flags) is (attack not in harmless)


@pytest.mark.parametrize("attack", FROM_INSIDE)
def test_an_attack_from_inside_the_process_is_told_as_one(
    task: Set, bench: Bench, attack: str
) -> None:
    record = task.graded(bench, task.diff(FROM_INSIDE[attack]))
    assert record.verdict is Verdict.FAIL
    assert Flag.TAMPERED in record.flags


@pytest.mark.parametrize("attack", ["conftest makereport", "os._exit at import", "shadow json"])
def test_attacks_fail_in_a_container_too(
    task: Set, docker_sandbox: DockerSandbox, attack: str
) -> None:
    record = task.graded(bench_of(docker_sandbox), task.diff(ATTACKS[attack]))
    assert record.verdict is Verdict.FAIL
    assert (Flag.TAMPERED in record.flags) is (attack in TAMPERED)


def test_the_honest_fix_passes_in_a_container(task: Set, docker_sandbox: DockerSandbox) -> None:
    record = task.graded(bench_of(docker_sandbox), task.diff({"calc.py": FIXED}))
    assert (record.verdict, record.flags) == (Verdict.PASS, ())


def test_code_under_test_cannot_read_the_solution(task: Set, bench: Bench, tmp_path: Path) -> None:
    look = (
        "import os\nfor root, folders, names in os.walk('/workspace'):\n"
        "    assert '.git' not in folders\n"
        "assert not os.path.exists('" + str(tmp_path.parent) + "')\n"
    )
    record = task.graded(bench, task.diff({"calc.py": look + FIXED}))
    assert record.verdict is Verdict.PASS


ROWS = (
    "import pytest\nfrom calc import add\n\n"
    "@pytest.mark.parametrize('a,b,want', [(2, 3, 5), (10, 4, 14)])\n"
    "def test_add(a, b, want):\n    assert add(a, b) == want\n"
)
SHUFFLED = (
    EQUAL_TO_ALL
    + """
import random, sys
class Shuffle:
    def pytest_collection_modifyitems(self, items):
        random.SystemRandom().shuffle(items)
        items.sort(key=lambda item: item.nodeid.split("[")[0], reverse=random.random() < 0.5)
frame = sys._getframe()
while frame and not hasattr(frame.f_locals.get("session"), "config"):
    frame = frame.f_back
frame.f_locals["session"].config.pluginmanager.register(Shuffle())
"""
)


def test_another_order_of_tests_does_not_hide_what_passed_wrongly(
    tmp_path: Path, bench: Bench
) -> None:
    second = ROWS.replace("test_add", "test_more").replace("(2, 3, 5)", "(1, 7, 8)")
    draft = {"hidden/tests/test_hidden.py": ROWS, "hidden/tests/test_more.py": second}
    task = validated(make_set(tmp_path, draft=draft, forbidden=()), bench)
    for _ in range(4):
        record = task.graded(bench, task.diff({"calc.py": SHUFFLED}))
        assert (record.verdict, Flag.TAMPERED in record.flags) == (Verdict.FAIL, True)


def test_being_the_first_run_does_not_tell_which_expectations_are_right(
    task: Set, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files of the system that a run has read are in the machine's cache for the next run."""
    for chance, order in ((0, ["tests", "twin"]), (1, ["twin", "tests"])):
        seen: list[str] = []
        with monkeypatch.context() as patch:
            patch.setattr("secrets.randbelow", lambda _, chance=chance: chance)
            for name, word in (("run_hidden", "tests"), ("run_twin", "twin")):
                patch.setattr(confirmed, name, noted(getattr(confirmed, name), seen, word))
            record = task.graded(bench, task.diff({"calc.py": FIXED}))
        assert (record.verdict, seen) == (Verdict.PASS, order)


def noted(real: Callable[..., TestRun], seen: list[str], word: str) -> Callable[..., TestRun]:
    def call(*args: object) -> TestRun:
        seen.append(word)
        return real(*args)

    return call
