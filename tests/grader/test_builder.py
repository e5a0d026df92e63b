"""Projects that have to be installed and built: what is tested is the tree that is graded."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from environs import SOURCE, Workplace
from gradings import Files, Set, bench_of, make_set
from sandboxes import IMAGE, missing

from labkit.building import Surroundings
from labkit.model import Flag, Verdict
from labkit.records import GradeRecord
from labkit.sandbox.docker import DockerSandbox
from labkit_grader.builder import SetupProblemError
from labkit_grader.execute import Bench
from labkit_grader.surroundings import bench_of_task
from labkit_grader.validate import validate_task

VERSION = ("python tools/write_version.py",)
SAYS = {"src/words/__init__.py": SOURCE["src/words/__init__.py"].replace("return 1", "return 2")}
HIDDEN = """\
import importlib.metadata
import subprocess

import words


def test_says():
    assert words.say() == 2


def test_script():
    said = subprocess.run(["words"], capture_output=True, text=True, check=True).stdout
    assert said == "says 2\\n"


def test_version():
    assert words.version == importlib.metadata.version("words") == "1.5"
"""


def grown(made: Set, place: Workplace, where: Surroundings) -> Bench:
    return bench_of_task(bench_of(place.sandbox), made.case, where)


def words_set(folder: Path) -> Set:
    return make_set(
        folder, base=SOURCE, solution=SAYS, draft={"hidden/tests/test_hidden.py": HIDDEN}
    )


def validated(made: Set, bench: Bench) -> Set:
    evidence = validate_task(bench, made.case, repeats=1)
    assert evidence.problems == ()
    return made.sealed(evidence)


@pytest.mark.parametrize("how", ["pip install .", "pip install -e ."])
def test_an_installed_project_with_a_generated_version(
    workplace: Workplace, tmp_path: Path, how: str
) -> None:
    made = words_set(tmp_path)
    where = replace(workplace.make(how, files=SOURCE), build=VERSION)
    bench = grown(made, workplace, where)
    sealed = validated(made, bench)
    expected = sealed.case.material.evidence
    assert expected is not None
    assert len(expected.fail_to_pass) == 2
    assert expected.pass_to_pass == ("tests/test_hidden.py::test_version",)
    good = sealed.graded(bench, made.diff(SAYS))
    assert (good.verdict, good.environment) == (Verdict.PASS, where.key)
    assert sealed.graded(bench, b"").verdict is Verdict.FAIL


def graded(
    sandbox_place: Workplace, folder: Path, build: tuple[str, ...], diff: Files
) -> GradeRecord:
    """Grade changes of the plain task under build commands that validation did not have."""
    made = make_set(folder)
    sealed = validated(made, bench_of(sandbox_place.sandbox))
    where = Surroundings(image=IMAGE, build=build)
    return sealed.graded(grown(sealed, sandbox_place, where), made.diff(diff))


RIGHT = {"calc.py": "def add(a, b):\n    return a + b\n\n\ndef double(a):\n    return a + a\n"}


def test_build_that_undoes_the_diff_is_a_set_up_problem(
    workplace: Workplace, tmp_path: Path
) -> None:
    undo = ("printf 'def add(a, b):\\n    return 0\\n' > calc.py",)
    record = graded(workplace, tmp_path, undo, RIGHT)
    assert record.verdict is Verdict.UNGRADED
    assert "change what the diff changed: calc.py" in record.reason


@pytest.mark.parametrize(
    ("diff", "build"),
    [
        ({**RIGHT, "new.txt": "x"}, "rm -f new.txt"),
        ({**RIGHT, "undo": "x"}, "test ! -e undo || printf 'x = 1\\n' > calc.py"),
        ({"calc.py": "x = 1\n", "undo": "x"}, "test ! -e undo || rm calc.py undo"),
    ],
    ids=["an addition", "the fix", "what cannot pass"],
)
def test_a_diff_that_lets_build_undo_it_fails_and_is_not_left_ungraded(
    bubblewrap_workplace: Workplace, tmp_path: Path, diff: Files, build: str
) -> None:
    record = graded(bubblewrap_workplace, tmp_path, (build,), diff)
    assert record.verdict is Verdict.FAIL
    assert "the build commands undo what the diff changed: " in record.reason
    assert Flag.SUSPICIOUS in record.flags


@pytest.mark.parametrize("change", [None, "mine\n"], ids=["deleted", "edited"])
def test_an_edit_of_what_build_makes_anew_on_every_tree_has_no_effect(
    bubblewrap_workplace: Workplace, tmp_path: Path, change: str | None
) -> None:
    """Else a run could choose to be ungraded."""
    diff = {**RIGHT, "README.md": change}
    record = graded(bubblewrap_workplace, tmp_path, ("echo made > README.md",), diff)
    assert (record.verdict, record.flags) == (Verdict.PASS, ())
    bad = graded(
        bubblewrap_workplace, tmp_path / "b", ("echo made > README.md",), {"README.md": change}
    )
    assert bad.verdict is Verdict.FAIL


def test_set_up_that_resets_the_tree_is_not_sound(
    bubblewrap_workplace: Workplace, tmp_path: Path
) -> None:
    """What a per-task set-up once did to every agent of a benchmark."""
    made = make_set(tmp_path)
    for build in ("git reset --hard && git clean -fd", "printf 'x = 1\\n' > calc.py"):
        bench = grown(made, bubblewrap_workplace, Surroundings(image=IMAGE, build=(build,)))
        evidence = validate_task(bench, made.case, repeats=1)
        assert not evidence.valid
        assert "buil" in evidence.problems[0]


def test_a_diff_that_cannot_be_built_fails(workplace: Workplace, tmp_path: Path) -> None:
    check = ("python -c 'import ast; ast.parse(open(\"calc.py\").read())'",)
    record = graded(workplace, tmp_path, check, {"calc.py": "def add(:\n"})
    assert record.verdict is Verdict.FAIL
    assert "the tree could not be built: the build command" in record.reason
    assert "SyntaxError" in record.reason


def test_build_commands_never_see_hidden_tests(
    bubblewrap_workplace: Workplace, tmp_path: Path
) -> None:
    look = "test ! -e tests/test_hidden.py"
    assert graded(bubblewrap_workplace, tmp_path, (look,), RIGHT).verdict is Verdict.PASS


@pytest.mark.parametrize(
    "path", ["conftest.py", "tests/conftest.py", "pytest.ini", "pytest.py", "x.pth", "json.py"]
)
def test_what_a_diff_lets_build_make_cannot_steer_pytest(
    bubblewrap_workplace: Workplace, tmp_path: Path, path: str
) -> None:
    """A diff changes what its build runs, and the build writes what a diff itself may not hold."""
    bad = "import os\\nos._exit(0)\\n" if path.endswith(".py") else "[pytest]\\naddopts=--co\\n"
    build = f"test ! -e evil || printf '{bad}' > {path}"
    diff = {"evil": "1\n", **RIGHT}
    record = graded(bubblewrap_workplace, tmp_path, (build,), diff)
    assert record.verdict is Verdict.PASS
    assert not record.flags


def test_a_diff_cannot_let_build_replace_hidden_tests(
    bubblewrap_workplace: Workplace, tmp_path: Path
) -> None:
    forged = "printf 'def test_add(): pass\\n' > tests/test_hidden.py"
    build = f"test ! -e evil || ({forged})"
    record = graded(bubblewrap_workplace, tmp_path, (build,), {"evil": "1\n"})
    assert record.verdict is Verdict.FAIL


def test_variables_reach_build_and_tests(workplace: Workplace, tmp_path: Path) -> None:
    hidden = "import os\nfrom calc import add\n\n\ndef test_it():\n    "
    hidden += "assert add(1, 2) == int(os.environ['WANTED'])\n"
    made = make_set(tmp_path, draft={"hidden/tests/test_hidden.py": hidden})
    where = Surroundings(image=IMAGE, build=('test "$WANTED" = 3',), variables={"WANTED": "3"})
    validated(made, grown(made, workplace, where))


def test_a_broken_base_is_told_once_for_all(
    bubblewrap_workplace: Workplace, tmp_path: Path
) -> None:
    made = make_set(tmp_path)
    where = Surroundings(image=IMAGE, build=("true", "echo no such thing >&2; exit 4"))
    bench = grown(made, bubblewrap_workplace, where)
    assert bench.builder is not None
    with pytest.raises(SetupProblemError, match=r'"echo no such .* ended in 4: no such thing') as e:
        bench.builder.require_base()
    assert "mend build:" in (e.value.hint or "")


EXTENSION = """\
#include <Python.h>
static PyObject *answer(PyObject *self, PyObject *none) { return PyLong_FromLong(%s); }
static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, ""}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "fast", "", -1, methods};
PyMODINIT_FUNC PyInit_fast(void) { return PyModule_Create(&module); }
"""
MODULE = {
    "setup.py": (
        "from setuptools import Extension, setup\n"
        "setup(name='fast', version='1', ext_modules=[Extension('fast', ['fast.c'])])\n"
    ),
    "fast.c": EXTENSION % "41",
}


@pytest.mark.registry
def test_a_compiled_extension_is_that_of_the_graded_tree(
    workplace: Workplace, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    image = IMAGE
    if isinstance(workplace.sandbox, DockerSandbox):
        image = request.getfixturevalue("compiler_image")
    elif shutil.which("cc") is None:
        missing("compiler", "there is no cc")
    made = make_set(
        tmp_path,
        base=MODULE,
        solution={"fast.c": EXTENSION % "42"},
        draft={"hidden/test_fast.py": "import fast\n\n\ndef test_it():\n    "
               "assert fast.answer() == 42\n"},
    )  # fmt: skip
    where = replace(
        workplace.make("pip install setuptools", image=image),
        build=("python setup.py build_ext --inplace",),
    )
    bench = grown(made, workplace, where)
    sealed = validated(made, bench)
    assert sealed.graded(bench, made.diff({"fast.c": EXTENSION % "42"})).verdict is Verdict.PASS
    assert sealed.graded(bench, made.diff({"fast.c": EXTENSION % "43"})).verdict is Verdict.FAIL
    broken = sealed.graded(bench, made.diff({"fast.c": "int x"}))
    assert broken.verdict is Verdict.FAIL
    assert "could not be built" in broken.reason
