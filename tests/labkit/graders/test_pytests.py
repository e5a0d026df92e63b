"""`pytest_passes`: what is run is the author's, and only a plain pass is one."""

import py_compile
from collections.abc import Mapping
from pathlib import Path

import pytest
from sandboxes import IMAGE

from labkit.archive import Entry, Kind
from labkit.errors import InfrastructureError, InputError
from labkit.graders import GRADERS, Case, Output, PytestPasses, Tools, Verdict
from labkit.graders.pytests import laid_over
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit.sandbox.interface import Collect, Limits, Outcome, Sandbox, Spec, Streams, T

CASE = Case(id="calc")
LIMITS = Limits(seconds=30, memory=256, processes=32, scratch=32)
CALC = "def add(a, b):\n    return a + b\n"
WRONG = "def add(a, b):\n    return a - b\n"
TESTS = {
    "tests/test_calc.py": "from calc import add\n\ndef test_add():\n    assert add(2, 3) == 5\n"
    "\ndef test_nought():\n    assert add(0, 0) == 0\n"
}
ABSENT_PASS = "1 of 2 tests did not pass; tests.test_calc::test_add: failed\n"


def folder(at: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = at / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return at


def run(
    sandbox: Sandbox, at: Path, files: Mapping[str, str], tests: Mapping[str, str] = TESTS
) -> Verdict:
    grader = PytestPasses(files=tests, sandbox=sandbox, image=IMAGE, limits=LIMITS)
    return grader(Output(folder=folder(at, files)), CASE)


def test_all_tests_have_to_pass(sandbox: Sandbox, tmp_path: Path) -> None:
    assert run(sandbox, tmp_path, {"calc.py": CALC}) == Verdict.passing("2 tests passed")
    wrong = run(sandbox, tmp_path, {"calc.py": WRONG})
    assert wrong.passed is False
    assert wrong.detail.startswith(ABSENT_PASS)
    assert "assert -1 == 5" in wrong.detail
    gone = run(sandbox, tmp_path, {"calc.py": "x ="})
    assert gone.passed is False
    assert "SyntaxError" in gone.detail
    assert run(sandbox, tmp_path / "src", {"src/calc.py": CALC}).passed


def one(text: str) -> dict[str, str]:
    return {"test_one.py": text}


@pytest.mark.parametrize(
    ("files", "tests", "told"),
    [
        ({}, one("x = 1\n"), "no test was found (exit 5)"),
        ({}, one("import pytest\n\ndef test_a():\n    pytest.skip('later')\n"), "1 of 1 test did"),
        ({}, one("import pytest\n\ndef test_a():\n    pytest.xfail('later')\n"), "1 of 1 test did"),
        ({}, one("import pytest\npytest.skip('x', allow_module_level=True)\n"), "1 of 1 test did"),
        ({}, one("import nothing\n\ndef test_a():\n    pass\n"), "No module named 'nothing'"),
        (
            {"calc.py": "import pytest\ndef add(a, b):\n    pytest.skip('hard')\n"},
            TESTS,
            "2 of 2 tests did not pass; tests.test_calc::test_add: skipped",
        ),
        ({"calc.py": "import os\nos._exit(0)\n"}, TESTS, "pytest left no report (exit 0)"),
        (
            {"calc.py": f"import atexit, os\natexit.register(os._exit, 3)\n{CALC}"},
            TESTS,
            "2 tests passed, but pytest ended in 3",
        ),
        (
            {"calc.py": f"import atexit, os\natexit.register(os._exit, 0)\n{WRONG}"},
            TESTS,
            "1 of 2 tests did not pass",
        ),
        ({"calc.py": "import time\ntime.sleep(100)\n"}, TESTS, "had not ended after 3 s"),
    ],
)
def test_only_a_plain_pass_is_one(
    bubblewrap_sandbox: BubblewrapSandbox,
    tmp_path: Path,
    files: Mapping[str, str],
    tests: Mapping[str, str],
    told: str,
) -> None:
    limits = Limits(seconds=3, memory=256, processes=32, scratch=32)
    grader = PytestPasses(files=tests, sandbox=bubblewrap_sandbox, limits=limits)
    verdict = grader(Output(folder=folder(tmp_path, files)), CASE)
    assert verdict.passed is False
    assert told in verdict.detail


TAKES_OVER = """
import pytest

@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    return True
"""
DESELECTS = "[pytest]\naddopts = -k nought\n"


@pytest.mark.parametrize(
    "steering",
    [
        {"conftest.py": TAKES_OVER},
        {"tests/conftest.py": TAKES_OVER},
        {"pytest.ini": DESELECTS},
        {".pytest.ini": DESELECTS},
        {"tox.ini": DESELECTS},
        {"setup.cfg": DESELECTS.replace("[pytest]", "[tool:pytest]")},
        {"pyproject.toml": '[tool.pytest.ini_options]\naddopts = "-k nought"\n'},
        {"tests/test_calc.py": "def test_nothing():\n    pass\n"},
        {"tests/test_calc/__init__.py": "def test_nothing():\n    pass\n"},
        {"tests/calc.py": CALC},
        {"pytest.py": "def main(words):\n    return 0\n"},
        {"_pytest/__init__.py": "raise SystemExit(0)\n"},
        {"sitecustomize.py": "import os\nos._exit(0)\n"},
        {"evil.py": TAKES_OVER, "evil-1.dist-info/entry_points.txt": "[pytest11]\nevil = evil\n"},
    ],
    ids=lambda files: next(iter(files)),
)
def test_a_candidate_has_no_say_in_what_is_run(
    bubblewrap_sandbox: BubblewrapSandbox, tmp_path: Path, steering: Mapping[str, str]
) -> None:
    verdict = run(bubblewrap_sandbox, tmp_path, {"calc.py": WRONG, **steering})
    assert verdict.passed is False
    assert verdict.detail.startswith(ABSENT_PASS)
    assert run(bubblewrap_sandbox, tmp_path, {"calc.py": CALC}).passed


def test_the_authors_own_fixtures_and_data_are_used(
    bubblewrap_sandbox: BubblewrapSandbox, tmp_path: Path
) -> None:
    tests = {
        "tests/conftest.py": "import pytest\n\n@pytest.fixture\ndef five():\n    return 5\n",
        "tests/data/two.txt": "2\n",
        "tests/test_calc.py": "from pathlib import Path\nfrom calc import add\n\n"
        "def test_add(five):\n"
        "    two = Path(__file__).with_name('data') / 'two.txt'\n"
        "    assert add(int(two.read_text()), 3) == five\n",
    }
    mine = {"calc.py": CALC, "tests/data/two.txt": "40\n", "tests/conftest.py": "x ="}
    verdict = run(bubblewrap_sandbox, tmp_path, mine, tests)
    assert verdict == Verdict.passing("1 test passed")


def test_a_link_in_the_way_of_a_test_goes() -> None:
    found = [
        Entry(path=b"tests", kind=Kind.SYMLINK, data=b"/tmp"),
        Entry(path=b"calc.py", kind=Kind.FILE, data=b"x"),
        Entry(path=b"src/tests/old.py", kind=Kind.FILE, data=b"x"),
    ]
    laid = list(laid_over(found, TESTS))
    assert [entry.path for entry in laid] == [
        b"calc.py",
        b"src/tests/old.py",
        b"tests/test_calc.py",
    ]


def test_a_package_in_the_way_of_a_module_goes() -> None:
    found = [
        Entry(path=path, kind=Kind.FILE, data=b"x")
        for path in (b"helper/__init__.py", b"helper.cpython-311.so", b"helper_two.py")
    ]
    laid = laid_over(found, {"helper.py": "y", "test_one.py": "y"})
    assert [entry.path for entry in laid] == [b"helper_two.py", b"helper.py", b"test_one.py"]


def test_nothing_of_the_folder_changes(
    bubblewrap_sandbox: BubblewrapSandbox, tmp_path: Path
) -> None:
    writing = f"open('new.txt', 'w').write('x')\nimport os\nos.remove('calc.py')\n{CALC}"
    assert run(bubblewrap_sandbox, tmp_path, {"calc.py": writing}).passed
    assert [path.name for path in tmp_path.iterdir()] == ["calc.py"]


def test_missing_is_not_failing(bubblewrap_sandbox: BubblewrapSandbox, tmp_path: Path) -> None:
    grader = PytestPasses(files=TESTS, sandbox=bubblewrap_sandbox)
    assert grader(Output(), CASE).detail == (
        "not graded: case calc has no folder that tests could run on"
    )
    assert grader(Output(folder=tmp_path / "gone"), CASE) == Verdict.failing(
        "the folder is missing"
    )


class Broken:
    """A sandbox that fails."""

    name = "broken"

    def run(self, spec: Spec, streams: Streams, collect: Collect[T]) -> tuple[Outcome, T]:
        del spec, streams, collect
        raise InfrastructureError("the engine is gone")

    def kill(self, labels: Mapping[str, str]) -> int:
        raise NotImplementedError

    def leftovers(self) -> tuple[str, ...]:
        return ()

    def clean(self) -> tuple[str, ...]:
        return ()


def test_a_broken_sandbox_is_missing_data(tmp_path: Path) -> None:
    verdict = run(Broken(), tmp_path, {"calc.py": CALC})
    assert (verdict.passed, verdict.detail) == (None, "not graded: the engine is gone")


def test_it_is_built_from_a_mapping() -> None:
    tools = Tools(sandbox=Broken(), image="x")
    spec = {"name": "pytest_passes", "files": TESTS, "timeout": 5}
    built = GRADERS.build(spec, tools=tools)
    assert isinstance(built, PytestPasses)
    assert (dict(built.files), built.image, built.limits.seconds) == (TESTS, "x", 5)


@pytest.mark.parametrize(
    ("spec", "problems"),
    [
        ({}, ["grader: pytest_passes needs a test file, called test_*.py or *_test.py"]),
        (
            {"files": {"calc.py": "x", "../test_x.py": ""}, "timeout": 4000},
            [
                'grader: "timeout" is at most 3600 seconds',
                "grader: a path in \"files\" is '../test_x.py': write it relative to the folder, "
                "with no . or .. in it",
            ],
        ),
        (
            {"tests": ["tests"]},
            ['grader: "tests" can only stand in a task of a folder; here, write "files"'],
        ),
    ],
)
def test_a_mapping_that_is_wrong_is_told(spec: Mapping[str, object], problems: list[str]) -> None:
    tools = Tools(sandbox=Broken())
    with pytest.raises(InputError) as error:
        GRADERS.build({"name": "pytest_passes", **spec}, tools=tools)
    assert list(error.value.problems) == problems
    with pytest.raises(InputError, match="needs a sandbox"):
        GRADERS.build({"name": "pytest_passes", "files": TESTS}, tools=Tools())


def test_files_without_a_test_are_refused() -> None:
    with pytest.raises(InputError, match="needs a test file"):
        PytestPasses(files={"calc.py": "x"}, sandbox=Broken())


def test_compiled_code_stands_in_for_no_source(
    bubblewrap_sandbox: BubblewrapSandbox, tmp_path: Path
) -> None:
    """A cache of what would pass, marked as never to be checked, beside a source that fails."""
    made = folder(tmp_path / "made", {"calc.py": CALC})
    compiled = tmp_path / "compiled"
    py_compile.compile(
        str(made / "calc.py"),
        str(compiled),
        doraise=True,
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )
    at = folder(tmp_path / "at", {"calc.py": WRONG})
    (at / "__pycache__").mkdir()
    for version in range(10, 16):
        name = f"calc.cpython-3{version}.pyc"
        (at / "__pycache__" / name).write_bytes(compiled.read_bytes())
    assert run(bubblewrap_sandbox, at, {}).passed is False
