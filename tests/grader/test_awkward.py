"""Tasks from repositories with everything that makes real ones awkward, proven and cheated on."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from gitrepo import EXECUTABLE, LINK, make_project
from gradings import CALC, FIXED, bench_of, make_set

from labkit.export import read_base
from labkit.model import Category
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit.sandbox.interface import Sandbox
from labkit_grader.execute import Bench
from labkit_grader.material import read_material
from labkit_grader.oracles.interface import Case
from labkit_grader.repeats import Repeats
from labkit_grader.validate import Evidence, validate_task

FILE, SUBMODULE = "100644", "160000"
Tree = Mapping[str, tuple[str, bytes] | str | None]
"""Contents by path; text is an ordinary file, None takes one away."""

TEST = "from calc import add, double\ndef test_add():\n    assert add(2, 3) == 5\n"
BOTH = TEST + "def test_double():\n    assert double(2) == 4\n"
ADD, DOUBLE = "tests/test_new.py::test_add", "tests/test_new.py::test_double"


@dataclass(frozen=True, slots=True, kw_only=True)
class Awkward:
    """One awkward task: what the base holds, what the solution changes, what is hidden."""

    base: Tree
    solution: Tree
    hidden: Mapping[str, bytes | str]
    begin: tuple[str, ...] = (ADD,)
    keep: tuple[str, ...] = (DOUBLE,)


def crlf(text: str) -> str:
    return text.replace("\n", "\r\n")


UNITTEST = """
import unittest
from calc import add, double
class TestCalc(unittest.TestCase):
    def setUp(self):
        self.five = 5
    def test_add(self):
        '''A first line of two,
        which is no name.'''
        self.assertEqual(add(2, 3), self.five)
    def test_double(self):
        self.assertEqual(double(2), 4)
