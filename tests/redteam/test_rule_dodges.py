"""Refactorings that only look like one: the old shape in disguise, or words about a new one."""

import pytest
from gradings import BASE, FIXED, Files, Set, bench_of, make_set, validated

from labkit.model import Category, Verdict
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit_grader.execute import Bench

OLD = FIXED + "\n\ndef helper(a):\n    print(a)\n    return add(a, a)\n"
NEW = FIXED + "\n\ndef twofold(a):\n    return add(a, a)\n"
BEHAVIOUR = "from calc import double\n\n\ndef test_double():\n    assert double(2) == 4\n"
ORACLE = """
structure:
  - symbol_gone: {file: calc.py, name: helper}
  - symbol_there: {file: calc.py, name: twofold}
  - text_gone: {file: calc.py, text: "print(a)"}
  - command: "! grep -q 'print(a)' calc.py"
"""
BODY = "    return add(a, a)\n"

DODGES: dict[str, Files] = {
    "nothing": {},
    "alias": {"calc.py": NEW + "helper = twofold\n"},
    "alias by import": {"calc.py": NEW + "from calc import twofold as helper\n"},
    "alias in a tuple": {"calc.py": NEW + "helper, _ = twofold, 0\n"},
    "alias by walrus": {"calc.py": NEW + "print(helper := twofold)\n"},
    "module getattr": {
        "calc.py": NEW + "def __getattr__(name):\n    return twofold if name[0] == 'h' else 0\n"
    },
    "setattr": {"calc.py": NEW + "import sys\nsetattr(sys.modules[__name__], 'helper', twofold)\n"},
    "attribute of the module": {
        "calc.py": NEW + "import sys\nsys.modules[__name__].helper = twofold\n"
    },
    "globals": {"calc.py": NEW + "globals()['helper'] = twofold\n"},
    "globals update": {"calc.py": NEW + "globals().update(helper=twofold)\n"},
    "namespace": {"calc.py": NEW + "import sys\nsys.modules[__name__].__dict__['helper'] = 1\n"},
    "star import": {"more.py": "def helper(): pass\n", "calc.py": NEW + "from more import *\n"},
    "behind a condition": {"calc.py": NEW + "if True:\n    def helper(a):\n    " + BODY},
    "new name in a comment": {"calc.py": FIXED + "# def twofold(a): return add(a, a)\n"},
    "new name in a string": {"calc.py": FIXED + 'S = "def twofold(a): pass"\n'},
    "new name by alias": {"calc.py": FIXED + "twofold = double\n"},
    "broken lines": {"calc.py": NEW + "def show(a):\n    print(\n        a)\n"},
    "does not parse": {"calc.py": NEW + "def helper(:\n"},
    "behaviour broken": {"calc.py": NEW.replace("return a + a", "return a")},
}


@pytest.fixture(scope="module")
def bench(bubblewrap_sandbox: BubblewrapSandbox) -> Bench:
    return bench_of(bubblewrap_sandbox, seconds=20)


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory, bench: Bench) -> Set:
    made = make_set(
        tmp_path_factory.mktemp("dodged"),
        base={**BASE, "calc.py": OLD},
        solution={"calc.py": NEW},
        draft={"oracle.yaml": ORACLE, "hidden/tests/test_behaviour.py": BEHAVIOUR},
        category=Category.REFACTOR,
    )
    return validated(made, bench)


@pytest.mark.parametrize("dodge", DODGES)
def test_a_dodge_never_passes(task: Set, bench: Bench, dodge: str) -> None:
    record = task.graded(bench, task.diff(DODGES[dodge]))
    assert record.verdict is Verdict.FAIL
    assert record.reason


def test_words_about_the_old_shape_do_no_harm(task: Set, bench: Bench) -> None:
    told = (
        NEW + '# helper is gone, and so is print( a )\n"""helper, print( a )"""\nHELP = "helper"\n'
    )
    record = task.graded(bench, task.diff({"calc.py": told}))
    assert (record.verdict, record.reason) == (
        Verdict.PASS,
        "the one expected test passed, and the structure is as wanted",
    )
    assert record.tests == {
        "tests/test_behaviour.py::test_double": "passed",
        "helper is gone from calc.py": "passed",
        "twofold is defined in calc.py": "passed",
        "calc.py does not hold 'print(a)'": "passed",
        "the command holds: ! grep -q 'print(a)' calc.py": "passed",
    }


def test_each_rule_that_is_not_met_is_named(task: Set, bench: Bench) -> None:
    record = task.graded(bench, task.diff({"calc.py": OLD.replace("def double", "def duble")}))
    assert record.reason == (
        "4 of 4 structural rules are not met: helper is gone from calc.py, but line 9 of calc.py "
        "gives the name helper to something, twofold is defined in calc.py, but it is not, "
        "calc.py does not hold 'print(a)', but it still does and 1 more; "
        "1 of 1 expected tests did not pass"
    )


def test_a_link_in_place_of_the_file_is_not_followed(task: Set, bench: Bench) -> None:
    record = task.graded(bench, task.diff({"new.py": NEW, "calc.py": "-> new.py"}))
    assert record.verdict is Verdict.FAIL
    assert "calc.py is no plain file" in record.reason
