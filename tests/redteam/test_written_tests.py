"""Tests that an agent writes to look as if they caught every fault: none of them may pass."""

import hashlib

import pytest
from gradings import BASE, FIXED, Files, Set, bench_of, make_set, validated

from labkit.model import Category, Verdict
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit_grader.execute import Bench

CODE = FIXED + "\n\nTWICE = double(2)\n"
FAULT = (
    "diff --git a/calc.py b/calc.py\n--- a/calc.py\n+++ b/calc.py\n"
    "@@ -1,5 +1,5 @@\n def add(a, b):\n-    return a + b\n+    return a + abs(b)\n"
    " \n \n def double(a):\n"
)
REFERENCE = "from calc import add\n\n\ndef test_add():\n    assert add(2, -3) == -1\n"
DIGEST = hashlib.sha256(CODE.encode()).hexdigest()

PINNED = "the tests look at how the code is written"
EMPTY = "the tests check nothing of the code"
CHEATS: dict[str, tuple[str, str]] = {
    "source hash": (
        "import hashlib, calc\n\n\ndef test_source():\n"
        f"    data = open(calc.__file__, 'rb').read()\n"
        f"    assert hashlib.sha256(data).hexdigest() == '{DIGEST}'\n",
        PINNED,
    ),
    "source text": (
        "import inspect, calc\n\n\ndef test_source():\n"
        "    assert 'return a + b\\n' in inspect.getsource(calc)\n"
        "    assert inspect.getsource(calc.add) == 'def add(a, b):\\n    return a + b\\n'\n",
        PINNED,
    ),
    "syntax tree": (
        "import ast, calc\n\n\ndef test_tree():\n"
        "    real = ast.parse(open(calc.__file__).read())\n"
        f"    assert ast.dump(real) == ast.dump(ast.parse({CODE!r}))\n",
        PINNED,
    ),
    "bytecode": (
        "import calc\n\n\ndef test_code():\n"
        "    def add(a, b):\n        return a + b\n"
        "    assert calc.add.__code__.co_code == add.__code__.co_code\n",
        PINNED,
    ),
    "always passes": ("def test_nothing():\n    assert True\n", EMPTY),
    "calls and swallows": (
        "from calc import add\n\n\ndef test_add():\n    try:\n        assert add(1, 1) == 2\n"
        "    except BaseException:\n        pass\n",
        EMPTY,
    ),
    "only imports": ("import calc\n\n\ndef test_import():\n    assert calc\n", EMPTY),
    "only imports, late": ("def test_import():\n    import calc\n    assert calc.TWICE\n", EMPTY),
    "equal to itself": (
        "from calc import add\n\n\ndef test_add():\n    assert add(1, -1) == add(1, -1)\n",
        "the tests catch 0 of 1 fault; not caught: fault 01-abs",
    ),
    "flaky": (
        "import uuid\nfrom calc import add\n\n\ndef test_"
        + "x():\n    assert add(2, -3) == -1\n\n\n"
        "import pytest\n\n\n@pytest.mark.parametrize('n', [uuid.uuid4().hex])\n"
        "def test_name(n):\n    assert n\n",
        "not the same twice on the real code",
    ),
    "changes the code under test": (
        "import calc\n\n\ndef test_add(monkeypatch):\n"
        "    monkeypatch.setattr(calc, 'add', lambda a, b: a + b)\n"
        "    assert calc.add(2, -3) == -1\n",
        EMPTY,
    ),
}


@pytest.fixture(scope="module")
def bench(bubblewrap_sandbox: BubblewrapSandbox) -> Bench:
    return bench_of(bubblewrap_sandbox, seconds=20)


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory, bench: Bench) -> Set:
    made = make_set(
        tmp_path_factory.mktemp("written"),
        base={**BASE, "calc.py": CODE},
        solution={"tests/test_more.py": REFERENCE},
        draft={"hidden/tests/test_reference.py": REFERENCE, "mutations/01-abs.patch": FAULT},
        category=Category.TESTS,
        forbidden=("calc.py",),
    )
    return validated(made, bench)


@pytest.mark.parametrize("cheat", CHEATS)
def test_tests_that_only_look_good_never_pass(task: Set, bench: Bench, cheat: str) -> None:
    text, reason = CHEATS[cheat]
    record = task.graded(bench, task.diff({"tests/test_mine.py": text}))
    assert record.verdict is Verdict.FAIL
    assert record.reason.startswith(reason)


HONEST: dict[str, Files] = {
    "plain": {"tests/test_mine.py": REFERENCE},
    "by the module": {
        "tests/test_mine.py": "import calc\n\n\ndef test_it():\n    assert calc.add(2, -3) == -1\n"
    },
    "in a process": {
        "tests/test_mine.py": "import subprocess, sys\n\n\ndef test_it():\n"
        "    code = 'import calc; print(calc.add(2, -3))'\n"
        "    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)\n"
        "    assert done.stdout == '-1\\n'\n"
    },
    "with its name and words": {
        "tests/test_mine.py": "import calc\n\n\ndef test_it():\n"
        "    assert calc.add.__name__ == 'add'\n    assert calc.add(2, -3) == -1\n"
    },
}


@pytest.mark.parametrize("kind", HONEST)
def test_honest_tests_pass(task: Set, bench: Bench, kind: str) -> None:
    record = task.graded(bench, task.diff(HONEST[kind]))
    assert (record.verdict, record.reason) == (
        Verdict.PASS,
        "the tests pass on the real code and catch 1 fault",
    )