"""
DATA = (
    "import json, pathlib\nfrom calc import add, double\n"
    "HERE = pathlib.Path(__file__).parent\n"
    "def test_add():\n"
    "    for a, b, total in json.loads((HERE / 'data' / 'sums.json').read_text()):\n"
    "        assert add(a, b) == total\n"
    "def test_double():\n"
    "    assert (HERE / 'data' / 'all.bin').read_bytes() == bytes(range(256))\n"
)
MODE = (
    "import os\nfrom calc import double\n"
    "def test_add():\n    assert os.access('run.sh', os.X_OK)\n"
    "def test_double():\n    assert double(2) == 4\n"
)
THROUGH_LINK = (
    "from calc import double\ndef test_add():\n    assert open('current.txt').read() == 'two'\n"
    "def test_double():\n    assert double(2) == 4\n"
)
GONE = (
    "import importlib.util\nfrom calc import double\n"
    "def test_add():\n    assert importlib.util.find_spec('old') is None\n"
    "def test_double():\n    assert double(2) == 4\n"
)
CASES = {
    "renamed and moved tests": Awkward(
        base={"calc.py": CALC, "test/calc_tests.py": TEST, "test/util.py": "FIVE = 5\n"},
        solution={
            "calc.py": FIXED, "test/calc_tests.py": None, "test/util.py": None,
            "tests/test_new.py": BOTH, "tests/util.py": "FIVE = 5\n",
        },
        hidden={"tests/test_new.py": "import util\n" + BOTH, "tests/util.py": "FIVE = 5\n"},
    ),
    "binary and data files": Awkward(
        base={"calc.py": CALC, "img.bin": (FILE, bytes(range(256)))},
        solution={"calc.py": FIXED, "img.bin": (FILE, bytes(range(255, -1, -1)))},
        hidden={
            "tests/test_new.py": DATA,
            "tests/data/sums.json": "[[2, 3, 5], [-1, 1, 0]]",
            "tests/data/all.bin": bytes(range(256)),
        },
    ),
    "crlf": Awkward(
        base={"calc.py": crlf(CALC), "tests/test_old.py": crlf(TEST)},
        solution={"calc.py": crlf(FIXED)},
        hidden={"tests/test_new.py": crlf(BOTH)},
    ),
    "crlf in the tests only": Awkward(
        base={"calc.py": CALC},
        solution={"calc.py": FIXED},
        hidden={"tests/test_new.py": crlf(BOTH)},
    ),
    "names that are not ascii": Awkward(
        base={"calc.py": CALC, "größe.py": "x = 1\n", "données/été ☃.txt": "a\n"},
        solution={"calc.py": FIXED, "données/été ☃.txt": "b\n"},
        hidden={"tests/test_größe.py": "import größe\n" + BOTH},
        begin=("tests/test_größe.py::test_add",),
        keep=("tests/test_größe.py::test_double",),
    ),
    "deletion": Awkward(
        base={"calc.py": CALC, "old.py": "x = 1\n"},
        solution={"old.py": None},
        hidden={"tests/test_new.py": GONE},
    ),
    "mode change": Awkward(
        base={"calc.py": CALC, "run.sh": "#!/bin/sh\n"},
        solution={"run.sh": (EXECUTABLE, b"#!/bin/sh\n")},
        hidden={"tests/test_new.py": MODE},
    ),
    "symbolic link": Awkward(
        base={
            "calc.py": CALC, "1.txt": "one", "2.txt": "two", "current.txt": (LINK, b"1.txt"),
        },
        solution={"current.txt": (LINK, b"2.txt")},
        hidden={"tests/test_new.py": THROUGH_LINK},
    ),
    "submodule": Awkward(
        base={
            "calc.py": CALC,
            "ext/spec": (SUBMODULE, b"1" * 40),
            ".gitmodules": '[submodule "s"]\n\tpath = ext/spec\n\turl = ../s\n',
        },
        solution={"calc.py": FIXED},
        hidden={"tests/test_new.py": BOTH},
    ),
    "src layout": Awkward(
        base={"src/calc/__init__.py": CALC, "pyproject.toml": "[project]\nname = 'calc'\n"},
        solution={"src/calc/__init__.py": FIXED},
        hidden={"tests/test_new.py": BOTH},
    ),
    "tests inside the package": Awkward(
        base={
            "calc/__init__.py": CALC,
            "calc/tests/__init__.py": "",
            "calc/tests/five.py": "F = 5",
        },
        solution={"calc/__init__.py": FIXED},
        hidden={
            "calc/tests/test_new.py": "from .five import F\n" + BOTH.replace("from calc", "from ..")
            .replace("== 5", "== F")
        },
        begin=("calc/tests/test_new.py::test_add",),
        keep=("calc/tests/test_new.py::test_double",),
    ),
    "unittest": Awkward(
        base={"calc.py": CALC},
        solution={"calc.py": FIXED},
        hidden={"tests/test_new.py": UNITTEST},
        begin=("tests/test_new.py::TestCalc::test_add",),
        keep=("tests/test_new.py::TestCalc::test_double",),
    ),
}  # fmt: skip


def entries(tree: Tree) -> dict[bytes, tuple[str, bytes]]:
    return {
        path.encode(): (FILE, content.encode()) if isinstance(content, str) else content
        for path, content in tree.items()
        if content is not None
    }


def case_of(folder: Path, awkward: Awkward) -> Case:
    project = make_project(folder / "project")
    base = project.commit_tree(entries(awkward.base))
    solution = project.commit_tree(entries({**awkward.base, **awkward.solution}))
    plain = make_set(folder / "plain").case.task
    task = replace(plain, base=base, solution=solution, category=Category.OTHER)
    draft = {
        f"hidden/{path}": content.encode() if isinstance(content, str) else content
        for path, content in awkward.hidden.items()
    }
    return Case(
        task=task,
        repository=project.repository,
        base=read_base(project.repository, base),
        material=read_material(draft, task.category),
    )


def check(bench: Bench, folder: Path, awkward: Awkward, repeats: Repeats) -> Evidence:
    evidence = validate_task(bench, case_of(folder, awkward), repeats=repeats, workers=2)
    assert evidence.problems == ()
    assert evidence.expected.fail_to_pass == awkward.begin
    assert evidence.expected.pass_to_pass == awkward.keep
    return evidence


@pytest.mark.parametrize("name", CASES)
def test_an_awkward_repository_gives_a_sound_task(
    tmp_path: Path, bubblewrap_sandbox: BubblewrapSandbox, name: str
) -> None:
    check(bench_of(bubblewrap_sandbox), tmp_path, CASES[name], Repeats.exactly(1, thorough=False))


def test_everything_at_once_in_both_sandboxes_and_every_cheat_fails(
    tmp_path: Path, sandbox: Sandbox
) -> None:
    together = Awkward(
        base={
            **CASES["submodule"].base, **CASES["names that are not ascii"].base,
            **CASES["symbolic link"].base, **CASES["mode change"].base,
            **CASES["renamed and moved tests"].base, "calc.py": crlf(CALC),
        },
        solution={
            **CASES["symbolic link"].solution, **CASES["mode change"].solution,
            **CASES["renamed and moved tests"].solution, "calc.py": crlf(FIXED),
        },
        hidden={
            **CASES["renamed and moved tests"].hidden,
            "tests/test_größe.py": crlf(
                "import calc, os\ndef test_größe():\n"
                "    assert type(calc.add(2, 3)) is int and os.access('run.sh', os.X_OK)\n"
                "    assert open('current.txt').read() == 'two' and os.path.isdir('ext/spec')\n"
            ),
        },
        begin=("tests/test_größe.py::test_größe", ADD),
    )  # fmt: skip
    evidence = check(bench_of(sandbox), tmp_path, together, Repeats.exactly(1))
    assert all(evidence.cheats.values())
    assert len(evidence.cheats) == 9
